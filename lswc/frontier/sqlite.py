"""Frontier of one process: one SQLite file, one transaction a page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from itertools import count
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.errors import StorageError
from lswc.frontier import sqlite_cells, sqlite_servers, sqlite_urls
from lswc.frontier.contract import (
    BURST_OF_HASTE,
    DEFAULTS,
    Frontier,
    FrontierError,
    Share,
    Terms,
    changed_of,
    check_identity,
    is_far_better,
)
from lswc.frontier.exchange import outbox
from lswc.frontier.exchange.giving import Giving
from lswc.frontier.exchange.inbox import Inbox
from lswc.frontier.exchange.outbox import Outbox
from lswc.frontier.experience import dumped, identity_of
from lswc.frontier.held import became
from lswc.frontier.lock import lock
from lswc.frontier.sqlite_cells import Lines
from lswc.frontier.sqlite_families import Families
from lswc.frontier.sqlite_held import HeldPages
from lswc.frontier.sqlite_report import SqliteReader, opened
from lswc.frontier.sqlite_room import Room, keep_left_out
from lswc.frontier.sqlite_saving import Saving, size_of
from lswc.frontier.sqlite_servers import Servers, Tallies, begin
from lswc.frontier.sqlite_urls import Urls, keep_lengths, read_lengths, reopen
from lswc.frontier.visit import Lease
from lswc.outcomes import OF_QUOTA, Outcome, is_transient
from lswc.safety.server_limits import Taken
from lswc.strategy import (
    GUESSES,
    REQUISITES,
    LearnedOrder,
    Order,
    PageLanguage,
    Pages,
    Strategy,
    Unit,
    strategy,
    with_requisites,
)
from lswc.strategy.adaptive import SEEDS
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from lswc.frontier.contract import Wanted
    from lswc.frontier.exchange.status import Elsewhere
    from lswc.frontier.harvest import CellHarvest
    from lswc.frontier.held import Held
    from lswc.frontier.report import Freshness
    from lswc.frontier.sqlite_ready import Line
    from lswc.frontier.visit import Offer, Visit
    from lswc.strategy import Experience

MEMORY = ":memory:"
_MAY_RETURN = ("finished", "postponed")
_HAND_OUT = """
SELECT s.name, u.seq, u.url, u.unit, u.code, u.inherited, u.depth, u.redirects,
    coalesce((SELECT url FROM url WHERE seq = u.referrer),
             (SELECT url FROM elsewhere WHERE id = -u.referrer)),
    coalesce((SELECT tries FROM later WHERE seq = u.seq), 0),
    s.downloaded, s.bytes, d.downloaded, d.bytes
