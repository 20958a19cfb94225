"""What is neither HTML nor a document, or no longer wanted, is dropped as soon as that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals
from scrapy.exceptions import StopDownload

from lswc.crawl.requests import RULES, page_visit_of
from lswc.crawl.running import RunningCrawl, running_of
from lswc.guest.robots_txt import MAX_SIZE
from lswc.safety.content_types import (
    Kind,
    document_named,
    file_name,
    has_other_signature,
    is_text,
    may_be_html,
    may_begin_document,
)

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

_SEEN = "lswc_bytes_seen"
_BYTES = "lswc_bytes"
_SAID = "lswc_said"


class ContentExtension:
    """Stops downloads of what isn't wanted as a page, by its header or by its first bytes.

    Status and headers still count: a redirect is followed, an error is counted as one. What an
    archived page needs besides may be anything.
    """

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running
        self._wants_documents = running.crawl.reading.documents
        self._max_document = running.crawl.max_document

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
        if not _is_of_page(request):
            return
        said = _Said.of(headers, request.url)
        request.meta[_SAID] = said
        wanted = self._wants_documents and document_named(said.content_type, said.name)
        if not may_be_html(said.content_type) and not wanted:
            raise StopDownload(fail=False)
        request.meta.pop("download_maxsize", None)  # of an earlier try
        if wanted:
            request.meta["download_maxsize"] = self._max_document

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
        said: _Said = request.meta[_SAID]
        wanted = self._wants_documents and may_begin_document(said.content_type, said.name, data)
        if (has_other_signature(data) and not wanted) or said.denies(data):
            raise StopDownload(fail=False)


class _Said(NamedTuple):
    """What the headers of a response say of its body, and whether that comes as it is."""

    content_type: str
    name: str
    is_plain: bool

    @classmethod
    def of(cls, headers: Headers, url: str) -> _Said:
        content_type = (headers.get("Content-Type") or b"").decode("latin-1")
        disposition = (headers.get("Content-Disposition") or b"").decode("latin-1")
        path = url.partition("?")[0]
        name = file_name({"content-disposition": [disposition]} if disposition else {}, path)
        return cls(content_type, name, b"Content-Encoding" not in headers)

    def denies(self, data: bytes) -> bool:
        """Tell whether what is called plain text isn't: servers do so with what they don't know."""
        is_called_text = document_named(self.content_type, self.name) is Kind.TEXT
        return is_called_text and self.is_plain and not is_text(data)


def _is_of_page(request: Request) -> bool:
    visit = page_visit_of(request)
    return visit is not None and visit.lease.is_page
