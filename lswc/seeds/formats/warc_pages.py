"""WARC files (ISO 28500): the pages in them that are in the language.

Text files of Common Crawl (WET) name their languages themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastwarc import WarcRecordType

from lswc.archive.warc_reading import Record, Records
from lswc.language.registry import code_of
from lswc.safety.content_types import declared_type
from lswc.seeds.candidates import Candidate, SeedError
from lswc.seeds.sources import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked

_BODY = 1 << 19  # bytes of a page that tell its language
_KINDS = WarcRecordType.response | WarcRecordType.conversion
_HTML = ("text/html", "application/xhtml+xml")


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the pages of a WARC file in one of the languages. Raises SeedError.

    A record that can't be read is one that is passed over.
    """
    with opened(path, asked.say, unpack=False) as file:
        records = Records(file, _KINDS, _BODY)
        for record in records:
            code, reason = _told(record, asked)
            if code is None:
                asked.passed[reason] += 1
            else:
                yield Candidate(record.url, language=code)
        if not records.read:
            raise SeedError(f"{path} has no page that can be read")
        if records.unreadable:
            asked.passed["unreadable record"] += records.unreadable


def _told(record: Record, asked: Asked) -> tuple[str | None, str]:
    """Return a record's language, or None and why there is none."""
    if record.type == WarcRecordType.conversion:
        said = record.headers.get("warc-identified-content-language", "")
        code = code_of(said.partition(",")[0])
        return code if code in asked.codes else None, "another language"
    response = record.response()
    if response.status != 200:
        known = response.status in range(100, 600)
        return None, f"status {response.status}" if known else "no status"
    header = declared_type({"content-type": [response.get("Content-Type") or ""]})
    if header and header.partition(";")[0] not in _HTML:
        return None, "not HTML"
    return asked.tell(response.content(_BODY), header, record.url), "another language"
