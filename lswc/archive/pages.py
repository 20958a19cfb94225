"""``pages.jsonl``: a line of JSON per page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lswc.archive.files import lines, replace
from lswc.errors import writing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from lswc.archive.files import Aside

PAGES = "pages.jsonl"
"""Name of the record file in the crawl folder."""


def read(crawl: Path, until: int | None = None) -> Iterator[dict[str, Any] | None]:
    """Yield the record of each page of a crawl; None for a line that is torn or damaged.

    Only of the lines before ``until`` bytes, if it isn't None.
    """
    path = crawl / PAGES
    if path.is_file():
        yield from map(_record, lines(path, until))


def records(crawl: Path) -> Iterator[dict[str, Any]]:
    """Yield the record of each page of a crawl, but for lines that are torn or damaged."""
    return (record for record in read(crawl) if record is not None)


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and "url" in found else None


def take_out(crawl: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep the lines about URLs, and torn ones, aside. Raises LswcError."""
    path = crawl / PAGES
    if not path.is_file():
        return
    new = path.with_suffix(".new")
    out: list[bytes] = []
    with writing(path), new.open("wb") as kept:
        for line in lines(path):
            record = _record(line)
            if record is None or record["url"] in urls:
                out.append(line)
            else:
                kept.write(line)
    aside.keep(PAGES, b"".join(out))
    with writing(path):
        if out:
            replace(path, new)
        else:
            new.unlink()
