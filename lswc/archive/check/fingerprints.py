"""Set of URLs' fingerprints: in a temporary file of SQLite's, as a crawl has more than memory."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable


class Fingerprints:
    """What was put in. A context that closes the file."""

    def __init__(self, keys: Iterable[int]) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("CREATE TABLE keys (key INTEGER PRIMARY KEY)")
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR IGNORE INTO keys VALUES (?)", ((key,) for key in keys))
        self._db.execute("COMMIT")

    def __contains__(self, key: int) -> bool:
        asked = "SELECT 1 FROM keys WHERE key = ?"
        return self._db.execute(asked, (key,)).fetchone() is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()
