"""What a crawl learned about cells, in its SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from lswc.frontier.contract import FrontierError
from lswc.frontier.experience import check_source, dumped, experience_of, loaded
from lswc.strategy import Pages, StrategyError

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.strategy import Experience

# `scored` is what the pages were when all cells were last scored.
SCHEMA = """
CREATE TABLE experience (
    cell INTEGER PRIMARY KEY, downloaded INTEGER NOT NULL, relevant INTEGER NOT NULL,
    scored_downloaded INTEGER NOT NULL DEFAULT 0, scored_relevant INTEGER NOT NULL DEFAULT 0);
"""


def begin_with(db: sqlite3.Connection, experience: Experience) -> None:
    """Begin with what another crawl learned."""
    db.execute("INSERT INTO about VALUES ('earlier', ?)", (dumped(experience),))


def learn(db: sqlite3.Connection, cell: int, relevant: bool) -> None:
    """Count a page for the cell that it was leased from."""
    db.execute(
        "INSERT INTO experience (cell, downloaded, relevant) VALUES (?, 1, ?)"
        " ON CONFLICT DO UPDATE SET downloaded = downloaded + 1,"
        " relevant = relevant + excluded.relevant",
        (cell, relevant),
    )


def keep_scored(db: sqlite3.Connection) -> None:
    """Note that all cells were scored by what is known now."""
    db.execute(
        "UPDATE experience SET scored_downloaded = downloaded, scored_relevant = relevant"
        " WHERE scored_downloaded <> downloaded"
    )


def pages(db: sqlite3.Connection) -> dict[int, Pages]:
    """Return the pages by the cell that they were leased from."""
    rows = db.execute("SELECT cell, downloaded, relevant FROM experience ORDER BY cell")
    return {cell: Pages(*counts) for cell, *counts in rows}


def load(db: sqlite3.Connection) -> tuple[Experience, Experience]:
    """Return the experience as it is now, and as it was when all cells were last scored."""
    rows = db.execute("SELECT * FROM experience ORDER BY cell").fetchall()
    now = {cell: Pages(*counts[:2]) for cell, *counts in rows}
    scored = {cell: Pages(*counts[2:]) for cell, *counts in rows}
    row = db.execute("SELECT value FROM about WHERE key = 'earlier'").fetchone()
    earlier = row[0] if row else None
    return experience_of(now, earlier), experience_of(scored, earlier)


def read(path: Path, language: str) -> Experience:
    """Return what the crawl in a file learned. Raises FrontierError if that is of no use."""
    if not path.is_file():
        raise FrontierError(f"LSWC_EXPERIENCE: no frontier: {path} doesn't exist")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            found = dict(db.execute("SELECT key, value FROM about"))
            check_source(path.parent, found, language)
            return loaded(path.parent, pages(db), found.get("earlier"))
    except (sqlite3.DatabaseError, StrategyError) as error:
        raise FrontierError(
            f"LSWC_EXPERIENCE={path.parent}: not a frontier of lswc, or a damaged one: {error}"
        ) from error
