"""Servers of which nothing more is to come: complete, cut short by a quota, or failed."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nlargest
from json import dumps
from typing import TYPE_CHECKING, Any

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier import redis_report
from lswc.frontier.sqlite_report import opened
from lswc.outcomes import Outcome
from lswc.strategy.status import NO_PAGES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from pathlib import Path

    from redis import Redis


@dataclass(frozen=True)
class Completion:
    """Servers that ended, by how; names are those of the first ones.

    ``complete`` is the number of servers with pages whose URLs all ended. ``cut`` has those of
    which URLs were left out: (server, reason, URLs), ``cut_number`` how many there are. ``failed``
    has those without a page whose URLs all ended: (server, an outcome of theirs or ""),
    ``failed_number`` how many there are.
    """

    complete: int
    cut: tuple[tuple[str, str, int], ...]
    cut_number: int
    failed: tuple[tuple[str, str], ...]
    failed_number: int


SLICE = 100_000
"""URLs that are read at a time: a crawl can't empty its write-ahead log meanwhile."""

_IDLE = """FROM server WHERE id NOT IN (SELECT server FROM let_go)
    AND NOT EXISTS (SELECT 1 FROM url WHERE url.server = server.id AND outcome IS NULL)
    AND id NOT IN (SELECT server FROM later CROSS JOIN url USING (seq) WHERE url.outcome = ?)"""
# CROSS: else SQLite reads all URLs to find the few that were put off.


def in_file(path: Path, top: int = 10) -> Completion:
    """Return how the servers of a SQLite frontier ended. Raises FrontierError."""
    with opened(path) as db:
        cut = db.execute(
            "SELECT name, reason, number FROM let_go JOIN server ON id = server"
            " ORDER BY number DESC, name LIMIT ?",
            (top,),
        ).fetchall()
        (cut_number,) = db.execute("SELECT count(DISTINCT server) FROM let_go").fetchone()
        (complete,) = db.execute(
            f"SELECT count(*) {_IDLE} AND downloaded > 0", (Outcome.PUT_OFF,)
        ).fetchone()
        failed = f"{_IDLE} AND downloaded = 0"
        (failed_number,) = db.execute(f"SELECT count(*) {failed}", (Outcome.PUT_OFF,)).fetchone()
        names = dict(
            db.execute(
                f"SELECT id, name {failed} ORDER BY name LIMIT ?", (Outcome.PUT_OFF, top)
            ).fetchall()
        )
        return Completion(complete, tuple(cut), cut_number, _outcomes(db, names), failed_number)


def _outcomes(db: sqlite3.Connection, names: Mapping[int, str]) -> tuple[tuple[str, str], ...]:
    """Return the name of each server with how a URL of it ended."""
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM url").fetchone()
    found: dict[int, str] = {}
    for first in range(1, last + 1, SLICE):
        rows = db.execute(
            "SELECT server, max(outcome) FROM url WHERE seq BETWEEN ? AND ?"
            " AND server IN (SELECT value FROM json_each(?)) GROUP BY server",
            (first, first + SLICE - 1, dumps(list(names))),
        )
        found |= {server: outcome for server, outcome in rows if outcome is not None}
    return tuple((name, found.get(id_, "")) for id_, name in names.items())


def in_redis(client: Redis, name: str = "", top: int = 10) -> Completion:
    """Return how the servers of a crawl in Redis ended. Raises LswcError.

    Of a failed server an outcome is known only if it may be tried once more.
    """
    try:
        prefix = f"{{{redis_report.named(client, name)}}}:"
        cut: list[tuple[str, str, int]] = []
        for key, number in client.hscan_iter(f"{prefix}let_go"):
            server, _, reason = key.decode().partition("\n")
            cut.append((server, reason, int(number)))
        known: Any = client.hvals(f"{prefix}failed")
        outcomes = {s: o for o, _, s in (value.decode().partition("\n") for value in known)}
        pages = redis_report.pages_of(client, prefix)
        under_way = redis_report.unfinished(client, prefix) | {server for server, *_ in cut}
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error
    idle = pages.keys() - under_way
    failed = sorted(server for server in idle if not pages.get(server, NO_PAGES).downloaded)
    return Completion(
        len(idle) - len(failed),
        tuple(nlargest(top, cut, key=lambda row: row[2])),
        len({server for server, *_ in cut}),
        tuple((server, outcomes.get(server, "")) for server in failed[:top]),
        len(failed),
    )
