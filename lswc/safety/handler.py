"""Scrapy's HTTP/1.1, with a bound on what a server may send before the body.

Twisted bounds a header's line, not how many there are: a server that never stops sending them
would fill the memory until DOWNLOAD_TIMEOUT.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS
from typing_extensions import override

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.internet.interfaces import IAddress


class HeadersTooLarge(Exception):
    """A response's headers are larger than LSWC_MAX_HEADERS_SIZE."""


class HTTPHandler(HTTP11DownloadHandler):
    """For ``DOWNLOAD_HANDLERS``, http and https. LSWC_MAX_HEADERS_SIZE is in bytes."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        limit = crawler.settings.getint("LSWC_MAX_HEADERS_SIZE")
        self._pool._factory = partial(_Factory, limit)


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, limit: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._limit = limit

    @override
    def buildProtocol(self, addr: IAddress | None) -> _Protocol:
        protocol = _Protocol(self._quiescentCallback)
        protocol.limit = self._limit
        return protocol


class _Protocol(_LenientHTTP11ClientProtocol):
    """``limit`` may be passed by one read of the socket, which may hold the body too."""

    limit = 0
    _received = 0

    @override
    def request(self, request: Any) -> Any:
        self._received = 0
        return super().request(request)

    @override
    def dataReceived(self, bytes: bytes) -> None:
        if self.limit and self._parser is not None and self._parser.state in (STATUS, HEADER):
            if self._received > self.limit:
                self._giveUp(Failure(HeadersTooLarge()))
                return
            self._received += len(bytes)
        super().dataReceived(bytes)
