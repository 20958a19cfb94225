"""Leases of a SQLite file's URLs, and of pages that are visited again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier.visit import Lease
from lswc.safety.server_limits import Taken
from lswc.strategy import REQUISITES, PageLanguage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.frontier.held import Held
    from lswc.frontier.store.file import File
    from lswc.frontier.store.index import Line

_HAND_OUT = """
SELECT s.name, u.seq, u.url, u.unit, u.code, u.inherited, u.depth, u.redirects,
    coalesce((SELECT url FROM url WHERE seq = u.referrer),
             (SELECT url FROM elsewhere WHERE id = -u.referrer)),
    coalesce((SELECT tries FROM later WHERE seq = u.seq), 0),
    s.downloaded, s.bytes, d.downloaded, d.bytes
FROM url u JOIN server s ON s.id = u.server JOIN site d ON d.id = s.site WHERE u.seq = ?
"""


class Leasing:
    """Hands out the URLs of a file."""

    def __init__(self, file: File) -> None:
        self._file = file

    def lease(self, now: float) -> Lease | None:
        """Lease what ``Frontier.lease`` does."""
        if self._file.outbox.is_full:
            return None
        again = self._lease_again(now) if self._file.held.is_on else None
        return again or self._lease(now, lambda: self._file.choice.take(self._file.order, now))

    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        """Lease what ``Frontier.lease_among`` does."""
        return self._lease(now, lambda: self._file.lines.first_among(servers))

    def lease_requisite(self, now: float) -> Lease | None:
        """Lease what ``Frontier.lease_requisite`` does."""
        lines = self._file.lines
        return self._lease(now, lambda: lines.first_requisite() if self._file.requisites else None)

    def next_ready(self) -> float | None:
        """Return when it is worth another try."""
        times = (
            self._file.leases.next_rested,
            self._file.urls.postponed.next_due,
            self._file.held.next_ready,
            self._file.choice.ready_at,
        )
        return min((time for time in times if time is not None), default=None)

    def _lease(self, now: float, choose: Callable[[], Line | None]) -> Lease | None:
        """Lease the first URL of the line that is chosen once all that has rested is free."""
        with self._file.errors():
            self._file.leases.let_rested_go(now)
            if self._file.held.is_on:
                self._file.held.let_pass(now)
            postponed = self._file.urls.postponed.waiting
            if postponed and postponed[0][0] <= now:
                self._file.urls.bring_back(now)
            line = choose()
            if line is None:
                return None
            return self._hand_out(line, now)

    def _lease_again(self, now: float) -> Lease | None:
        """Lease the page that is due first, if the budget of visits has one."""
        with self._file.errors():
            self._file.leases.let_rested_go(now)
            chosen = self._file.held.next(now, self._file.lines.index.busy)
            return None if chosen is None else self._hand_out(chosen.line, now, chosen.held)

    def _hand_out(self, line: Line, now: float, held: Held | None = None) -> Lease:
        """Return the lease of a line's first URL, or of a page that is held."""
        row = self._file.db.execute(_HAND_OUT, (line.seq,)).fetchone()
        name, seq, url, unit, code, inherited, depth, redirects, referrer, tries, *taken = row
        cell = line.cell if held is None else self._cell_of(code, unit)
        expected = None if cell >= REQUISITES else self._file.order.expected(cell)
        token = self._file.leases.add(line, unit, now, held is not None)
        visits, simhash = (0, None) if held is None else (held.visits, held.simhash)
        return Lease(
            seq, url, name, self._unit(name, unit),
            code, cell, expected, PageLanguage(inherited), depth, redirects, referrer,
            token, tries, Taken(*taken[:2]), Taken(*taken[2:]), visits, simhash,
        )  # fmt: skip

    def _unit(self, server: str, unit: int) -> str:
        """Return the name of what the strategy counts by."""
        return server if self._file.lines.by_server else self._file.servers.directory(unit)

    def _cell_of(self, code: int, unit: int) -> int:
        """Return the cell that a URL would wait in now: the first if it would be discarded."""
        return max(0, self._file.strategy.cell(code, self._file.servers.place(unit)))
