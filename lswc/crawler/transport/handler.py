"""The download handler: HTTP/1.1 on asyncio, that keeps the bytes of every exchange."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.core.downloader.handlers._base_streaming import (
    BaseStreamingDownloadHandler,
    _BaseResponseArgs,
)
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Headers
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.ssl import _make_ssl_context
from typing_extensions import override

from lswc.crawler.requests import RENDERING, RULES, page_visit_of
from lswc.crawler.running import running_of
from lswc.crawler.transport.answer import Answer, Bounds, BrokenBodyError
from lswc.crawler.transport.connection import Connections, Place
from lswc.visit.attempt import Attempt

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from lswc.crawler.transport.connection import Connection

_EXCHANGE = "lswc_exchange"
_PORTS = {"http": 80, "https": 443}
_OLD_RENEGOTIATION = 0x4  # SSL_OP_LEGACY_SERVER_CONNECT, as Scrapy's own handler has it
# Scrapy's flags as ISO 28500:2017 §5.13 calls them.
_TRUNCATED = {"dataloss": "disconnect", "download_stopped": "unspecified"}


class AttemptHandler(BaseStreamingDownloadHandler[Answer]):
    """Downloads, notes every attempt, and its bytes if they are archived.

    A request's attempts belong to its visit; those of another (robots.txt) go to
    the archive.
    """

    _DEFAULT_CONNECT_TIMEOUT = 0  # none, without DOWNLOAD_TIMEOUT

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._running = running_of(crawler)
        self._archives = self._running.crawl.archived != "none"
        self._bounds = _bounds(crawler.settings)
        context = _make_ssl_context(crawler.settings)
        context.options |= _OLD_RENEGOTIATION
        idle = self._running.handles.idle
        self._connections = Connections(context, idle, self._bind_address)

    @override
    async def download_request(self, request: Request) -> Response:
        attempt = Attempt(request.url, datetime.now(UTC))
        try:
            response = await super().download_request(request)
        except Exception as error:
            request.meta.pop(_EXCHANGE, None)
            attempt.error = type(error).__name__
            self._note(request, attempt)
            raise
        attempt.status = response.status
        attempt.mime = _media_type(response)
        attempt.size = len(response.body)
        attempt.ip = str(response.ip_address or "")
        attempt.truncated = next((_TRUNCATED[f] for f in response.flags if f in _TRUNCATED), "")
        exchange = request.meta.pop(_EXCHANGE)
        attempt.exchange = exchange if self._archives else None
        self._note(request, attempt)
        return response

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

    @override
    @asynccontextmanager
    async def _make_request(self, request: Request, timeout: float) -> AsyncIterator[Answer]:
        place, login = self._place(request)
        target = _target(request.url)
        if place.proxy is not None and place.scheme == "http":
            target = request.url.partition("#")[0]
        bare = request.method == "HEAD"
        try:
            async with asyncio.timeout(timeout or None):
                connection = await self._connections.to(place, login)
                answer = Answer(_written(request, target), self._bounds, bare=bare)
                try:
                    connection.ask(answer)
                    await answer.head()
                    request.meta[_EXCHANGE] = answer.exchange
                    yield answer
                finally:
                    self._end(place, connection, answer)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"{request.url} took over {timeout} seconds") from error

    def _end(self, place: Place, connection: Connection, answer: Answer) -> None:
        if answer.is_whole and answer.keeps_alive:
            self._connections.keep(place, connection)
        else:
            connection.close()

    def _place(self, request: Request) -> tuple[Place, bytes | None]:
        """Return where a request goes, and what its proxy wants to hear."""
        url = urlparse_cached(request)
        port = url.port or _PORTS[url.scheme]
        proxy, login = self._extract_proxy(request)
        if proxy is None:
            return Place(url.scheme, url.hostname or "", port), None
        by = urlsplit(proxy)
        through = by.hostname or "", by.port or _PORTS["http"]
        said = login.encode() if login else None
        return Place(url.scheme, url.hostname or "", port, through), said

    @staticmethod
    @override
    def _extract_headers(response: Answer) -> Headers:
        headers = Headers(response.headers)
        if response.is_chunked:
            headers.pop("Content-Length", None)  # RFC 9112 §6.3: it doesn't count then
        return headers

    @staticmethod
    @override
    def _build_base_response_args(
        response: Answer, request: Request, headers: Headers
    ) -> _BaseResponseArgs:
        return {
            "status": response.status,
            "url": request.url.partition("#")[0],
            "headers": headers,
            "certificate": response.certificate,
            "ip_address": response.address,
            "protocol": f"HTTP/{response.version}",
        }

    @staticmethod
    @override
    def _iter_body_chunks(response: Answer) -> AsyncIterator[bytes]:
        return response.pieces()

    @staticmethod
    @override
    def _is_dataloss_exception(exc: Exception) -> bool:
        return isinstance(exc, BrokenBodyError)

    @override
    async def close(self) -> None:
        self._connections.close()


def _bounds(settings: BaseSettings) -> Bounds:
    """Return the bounds of an answer; what is between a body's chunks counts too."""
    heads = settings.getint("LSWC_MAX_HEADERS_SIZE")
    sizes = settings.getint("DOWNLOAD_MAXSIZE"), settings.getint("LSWC_MAX_DOCUMENT")
    return Bounds(heads, 2 * max(sizes) if all(sizes) else 0)


def _target(url: str) -> str:
    """Return a URL's path and query, as a request's first line has them (RFC 9112 §3.2.1)."""
    rest = url.partition("#")[0].partition("://")[2]
    slash = rest.find("/")
    return rest[slash:] if slash >= 0 else "/"


def _written(request: Request, target: str) -> bytes:
    """Return the bytes of a request."""
    host = urlparse_cached(request).netloc.rpartition("@")[2]
    lines = [f"{request.method} {target} HTTP/1.1".encode(), b"Host: " + host.encode()]
    for name, values in request.headers.items():
        lines += (name + b": " + b" ".join(value.splitlines()) for value in values)
    if request.body:
        lines.append(b"Content-Length: %d" % len(request.body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + request.body


def _media_type(response: Response) -> str:
    value = response.headers.get("Content-Type") or b""
    return value.partition(b";")[0].strip().lower().decode("ascii", "replace")
