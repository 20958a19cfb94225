"""The ends of requests that a limit of the crawl's refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached

from lswc.safety.handler import HeadersTooLargeError

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class Refused(IgnoreRequest):
    """A limit was hit; ``str()`` is the reason that the frontier counts."""


class RefusalMiddleware:
    """Downloader middleware: names the limit that a download failed by, and spares the retries."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls()

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Raise Refused instead of an error that a limit is behind."""
        reason = _reason(request, exception)
        if reason is not None:
            raise Refused(reason) from exception


def _reason(request: Request, exception: Exception) -> str | None:
    if isinstance(exception, DownloadCancelledError):
        return "too large"
    causes = getattr(exception.__cause__, "reasons", ())
    if any(failure.check(HeadersTooLargeError) for failure in causes):
        return "headers too large"
    return _address_refusal(request) if isinstance(exception, CannotResolveHostError) else None


def _address_refusal(request: Request) -> str | None:
    from twisted.internet import reactor  # not above: importing it installs one

    url = urlparse_cached(request)
    port = url.port or (443 if url.scheme == "https" else 80)
    refusals = getattr(reactor.nameResolver, "refusals", {})
    reason: str | None = refusals.get((url.hostname, port))
    return reason
