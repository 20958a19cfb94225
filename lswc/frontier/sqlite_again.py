"""Finished URLs that wait again in a SQLite file, because their pages were lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier import sqlite_tally
from lswc.frontier.sqlite_queues import PUT_OLDEST, begin
from lswc.outcomes import OF_REQUISITE, Outcome
from lswc.strategy import DISCARD, REQUISITE, Unit
from lswc.strategy.status import NO_PAGES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from lswc.strategy import Strategy

# `again` are URLs that wait though their page was counted: it isn't counted once more. `file`
# has the lengths of the crawl's files at the last commit, by their paths in its folder.
SCHEMA = """
CREATE TABLE again (seq INTEGER PRIMARY KEY);
CREATE TABLE file (name TEXT PRIMARY KEY, length INTEGER NOT NULL) WITHOUT ROWID;
"""

FINISHED = f"SELECT url, outcome FROM url WHERE outcome <> '{Outcome.PUT_OFF}'"
NAMED = (
    f"SELECT url, CASE WHEN code >= {REQUISITE} THEN '{OF_REQUISITE}' || outcome ELSE outcome END"
    f" FROM url WHERE outcome <> '{Outcome.PUT_OFF}'"
)
"""The finished URLs and their outcomes; of a requisite with OF_REQUISITE before it."""


def reopen(
    db: sqlite3.Connection, strategy: Strategy, urls: Iterable[str], lengths: Mapping[str, int]
) -> int:
    """Let finished URLs wait again, and take the lengths of the files as they are now.

    Returns how many of the URLs were finished.
    """
    begin(db)
    db.execute("CREATE TEMP TABLE wanted (url TEXT PRIMARY KEY) WITHOUT ROWID")
    db.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((url,) for url in urls))
    rows = db.execute(
        "SELECT seq, server, unit, line FROM url JOIN wanted USING (url) WHERE outcome <> ?",
        (Outcome.PUT_OFF,),
    ).fetchall()
    for seq, server, unit, line in rows:
        cell = _cell(db, strategy, unit, line)
        db.execute("UPDATE url SET outcome = NULL WHERE seq = ?", (seq,))
        db.execute(PUT_OLDEST, (server, line, cell, seq))
        db.execute("INSERT OR IGNORE INTO again VALUES (?)", (seq,))
    db.execute("DROP TABLE wanted")
    finished = db.execute(f"SELECT outcome, count(*) FROM ({FINISHED}) GROUP BY outcome")
    sqlite_tally.write(db, sqlite_tally.read(db) | {"finished": dict(finished.fetchall())})
    db.execute("DELETE FROM file")
    keep(db, lengths)
    db.execute("COMMIT")
    return len(rows)


def _cell(db: sqlite3.Connection, strategy: Strategy, unit: int, line: int) -> int:
    """Return the cell of a line; what the strategy would discard by now, it took once."""
    if strategy.unit is Unit.DIRECTORY:
        return line
    (place,) = db.execute("SELECT place FROM server WHERE id = ?", (unit,)).fetchone()
    cell = strategy.cell_of[line][place]
    if cell == DISCARD:
        cell = strategy.cell_of[line][strategy.place(NO_PAGES)]
    return 0 if cell == DISCARD else cell


def keep(db: sqlite3.Connection, lengths: Mapping[str, int]) -> None:
    """Note the lengths of files."""
    db.executemany("INSERT OR REPLACE INTO file VALUES (?, ?)", lengths.items())


def lengths(db: sqlite3.Connection) -> dict[str, int]:
    """Return the lengths of the crawl's files at the last commit."""
    return dict(db.execute("SELECT name, length FROM file").fetchall())