FROM url u JOIN server s ON s.id = u.server JOIN site d ON d.id = s.site WHERE u.seq = ?
"""


class _Held(NamedTuple):
    """What is leased: numbers of the lease, the server and the unit; since when.

    ``again`` says that it is a page that is visited again, so its URL isn't pending.
    """

    token: int
    server: int
    unit: int
    since: float
    again: bool


class _Leases:
    """What is leased, by the number of the URL; and the servers that rest, until when."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._tokens = count(1)
        self._resting: list[tuple[float, int]] = []
        self.held: dict[int, _Held] = {}

    def of(self, visit: Visit) -> _Held | None:
        """Return what a visit's lease holds, None if it has ended."""
        held = self.held.get(visit.lease.id)
        return held if held is not None and held.token == visit.lease.token else None

    def add(self, line: Line, unit: int, now: float, again: bool = False) -> int:
        """Begin a lease; return its number. The server is busy until it ends."""
        token = next(self._tokens)
        self._lines.index.keep_busy(line)
        if not again:
            self._lines.leased[line.seq] = line.server, line.line
        self.held[line.seq] = _Held(token, line.server, unit, now, again)
        return token

    def end(self, visit: Visit) -> None:
        """Forget a lease, and let its server rest."""
        held = self.held.pop(visit.lease.id)
        self._lines.leased.pop(visit.lease.id, None)
        if visit.rest:
            heappush(self._resting, (held.since + visit.rest, held.server))
        else:
            self._lines.free(held.server)

    def let_rested_go(self, now: float) -> None:
        """Free the servers that have rested."""
        while self._resting and self._resting[0][0] <= now:
            self._lines.free(heappop(self._resting)[1])

    def busy(self) -> set[int]:
        """Return the servers of which URLs are leased."""
        return {held.server for held in self.held.values()}

    @property
    def pending(self) -> int:
        """Number of leased URLs that are no pages visited again."""
        return sum(not held.again for held in self.held.values())

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
        leases: _Leases,
        held: HeldPages,
        share: Share,
        terms: Terms,
    ) -> None:
        self._db = db
        self._lines, self._leases, self._held = lines, leases, held
        self._least_worth = terms.least_worth
        self._share = share
        self._waits, self._patience = terms.waits, terms.patience
        self._earned, self._spare = terms.spare, 0.0
        self._unhasty_until = -inf
        self.elsewhere: int | None = None
        """The best cell of which other workers have a URL waiting."""
        self.ready_at: float | None = None
        """When a URL that waits for far better ones waits no longer; None if none waits."""

    def take(self, order: Order, now: float) -> Line | None:
        """Return the line whose first URL is leased now, and count that it is."""
        self.ready_at = None
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
            self._spare = min(self._spare + self._earned, BURST_OF_HASTE)
        families = self._lines.families
        if families.sites:  # else there is nothing to share
            self._share.leased(families.charged(self._lines.sizes.site(line.server)), others_wait)
        return line

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
        """Tell whether visits of pages that are held are worth more."""
        if not self._held.number:
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
        proven = lines.first()
        if not lines.unproven:
            return proven, True
        if proven and share.credit < 1 - share.share and not lines.families.some_are_small:
            return proven, True
        others_wait = proven is not None or lines.others_wait()

        def may(family: int) -> bool:
            is_idle = proven is None and not lines.index.is_busy(family)
            return not others_wait or is_small(family) or is_idle or share.may(family)

        line = lines.first_apart(share.turn, may)
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
            first not in lines.unproven and lines.waiting[first] > len(self._leases.held)
        ):
            return first
        for cell in lines.occupied.best():
            number = lines.waiting[cell] - (lines.unproven[cell] if is_proven else 0)
            if number > len(self._leases.held):
                return cell
            if number:
                leased = lines.leased_cells(is_proven) if leased is None else leased
                if number > leased[cell]:
                    return cell
        return None


