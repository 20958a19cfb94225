"""Leases of a SQLite file's URLs: what is leased, which one is next, and its handing out."""

from __future__ import annotations

import sys
from heapq import heappop, heappush
from itertools import count
from json import dumps
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.exchange.outbox import LINKS_WAITING
from lswc.frontier.rules import contract
from lswc.frontier.rules.contract import BURST_OF_HASTE, Share, Terms, is_far_better
from lswc.frontier.rules.visit import Lease
from lswc.frontier.store.index import Line
from lswc.frontier.store.lines import BEYOND
from lswc.safety.server_limits import Taken
from lswc.strategy import GUESSES, REQUISITES, PageLanguage
from lswc.strategy.families import FAMILIES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Sequence

    from lswc.frontier.rules.revisited import Revisited
    from lswc.frontier.rules.visit import Visit
    from lswc.frontier.store.file import File
    from lswc.frontier.store.index import ReadyCells
    from lswc.frontier.store.lines import Lines
    from lswc.frontier.store.revisited_pages import RevisitedPages
    from lswc.strategy import Order


_HAND_OUT = """
SELECT s.name, u.seq, u.url, u.unit, u.code, u.inherited, u.depth, u.redirects,
    coalesce((SELECT url FROM url WHERE seq = u.referrer),
             (SELECT url FROM elsewhere WHERE id = -u.referrer)),
    coalesce((SELECT tries FROM later WHERE seq = u.seq), 0),
    s.downloaded, s.bytes, d.downloaded, d.bytes
FROM url u JOIN server s ON s.id = u.server JOIN site d ON d.id = s.site WHERE u.seq = ?
"""


class Leased(NamedTuple):
    """What is leased: numbers of the lease, the server and the unit; since when.

    ``again`` says that it is a page that is visited again, so its URL isn't pending.
    """

    token: int
    server: int
    unit: int
    since: float
    again: bool


class Leases:
    """What is leased, by the number of the URL; and the servers that rest, until when."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._tokens = count(1)
        self._resting: list[tuple[float, int]] = []
        self.leased: dict[int, Leased] = {}

    def of(self, visit: Visit) -> Leased | None:
        """Return a visit's lease, None if it has ended."""
        lease = self.leased.get(visit.lease.id)
        return lease if lease is not None and lease.token == visit.lease.token else None

    def add(self, line: Line, unit: int, now: float, again: bool = False) -> int:
        """Begin a lease; return its number. The server is busy until it ends."""
        token = next(self._tokens)
        self._lines.index.keep_busy(line)
        if not again:
            self._lines.leased[line.seq] = line.server, line.line
        self.leased[line.seq] = Leased(token, line.server, unit, now, again)
        return token

    def end(self, visit: Visit) -> None:
        """Forget a lease, and let its server rest."""
        lease = self.leased.pop(visit.lease.id)
        self._lines.leased.pop(visit.lease.id, None)
        if visit.rest:
            heappush(self._resting, (lease.since + visit.rest, lease.server))
        else:
            self._lines.free(lease.server)

    def let_rested_go(self, now: float) -> None:
        """Free the servers that have rested."""
        while self._resting and self._resting[0][0] <= now:
            self._lines.free(heappop(self._resting)[1])

    def busy(self) -> set[int]:
        """Return the servers of which URLs are leased."""
        return {lease.server for lease in self.leased.values()}

    @property
    def pending(self) -> int:
        """Number of leased URLs that are no pages visited again."""
        return sum(not lease.again for lease in self.leased.values())

    @property
    def next_rested(self) -> float | None:
        """When the first server has rested, None if none rests."""
        return self._resting[0][0] if self._resting else None


