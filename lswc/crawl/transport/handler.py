"""Download handler: HTTP/1.1 on asyncio; it keeps all bytes, and ends early what isn't wanted."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.core.downloader.handlers._base_http import BaseHttpDownloadHandler
from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadTimeoutError,
    ResponseDataLossError,
    StopDownload,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers
from scrapy.utils._download_handlers import (
    check_stop_download,
    get_maxsize_msg,
    make_response,
    normalize_bind_address,
)
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.ssl import _make_ssl_context
from typing_extensions import override

from lswc.crawl.composition import parts_of
from lswc.crawl.requests import BROKEN_OFF, CUT, FILE, KNOCK, RENDERING, RULES, page_visit_of
from lswc.crawl.transport.answer import MAX_HEADS, Answer, Bounds, BrokenBodyError, CutBodyError
from lswc.crawl.transport.connection import PORTS, Connections, Place, proxy_of
from lswc.crawl.transport.resolver import addresses_of
from lswc.frontier.rules.visit import DISCONNECT, STOPPED, Attempt
from lswc.guest.robots_txt import MAX_SIZE
from lswc.safety.content_types import (
    Kind,
    document_named,
    file_name,
    has_other_signature,
    is_among,
    is_other_xml,
    is_text,
    may_be_html,
    may_begin_document,
)
from lswc.strategy import PageLanguage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from lswc.crawl.transport.connection import Connection
    from lswc.crawl.transport.encryption import Encryption
    from lswc.frontier.rules.visit import Exchange, Visit

_WITH_CONTENT = ("POST", "PUT", "PATCH")  # RFC 9110 §8.6: they say that they have none
_OLD_RENEGOTIATION = 0x4  # SSL_OP_LEGACY_SERVER_CONNECT, as Scrapy's own handler has it
# Scrapy's flags as ISO 28500:2017 §5.13 calls them.
_TRUNCATED = {"dataloss": DISCONNECT, "download_stopped": STOPPED, CUT: "length"}
_STOP = StopDownload(fail=False)


class AttemptHandler(BaseHttpDownloadHandler):
    """Downloads, notes every attempt, and its bytes if they are archived.

    A request's attempts belong to its visit; those of another (robots.txt) go to
    the archive.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        parts = parts_of(crawler)
        self._commits, self._archive = parts.commits, parts.archive
        self._admission, self._network = parts.guest.admission, parts.guest.network
        crawl = parts.crawl
        self._archives = crawl.archived != "none"
        self._max_document = crawl.max_document if crawl.reading.documents else None
        self._files = Files(crawl.files, crawl.max_file, crawl.archived == "all")
        self._bounds = _bounds(crawler.settings)
        context = _make_ssl_context(crawler.settings)
        context.options |= _OLD_RENEGOTIATION
        self._local = crawler.settings.get("DOWNLOAD_BIND_ADDRESS")
        self._connections = Connections(addresses_of, context, parts.handles.idle)

    @override
    async def download_request(self, request: Request) -> Response:
        attempt, visit = Attempt(_address(request), datetime.now(UTC)), page_visit_of(request)
        try:
            response, exchange, encryption = await self._exchanged(request, visit)
        except Exception as error:
            attempt.error = type(error).__name__
            self._note(request, visit, attempt)
            raise
        attempt.status = response.status
        attempt.protocol, attempt.cipher = encryption
        attempt.mime = _media_type(response)
        attempt.size = len(response.body)
        attempt.ip = str(response.ip_address)
        attempt.truncated = next((_TRUNCATED[f] for f in response.flags if f in _TRUNCATED), "")
        # An index knows URLs only: an answer to a POST would be given to who asks by GET.
        attempt.exchange = exchange if self._archives and request.method != "POST" else None
        self._note(request, visit, attempt)
        return response

    def _note(self, request: Request, visit: Visit | None, attempt: Attempt) -> None:
        if (knock := request.meta.get(KNOCK)) is not None:
            knock.append(attempt)
            return
        if visit is None and self._admission.is_blocked(request.url):
            return  # meanwhile
        if (rendering := request.meta.get(RENDERING)) is not None:
            rendering.visit.fetched.append(attempt)
        elif visit is None:
            self._archive.add(attempt, request.meta.get(RULES, ""))
        else:
            visit.attempts.append(attempt)

    async def _exchanged(
        self, request: Request, visit: Visit | None
    ) -> tuple[Response, Exchange, Encryption]:
        """Return a request's response, both as they were on the wire, and how that was encrypted.

        Raises what Scrapy's handlers raise.
        """
        timeout = request.meta.get("download_timeout")
        began = monotonic()
        try:
            async with asyncio.timeout(timeout or None):
                place, login = _place(request, self._local)
                answer = Answer(_written(request, place), self._bounds, request.method == "HEAD")
                after = began if KNOCK in request.meta else self._network.lied_until
                connection = await self._connections.to(place, login, after)
                try:
                    connection.ask(answer)
                    await answer.head()
                    request.meta["download_latency"] = monotonic() - began
                    response = await self._read(request, visit, answer)
                    return response, answer.exchange, answer.encryption
                finally:
                    self._end(place, connection, answer)
        except TimeoutError as error:
            raise DownloadTimeoutError(f"{request.url} took over {timeout} seconds") from error

    def _end(self, place: Place, connection: Connection, answer: Answer) -> None:
        if answer.is_whole and answer.keeps_alive:
            self._connections.keep(place, connection)
        else:
            connection.close()

    async def _read(self, request: Request, visit: Visit | None, answer: Answer) -> Response:
        """Read the body, as far as it is wanted."""
        headers = _headers(answer)
        said: dict[str, Any] = {
            "url": _address(request),
            "status": answer.status,
            "headers": headers,
            "certificate": answer.certificate,
            "ip_address": answer.address,
            "protocol": f"HTTP/{answer.version}",
        }
        expected = Expected(request, visit, self._max_document, self._files)
        length = answer.length
        stop = check_stop_download(
            signals.headers_received, self.crawler, request, headers=headers, body_length=length
        )
        if stop is not None or expected.refuses_head(headers, answer.status):
            return make_response(**said, stop_download=stop or _STOP)
        body, cut = bytearray(), list[str]()
        if not expected.is_cut:
            _check_size(length or 0, self._most(request), request, expected=True)
        try:
            while piece := await answer.piece():
                body += piece
                stop = check_stop_download(
                    signals.bytes_received, self.crawler, request, data=piece
                )
                if stop is None and expected.refuses(piece):
                    stop = _STOP
                if stop is not None:
                    break
                most = self._most(request)
                if expected.is_cut and len(body) > most:
                    del body[most:]
                    answer.exchange.body = [b"".join(answer.exchange.body)[:most]]
                    headers.pop("Content-Encoding", None)  # what is left can't be unpacked
                    cut = [CUT]
                    break
                _check_size(len(body), most, request, expected=False)
        except BrokenBodyError as error:
            if request.meta.get("download_fail_on_dataloss", self._fail_on_dataloss):
                raise ResponseDataLossError(str(error)) from error
            cut = ["dataloss", *([BROKEN_OFF] if isinstance(error, CutBodyError) else [])]
        said["flags"] = [*cut, *([FILE] if expected.is_file else [])]
        return make_response(**said, body=bytes(body), stop_download=stop)

    def _most(self, request: Request) -> int:
        most: int = request.meta.get(_LARGEST, self._default_maxsize)
        return most or sys.maxsize

    @override
    async def close(self) -> None:
        self._connections.close()


