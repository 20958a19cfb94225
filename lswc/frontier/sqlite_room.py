"""Room for the URLs that wait in a SQLite file: the worst are let go when there are too many."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from lswc.outcomes import Outcome

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from lswc.frontier.contract import Caps
    from lswc.frontier.sqlite_queues import Line, Queues
    from lswc.strategy import Rank

# How many of a server's URLs were let go, or ended by a quota, by reason.
SCHEMA = """
CREATE TABLE let_go (
    server INTEGER, reason TEXT, number INTEGER NOT NULL, PRIMARY KEY (server, reason)
    ) WITHOUT ROWID;
"""

_CELLS = (
    "WITH RECURSIVE held (cell) AS (SELECT min(cell) FROM line WHERE site = ?1 UNION ALL"
    " SELECT (SELECT min(cell) FROM line WHERE site = ?1 AND cell > held.cell) FROM held"
    " WHERE held.cell IS NOT NULL) SELECT cell FROM held WHERE cell IS NOT NULL"
)
_SERVERS = (
    "SELECT DISTINCT server FROM line WHERE site = ? AND cell = ? ORDER BY server DESC LIMIT ?"
)


class New(NamedTuple):
    """A URL that isn't in the file yet: the number of its server, and its cell."""

    server: int
    cell: int


class _Scope(NamedTuple):
    """Servers, or sites: what a cap is for. All by their numbers in the file.

    ``of`` tells a server's, ``size`` how many URLs one has; ``cells`` gives by cell the lines of
    its servers, of so many servers at most.
    """

    most: int
    reason: Outcome
    of: Callable[[int], int]
    size: Callable[[int], int]
    cells: Callable[[int, int], dict[int, Iterable[list[Line]]]]

    def too_many(self, coming: Mapping[int, int]) -> dict[int, int]:
        """Return by how many URLs a cap is passed, once so many more of servers wait."""
        numbers: Counter[int] = Counter()
        for server, number in coming.items():
            numbers[self.of(server)] += number
        return {
            where: excess
            for where, number in numbers.items()
            if (excess := self.size(where) + number - self.most) > 0
        }


class Room:
    """Lets go the worst URLs of a server or site that has more than ``caps``.

    The URLs of the worst cell go first, of those the newest; of a site's cell, those of one
    server after the other. What is leased stays.
    """

    def __init__(self, db: sqlite3.Connection, queues: Queues, caps: Caps) -> None:
        self._db = db
        self._queues = queues
        sizes = queues.sizes
        scopes = (
            _Scope(caps.server, Outcome.SERVER_QUEUE_FULL, int, sizes.of_server, self._on_server),
            _Scope(caps.domain, Outcome.SITE_QUEUE_FULL, sizes.site, sizes.of_site, self._on_site),
        )
        self._scopes = [scope for scope in scopes if scope.most]

    def may_lack(self, servers: Iterable[int], coming: int) -> bool:
        """Tell whether there would be too many URLs if each server had so many more."""
        scopes = [s for s in self._scopes if self._queues.sizes.peak + coming > s.most]
        return any(s.size(s.of(server)) + coming > s.most for server in servers for s in scopes)

    def make(
        self,
        servers: Iterable[int],
        new: dict[int, New],
        rank: Callable[[int], Rank],
        leased: Collection[int],
    ) -> Counter[Outcome]:
        """Let go what is too much of servers and of their sites, once ``new`` waits too.

        What is let go of ``new``, by number of the URL, is taken out of it; ``leased`` are such
        numbers. Returns how many were let go, by reason.
        """
        gone: Counter[tuple[int, str]] = Counter()
        total: Counter[Outcome] = Counter()
        for scope in self._scopes:
            coming = Counter(dict.fromkeys(servers, 0))
            coming.update(url.server for url in new.values())
            for where, excess in scope.too_many(coming).items():
                own = {seq: url for seq, url in new.items() if scope.of(url.server) == where}
                worst = _worst_first(own, scope.cells(where, excess + len(leased)), rank)
                for server, number in self._take(excess, worst, new, leased):
                    gone[server, scope.reason] += number
                    total[scope.reason] += number
        keep_let_go(self._db, gone)
        return total

    def _take(
        self,
        excess: int,
        worst: Iterator[int | list[Line]],
        new: dict[int, New],
        leased: Collection[int],
    ) -> Iterator[tuple[int, int]]:
        """Let go so many URLs, the first of ``worst``; yield servers and how many of each."""
        for one in worst:
            if isinstance(one, int):
                server, number = new.pop(one).server, 1
            else:
                server, number = one[0].server, self._queues.let_go(one, excess, leased)
            yield server, number
            excess -= number
            if not excess:
                return

    def _on_server(self, server: int, _: int) -> dict[int, Iterable[list[Line]]]:
        """Return a server's lines by cell."""
        lines: defaultdict[int, list[Line]] = defaultdict(list)
        for line in self._queues.lines_of(server):
            lines[line.cell].append(line)
        return {cell: [found] for cell, found in lines.items()}

    def _on_site(self, site: int, most: int) -> dict[int, Iterable[list[Line]]]:
        """Return the lines of a site's servers by cell; of each cell those of so many servers."""
        cells = self._db.execute(_CELLS, (site,)).fetchall()
        return {cell: self._in_cell(site, cell, most) for (cell,) in cells}

    def _in_cell(self, site: int, cell: int, most: int) -> Iterator[list[Line]]:
        for (server,) in self._db.execute(_SERVERS, (site, cell, most)).fetchall():
            yield [line for line in self._queues.lines_of(server) if line.cell == cell]


def keep_let_go(db: sqlite3.Connection, gone: Mapping[tuple[int, str], int]) -> None:
    """Note how many URLs of servers were let go, or ended by a quota, by reason.

    Less than 0 are those that come back.
    """
    db.executemany(
        "INSERT INTO let_go VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET number = number + excluded.number",
        [(server, reason, number) for (server, reason), number in gone.items() if number],
    )
    db.executemany("DELETE FROM let_go WHERE server = ? AND reason = ? AND number <= 0", gone)


def _worst_first(
    coming: Mapping[int, New],
    cells: Mapping[int, Iterable[list[Line]]],
    rank: Callable[[int], Rank],
) -> Iterator[int | list[Line]]:
    """Yield numbers of URLs that are coming, and lines whose URLs wait, cell by cell."""
    by_cell: defaultdict[int, list[int]] = defaultdict(list)
    for seq, url in coming.items():
        by_cell[url.cell].append(seq)
    for cell in sorted({*by_cell, *cells}, key=rank, reverse=True):
        yield from sorted(by_cell[cell], reverse=True)  # they are newer than all that wait
        yield from cells.get(cell, ())
