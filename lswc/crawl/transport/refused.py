"""Refusals: the ends of requests by a limit of the crawl's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached

from lswc.crawl.checked_settings import whole
from lswc.crawl.transport.answer import HeadersTooLargeError
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
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
    """Return why the crawl itself refuses all addresses of a request's host, if it does."""
    if not isinstance(exception, CannotResolveHostError):
        return None
    from twisted.internet import reactor  # not above: importing it installs one

    url = urlparse_cached(request)
    port = url.port or (443 if url.scheme == "https" else 80)
    refusals = getattr(reactor.nameResolver, "refusals", {})
    reason: Outcome | None = refusals.get((url.hostname, port))
    return reason