class Choice:
    """What is leased next: by the order, by haste, and by the share of unproven sites."""

    def __init__(
        self,
        db: sqlite3.Connection,
        lines: Lines,
        leases: Leases,
        revisited: RevisitedPages,
        share: Share,
        terms: Terms,
    ) -> None:
        self._db = db
        self._lines, self._leases, self._revisited = lines, leases, revisited
        self._least_worth = terms.least_worth
        self._share = share
        self._waits, self._patience = terms.waits, terms.patience
        self._earned, self._spare = terms.spare, 0.0
        self._only: Collection[int] | None = None
        self._unhasty_until = -inf
        self.elsewhere: int | None = None
        """The best cell of which other workers have a URL waiting."""
        self.ready_at: float | None = None
        """When a URL that waits for far better ones waits no longer; None if none waits."""
        self.is_young = False
        """Whether the crawl has a learned order, and FIRST_PAGES still to come."""

    def take(self, order: Order, now: float) -> Line | None:
        """Return the line whose first URL is leased now, and count that it is."""
        self.ready_at = None
        self.is_young = order.pages < contract.FIRST_PAGES
        line, others_wait = self._next()
        if line is None or self._is_worthless(order, line):
            return None
        if not self._is_best(order, line):
            if now < self._unhasty_until:
                if self._spare < 1:
                    self.ready_at = self._unhasty_until
                    return None
                self._spare -= 1
        else:
            self.wait_till(now + self._patience)
            if not self.is_young:
                self._spare = min(self._spare + self._earned, BURST_OF_HASTE)
        families = self._lines.families
        if families.sites:  # else there is nothing to share
            self._share.leased(families.charged(self._lines.sizes.site(line.server)), others_wait)
        return line

    def restrict(self, cells: Collection[int] | None) -> None:
        """Let ``take`` find lines of these cells alone; None lifts that."""
        self._only = cells

    def _first_proven(self) -> Line | None:
        """Return the proven sites' line whose oldest URL is next: of the best cell, among free
        servers."""
        if self._only is not None:
            allowed = self._allowed(self._lines.ready)
            return next(filter(None, map(self._lines.index.first, allowed)), None)
        for cell in iter(self._lines.ready.first, None):
            if (line := self._lines.index.first(cell)) is not None:
                return line
            self._lines.ready.remove(cell)
        return None

    def _allowed(self, cells: ReadyCells) -> list[int]:
        found, only = cells.best(), self._only
        return found if only is None else [cell for cell in found if cell in only]

    def _first_apart(self, turn: int, may: Callable[[int], bool]) -> Line | None:
        """Return the line of a family that ``may`` have it: of the best cell, the family after the
        one whose ``turn`` was last, its oldest URL, among free servers.

        None if none of the first FAMILIES may.
        """
        looked = 0
        for cell in self._allowed(self._lines.apart):
            found = False
            for line in self._families_of(cell, turn):
                found = True
                looked += 1
                if may(line.family):
                    return line
                if looked == FAMILIES:
                    return None
            if not found:
                self._lines.apart.remove(cell)
        return None

    def _families_of(self, cell: int, turn: int) -> Iterator[Line]:
        """Yield the first line in a cell of each family with a free server, by turns."""
        next_of = self._lines.index.first
        for first, last in ((turn, sys.maxsize), (0, turn)):
            family = first
            while (line := next_of(cell, family)) is not None and line.family <= last:
                yield line
                family = line.family

    def _others_wait(self) -> bool:
        """Tell whether URLs of proven sites wait, or are leased."""
        waiting, unproven = self._lines.waiting, self._lines.unproven
        return waiting.total() - sum(waiting[cell] for cell in BEYOND) > unproven.total()

    def among(self, servers: Sequence[str]) -> Line | None:
        """Return the best line of the first of these servers that is free and has one."""
        rows = self._db.execute(
            "SELECT name, id FROM server WHERE name IN (SELECT value FROM json_each(?))",
            (dumps(list(servers)),),
        )
        number_of = dict(rows.fetchall())
        for name in servers:
            server = number_of.get(name)
            if server is None or server in self._lines.index.busy:
                continue
            found = [line for line in self._lines.lines_of(server) if line.cell < REQUISITES]
            if found:
                return min(found, key=lambda line: (self._lines.rank(line.cell), line.seq))
        return None

    def requisite(self) -> Line | None:
        """Return the line whose oldest requisite is next, among free servers; guesses are last."""
        return self._lines.index.first(REQUISITES) or self._lines.index.first(GUESSES)

    def wait_till(self, then: float) -> None:
        """Let no URL be leased in haste until then, unless that was earned."""
        self._unhasty_until = max(self._unhasty_until, then)

    def since_best(self, now: float) -> float:
        """Return the seconds since the latest lease that was none in haste, of any worker."""
        return now + self._patience - self._unhasty_until

    @property
    def best(self) -> int | None:
        """The best cell with a URL of a proven site that isn't leased; None if there is none."""
        return self._best_waiting(is_proven=True)

    def heard(self, best: int | None, since: float, now: float) -> None:
        """Take notice of the best cell that waits elsewhere, and of the latest lease of such."""
        self.elsewhere = best
        self.wait_till(now + self._patience - since)

    def _is_worthless(self, order: Order, line: Line) -> bool:
        """Tell whether later visits of pages are worth more."""
        if not self._revisited.number:
            return False
        worth = order.worth(line.cell)
        return worth is not None and worth < self._least_worth

    def _next(self) -> tuple[Line | None, bool]:
        """Return the line that is next, and whether URLs of proven sites wait or are under way.

        That of an unproven site, if it comes before those of proven ones: while there are these,
        only if its family is small, or there is credit; or if none of them can be leased now, and
        no server of its family is busy, so that a family is as one server. No connection is idle
        for longer than that.
        """
        lines, share, is_small = self._lines, self._share, self._lines.families.is_small
        proven = self._first_proven()
        if not lines.unproven:
            return proven, True
        if proven and share.credit < 1 - share.share and not lines.families.some_are_small:
            return proven, True
        others_wait = proven is not None or self._others_wait()

        def may(family: int) -> bool:
            is_idle = proven is None and not lines.index.is_busy(family)
            return not others_wait or is_small(family) or is_idle or share.may(family)

        line = self._first_apart(share.turn, may)
        if line is None or (
            proven is not None
            and (lines.rank(proven.cell), proven.seq) < (lines.rank(line.cell), line.seq)
        ):
            return proven, others_wait
        return line, others_wait

    def _is_best(self, order: Order, line: Line) -> bool:
        """Tell whether no far better URLs wait for their servers, here or elsewhere.

        A proven site waits for no unproven one.
        """
        if not self._waits:
            return True
        elsewhere = self.elsewhere
        if elsewhere is not None and is_far_better(order, elsewhere, line.cell):
            return False
        if not self._lines.index.busy:
            return True
        best = self._best_waiting(is_proven=not line.family)
        return best is None or not is_far_better(order, best, line.cell)

    def _best_waiting(self, is_proven: bool) -> int | None:
        """Return the best cell with a URL that isn't leased; with one of a proven site."""
        lines, leased = self._lines, None
        first = lines.occupied.first()
        if first is None or (
            first not in lines.unproven and lines.waiting[first] > len(self._leases.leased)
        ):
            return first
        for cell in lines.occupied.best():
            number = lines.waiting[cell] - (lines.unproven[cell] if is_proven else 0)
            if number > len(self._leases.leased):
                return cell
            if number:
                leased = lines.leased_cells(is_proven) if leased is None else leased
                if number > leased[cell]:
                    return cell
        return None


