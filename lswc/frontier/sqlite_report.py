"""What a SQLite frontier holds, counted from its file; also while a crawl runs on it."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.frontier.contract import Counts, FrontierError
from lswc.frontier.sqlite_queues import waiting
from lswc.strategy import Strategy, StrategyError, Unit, status, strategy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Queue:
    """A server's queue: pending URLs, and its counters Na and Nr."""

    server: str
    pending: int
    downloaded: int
    relevant: int


@dataclass(frozen=True)
class Report:
    """A frontier as its last commit left it; ``identity`` says what crawl it is of."""

    identity: Mapping[str, str]
    counts: Counts
    queues: tuple[Queue, ...]


def read(path: Path, top: int = 10) -> Report:
    """Read the frontier in a file, with its ``top`` longest queues. Raises FrontierError."""
    if not path.is_file():
        raise FrontierError(f"no frontier: {path} doesn't exist")
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.OperationalError as error:
        raise FrontierError(f"can't read {path}: {error}") from error
    try:
        identity = dict(db.execute("SELECT key, value FROM about"))
        counts = count(db, strategy(identity["strategy"]))
        return Report(identity, counts, _queues(db, top))
    except (sqlite3.DatabaseError, KeyError, ValueError, StrategyError) as error:
        raise FrontierError(f"not a frontier of lswc, or a damaged one: {error}") from error
    finally:
        db.close()


def count(db: sqlite3.Connection, chosen: Strategy) -> Counts:
    """Count a frontier's URLs, servers and tallies; URLs that a process leased are pending."""
    table = "server" if chosen.unit is Unit.SERVER else "directory"
    servers = Counter(
        status(na, nr, chosen.tolerated).name.lower()
        for na, nr in db.execute(f"SELECT downloaded, relevant FROM {table}")
    )
    return Counts(waiting(db), 0, dict(servers), _tallies(db))


def _tallies(db: sqlite3.Connection) -> dict[str, dict[str, int]]:
    tallies: defaultdict[str, dict[str, int]] = defaultdict(dict)
    rows = db.execute("SELECT kind, name, count FROM tally ORDER BY count DESC, name")
    for kind, name, total in rows:
        tallies[kind][name] = total
    return dict(tallies)


def _queues(db: sqlite3.Connection, top: int) -> tuple[Queue, ...]:
    rows = db.execute(
        "SELECT name, number, downloaded, relevant FROM server JOIN"
        " (SELECT server, count(*) AS number FROM url WHERE outcome IS NULL"
        "  GROUP BY server ORDER BY number DESC, server LIMIT ?) ON server = id",
        (top,),
    )
    return tuple(Queue(*row) for row in rows)
