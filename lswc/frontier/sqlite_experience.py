"""What a crawl learned about cells, in its SQLite file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier.experience import by_cell, experience_of
from lswc.strategy import Pages

if TYPE_CHECKING:
    import sqlite3

    from lswc.strategy import Experience

# `scored` is what the pages were when all cells were last scored.
SCHEMA = """
CREATE TABLE experience (
    cell INTEGER PRIMARY KEY, downloaded INTEGER NOT NULL, relevant INTEGER NOT NULL,
    scored_downloaded INTEGER NOT NULL DEFAULT 0, scored_relevant INTEGER NOT NULL DEFAULT 0);
"""


def begin_with(db: sqlite3.Connection, experience: Experience) -> None:
    """Begin with what another crawl learned."""
    rows = [(cell, *pages, *pages) for cell, pages in by_cell(experience).items()]
    db.executemany("INSERT INTO experience VALUES (?, ?, ?, ?, ?)", rows)


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
    return experience_of(now), experience_of(scored)
