"""The tallies of a crawl in a SQLite file, by kind and name: one line of JSON.

A page adds to ten of them; a row for each would be ten searches and changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from lswc.frontier.report import by_kind

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

SCHEMA = """
CREATE TABLE tally (counts TEXT NOT NULL);
INSERT INTO tally VALUES ('{}');
"""

_decode = msgspec.json.Decoder(dict[str, dict[str, int]]).decode


def read(db: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """Return the tallies by kind and name."""
    ((counts,),) = db.execute("SELECT counts FROM tally").fetchall()
    return _decode(counts)


def write(db: sqlite3.Connection, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Keep tallies in the place of those that there are."""
    db.execute("UPDATE tally SET counts = ?", (msgspec.json.encode(counts).decode(),))


class Tally:
    """The tallies of the crawl that writes the file; what was added is kept by ``write``."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def load(self) -> None:
        """Take what the file holds."""
        self._counts = read(self._db)
        self._is_written = True

    def add(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Count so many more, by kind and name."""
        for (kind, name), count in counts.items():
            names = self._counts.setdefault(kind, {})
            names[name] = names.get(name, 0) + count
        self._is_written = False

    def write(self) -> None:
        """Keep what was added since."""
        if not self._is_written:
            write(self._db, self._counts)
            self._is_written = True

    def count(self, kind: str, name: str) -> int:
        """Return how many there are of a kind and name."""
        return self._counts.get(kind, {}).get(name, 0)

    def told(self) -> dict[str, dict[str, int]]:
        """Return the tallies as ``told`` does."""
        return told(self._counts)


def told(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Return tallies by kind; in each the largest come first, and none that is 0."""
    return by_kind(
        (kind, str(name), number)  # an Outcome is a name
        for kind, names in counts.items()
        for name, number in names.items()
    )
