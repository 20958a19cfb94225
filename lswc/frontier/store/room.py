"""Room for URLs in a SQLite file: which are discarded when a server or a site has too many."""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import nlargest
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.rules.contract import FULL
from lswc.strategy.families import URLS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from lswc.frontier.rules.contract import Caps
    from lswc.frontier.store.index import Line
    from lswc.frontier.store.lines import Lines
    from lswc.outcomes import Outcome


_NEWEST = (
    "SELECT seq, line FROM url WHERE server = ? AND line = ? AND outcome IS NULL"
    " ORDER BY seq DESC LIMIT ?"
)


class _Scope(NamedTuple):
    """Servers, or sites: what a cap is for. All by their numbers in the file.

    ``most`` is how many URLs one may have, and ``least`` how many any may; ``of`` tells a
    server's, ``size`` how many URLs one has; ``worst`` yields the lines of each server in a cell,
    the worst first, of so many servers of a cell at most.
    """

    most: Callable[[int], float]
    least: float
    reason: Outcome
    of: Callable[[int], int]
    size: Callable[[int], int]
    worst: Callable[[int, int], Iterator[list[Line]]]


class Room:
    """Discards the worst URLs of a server or site that has more than ``caps``.

    What is ``leased``, by number, stays.
    """

    def __init__(
        self, db: sqlite3.Connection, lines: Lines, caps: Caps, leased: Collection[int]
    ) -> None:
        self._db = db
        self._lines = lines
        self._leased = leased
        sizes, family_of = lines.sizes, lines.families.of
        of_server, of_site = caps.server or inf, caps.domain or inf
        of_unproven = min(of_site, URLS) if caps.sites else of_site

        def most_of_site(site: int) -> float:
            return of_unproven if family_of(site) else of_site

        self._scopes = (
            _Scope(
                lambda _: of_server, of_server, FULL["server"],
                int, sizes.of_server, self._of_server,
            ),
            _Scope(
                most_of_site, of_unproven, FULL["site"],
                sizes.site, sizes.of_site, self._of_site,
            ),
        )  # fmt: skip
        self._most = caps.server

    def may_lack(self, servers: Iterable[int], number: int) -> bool:
        """Tell whether one of these servers may have too many with so many URLs more."""
        size, room = self._lines.sizes.of_server, self._most - number
        return self._most > 0 and any(size(server) > room for server in servers)

    def hopeless(self, server: int, new: Sequence[tuple[int, int]]) -> list[int]:
        """Return which of a server's new URLs would be discarded at once: they are in vain.

        ``new`` are their cells and numbers. Nothing that waits is worse than these, but more of
        them than are too many.
        """
        excess = self._lines.sizes.of_server(server) + len(new) - self._most
        if not self._most or excess <= 0:
            return []
        rank = self._lines.rank
        waiting = max((rank(line.cell) for line in self._lines.lines_of(server)), default=None)
        worst = nlargest(excess, ((rank(cell), seq) for cell, seq in new))
        return [seq for of_cell, seq in worst if waiting is None or of_cell >= waiting]

    def make(self, servers: Collection[int]) -> Counter[tuple[int, str]]:
        """Discard what is too much of servers and of their sites.

        Returns how many were discarded, by server and reason.
        """
        gone: Counter[tuple[int, str]] = Counter()
        for scope in self._scopes:
            if self._lines.sizes.peak > scope.least:
                for where in {scope.of(server) for server in servers}:
                    gone.update(self._discarded(scope, where))
        if gone:
            keep_left_out(self._db, gone)
        return gone

    def _discarded(self, scope: _Scope, where: int) -> Counter[tuple[int, str]]:
        gone: Counter[tuple[int, str]] = Counter()
        bound = scope.most(where)
        if scope.size(where) <= bound:
            return gone
        excess = scope.size(where) - int(bound)
        for lines in scope.worst(where, excess + len(self._leased)):
            number = self._forget(lines, excess)
            gone[lines[0].server, scope.reason] += number
            excess -= number
            if not excess:
                break
        return gone

    def _of_server(self, server: int, _: int) -> Iterator[list[Line]]:
        lines: defaultdict[int, list[Line]] = defaultdict(list)
        for line in self._lines.lines_of(server):
            lines[line.cell].append(line)
        for cell in sorted(lines, key=self._lines.rank, reverse=True):
            yield lines[cell]

    def _of_site(self, site: int, most: int) -> Iterator[list[Line]]:
        """Yield the lines of each server of a site in a cell, so many servers of a cell at most.

        Those of the worst cell come first, of these the servers that were met last.
        """
        index = self._lines.index
        if not index.knows(site):
            index.know(site, self._lines.lines_of_site(site))
        for cell in sorted(index.cells_of_site(site), key=self._lines.rank, reverse=True):
            for server in index.servers_of_site(site, cell, most):
                yield [line for line in self._lines.lines_of(server) if line.cell == cell]

    def _forget(self, lines: Sequence[Line], most: int) -> int:
        """Forget the newest URLs of lines of a server, so many at most; return how many.

        Never one that is leased.
        """
        newest: list[tuple[int, int]] = []
        for line in lines:  # one URL of a server may be leased
            newest += self._db.execute(_NEWEST, (line.server, line.line, most + 1))
        chosen = nlargest(most, (found for found in newest if found[0] not in self._leased))
        for table in ("url", "later", "again"):
            self._db.executemany(
                f"DELETE FROM {table} WHERE seq = ?", [(seq,) for seq, _ in chosen]
            )
        for name, number in Counter(line for _, line in chosen).items():
            self._lines.take(lines[0].server, name, number)
        return len(chosen)


def keep_left_out(db: sqlite3.Connection, gone: Mapping[tuple[int, str], int]) -> None:
    """Note how many URLs of servers were discarded, or ended by a quota, by reason.

    Less than 0 are those that come back.
    """
    db.executemany(
        "INSERT INTO left_out VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET number = number + excluded.number",
        [(server, reason, number) for (server, reason), number in gone.items() if number],
    )
    db.executemany("DELETE FROM left_out WHERE server = ? AND reason = ? AND number <= 0", gone)
