"""``pages.jsonl``: a line of JSON per page. A long record has closed parts before it."""

from __future__ import annotations

import json
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from lswc.archive import record_parts
from lswc.errors import writing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from lswc.archive.appended_files import Aside


def read(
    crawl: Path, committed: Mapping[str, int] | None = None
) -> Iterator[dict[str, Any] | None]:
    """Yield the record of each page of a crawl; None for a line that is torn or damaged.

    Only of the lines that are ``committed``, if that isn't None: lengths by name.
    """
    return map(_record, record_parts.lines(crawl, committed))


def records(crawl: Path) -> Iterator[dict[str, Any]]:
    """Yield the record of each page of a crawl, but for lines that are torn or damaged."""
    return (record for record in read(crawl) if record is not None)


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and "url" in found else None


def torn(crawl: Path) -> dict[str, int]:
    """Return how many lines are torn or damaged in each file that isn't compressed, by name."""
    plain = [path for path in record_parts.files(crawl) if not record_parts.is_packed(path)]
    return {
        path.name: sum(_record(line) is None for line in record_parts.of_file(path))
        for path in plain
    }


def take_out(crawl: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep the lines about URLs, and torn ones, aside. Raises LswcError."""
    for path in record_parts.files(crawl):
        with writing(path):
            _take_out(path, urls, aside)


def _take_out(path: Path, urls: Collection[str], aside: Aside) -> None:
    def stays(line: bytes) -> bool:
        record = _record(line)
        return record is not None and record["url"] not in urls

    out = [line for line in record_parts.of_file(path) if not stays(line)]
    if not out:
        return
    aside.keep(path.name.removesuffix(".gz"), b"".join(out))
    if b"" in out:  # what can't be unpacked is kept as it is
        copyfile(path, aside.new(path.name))
    record_parts.rewrite(path, filter(stays, record_parts.of_file(path)))