class Leasing:
    """Hands out the URLs of a file."""

    def __init__(self, file: File) -> None:
        self._file = file

    def lease(self, now: float) -> Lease | None:
        """Lease what ``Frontier.lease`` does."""
        if self._file.outbox.links > LINKS_WAITING:
            return None
        again = self._lease_again(now) if self._file.revisited.is_on else None
        return again or self._lease(now, lambda: self._file.choice.take(self._file.order, now))

    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        """Lease what ``Frontier.lease_among`` does."""
        return self._lease(now, lambda: self._file.choice.among(servers))

    def lease_url(self, name: int) -> Lease | None:
        """Lease a URL by its key, whatever comes before it; None if it doesn't wait."""
        file = self._file
        with file.errors():
            row = file.db.execute(
                "SELECT seq, server, line FROM url WHERE fingerprint = ? AND outcome IS NULL",
                (name,),
            ).fetchone()
            if row is None or row[0] in file.leases.leased:
                return None
            seq, server, line = row
            cell = file.lines.cell_of(line, file.lines.sizes.place[server])
            family = file.lines.family(server, cell)
            return self._hand_out(Line(server, line, cell, seq, family), 0.0)

    def lease_requisite(self, now: float) -> Lease | None:
        """Lease what ``Frontier.lease_requisite`` does."""
        choice = self._file.choice
        return self._lease(now, lambda: choice.requisite() if self._file.requisites else None)

    def next_ready(self) -> float | None:
        """Return when it is worth another try."""
        times = (
            self._file.leases.next_rested,
            self._file.urls.postponed.next_due,
            self._file.revisited.next_ready,
            self._file.choice.ready_at,
        )
        return min((time for time in times if time is not None), default=None)

    def _lease(self, now: float, choose: Callable[[], Line | None]) -> Lease | None:
        """Lease the first URL of the line that is chosen once all that has rested is free."""
        with self._file.errors():
            self._file.leases.let_rested_go(now)
            if self._file.revisited.is_on:
                self._file.revisited.let_pass(now)
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
            chosen = self._file.revisited.next(now, self._file.lines.index.busy)
            return None if chosen is None else self._hand_out(chosen.line, now, chosen.page)

    def _hand_out(self, line: Line, now: float, page: Revisited | None = None) -> Lease:
        """Return the lease of a line's first URL, or of a page that is visited again."""
        row = self._file.db.execute(_HAND_OUT, (line.seq,)).fetchone()
        name, seq, url, unit, code, inherited, depth, redirects, referrer, tries, *taken = row
        cell = line.cell if page is None else self._cell_of(code, unit)
        expected = None if cell >= REQUISITES else self._file.order.expected(cell)
        token = self._file.leases.add(line, unit, now, page is not None)
        visits, simhash = (0, None) if page is None else (page.visits, page.simhash)
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
