"""Earlier crawls: the pages that they stored, for a crawl that visits them again."""

from __future__ import annotations

import sqlite3
from datetime import UTC
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.appended_files import ArchiveError, lines
from lswc.archive.cdxj import fields_of, page_of
from lswc.archive.http_message import BODY_BYTES
from lswc.archive.warc_reading import record_at
from lswc.archive.warc_writer import digest_of
from lswc.frontier.rules.visit import Original
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from lswc.archive.http_message import HttpResponse
    from lswc.archive.warc_reading import Record


class Held(NamedTuple):
    """A stored page, and where it was stored first."""

    original: Original
    response: HttpResponse

    def sent(self) -> Original:
        """Return where it was stored, to be compared with what is sent now.

        Before, digests were of the chunks that a body came in.
        """
        if self.response.get("Transfer-Encoding") is None:
            return self.original
        return self.original._replace(entity=digest_of(self.response.transferred(BODY_BYTES)))


class Earlier:
    """The successful responses that the WARC files of earlier crawls hold whole, by URL.

    ``crawls`` are crawl folders, the latest first: of several responses of one URL the latest
    counts. Only their places are kept, in a temporary file of SQLite's. So are those of the crawl's
    ``own`` folder, if it visits its pages again; they are the latest. Raises ArchiveError if
    one has no index that can be read. ``are_others`` says that some are of other folders.
    """

    def __init__(self, crawls: Sequence[Path], own: Path | None = None) -> None:
        self._files: list[Path] = []
        self._own = own
        self._stored: list[bytes] = []
        self.are_others = bool(crawls)
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute(
            "CREATE TABLE page (key INTEGER PRIMARY KEY, file INTEGER, place INTEGER, time INTEGER)"
        )
        try:
            for crawl in reversed(crawls):
                self._add_all(crawl)
            for index in sorted((own / "warc").glob("*.cdxj")) if own else ():
                self._add(index)
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
        file = self._number(index.with_suffix(".warc.gz"))
        try:
            rows = [_row(fields, file) for fields in _entries(index) if _is_page(fields)]
        except (OSError, ValueError, KeyError) as error:
            raise ArchiveError(f"can't read {index}: {error}") from error
        self._db.execute("BEGIN")
        self._db.executemany(_KEEP, rows)
        self._db.execute("COMMIT")

    def _number(self, file: Path) -> int:
        """Return the number of a file: that of the latest, or one more."""
        if self._files[-1:] != [file]:
            self._files.append(file)
        return len(self._files) - 1

    def keep(self, stored: bytes) -> None:
        """Take what the index of the crawl's own archive says of what was stored just now."""
        if self._own is not None:
            self._stored += stored.splitlines()
            if len(self._stored) >= _TOGETHER:
                self._take_stored(self._own / "warc")

    def _take_stored(self, warc: Path) -> None:
        rows = [
            _row(fields, self._number(warc / fields["filename"]))
            for fields in map(fields_of, self._stored)
            if fields is not None and _is_page(fields)
        ]
        self._stored.clear()
        self._db.execute("BEGIN")
        self._db.executemany(_KEEP, rows)
        self._db.execute("COMMIT")

    def _place(self, url: str) -> tuple[int, int, int] | None:
        """Return the file and the place of what is held of a URL, and its time."""
        if self._stored and self._own is not None:
            self._take_stored(self._own / "warc")
        found: tuple[int, int, int] | None = self._db.execute(
            "SELECT file, place, time FROM page WHERE key = ?", (fingerprint(url),)
        ).fetchone()
        return found

    def changed_since(self, url: str, time: datetime) -> bool:
        """Tell whether a time is later than when the held response of a URL came, if any is."""
        row = self._place(url)
        return row is not None and int(f"{time.astimezone(UTC):%Y%m%d%H%M%S}") > row[2]

    def find(self, url: str) -> Held | None:
        """Return what is held of a URL; None if nothing is, or if it can't be read any more."""
        row = self._place(url)
        record = record_at(self._files[row[0]], row[1], BODY_BYTES) if row else None
        return _held(record, url, self._files[row[0]].name) if row and record else None


_TOGETHER = 500
"""Lines of the crawl's own index that wait at most until they are taken, all in one go."""

_REVISIT = b'"warc/revisit"'
_KEEP = "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?)"


def _is_page(fields: Mapping[str, str]) -> bool:
    """Tell whether a line of an index is of a page that was sent whole, as it was sent."""
    is_sent = fields["status"] == "200" and fields["mime"] != "warc/revisit"
    return is_sent and page_of(fields) == fields["url"]  # else it is what a browser showed


def _row(fields: Mapping[str, str], file: int) -> tuple[int, int, int, int]:
    return fingerprint(fields["url"]), file, int(fields["offset"]), int(fields["timestamp"])


def _entries(index: Path) -> Iterator[dict[str, str]]:
    """Yield the fields of each line that isn't of a visit which found a page as it was.

    After years most are. A last line that a kill tore is none. Raises ValueError.
    """
    for line in lines(index):
        if _REVISIT in line:
            continue
        fields = fields_of(line)
        if fields is not None:
            yield fields
        elif line.endswith(b"\n"):
            raise ValueError(f"not a line of an index: {line[:80]!r}")


def _held(record: Record, url: str, file: str) -> Held | None:
    about = record.headers
    # http and https twins share a fingerprint, but each has validators of its own.
    if record.url != url or about.get("warc-truncated"):
        return None
    digest = about.get("warc-payload-digest", "").removeprefix("sha1:")
    original = Original(
        url, about.get("warc-date", ""), digest, id=about.get("warc-record-id", ""), file=file
    )
    return Held(original, record.response())
