"""WARC files (ISO 28500): the pages in them that are in the language.

Text files of Common Crawl (WET) name their languages themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastwarc import ArchiveIterator, WarcRecordType

from lswc.language.codes import code_of
from lswc.seeds.candidates import Candidate, SeedError
from lswc.seeds.sources import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastwarc import WarcRecord

    from lswc.seeds.candidates import Asked

_BODY = 1 << 19  # bytes of a page that tell its language
_KINDS = WarcRecordType.response | WarcRecordType.conversion
_HTML = ("text/html", "application/xhtml+xml")


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the pages of a WARC file in one of the languages. Raises SeedError."""
    with opened(path, asked.say) as file:
        try:
            for record in ArchiveIterator(file, _KINDS, parse_http=True, auto_decode="all"):
                url = (record.headers.get("WARC-Target-URI") or "").strip("<>")
                code, reason = _told(record, url, asked)
                if code is None:
                    asked.passed[reason] += 1
                else:
                    yield Candidate(url, language=code)
        except ValueError as error:
            raise SeedError(f"{path} is damaged: {error}") from error


def _told(record: WarcRecord, url: str, asked: Asked) -> tuple[str | None, str]:
    """Return a record's language, or None and why there is none."""
    if record.record_type == WarcRecordType.conversion:
        said = record.headers.get("WARC-Identified-Content-Language") or ""
        code = code_of(said.partition(",")[0])
        return code if code in asked.codes else None, "another language"
    status = record.http_headers.status_code if record.http_headers else None
    if status != 200:
        return None, f"status {status}" if status in range(100, 600) else "no status"
    header = record.http_headers.get("Content-Type") or ""
    if header and header.partition(";")[0].strip().lower() not in _HTML:
        return None, "not HTML"
    return asked.tell(record.reader.read(_BODY), header, url), "another language"
