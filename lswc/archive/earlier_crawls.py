"""Earlier crawls: the pages that they stored, for a crawl that visits them again."""

from __future__ import annotations

import sqlite3
from datetime import UTC
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.appended_files import ArchiveError
from lswc.archive.cdxj import index as index_lines
from lswc.archive.cdxj import page_of
from lswc.archive.warc_reading import LARGEST, record_at
from lswc.frontier.visit import Original
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from lswc.archive.http_message import HttpResponse
    from lswc.archive.warc_reading import Record


class Held(NamedTuple):
    """A stored page, and where it was stored first."""

    original: Original
    response: HttpResponse


class Earlier:
    """The successful responses that the WARC files of earlier crawls hold whole, by URL.

    ``crawls`` are crawl folders, the latest first: of several responses of one URL the latest
    counts. Only their places are kept, in a temporary file of SQLite's. Raises ArchiveError if
    one has no index that can be read.
    """

    def __init__(self, crawls: Sequence[Path]) -> None:
        self._files: list[Path] = []
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute(
            "CREATE TABLE page (key INTEGER PRIMARY KEY, file INTEGER, place INTEGER, time INTEGER)"
        )
        try:
            for crawl in reversed(crawls):
                self._add_all(crawl)
        except ArchiveError:
            self.close()
            raise

    def _add_all(self, crawl: Path) -> None:
        indexes = sorted((crawl / "warc").glob("*.cdxj"))
        if not indexes:
            raise ArchiveError(f"{crawl} holds no archive, but was crawled again: put it back")
        for index in indexes:
            self._add(index)

    def close(self) -> None:
        """Let the temporary file go."""
        self._db.close()

    def _add(self, index: Path) -> None:
        file = len(self._files)
        self._files.append(index.with_suffix(".warc.gz"))
        try:
            rows = [
                (
                    fingerprint(fields["url"]),
                    file,
                    int(fields["offset"]),
                    int(fields["timestamp"]),
                )
                for fields in _entries(index)
                if fields["status"] == "200"
                and fields["mime"] != "warc/revisit"
                and page_of(fields) == fields["url"]  # else it is what a browser showed
            ]
        except (OSError, ValueError, KeyError) as error:
            raise ArchiveError(f"can't read {index}: {error}") from error
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def changed_since(self, url: str, time: datetime) -> bool:
        """Tell whether a time is later than when the held response of a URL came, if any is."""
        row = self._db.execute(
            "SELECT time FROM page WHERE key = ?", (fingerprint(url),)
        ).fetchone()
        return row is not None and int(f"{time.astimezone(UTC):%Y%m%d%H%M%S}") > row[0]

    def find(self, url: str) -> Held | None:
        """Return what is held of a URL; None if nothing is, or if it can't be read any more."""
        row = self._db.execute(
            "SELECT file, place FROM page WHERE key = ?", (fingerprint(url),)
        ).fetchone()
        record = record_at(self._files[row[0]], row[1], LARGEST) if row else None
        return _held(record, url) if record else None


def _entries(index: Path) -> Iterator[dict[str, str]]:
    """Yield the fields of each line; a last one that a kill tore is none. Raises ValueError."""
    for line, fields in index_lines(index):
        if fields is not None:
            yield fields
        elif line.endswith(b"\n"):
            raise ValueError(f"not a line of an index: {line[:80]!r}")


def _held(record: Record, url: str) -> Held | None:
    about = record.headers
    # http and https twins share a fingerprint, but each has validators of its own.
    if record.url != url or about.get("warc-truncated"):
        return None
    digest = about.get("warc-payload-digest", "").removeprefix("sha1:")
    return Held(Original(url, about.get("warc-date", ""), digest), record.response())
