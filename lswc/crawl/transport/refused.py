"""Refusals: the ends of requests by a limit of the crawl's own, and bounded decompression."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import brotli
from backports import zstd
from scrapy.downloadermiddlewares import httpcompression
from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached
from typing_extensions import override

from lswc.crawl.checked_settings import whole
from lswc.crawl.placement import only_for_crawls
from lswc.crawl.requests import RULES
from lswc.crawl.transport.answer import HeadersTooLargeError
from lswc.guest.robots_txt import MAX_SIZE
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

MAX_ENCODINGS = 3
"""Encodings of a body one in another; each may take as long as a body of DOWNLOAD_MAXSIZE."""

_ENCODINGS = frozenset({*ACCEPTED_ENCODINGS, b"x-gzip"})


class Refused(IgnoreRequest):
    """A limit was hit."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class RefusalMiddleware:
    """Downloader middleware: names the limit that a download failed by, and spares the retries.

    It also takes out of the headers what Scrapy would only log.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._longest = whole(crawler.settings, "URLLENGTH_LIMIT")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        only_for_crawls(crawler)
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Raise Refused for headers that would take long to obey."""
        location = response.headers.get("Location") or b""
        if 0 < self._longest < len(location) and response.status // 100 == 3:
            raise Refused(Outcome.URL_TOO_LONG)
        _check_encodings(response.headers)
        response.headers.pop("Referrer-Policy", None)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Raise Refused instead of an error that a limit is behind."""
        reason = _reason(request, exception)
        if reason is not None:
            raise Refused(reason) from exception


def _check_encodings(headers: Headers) -> None:
    """Take out unknown encodings, as browsers do. Raises Refused for too many."""
    values = headers.getlist("Content-Encoding")
    named = [name.strip().lower() for value in values for name in value.split(b",")]
    known = [name for name in named if name in _ENCODINGS]
    if len(known) > MAX_ENCODINGS:
        raise Refused(Outcome.TOO_MANY_ENCODINGS)
    if len(known) < len(named):
        headers["Content-Encoding"] = known


def _reason(request: Request, exception: Exception) -> Outcome | None:
    if isinstance(exception, DownloadCancelledError):
        return Outcome.TOO_LARGE
    if isinstance(exception, HeadersTooLargeError):
        return Outcome.HEADERS_TOO_LARGE
    return address_refusal(request, exception)


def address_refusal(request: Request, exception: Exception) -> Outcome | None:
    """Return why the crawl itself refuses all addresses of a request's host, if it does.

    A proxy looks the name up itself.
    """
    if not isinstance(exception, CannotResolveHostError) or "proxy" in request.meta:
        return None
    from twisted.internet import reactor  # not above: importing it installs one

    url = urlparse_cached(request)
    port = url.port or (443 if url.scheme == "https" else 80)
    refusals = getattr(reactor.nameResolver, "refusals", {})
    reason: Outcome | None = refusals.get((url.hostname, port))
    return reason


MAX_PIECES = 1_000
"""Members of gzip (RFC 1952 §2.2) or frames of Zstandard (RFC 8878 §3.1) in a body.

One takes longer to open than a thousand bytes to unpack, and empty ones never reach a size.
"""

_STARTS = {
    b"gzip": re.compile(rb"\x1f\x8b\x08"),
    b"x-gzip": re.compile(rb"\x1f\x8b\x08"),
    b"zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
}


class CompressionMiddleware(httpcompression.HttpCompressionMiddleware):
    """Refuses bodies in too many pieces; of a robots.txt it unpacks what counts."""

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler) -> Self:
        only_for_crawls(crawler)
        return super().from_crawler(crawler)

    @override
    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if RULES in request.meta:
            body = response.body
            named = b",".join(response.headers.getlist("Content-Encoding")).split(b",")
            for encoding in reversed(named):
                body = _first_bytes(body, encoding.strip().lower(), MAX_SIZE)
            response.headers.pop("Content-Encoding", None)
            return response.replace(body=body)
        return super().process_response(request, response)

    @staticmethod
    @override
    def _decode(body: bytes, encoding: bytes, max_size: int) -> bytes:
        starts = _STARTS.get(encoding)
        if starts is not None and len(starts.findall(body)) > MAX_PIECES:
            raise Refused(Outcome.TOO_MANY_PIECES)
        return httpcompression.HttpCompressionMiddleware._decode(body, encoding, max_size)


def _first_bytes(body: bytes, encoding: bytes, most: int) -> bytes:
    """Unpack the first bytes of a body. Raises the libraries' errors for a broken one."""
    match encoding:
        case b"gzip" | b"x-gzip" | b"deflate":
            return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, most)
        case b"br":
            unpacked: bytes = brotli.Decompressor().process(body, output_buffer_limit=most)
            return unpacked[:most]
        case b"zstd":
            return zstd.ZstdDecompressor().decompress(body, most)
    return body[:most]