def _check_size(size: int, most: int, request: Request, *, expected: bool) -> None:
    if size > most:
        raise DownloadCancelledError(get_maxsize_msg(size, most, request, expected=expected))


def _headers(answer: Answer) -> Headers:
    headers = Headers(answer.headers)
    if answer.is_chunked:
        headers.pop("Content-Length", None)  # RFC 9112 §6.3: it doesn't count then
    return headers


def _place(request: Request, local: str | tuple[str, int] | None) -> tuple[Place, bytes | None]:
    """Return where a request goes, and what its proxy wants to hear.

    It comes from the address ``local``, unless it says another. Raises UnsupportedURLSchemeError.
    """
    url = urlparse_cached(request)
    if url.scheme not in PORTS:
        raise UnsupportedURLSchemeError(f"neither http nor https: {url.scheme}")
    local = normalize_bind_address(request.meta.get("bindaddress") or local or None)
    host, port = url.hostname or "", url.port or PORTS[url.scheme]
    proxy = request.meta.get("proxy")
    if not proxy:
        return Place(url.scheme, host, port, local=local), None
    login = request.headers.get("Proxy-Authorization")
    return Place(url.scheme, host, port, proxy_of(proxy), local), login


def _bounds(settings: BaseSettings) -> Bounds:
    """Return the bounds of an answer; what is between a body's chunks counts too."""
    names = ("DOWNLOAD_MAXSIZE", "LSWC_MAX_DOCUMENT", "LSWC_MAX_FILE")
    sizes = [settings.getint(name) for name in names]
    return Bounds(heads=MAX_HEADS, body=2 * max(sizes) if all(sizes) else 0)


def _address(request: Request) -> str:
    """Return a request's URL as far as its server sees it."""
    return request.url.partition("#")[0]


