"""Repair of WARC files: what is torn in them, and what is taken out with its lines in the index."""

from __future__ import annotations

import json
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.appended_files import replace
from lswc.archive.cdxj import index, index_of, page_of
from lswc.errors import writing

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from lswc.archive.appended_files import Aside

TAIL = 1_000_000
"""Bytes at the end of a WARC file that a power cut may have spoilt: a start reads them."""


def is_whole(warc: Path, entry: Mapping[str, str]) -> bool:
    """Tell whether a WARC file holds the record that an index entry leads to, undamaged."""
    try:
        with warc.open("rb") as file:
            file.seek(int(entry["offset"]))
            data = file.read(int(entry["length"]))
        member = zlib.decompressobj(31)
        record = member.decompress(data)
    except (OSError, ValueError, KeyError, zlib.error):
        return False
    return member.eof and f"\r\nWARC-Target-URI: {entry['url']}\r\n".encode() in record[:65_536]


def is_described(warc: Path, begin: int, end: int | None) -> bool:
    """Tell whether a WARC file has a whole metadata record from ``begin`` on, before ``end``.

    Between a page and the next one stand the other records of its exchange; None: to the end.
    """
    try:
        with warc.open("rb") as file:
            file.seek(begin)
            data = file.read(-1 if end is None else max(0, end - begin))
        while data:
            member = zlib.decompressobj(31)
            record = member.decompress(data)
            if member.eof and b"\r\nWARC-Type: metadata\r\n" in record[:65_536]:
                return True
            data = member.unused_data
    except (OSError, zlib.error):
        return False
    return False


def damaged(warc: Path, cdxj: Path) -> int:
    """Return how many records of the last megabyte of a WARC file aren't whole."""
    size = warc.stat().st_size if warc.exists() else 0
    found = (entry for _, entry in index(cdxj) if entry is not None)
    near = (entry for entry in found if size - TAIL < int(entry["offset"]) < size)
    return sum(not is_whole(warc, entry) for entry in near)


class _Span(NamedTuple):
    """An exchange in a WARC file: the bytes of its records, and its line in the index."""

    begin: int
    end: int
    line: bytes
    entry: dict[str, str]


def take_out(crawl: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep the records about URLs, and torn ones, aside. Raises LswcError."""
    for warc in sorted((crawl / "warc").glob("*.warc.gz")):
        cdxj = index_of(warc)
        if cdxj.exists():
            _take_out(warc, cdxj, urls, aside)
        else:
            aside.move(warc)
    for cdxj in (crawl / "warc").glob("*.cdxj"):
        if not cdxj.with_suffix(".warc.gz").exists():
            aside.move(cdxj)


def _take_out(warc: Path, cdxj: Path, urls: Collection[str], aside: Aside) -> None:
    with writing(warc):
        found = list(index(cdxj))
        spans = _spans(warc, [(line, entry) for line, entry in found if entry is not None])
        begin = spans[0].begin if spans else _exchange_end(warc, 0)
        kept = [span for span in spans if page_of(span.entry) not in urls and span.end]
        written, at = [], begin
        for span in kept:
            written.append(_moved(span, at))
            at += span.end - span.begin
        if at == warc.stat().st_size and len(kept) == len(found):
            return
        _copy(warc, [(0, begin), *((span.begin, span.end) for span in kept)], aside)
        new = cdxj.with_suffix(".new")
        new.write_bytes(b"".join(sorted(written)))
        aside.keep(cdxj.name, cdxj.read_bytes())
        replace(cdxj, new)


def _spans(warc: Path, found: list[tuple[bytes, dict[str, str]]]) -> list[_Span]:
    """Return the exchanges of a file in their order; ``end`` is 0 if one isn't whole."""
    size = warc.stat().st_size
    found.sort(key=lambda pair: int(pair[1]["offset"]))
    begins = [int(entry["offset"]) for _, entry in found]
    spans = []
    for (line, entry), (begin, following) in zip(found, pairwise([*begins, size]), strict=True):
        if begin + int(entry["length"]) > size:
            end = 0
        elif following < size:
            end = following
        else:  # the last that is whole: nothing says where its other records end
            end = _exchange_end(warc, begin)
        spans.append(_Span(begin, end, line, entry))
    return spans


def _exchange_end(warc: Path, begin: int) -> int:
    """Return where the records end that belong to the one which begins at ``begin``.

    0 if even that one is torn. Those of an exchange follow its response.
    """
    with warc.open("rb") as file:
        file.seek(begin)
        data = file.read()
    at = 0
    while at < len(data):
        member = zlib.decompressobj(31)
        try:
            record = member.decompress(data[at:])
        except zlib.error:
            break
        if not member.eof or (at and b"\r\nWARC-Concurrent-To: " not in record[:65_536]):
            break
        at = len(data) - len(member.unused_data)
    return begin + at if at else 0


def _moved(span: _Span, offset: int) -> bytes:
    """Return the index line of an exchange that is now elsewhere in its file."""
    key, timestamp, _ = span.line.split(b" ", 2)
    fields = {name: value for name, value in span.entry.items() if name != "timestamp"}
    return b" ".join(
        (key, timestamp, json.dumps(fields | {"offset": str(offset)}).encode() + b"\n")
    )


def _copy(warc: Path, kept: list[tuple[int, int]], aside: Aside) -> None:
    """Write a WARC file anew with parts of it; keep the others aside."""
    new = warc.with_name(warc.name + ".new")
    with warc.open("rb") as old, new.open("wb") as file, aside.new(warc.name).open("wb") as out:
        at = 0
        for begin, end in [*kept, (size := warc.stat().st_size, size)]:
            out.write(old.read(begin - at))
            file.write(old.read(end - begin))
            at = end
    replace(warc, new)
