"""Lengths of a crawl's files, as they are and as the frontier knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.archive import cdxj, crawl_log, page_record, warc_repair
from lswc.archive.crawl_log import journals

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from lswc.archive.appended_files import Aside


def lengths(crawl: Path) -> dict[str, int]:
    """Return the bytes of each file that the crawl writes, by its path in the crawl folder.

    Of a journal that has become tables, and of a compressed part of the record, those that it had.
    """
    paths = [*(crawl / "warc").glob("*.warc.gz"), *crawl.glob("warc/*.cdxj")]
    found = {path.relative_to(crawl).as_posix(): path.stat().st_size for path in paths}
    return page_record.lengths(crawl) | found | crawl_log.lengths(crawl)


def visits_beyond(crawl: Path, committed: Mapping[str, int]) -> int:
    """Return how many visits, at least, the files hold that aren't in ``committed``.

    A kill leaves one at most: each is committed before the next is written. More say that the
    frontier is an older one.
    """
    with_line = sum(line.endswith(b"}\n") for line in page_record.beyond(crawl, committed))
    return max(with_line, crawl_log.ended_beyond(crawl, committed))


def cut(crawl: Path, committed: Mapping[str, int], aside: Aside) -> int:
    """Keep aside what lies beyond ``committed``; return its bytes. Raises LswcError."""
    beyond = page_record.cut(crawl, committed, aside)
    of_record = page_record.lengths(crawl)
    for name, length in lengths(crawl).items():
        path = crawl / name
        if name in of_record or not path.exists():
            continue
        if name in committed:
            beyond += aside.cut(path, committed[name])
        else:
            beyond += length
            aside.move(path)
    return beyond


def missing(crawl: Path, committed: Collection[str]) -> list[str]:
    """Return the committed files that aren't there."""
    there = lengths(crawl)
    return sorted(name for name in committed if name not in there)


def short(crawl: Path, committed: Mapping[str, int]) -> list[str]:
    """Return the files that are there, but shorter than they were when they were committed."""
    there, then = lengths(crawl), {**committed, **page_record.known(crawl, committed)}
    return sorted(name for name, length in then.items() if there.get(name, length) < length)


def torn(crawl: Path) -> list[str]:
    """Say of the files that grew last which hold what can't be read, as after a power cut.

    Of others `scrapy check` tells: it reads them all.
    """
    found = page_record.torn(crawl)
    for path in journals(crawl / "log")[-1:]:
        found[f"log/{path.name}"] = crawl_log.damaged(path)
    for index in cdxj.latest(crawl):
        found[f"warc/{index.name}"] = sum(entry is None for _, entry in cdxj.index(index))
        file = index.with_suffix(".warc.gz")
        found[f"warc/{file.name}"] = warc_repair.damaged(file, index)
    return [
        f"{name} has {number} torn lines or records" for name, number in found.items() if number
    ]


def take_out(crawl: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep aside what the files hold of URLs, and all that is torn. Raises LswcError."""
    page_record.take_out(crawl, urls, aside)
    crawl_log.take_out(crawl, urls, aside)
    warc_repair.take_out(crawl, urls, aside)
