"""What a SQLite frontier holds, counted from its file; also while a crawl runs on it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lswc.frontier import sqlite_again, sqlite_experience, sqlite_tally
from lswc.frontier.contract import Counts, FrontierError
from lswc.frontier.harvest import harvest
from lswc.frontier.report import Queue, Report, Server
from lswc.frontier.sqlite_queues import longest, waiting
from lswc.strategy import REQUISITES, Strategy, StrategyError, Unit, order, status, strategy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read(path: Path, top: int = 10) -> Report:
    """Read the frontier in a file, with its ``top`` longest queues. Raises FrontierError."""
    with opened(path) as db:
        identity = _about(db)
        chosen = strategy(identity["strategy"])
        counts = count(db, chosen)
        known = order(chosen, *sqlite_experience.load(db))
        cells = harvest(known, counts.pending, sqlite_experience.pages(db))
        return Report(identity, counts, _queues(db, top), _largest(db, top), cells)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a frontier's file only to read it; not a byte of it changes. Raises FrontierError."""
    if not path.is_file():
        raise FrontierError(f"no frontier: {path} doesn't exist")
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.OperationalError as error:
        raise FrontierError(f"can't read {path}: {error}") from error
    try:
        yield db
    except (sqlite3.DatabaseError, KeyError, ValueError, StrategyError) as error:
        raise FrontierError(f"not a frontier of lswc, or a damaged one: {error}") from error
    finally:
        db.close()


def lengths(path: Path) -> dict[str, int] | None:
    """Return the lengths of the crawl's files at a frontier's last commit.

    None if the file isn't there, or holds nothing. Raises FrontierError.
    """
    if not path.is_file():
        return None
    with opened(path) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        if not tables:
            return None
        return sqlite_again.lengths(db) if "file" in tables else {}  # none: of another version


def finished(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every finished URL of a frontier and its outcome, as ``Frontier.finished`` does.

    Raises FrontierError.
    """
    with opened(path) as db:
        yield from db.execute(sqlite_again.NAMED)


def outcomes(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Return the finished URLs by outcome: as they were tallied, and as they are counted."""
    with opened(path) as db:
        tallied = tallies(db).get("finished", {})
        counted = db.execute(
            f"SELECT outcome, count(*) FROM ({sqlite_again.FINISHED}) GROUP BY outcome"
        )
        return tallied, dict(counted.fetchall())


def count(db: sqlite3.Connection, chosen: Strategy) -> Counts:
    """Count a frontier's URLs, servers and tallies; URLs that a process leased are pending."""
    table = "server" if chosen.unit is Unit.SERVER else "directory"
    servers = Counter(
        status(na, nr, chosen.tolerated).name.lower()
        for na, nr in db.execute(f"SELECT downloaded, relevant FROM {table}")
    )
    pending = waiting(db)
    requisites = pending.pop(REQUISITES, 0)
    return Counts(pending, 0, dict(servers), tallies(db), requisites)


def tallies(db: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """Return the tallies by kind and name."""
    return sqlite_tally.told(sqlite_tally.read(db))


def _queues(db: sqlite3.Connection, top: int) -> tuple[Queue, ...]:
    named = "SELECT name, ?, downloaded, relevant FROM server WHERE id = ?"
    return tuple(Queue(*db.execute(named, queue).fetchone()) for queue in longest(db, top))


_PENDING = "(SELECT count(*) FROM url WHERE url.server = server.id AND outcome IS NULL)"


def _largest(db: sqlite3.Connection, top: int) -> tuple[Queue, ...]:
    rows = db.execute(
        f"SELECT name, {_PENDING}, downloaded, relevant FROM server WHERE downloaded > 0"
        " ORDER BY downloaded DESC, name LIMIT ?",
        (top,),
    )
    return tuple(Queue(*row) for row in rows)


def server(path: Path, name: str, top: int = 10) -> Server | None:
    """Return what a frontier knows of a server, and its next ``top`` URLs; None if nothing.

    Raises FrontierError.
    """
    with opened(path) as db:
        row = db.execute(
            f"SELECT id, name, {_PENDING}, downloaded, relevant FROM server WHERE name = ?", (name,)
        ).fetchone()
        if row is None:
            return None
        id_, *counts = row
        queue = Queue(*counts)
        chosen = strategy(_about(db)["strategy"])
        lines = db.execute(
            "SELECT cell, sum((SELECT count(*) FROM url WHERE url.server = line.server"
            "  AND url.line = line.line AND outcome IS NULL))"
            " FROM line WHERE server = ? GROUP BY cell",
            (id_,),
        )
        known = order(chosen, *sqlite_experience.load(db))
        waits = {cell: number for cell, number in lines if number}
        return Server(
            chosen.name,
            queue,
            status(queue.downloaded, queue.relevant, chosen.tolerated).name.lower(),
            waits,
            tuple(_next(db, id_, sorted(waits, key=known.rank), top)),
        )


def _next(
    db: sqlite3.Connection, server: int, cells: list[int], top: int
) -> Iterator[tuple[str, int]]:
    left = top
    for cell in cells:
        rows = db.execute(
            "SELECT url FROM line JOIN url USING (server, line)"
            " WHERE server = ? AND cell = ? AND outcome IS NULL ORDER BY url.seq LIMIT ?",
            (server, cell, left),
        ).fetchall()
        yield from ((url, cell) for (url,) in rows)
        left -= len(rows)
        if not left:
            return


def identity(path: Path) -> dict[str, str]:
    """Return what crawl a frontier is of. Raises FrontierError."""
    with opened(path) as db:
        return _about(db)


def _about(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT key, value FROM about"))


def servers_like(path: Path, text: str, most: int) -> list[str]:
    """Return the names of servers that contain a text, those with most pages first.

    Raises FrontierError.
    """
    with opened(path) as db:
        rows = db.execute(
            "SELECT name FROM server WHERE instr(name, ?) ORDER BY downloaded DESC, name LIMIT ?",
            (text, most),
        )
        return [name for (name,) in rows]
