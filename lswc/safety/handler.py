"""Scrapy's HTTP/1.1, with a bound on what a server may send before the body.

Twisted bounds a header's line, not how many there are: a server that never stops sending them
would fill the memory until DOWNLOAD_TIMEOUT.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS
from typing_extensions import override

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IAddress
    from twisted.web.iweb import IResponse


class HeadersTooLargeError(Exception):
    """A response's headers are larger than LSWC_MAX_HEADERS_SIZE."""


class BoundedProtocol(_LenientHTTP11ClientProtocol):
    """Gives up a response whose headers are larger than ``limit`` bytes.

    One read of the socket may go beyond it, which may hold the body too.
    """

    limit = 0
    _received = 0

    @override
    def request(self, request: Any) -> Deferred[IResponse]:
        self._received = 0
        return super().request(request)

    @override
    def dataReceived(self, data: bytes) -> None:
        if self.limit and self._parser is not None and self._parser.state in (STATUS, HEADER):
            if self._received >= self.limit:
                self._giveUp(Failure(HeadersTooLargeError()))
                return
            self._received += len(data)
        super().dataReceived(data)


def factory(protocol: type[BoundedProtocol], limit: int) -> Any:
    """Return what makes a connection pool's factories: of this protocol, with this limit."""
    return partial(_Factory, protocol, limit)


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, protocol: type[BoundedProtocol], limit: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._protocol = protocol
        self._limit = limit

    @override
    def buildProtocol(self, addr: IAddress | None) -> BoundedProtocol:
        protocol = self._protocol(self._quiescentCallback)
        protocol.limit = self._limit
        return protocol