class SqliteFrontier(Frontier):
    """The frontier in a SQLite file, or in memory for a crawl that isn't kept.

    Writes since the last ``commit`` only let URLs come back, so a kill loses nothing.
    ``identity`` says what the crawl is (language, strategy); a file made for another is
    refused. Raises FrontierError for that, for a foreign file, and if another process has it.
    """

    def __init__(
        self,
        path: Path | str,
        strategy: Strategy,
        identity: Mapping[str, str],
        terms: Terms = DEFAULTS,
    ) -> None:
        self._strategy = strategy = with_requisites(strategy)
        self._ahead = Path(f"{path}-wal")
        self._saved = 0  # bytes of it
        self._lock = None if path == MEMORY else lock(Path(path).parent)
        self._saving = None if path == MEMORY else Saving(Path(path))
        self._db = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self._servers = Servers(self._db, strategy)
        self._tallies = Tallies(self._db)
        share = Share(terms.unproven_share)
        families = Families(self._db, terms, strategy.weighs_support)
        self._lines = Lines(self._db, strategy, families)
        self._leases = _Leases(self._lines)
        self._held = HeldPages(self._db, terms, self._tallies)
        self.choice = Choice(self._db, self._lines, self._leases, self._held, share, terms)
        room = Room(self._db, self._lines, terms.caps, self._leases.held.keys())
        self._urls = Urls(self._db, self._servers, self._lines, room, self._tallies)
        self.outbox = Outbox(self._db, self._lines)
        self.inbox = Inbox(
            self._db, self.outbox, self._urls, self._servers, self._lines, self._tallies, self._held
        )
        self.giving = Giving(
            self._db, self.outbox, self._urls, self._lines, self._held,
            self._leases.busy, self.transaction,
        )  # fmt: skip
        try:
            with _opening():
                identity = identity_of(strategy, identity)
                if _prepare(self._db):
                    _create(self._db, strategy, identity, terms.experience)
                    self.checkpoint()
                found = dict(self._db.execute("SELECT key, value FROM about"))
                check_identity(found, identity, "choose another folder with LSWC_CRAWL")
                self._load()
        except BaseException:
            self.close()
            raise

    def _load(self) -> None:
        """Take what the file holds: when it is opened, and after a write that failed."""
        self._servers.forget()
        self._tallies.load()
        self.order = SqliteReader(self._db, self._strategy).order()
        self._lines.load(self.order.rank)
        self._urls.load()
        self._held.load()
        self.outbox.load()
        self.inbox.load()
        self._lengths = read_lengths(self._db)

    @contextmanager
    def reading(self) -> Iterator[SqliteReader]:
        with self._errors():
            yield _OpenReader(self)

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        try:
            return self._servers.pages(set(units))
        except sqlite3.Error as error:
            raise self._failed(error) from error

    @property
    def pending(self) -> int:
        return self.unfinished - self._leases.pending

    @property
    def unfinished(self) -> int:
        return self._lines.waiting.total() + len(self._urls.postponed)

    @property
    def is_shared(self) -> bool:  # type: ignore[override]
        return bool(self.membership())

    def cells_everywhere(self) -> tuple[CellHarvest, ...]:
        elsewhere = self.elsewhere
        with self.reading() as reader:
            pending, pages = Counter(reader.pending()), reader.pages_by_cell()
            pending.update(elsewhere.pending)
            for cell, more in elsewhere.pages.items():
                own = pages.get(cell, Pages())
                pages[cell] = Pages(own.downloaded + more.downloaded, own.relevant + more.relevant)
            return reader.harvest(dict(pending), pages)

    @property
    def leased(self) -> int:
        """Number of leased URLs."""
        return len(self._leases.held)

    @property
    def has_seeds(self) -> bool:
        """Whether seeds wait that are fetched first."""
        return self._strategy.learns and self._lines.waiting[SEEDS] > 0

    def fetch_again(self, worker: int) -> int:
        """Let URLs wait that another worker finished whose disk is lost; return how many."""
        with self.transaction():
            return self._urls.fetch_again(worker)

    def code_of(self, url: str) -> tuple[int, int] | None:
        """Return the code of the facts of the link to a URL, and its depth; None if unknown."""
        with self._errors():
            found = self._db.execute(
                "SELECT code, depth FROM url WHERE fingerprint = ?", (fingerprint(url),)
            ).fetchone()
        return None if found is None else (found[0], found[1])

    def offer_of(self, url: str, offers: Sequence[Offer]) -> None:
        """Offer links of a page that was committed before, by its URL."""
        with self.transaction():
            row = self._db.execute(
                "SELECT seq, server FROM url WHERE fingerprint = ?", (fingerprint(url),)
            ).fetchone()
            seq, server = row or (None, None)
            vouching = partial(self.outbox.vouching, server)
            own = self.outbox.divert(offers, url, vouching, again=True)
            self._urls.store(own, seq, None if server is None else self._lines.sizes.site(server))

    def hear(self, elsewhere: Elsewhere) -> None:
        self.elsewhere = elsewhere
        if isinstance(self.order, LearnedOrder):
            self.order.hear(elsewhere.experience)
            self._lines.reorder()

    def membership(self) -> dict[str, str]:
        """Return what is kept of the crawl that this file is a worker's of; nothing if none."""
        with self._errors():
            rows = self._db.execute(
                "SELECT key, value FROM about WHERE key IN ('worker', 'crawl', 'owners', 'resent')"
            )
            return dict(rows.fetchall())

    def keep_membership(self, **kept: str) -> None:
        """Keep that, in a transaction that is the caller's."""
        self._db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", kept.items())

    @property
    def held(self) -> int:
        return self._held.number

    def hold(self, records: Iterable[Mapping[str, Any]]) -> None:
        if self._held.is_kept:
            with self.transaction():
                self._held.hold(records, self._urls.next_seq)

    def held_of(self, seq: int) -> Held | None:
        """Return what is kept of a page by its number; None if it isn't held."""
        with self._errors():
            return self._held.of(seq) if self._held.is_on else None

    @property
    def requisites(self) -> int:
        return sum(self._lines.waiting[cell] for cell in (REQUISITES, GUESSES))

    @property
    def later(self) -> int:
        return len(self._urls.postponed)

    def next_due(self) -> float | None:
        return self._urls.postponed.next_due

    def lengths(self) -> dict[str, int]:
        return self._lengths

    def prepare_checkpoint(self) -> bool:
        if self._saving is None:
            return True
        with self._errors():
            return not self._saving.goes_on()

    def checkpoint(self) -> None:
        with self._errors():
            if self._saving is not None:
                self._saving.finish()
            if self._db.in_transaction:  # of URLs that came back
                self._tallies.write()
                self._db.execute("COMMIT")
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._saved = size_of(self._ahead)

    @property
    def unsaved(self) -> int:
        size = size_of(self._ahead)
        if size < self._saved:  # it began anew, which it can't while somebody reads
            self._saved = 0
        return size - self._saved

    def reopen(self, urls: Collection[str], lengths: Mapping[str, int]) -> int:
        with self._errors():
            if self._held.is_kept:
                begin(self._db)
                self._held.lost(urls)
            reopened = reopen(self._db, urls, lengths)
        self._load()
        return reopened

    def _pending_of(self, visit: Visit) -> Iterable[tuple[str, int]]:
        held = self._leases.of(visit)
        if held is None or held.again or visit.lease.id in self._urls.again:
            return ()
        with self._errors():
            rows = self._db.execute(
                "SELECT url, code FROM url"
                " WHERE server = ? AND unit = ? AND outcome IS NULL AND seq <> ?",
                (held.server, held.unit, visit.lease.id),
            ).fetchall()
        return [(url, self._strategy.kind_of[code]) for url, code in rows]

    def offer(self, offers: Sequence[Offer]) -> None:
        with self.transaction():
            self._urls.store(self.outbox.divert(offers, None, lambda: None), None)

    def _store(self, visit: Visit, held: _Held) -> None:
        """Store the links of a page: those to own sites, and those to be sent."""
        own = self.outbox.divert(visit.offers, visit.url, lambda: self.outbox.vouching(held.server))
        self._urls.store(own, visit.lease.id, self._lines.sizes.site(held.server))

    def lease(self, now: float) -> Lease | None:
        if self.outbox.is_full:
            return None
        again = self._lease_again(now) if self._held.is_on else None
        return again or self._lease(now, lambda: self.choice.take(self.order, now))

    @property
    def holds_back(self) -> bool:
        return self.choice.ready_at is not None

    def restrict(self, cells: Collection[int] | None) -> None:
        self._lines.restrict(cells)

    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        return self._lease(now, lambda: self._lines.first_among(servers))

    def lease_requisite(self, now: float) -> Lease | None:
        lines = self._lines
        return self._lease(now, lambda: lines.first_requisite() if self.requisites else None)

    def _lease(self, now: float, choose: Callable[[], Line | None]) -> Lease | None:
        """Lease the first URL of the line that is chosen once all that has rested is free."""
        with self._errors():
            self._leases.let_rested_go(now)
            if self._held.is_on:
                self._held.let_pass(now)
            postponed = self._urls.postponed.waiting
            if postponed and postponed[0][0] <= now:
                self._urls.bring_back(now)
            line = choose()
            if line is None:
                return None
            return self._hand_out(line, now)

    def _lease_again(self, now: float) -> Lease | None:
        """Lease the page that is due first, if the budget of visits has one."""
        with self._errors():
            self._leases.let_rested_go(now)
            chosen = self._held.next(now, self._lines.index.busy)
            return None if chosen is None else self._hand_out(chosen.line, now, chosen.held)

    def _hand_out(self, line: Line, now: float, held: Held | None = None) -> Lease:
        """Return the lease of a line's first URL, or of a page that is held."""
        row = self._db.execute(_HAND_OUT, (line.seq,)).fetchone()
        name, seq, url, unit, code, inherited, depth, redirects, referrer, tries, *taken = row
        cell = line.cell if held is None else self._cell_of(code, unit)
        expected = None if cell >= REQUISITES else self.order.expected(cell)
        token = self._leases.add(line, unit, now, held is not None)
        visits, simhash = (0, None) if held is None else (held.visits, held.simhash)
        return Lease(
            seq, url, name, name if self._lines.by_server else self._servers.directory(unit),
            code, cell, expected, PageLanguage(inherited), depth, redirects, referrer,
            token, tries, Taken(*taken[:2]), Taken(*taken[2:]), visits, simhash,
        )  # fmt: skip

    def _cell_of(self, code: int, unit: int) -> int:
        """Return the cell that a URL would wait in now: the first if it would be discarded."""
        return max(0, self._strategy.cell(code, self._servers.place(unit)))

    def next_ready(self) -> float | None:
        times = (
            self._leases.next_rested,
            self._urls.postponed.next_due,
            self._held.next_ready,
            self.choice.ready_at,
        )
        return min((time for time in times if time is not None), default=None)

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        held = self._leases.of(visit)
        if held is None:
            return False
        seq = visit.lease.id
        if held.again:
            self._commit_again(visit, held, lengths)
            return True
        with self.transaction():
            self._end(visit, held, visit.outcome, lengths)
            if visit.lease.tries:
                self._urls.postponed.forget(seq)
            counts = not self._urls.was_counted(seq)
            received, counted = visit.received, visit.counted
            if counts and counted is not None:
                self._count(visit.lease.cell, held, counted, received)
            else:
                self._servers.receive(held.server, received)
                if self._strategy.learns and visit.is_miss:
                    self._move(held.server, self._servers.miss(held.server))
            self._store(visit, held)
            self._tallies.add("finished", visit.outcome)
            if counts:
                self._tallies.add_all(visit.tally)
            if self._held.is_on:
                site = self._lines.sizes.site(held.server)
                self._held.first_visit(visit, site, self._urls.next_seq)
                self._held.hear(visit.dates, held.server)
            if visit.outcome in OF_QUOTA:
                keep_left_out(self._db, {(held.server, visit.outcome): 1})
        self._leases.end(visit)
        return True

    def _commit_again(self, visit: Visit, held: _Held, lengths: Mapping[str, int] | None) -> None:
        """End the visit of a page that is held: it is counted for no unit and no cell again."""
        with self.transaction():
            self._end(visit, held, visit.outcome, lengths)
            self._servers.receive(held.server, visit.received)
            self._store(visit, held)
            self._held.visited(visit, self._lines.sizes.site(held.server), became(visit))
            self._held.hear(visit.dates, held.server)
            self._tallies.add_all(visit.tally)
        self._leases.end(visit)

    def postpone(self, visit: Visit, due: float, lengths: Mapping[str, int] | None = None) -> bool:
        held = self._leases.of(visit)
        if held is None:
            return False
        if held.again:
            self._commit_again(visit, held, lengths)
            return True
        seq, postponed = visit.lease.id, self._urls.postponed
        with self.transaction():
            self._end(visit, held, Outcome.POSTPONED, lengths)
            self._servers.receive(held.server, visit.received)
            postponed.keep(seq, visit.lease.tries + is_transient(visit.outcome), visit.outcome)
            self._tallies.add("postponed", visit.outcome)
        postponed.wait(seq, due)
        self._leases.end(visit)
        return True

    def give_back(self, visit: Visit) -> bool:
        held = self._leases.of(visit)
        if held is not None:
            self._leases.end(visit)
        return held is not None

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        tallies = self._tallies.by_kind
        if not any(tallies.get(kind, {}).get(o) for kind in _MAY_RETURN for o in outcomes):
            return 0  # without looking at every URL
        with self.transaction():
            revived, again = self._urls.postponed.revive(outcomes, wanted)
            for (server, outcome), number in revived.items():
                self._tallies.add("finished", outcome, -number)
                self._tallies.add("postponed", outcome, number)
                if outcome in OF_QUOTA:
                    keep_left_out(self._db, {(server, outcome): -number})
        return revived.total() + again

    def _end(
        self, visit: Visit, held: _Held, outcome: str, lengths: Mapping[str, int] | None
    ) -> None:
        """Let a URL that was pending end so; that of a page that is held stays as it is.

        If another worker had that page first, this one's files have it now, too.
        """
        seq = visit.lease.id
        if held.again:
            if self._urls.is_had_here(seq, outcome):
                self._tallies.add("finished", outcome)
        else:
            self._db.execute("UPDATE url SET outcome = ? WHERE seq = ?", (outcome, seq))
            self._lines.take(*self._lines.leased[seq])
        if visit.url != visit.lease.url:
            self._db.execute("UPDATE url SET url = ? WHERE seq = ?", (visit.url, visit.lease.id))
        changed = changed_of(lengths, self._lengths)
        keep_lengths(self._db, changed)
        self._lengths |= changed

    def _count(self, cell: int, held: _Held, relevant: float, size: int) -> None:
        """Count a page, learn from it, and ask again the URLs of units that it moves."""
        sqlite_servers.learn(self._db, cell, relevant)
        if isinstance(self.order, LearnedOrder):
            scored = self.order.learn(cell, relevant)
            if scored:
                sqlite_servers.keep_scored(self._db)
            self._lines.reorder(None if scored else cell)
        if moved := self._servers.count(held.server, held.unit, relevant, size):
            self._move(held.server, moved)

    def _move(self, server: int, moved: Mapping[int, int]) -> None:
        """Ask again the URLs of units of a server, or its site, that came into other places."""
        self._urls.discarded(
            sum(self._lines.move(server, unit, place) for unit, place in moved.items())
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: sqlite3.Error) -> StorageError:
        """Go back to what was committed; return what is raised for an error of SQLite's."""
        self._db.rollback()
        with suppress(sqlite3.Error):  # what can't be written can hardly be reset either
            self._load()
        self._db.rollback()
        return StorageError(f"can't write the frontier: {error}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of a block, or nothing. Raises StorageError."""
        with self._errors():
            begin(self._db)
            yield
            self._tallies.write()
            self._db.execute("COMMIT")

    def close(self, under_way: Iterable[Visit] = ()) -> None:
        if self._saving is not None:
            with suppress(sqlite3.Error):  # what is committed stays in the log
                self._saving.finish()
        self._db.close()  # rolls back what is uncommitted: URLs that came back
        if self._lock is not None:
            self._lock.close()


class _OpenReader(SqliteReader):
    """Reads the frontier of this process, which has counted its URLs."""

    def __init__(self, frontier: SqliteFrontier) -> None:
        super().__init__(frontier._db, frontier._strategy)
        self._frontier = frontier

    def order(self) -> Order:
        return self._frontier.order

    def freshness(self, now: float) -> Freshness | None:
        found = super().freshness(now)
        return found and replace(found, used=self._frontier._held.used)

    def tallies(self) -> dict[str, dict[str, int]]:
        return self._sorted(self._frontier._tallies.by_kind)

    def pending(self) -> dict[int, int]:
        pending = self._frontier._lines.waiting.copy()
        pending.subtract(self._frontier._lines.leased_cells())
        return dict(+pending)

    def leased(self) -> int:
        return self._frontier.leased


@contextmanager
def _opening() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StorageError(f"can't open the frontier: {error}") from error
    except sqlite3.DatabaseError as error:
        raise FrontierError(f"not a frontier of lswc, or a damaged one: {error}") from error


def _prepare(db: sqlite3.Connection) -> bool:
    """Set how a file is written; tell whether it is empty."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA cache_size = -32768")
    # Checkpoints are the caller's: what they refer to must be durable before.
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("PRAGMA journal_size_limit = 0")
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not tables


def _create(
    db: sqlite3.Connection,
    strategy: Strategy,
    identity: Mapping[str, str],
    experience: Experience | None,
) -> None:
    db.executescript(
        "CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
        + sqlite_urls.SCHEMA
        + sqlite_servers.SCHEMA
        + sqlite_cells.SCHEMA
        + outbox.SCHEMA
    )
    if strategy.unit is Unit.DIRECTORY:
        db.execute(sqlite_urls.BY_DIRECTORY)
    earlier = {} if experience is None else {"earlier": dumped(experience)}
    db.executemany("INSERT INTO about VALUES (?, ?)", {**earlier, **identity}.items())


def open_existing(path: Path) -> SqliteFrontier:
    """Open the frontier in a file as the crawl that it is. Raises LswcError."""
    with opened(path) as reader:
        identity, chosen = reader.identity(), strategy(reader.identity()["strategy"])
    identity.pop("earlier", None)
    return SqliteFrontier(path, chosen, identity)
