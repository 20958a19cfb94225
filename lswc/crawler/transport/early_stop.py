"""What isn't HTML, or no longer wanted, is dropped as soon as that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import StopDownload

from lswc.crawler.requests import RULES, page_visit_of
from lswc.crawler.running import RunningCrawl, running_of
from lswc.safety.content import has_other_signature, may_be_html
from lswc.safety.robots import MAX_SIZE

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

_SEEN = "lswc_bytes_seen"
_BYTES = "lswc_bytes"


class ContentExtension:
    """Stops downloads of what isn't HTML, by its header or by its first bytes.

    Status and headers still count: a redirect is followed, an error is counted as one. What an
    archived page needs besides may be anything.
    """

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(running_of(crawler))
        crawler.signals.connect(extension.headers_received, signals.headers_received)
        crawler.signals.connect(extension.bytes_received, signals.bytes_received)
        return extension

    def _stop_if_ended(self, request: Request) -> None:
        """Raise StopDownload if what comes is nobody's any more: its place was blocked, say."""
        visit = page_visit_of(request)
        if visit is not None and not self._running.is_under_way(visit):
            raise StopDownload(fail=False)

    def headers_received(self, headers: Headers, request: Request) -> None:
        """Raise StopDownload if the headers of a page say that it is none."""
        self._stop_if_ended(request)
        content_type = (headers.get("Content-Type") or b"").decode("latin-1")
        if _is_of_page(request) and not may_be_html(content_type):
            raise StopDownload(fail=False)

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Raise StopDownload if a page's first bytes are another format's.

        A body may be compressed here, so gzip's own signature says nothing. Of a server's
        rules no more is read than counts.
        """
        self._stop_if_ended(request)
        if RULES in request.meta:
            request.meta[_BYTES] = request.meta.get(_BYTES, 0) + len(data)
            if request.meta[_BYTES] >= MAX_SIZE:
                raise StopDownload(fail=False)
            return
        if not _is_of_page(request) or request.meta.get(_SEEN):
            return
        request.meta[_SEEN] = True
        if has_other_signature(data):
            raise StopDownload(fail=False)


def _is_of_page(request: Request) -> bool:
    visit = page_visit_of(request)
    return visit is not None and visit.lease.is_page