def _written(request: Request, place: Place) -> bytes:
    """Return the bytes of a request (RFC 9112 §3)."""
    is_passed_on = place.proxy is not None and place.scheme == "http"
    url, host = _address(request), urlparse_cached(request).netloc.rpartition("@")[2]
    host = host.removesuffix(f":{PORTS[place.scheme]}")
    target = url if is_passed_on else _path(url)
    lines = [f"{request.method} {target} HTTP/1.1".encode(), b"Host: " + host.encode()]
    for name, values in dict.items(request.headers):  # Headers looks each name up once more
        if is_passed_on or name != b"Proxy-Authorization":
            lines += (name + b": " + b" ".join(value.splitlines()) for value in values)
    is_sent = request.body or request.method in _WITH_CONTENT
    if is_sent and b"Content-Length" not in request.headers:
        lines.append(b"Content-Length: %d" % len(request.body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + request.body


def _path(url: str) -> str:
    rest = url.partition("://")[2]
    slash = rest.find("/")
    return rest[slash:] if slash >= 0 else "/"


def _media_type(response: Response) -> str:
    value = response.headers.get("Content-Type") or b""
    return value.partition(b";")[0].strip().lower().decode("ascii", "replace")


_LARGEST = "download_maxsize"


class Files(NamedTuple):
    """Which linked files are archived: their media types, their bytes; or all that there are."""

    types: Sequence[str]
    most: int
    all: bool


class Expected:
    """What the answer to a request may be: asked once its head is here, and for each piece.

    ``visit`` is that of a request for its page, None for another.

    The body of a page must be HTML, or a document of up to ``max_document`` bytes, if that isn't
    None. Status and headers still count: a redirect is followed, an error is counted as one. What
    an archived page needs besides may be anything. Of a server's rules no more is read than counts.
    """

    def __init__(
        self,
        request: Request,
        visit: Visit | None,
        max_document: int | None,
        files: Files,
    ) -> None:
        self._request, self._max_document, self._files = request, max_document, files
        self._visit = visit
        self._left = MAX_SIZE if RULES in request.meta else None
        self._is_first = visit is not None and visit.is_page
        self._content_type = self._name = ""
        self._is_plain_text = self._is_packed = self._is_xml = False
        # A page shows it in part.
        self.is_cut = visit is not None and not visit.is_page and visit.lease.is_requisite
        self.is_file = False
        self._status = 0

    def refuses_head(self, headers: Headers, status: int) -> bool:
        """Tell whether the headers of a page say that it is none, or nobody waits for it."""
        self._content_type = b", ".join(headers.getlist("Content-Type")).decode("latin-1")
        self._status = status
        if self.is_cut and is_among(self._content_type, self._files.types):
            self._request.meta[_LARGEST] = self._files.most
        if self._has_ended or not self._is_first:
            return self._has_ended
        self._is_xml = "xml" in self._content_type
        disposition = (headers.get("Content-Disposition") or b"").decode("latin-1")
        path = self._request.url.partition("?")[0]
        self._name = file_name({"content-disposition": [disposition]} if disposition else {}, path)
        kind = document_named(self._content_type, self._name)
        self._is_packed = b"Content-Encoding" in headers
        self._is_plain_text = kind is Kind.TEXT
        meta = self._request.meta
        meta.pop(_LARGEST, None)  # of an earlier try
        if self._max_document is not None and kind is not None:
            meta[_LARGEST] = self._max_document
            return False
        return not may_be_html(self._content_type) and not self._takes_file()

    def _takes_file(self) -> bool:
        """Take what is no page as a file, if it is to be archived; tell whether it is."""
        lease = self._visit.lease if self._visit is not None else None
        is_linked = lease is not None and lease.inherited == PageLanguage.TARGET
        if (
            not (is_linked or self._files.all)
            or self._status >= 300
            or not is_among(self._content_type, self._files.types)
        ):
            return False
        self._request.meta[_LARGEST] = self._files.most
        self.is_file = self.is_cut = True
        return True

    def refuses(self, piece: bytes) -> bool:
        """Tell whether a page's first bytes are another format's, or nobody waits for it.

        A body may be compressed here, so gzip's own signature says nothing.
        """
        if self._left is not None:
            self._left -= len(piece)
            return self._left <= 0
        if self._has_ended or not self._is_first:
            return self._has_ended
        self._is_first = False
        if self.is_file:
            return False
        # Servers call plain text what they don't know.
        is_none = self._is_other(piece) or (
            not self._is_packed
            and (
                (self._is_plain_text and not is_text(piece))
                or (self._is_xml and is_other_xml(self._content_type, piece))
            )
        )
        return is_none and not self._takes_file()

    @property
    def _has_ended(self) -> bool:
        """Whether what comes is nobody's any more: its place was blocked, say."""
        return self._visit is not None and self._visit.is_over

    def _is_other(self, piece: bytes) -> bool:
        if not has_other_signature(piece):
            return False
        documents = self._max_document is not None
        return not (documents and may_begin_document(self._content_type, self._name, piece))
