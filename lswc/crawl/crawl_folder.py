"""Crawl folder: what is checked of it before anything is fetched."""

from __future__ import annotations

import os
from pathlib import Path

from lswc.archive import page_record
from lswc.archive.check.recovery import refuse_older, repair
from lswc.errors import ConfigError
from lswc.frontier import FRONTIER_FILE, MEMORY, names_redis, sqlite_report
from lswc.frontier.lock import lock


def check_records(folder: Path, store: str) -> None:
    """Refuse records whose frontier is gone, or older than they are. Raises LswcError."""
    if names_redis(store):
        return  # many workers know it: the frontier itself tells
    if not has_records(folder):
        return
    lock(folder).close()  # or a running crawl's files would be ahead of what is read of them
    committed = None if store == MEMORY else sqlite_report.lengths(folder / FRONTIER_FILE)
    if committed is None:
        raise ConfigError(
            f"{folder} holds the record of another crawl, whose frontier isn't there, or is empty: "
            f"put {FRONTIER_FILE} and its -wal back, choose another folder with LSWC_CRAWL, or "
            f"{repair(folder)} moves the record aside, so that the crawl begins anew"
        )
    refuse_older(folder, committed)


def has_records(folder: Path) -> bool:
    """Tell whether a folder holds records of pages, or what was archived of them."""
    recorded = any(page_record.lengths(folder).values())
    return recorded or any(any((folder / name).glob("*")) for name in ("warc", "log"))


def earlier_crawls(given: list[str], folder: Path) -> tuple[Path, ...]:
    """Return the folders of LSWC_RECRAWL, for a crawl in ``folder``. Raises ConfigError."""
    earlier = tuple(Path(name) for name in given)
    for crawl in earlier:
        if not any((crawl / "warc").glob("*.cdxj")):
            raise ConfigError(f"LSWC_RECRAWL: {crawl} isn't the folder of a crawl that archived")
        if crawl.resolve() == folder.resolve():
            raise ConfigError(
                f"LSWC_RECRAWL: {crawl} is this crawl's own folder: choose a new one, LSWC_CRAWL"
            )
    return earlier


def make_writable(folder: Path) -> None:
    """Make a crawl's folder, if it isn't there. Raises ConfigError if it can't be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"can't make the crawl folder {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"can't write to the crawl folder {folder}: choose one with LSWC_CRAWL")
