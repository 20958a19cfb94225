"""Scrapy's HTTP/1.1, with bounds on what a server may send and on how long it is held on to.

Twisted bounds a header's line, not how many there are: a server that never stops sending them
would fill the memory until DOWNLOAD_TIMEOUT. It doesn't bound how many connections stay open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
)
from twisted.protocols.tls import TLSMemoryBIOProtocol
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS
from twisted.web.client import HTTPConnectionPool
from twisted.web.http import _ChunkedTransferDecoder
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scrapy.settings import BaseSettings
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IAddress
    from twisted.web.iweb import IResponse

LINES = 400_000
"""Lines of a body in chunks, each of which may be a chunk's end: that takes ten microseconds."""


class HeadersTooLargeError(Exception):
    """A response's headers are larger than LSWC_MAX_HEADERS_SIZE."""


class BodyTooLargeError(Exception):
    """A response has more between its chunks than in them, or too many."""


class BoundedProtocol(_LenientHTTP11ClientProtocol):
    """Gives up a response that is too large before its body, or on the wire altogether.

    ``head`` and ``body`` are the bytes allowed; one read of the socket may go beyond. What is
    between a body's chunks is in no bound of Scrapy's.
    """

    head = 0
    body = 0
    _received = 0
    _lines = 0

    @override
    def request(self, request: Any) -> Deferred[IResponse]:
        self._received = self._lines = 0
        return super().request(request)

    @override
    def dataReceived(self, data: bytes) -> None:
        in_head = self._parser is not None and self._parser.state in (STATUS, HEADER)
        if 0 < (self.head if in_head else self.body) <= self._received:
            self._giveUp(Failure(HeadersTooLargeError() if in_head else BodyTooLargeError()))
            return
        self._received += len(data)
        super().dataReceived(data)
        if isinstance(getattr(self._parser, "bodyDecoder", None), _ChunkedTransferDecoder):
            self._lines += data.count(b"\r\n")
            if self._lines > LINES:
                self._giveUp(Failure(BodyTooLargeError()))

    @override
    def _giveUp(self, reason: Failure) -> None:
        super()._giveUp(reason)
        _hang_up(self.transport)


class BoundedPool(HTTPConnectionPool):
    """Connections by server: the ``idle`` latest used stay open, others are forgotten."""

    def __init__(
        self, reactor: Any, settings: BaseSettings, protocol: type[BoundedProtocol], idle: int
    ) -> None:
        super().__init__(reactor, persistent=True)
        self.maxPersistentPerHost = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._factory = _factory(settings, protocol)
        self._idle = idle

    @override
    def getConnection(self, key: Hashable, endpoint: Any) -> Any:
        connection = super().getConnection(key, endpoint)
        self._forget(key)
        return connection

    @override
    def _putConnection(self, key: Hashable, connection: Any) -> None:
        super()._putConnection(key, connection)
        while len(self._timeouts) > self._idle:
            oldest = next(iter(self._connections))
            for idle in list(self._connections[oldest]):
                self._timeouts[idle].cancel()
                self._removeConnection(oldest, idle)

    @override
    def _removeConnection(self, key: Hashable, connection: Any) -> None:
        super()._removeConnection(key, connection)
        _hang_up(connection.transport)
        self._forget(key)

    def _forget(self, key: Hashable) -> None:
        if not self._connections.get(key, True):
            del self._connections[key]


def _hang_up(transport: Any) -> None:
    """Close a connection that is closing in TLS, without waiting for the server to do so too."""
    if isinstance(transport, TLSMemoryBIOProtocol):
        below: Any = transport.transport
        below.loseConnection()


def _factory(settings: BaseSettings, protocol: type[BoundedProtocol]) -> Any:
    head = settings.getint("LSWC_MAX_HEADERS_SIZE")
    sizes = settings.getint("DOWNLOAD_MAXSIZE"), settings.getint("LSWC_MAX_DOCUMENT")
    largest = max(sizes) if all(sizes) else 0

    class Factory(_LenientHTTP11ClientFactory):
        @override
        def buildProtocol(self, addr: IAddress | None) -> BoundedProtocol:
            built = protocol(self._quiescentCallback)
            built.head, built.body = head, 2 * largest and 2 * largest + head
            return built

    return Factory
