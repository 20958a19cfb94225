"""The download handler that keeps the bytes of every exchange as they were on the wire.

Twisted hands over headers in lower case and out of order, and bodies without their chunks, so
nothing after its parser can tell what the server really sent.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _BindAddressAgent,
    _LenientHTTPClientParser,
    _ScrapyAgent,
)
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.web._newclient import STATUS

from lswc.crawler.requests import RENDERING, RULES, page_visit_of
from lswc.crawler.running import running_of
from lswc.crawler.transport.handler import BoundedPool, BoundedProtocol
from lswc.visit.attempt import Attempt, Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IProtocolFactory
    from twisted.web._newclient import Request as TxRequest
    from twisted.web.client import URI, Agent
    from twisted.web.client import Response as TxResponse
    from twisted.web.iweb import IResponse

_EXCHANGE, _HEADERS = "lswc_exchange", "lswc_headers"
# Scrapy's flags as ISO 28500:2017 §5.13 calls them.
_TRUNCATED = {"dataloss": "disconnect", "download_stopped": "unspecified"}


class AttemptHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP/1.1 handler, that notes every attempt, and its bytes if they are archived.

    A request's attempts belong to its visit; those of another (robots.txt) go to
    the archive.
    """

    def __init__(self, crawler: Crawler) -> None:
        from twisted.internet import reactor  # not above: importing it installs one

        super().__init__(crawler)
        self._running = running_of(crawler)
        protocol = BoundedProtocol if self._running.crawl.archived == "none" else _Protocol
        idle = self._running.handles.idle
        self._pool = BoundedPool(reactor, crawler.settings, protocol, idle)
        # A request that the server hung up on is sent again in its time, and each is noted.
        self._pool.retryAutomatically = False

    async def download_request(self, request: Request) -> Response:
        attempt = Attempt(request.url, datetime.now(UTC))
        try:
            response = await self._download(request)
        except Exception as error:
            request.meta.pop(_EXCHANGE, None)
            attempt.error = type(error).__name__
            self._note(request, attempt)
            raise
        if not 0 <= response.status < 1000:  # no status (RFC 9110 §15), and of any size
            response.status = 0
        attempt.status = response.status
        attempt.mime = _media_type(response)
        attempt.size = len(response.body)
        attempt.ip = str(response.ip_address or "")
        attempt.truncated = next((_TRUNCATED[f] for f in response.flags if f in _TRUNCATED), "")
        attempt.exchange = request.meta.pop(_EXCHANGE, None)
        self._note(request, attempt)
        return response

    async def _download(self, request: Request) -> Response:
        agent = _Agent(
            contextFactory=self._contextFactory,
            bindAddress=self._bind_address,
            pool=self._pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )
        with wrap_twisted_exceptions():
            return await maybe_deferred_to_future(agent.download_request(request))

    def _note(self, request: Request, attempt: Attempt) -> None:
        visit = page_visit_of(request)
        if visit is None and self._running.admission.is_blocked(request.url):
            return  # meanwhile
        if (rendering := request.meta.get(RENDERING)) is not None:
            rendering.visit.fetched.append(attempt)
        elif visit is None:
            self._running.archive.add(attempt, request.meta.get(RULES, ""))
        else:
            visit.attempts.append(attempt)


def _media_type(response: Response) -> str:
    value = response.headers.get("Content-Type") or b""
    return value.partition(b";")[0].strip().lower().decode("ascii", "replace")


class _OnDemand:
    """An endpoint that is only made for a connection: most requests find one that is open.

    To make it, the name is encoded letter by letter, and for TLS a context is.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def connect(self, factory: IProtocolFactory) -> Any:
        return self._make().connect(factory)


class _DirectAgent(_BindAddressAgent):
    def _getEndpoint(self, uri: URI) -> Any:
        return _OnDemand(lambda: super(_DirectAgent, self)._getEndpoint(uri))


class _Agent(_ScrapyAgent):
    def _get_agent(self, request: Request, timeout: float) -> Agent:
        agent = super()._get_agent(request, timeout)
        if type(agent) is _BindAddressAgent:  # else there is a proxy
            agent.__class__ = _DirectAgent
        return agent

    @staticmethod
    def _headers_from_twisted_response(response: TxResponse) -> Headers:
        headers: Headers | None = getattr(response, _HEADERS, None)
        if headers is None:  # else Scrapy asks again, for the response that it makes
            headers = _ScrapyAgent._headers_from_twisted_response(response)
            setattr(response, _HEADERS, headers)
        return headers

    def _cb_bodyready(self, txresponse: TxResponse, request: Request) -> Any:
        request.meta[_EXCHANGE] = getattr(txresponse, _EXCHANGE, None)
        return super()._cb_bodyready(txresponse, request)


class _Parser(_LenientHTTPClientParser):
    """Copies what it parses: the last head (after any 1xx response), and the body."""

    exchange: Exchange

    def lineReceived(self, line: bytes) -> None:
        if self.state == STATUS:
            self.exchange.head.clear()
        self.exchange.head += line + b"\n"
        super().lineReceived(line)

    def rawDataReceived(self, data: bytes) -> None:
        self.exchange.body.append(data)
        super().rawDataReceived(data)

    def _finished(self, rest: bytes) -> None:
        body = self.exchange.body
        if rest and body:  # bytes after the response's end, in the last piece
            body[-1] = body[-1][: -len(rest)]
        super()._finished(rest)


class _Protocol(BoundedProtocol):
    def request(self, request: TxRequest) -> Deferred[IResponse]:
        exchange = Exchange(_written(request))
        response = super().request(request)
        # Nothing is received before the event loop runs again, so the parser that Scrapy has
        # just put in can still be replaced, as Scrapy itself does.
        if self._parser is not None:
            self._parser.__class__ = _Parser
            vars(self._parser)["exchange"] = exchange

        def attach(received: IResponse) -> IResponse:
            setattr(received, _EXCHANGE, exchange)
            return received

        return response.addCallback(attach)


class _Written:
    """A transport that keeps what is written to it."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> None:
        self.data += data

    def writeSequence(self, pieces: Iterable[bytes]) -> None:
        self.data += b"".join(pieces)

    def registerProducer(self, producer: object, streaming: bool) -> None:
        pass

    def unregisterProducer(self) -> None:
        pass


def _written(request: TxRequest) -> bytes:
    """Return the bytes of a request. Scrapy's bodies can be written more than once."""
    transport = _Written()
    request.writeTo(transport)
    return bytes(transport.data)
