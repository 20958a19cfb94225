"""Full texts: what the archived pages of a crawl say, to be searched in a WACZ file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.corpus.stored_pages import PAGE_BYTES, StoredPages
from lswc.language.charset import decode
from lswc.reading.documents.separate_process import DocumentProcess
from lswc.reading.documents.text import Most
from lswc.reading.main_text.paragraphs import read
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.corpus.stored_pages import Stored

_SECONDS = 12.0  # of CPU, for the pages of one PDF


def texts(crawl: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the URL of each page of a crawl, the number of its visit, and what it says.

    Of a page that is a copy, nothing. Raises ArchiveError.
    """
    if not any((crawl / "warc").glob("*.warc.gz")):
        return
    with DocumentProcess() as documents:
        for page in StoredPages(crawl):
            if page.body is not None:
                yield page.url, page.visit, _text(page, page.body, documents)


def _text(page: Stored, body: bytes, documents: DocumentProcess) -> str:
    if page.kind is not Kind.HTML:
        most = Most(text=PAGE_BYTES, size=PAGE_BYTES, seconds=_SECONDS)
        found = documents.read(page.kind, body, page.content_type or "", most)
        return " ".join(found.text.split())
    html = decode(body[:PAGE_BYTES], page.content_type).text
    return " ".join(block.text for block in read(html, page.url).paragraphs)
