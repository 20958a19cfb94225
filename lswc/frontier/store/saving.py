"""Copies what is committed from a SQLite file's log into the file, beside the crawl."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LITTLE = 500_000
"""Bytes of the log that are copied at once, in the way of the crawl."""

TIMES = 10
"""Times that what was committed meanwhile is copied beside the crawl, at most."""

_FRAME = 24
"""Bytes of the log before each page of the file."""


def size_of(path: Path) -> int:
    """Return the bytes of a file, 0 if it isn't there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


class Saving:
    """Copies the log of a file in a thread that has a connection of its own.

    A checkpoint of tens of MB takes tenths of a second, in which nobody would be served. The log
    can begin anew only once all of it is copied, though, and it grows meanwhile: so what came
    during a copy is copied in the next, until it is little.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._log = path, path.with_name(f"{path.name}-wal")
        self._thread: Thread | None = None
        self._error: sqlite3.Error | None = None

    def goes_on(self) -> bool:
        """Begin to copy, unless that goes on; tell whether it does. Raises sqlite3.Error."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name="checkpoint", daemon=True)
            self._thread.start()
        if self._thread.is_alive():
            return True
        self.finish()
        return False

    def finish(self) -> None:
        """Return once nothing is copied any more. Raises sqlite3.Error."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run(self) -> None:
        try:
            with closing(sqlite3.connect(self._path, isolation_level=None)) as db:
                self._copy(db)
        except sqlite3.Error as error:
            self._error = error

    def _copy(self, db: sqlite3.Connection) -> None:
        ((size,),) = db.execute("PRAGMA page_size").fetchall()
        before = -1
        for _ in range(TIMES):
            # No other than PASSIVE: these keep the crawl from writing meanwhile.
            ((_, _, copied),) = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            left = size_of(self._log) - copied * (size + _FRAME)
            if left < LITTLE or copied <= before:  # somebody reads what isn't copied
                return
            before = copied
