"""Archive files (WARC, ARC, WACZ): the pages in them that are in the language.

Text files of Common Crawl (WET) name their languages themselves.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from fastwarc import WarcRecordType

from lswc.archive.appended_files import ArchiveError
from lswc.archive.captures import Captures
from lswc.archive.volumes import volumes_of
from lswc.language.registry import code_of
from lswc.safety.content_types import declared_type
from lswc.seeds.candidates import Candidate, SeedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.archive.captures import Capture
    from lswc.archive.warc_reading import Record
    from lswc.seeds.candidates import Asked

_BODY = 1 << 19  # bytes of a page that tell its language
_HTML = ("text/html", "application/xhtml+xml")


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the pages of an archive file in one of the languages. Raises SeedError.

    A record that can't be read is one that is passed over.
    """
    try:
        yield from _read(path, asked)
    except (OSError, ArchiveError) as error:
        raise SeedError(str(error)) from error


def _read(path: Path, asked: Asked) -> Iterator[Candidate]:
    with closing(Captures(volumes_of(path), _BODY)) as captures:
        for record, capture in captures:
            asked.say(path.name, record.place, path.stat().st_size)
            code, reason = _told(record, captures, capture, asked)
            if code is None:
                asked.passed[reason] += 1
            else:
                yield Candidate(record.url, language=code)
    if not captures.read:
        raise SeedError(f"{path} has no page that can be read")
    if captures.unreadable:
        asked.passed["unreadable record"] += captures.unreadable
    if captures.unresolved:
        asked.passed["revisit of what isn't there"] += captures.unresolved


def _told(
    record: Record, captures: Captures, capture: Capture, asked: Asked
) -> tuple[str | None, str]:
    """Return a record's language, or None and why there is none."""
    if record.type == WarcRecordType.conversion:
        value = record.headers.get("warc-identified-content-language", "")
        code = code_of(value.partition(",")[0])
        return code if code in asked.codes else None, "another language"
    response = captures.response(capture, _BODY) if capture.payload else record.response()
    if response is None:
        return None, "unreadable record"
    if response.status != 200:
        known = response.status in range(100, 600)
        return None, f"status {response.status}" if known else "no status"
    header = declared_type({"content-type": [response.get("Content-Type") or ""]})
    if header and header.partition(";")[0] not in _HTML:
        return None, "not HTML"
    return asked.tell(response.content(_BODY), header, record.url), "another language"
