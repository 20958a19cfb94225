"""Early end of a download: of what is neither HTML nor a document, or wanted no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.crawl.requests import RULES
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
    from scrapy import Request
    from scrapy.http import Headers

    from lswc.frontier.visit import Visit

_LARGEST = "download_maxsize"


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
    ) -> None:
        self._request, self._max_document = request, max_document
        self._visit = visit
        self._left = MAX_SIZE if RULES in request.meta else None
        self._is_first = visit is not None and visit.is_page
        self._content_type = self._name = ""
        self._is_plain_text = False

    def refuses_head(self, headers: Headers) -> bool:
        """Tell whether the headers of a page say that it is none, or nobody waits for it."""
        if self._has_ended or not self._is_first:
            return self._has_ended
        self._content_type = (headers.get("Content-Type") or b"").decode("latin-1")
        disposition = (headers.get("Content-Disposition") or b"").decode("latin-1")
        path = self._request.url.partition("?")[0]
        self._name = file_name({"content-disposition": [disposition]} if disposition else {}, path)
        kind = document_named(self._content_type, self._name)
        self._is_plain_text = kind is Kind.TEXT and b"Content-Encoding" not in headers
        meta = self._request.meta
        meta.pop(_LARGEST, None)  # of an earlier try
        if self._max_document is not None and kind is not None:
            meta[_LARGEST] = self._max_document
            return False
        return not may_be_html(self._content_type)

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
        # Servers call plain text what they don't know.
        return self._is_other(piece) or (self._is_plain_text and not is_text(piece))

    @property
    def _has_ended(self) -> bool:
        """Whether what comes is nobody's any more: its place was blocked, say."""
        return self._visit is not None and self._visit.is_over

    def _is_other(self, piece: bytes) -> bool:
        if not has_other_signature(piece):
            return False
        documents = self._max_document is not None
        return not (documents and may_begin_document(self._content_type, self._name, piece))
