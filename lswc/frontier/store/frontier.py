"""Frontier of one process: one SQLite file, one transaction a page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lswc.frontier.exchange.status import ALONE, Elsewhere
from lswc.frontier.rules.contract import DEFAULTS, Terms, new_status, statuses_after
from lswc.frontier.rules.visit import leave_out
from lswc.frontier.store.ending import Ending
from lswc.frontier.store.file import MEMORY, File
from lswc.frontier.store.leases import Leasing
from lswc.frontier.store.report import Reader, opened
from lswc.frontier.store.servers import begin
from lswc.frontier.store.sharing import Sharing
from lswc.frontier.store.urls import reopen
from lswc.strategy import DISCARD, LearnedOrder, Pages, Status, Strategy, strategy
from lswc.strategy.adaptive import SEEDS
from lswc.strategy.facts import NO_PAGES
from lswc.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lswc.frontier.rules.contract import Counts, Wanted
    from lswc.frontier.rules.harvest import CellHarvest
    from lswc.frontier.rules.report import Family, Freshness
    from lswc.frontier.rules.visit import Lease, Offer, Visit
    from lswc.safety.server_limits import Taken
    from lswc.strategy import Order

__all__ = ["MEMORY", "Frontier", "open_existing"]


class Stock:
    """What a frontier holds, for those who ask while they crawl."""

    elsewhere: Elsewhere = ALONE
    """What other workers of the crawl have."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.strategy = file.strategy

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Read the frontier as it is now, what isn't committed included. Raises LswcError."""
        with self._file.errors():
            yield _OpenReader(self._file)

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        """Return the pages of servers, or directories if the strategy counts by them, once met."""
        try:  # no block: it is asked for every page
            return self._file.servers.pages(set(units))
        except sqlite3.Error as error:
            raise self._file.failed(error) from error

    def pages_of(self, unit: str) -> Pages:
        """Return the pages of a server, or a directory if the strategy counts by them."""
        return self.pages({unit}).get(unit, NO_PAGES)

    def statuses(
        self, units: Collection[str], lease: Lease, counted: float | None
    ) -> dict[str, Status]:
        """Return the status of each unit as it is once the leased page is ``counted``.

        None if it doesn't count.
        """
        pages = self.pages(units)
        return statuses_after(pages, units, lease, counted, self.strategy.tolerated)

    def taken(self, server: str) -> tuple[Taken, Taken]:
        """Return what a server and its registered domain have brought, as leases say it."""
        with self.reading() as reader:
            return reader.taken(server)

    def server_names(self) -> Iterable[str]:
        """Return the names of all servers that URLs were offered of."""
        with self.reading() as reader:
            return reader.server_names()

    def lengths(self) -> dict[str, int]:
        """Return the ``lengths`` of all commits, the latest of each file."""
        return self._file.lengths

    @property
    def unsaved(self) -> int:
        """Bytes that a power cut would lose, and a checkpoint saves; 0 in memory."""
        return self._file.unsaved

    def finished(self) -> Iterator[tuple[str, str]]:
        """Yield every finished URL and its outcome, that of a requisite after OF_REQUISITE."""
        with self.reading() as reader:
            return reader.finished()

    @property
    def pending(self) -> int:
        """Number of URLs neither leased nor finished."""
        return self.unfinished - self._file.leases.pending

    @property
    def unfinished(self) -> int:
        """Number of URLs pending or leased: where all workers have 0, the crawl ends."""
        return self._file.lines.waiting.total() + len(self._file.urls.postponed)

    @property
    def leased(self) -> int:
        """Number of leased URLs."""
        return len(self._file.leases.leased)

    @property
    def requisites(self) -> int:
        """Number of requisites that wait; those that this process leased may be among them."""
        return self._file.requisites

    @property
    def later(self) -> int:
        """Number of the pending URLs that were postponed and aren't due yet."""
        return len(self._file.urls.postponed)

    def next_due(self) -> float | None:
        """Return when the first URL that was postponed is due; None if there is none."""
        return self._file.urls.postponed.next_due

    @property
    def servers(self) -> int:
        """Number of servers that URLs were offered of."""
        with self.reading() as reader:
            return reader.servers()

    @property
    def revisited(self) -> int:
        """Number of pages that are visited again and again: a crawl that has some doesn't end."""
        return self._file.revisited.number

    def cells(self) -> tuple[CellHarvest, ...]:
        """Return the cells with URLs or pages, the best first: what they hold, and should bring.

        ``lswc.frontier.rules.harvest.forecast`` makes a forecast of them.
        """
        with self.reading() as reader:
            return reader.cells()

    def cells_everywhere(self) -> tuple[CellHarvest, ...]:
        """Return the cells of all workers of the crawl, as far as they reported."""
        elsewhere = self.elsewhere
        with self.reading() as reader:
            pending, pages = Counter(reader.pending()), reader.pages_by_cell()
            pending.update(elsewhere.pending)
            for cell, more in elsewhere.pages.items():
                own = pages.get(cell, Pages())
                pages[cell] = Pages(own.downloaded + more.downloaded, own.relevant + more.relevant)
            return reader.harvest(dict(pending), pages)

    def freshness(self, now: float) -> Freshness | None:
        """Return how fresh pages are at a Unix time; None if none is visited again."""
        with self.reading() as reader:
            return reader.freshness(now)

    def family_of(self, server: str) -> tuple[str, ...]:
        """Return the sites by which a server's unproven one came: its family and branch.

        None of them if its site isn't unproven.
        """
        with self.reading() as reader:
            return reader.family_of(site_of(server))

    def families(self, top: int) -> list[Family]:
        """Return the families with most unproven sites, the largest first."""
        with self.reading() as reader:
            return reader.families(top)

    def counts(self) -> Counts:
        """Count everything, exactly."""
        with self.reading() as reader:
            return reader.counts()

    def tallies(self) -> Mapping[str, Mapping[str, int]]:
        """Return the tallies of ``counts``, at once: no URL is counted for it."""
        with self.reading() as reader:
            return reader.tallies()


class Frontier(Stock):
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
        super().__init__(File(path, strategy, identity, terms))
        self._leasing, self._ending = Leasing(self._file), Ending(self._file)
        self.sharing = Sharing(self._file)
        self.outbox, self.inbox = self._file.outbox, self.sharing.inbox
        self.giving, self.choice = self.sharing.giving, self._file.choice
        self.transaction = self._file.transaction

    @property
    def order(self) -> Order:
        """The order of cells as it is now."""
        return self._file.order

    @property
    def has_seeds(self) -> bool:
        """Whether seeds wait that are fetched first."""
        return self.strategy.learns and self._file.lines.waiting[SEEDS] > 0

    @property
    def is_shared(self) -> bool:
        """Whether other workers have sites of this crawl."""
        return bool(self.sharing.membership())

    def hear(self, elsewhere: Elsewhere) -> None:
        """Take notice of what other workers have now."""
        self.elsewhere = elsewhere
        order = self._file.order
        if isinstance(order, LearnedOrder):
            order.hear(elsewhere.experience)
            self._file.lines.reorder()

    def offer(self, offers: Sequence[Offer]) -> None:
        """Add URLs that no page brought (seeds), in order: a kill may leave out the last."""
        with self._file.transaction():
            self._file.urls.store(self.outbox.divert(offers, None, lambda: None), None)

    def lease(self, now: float) -> Lease | None:
        """Hand out the oldest URL of the best cell whose server is free and rested.

        ``now`` in seconds, on any clock that doesn't go back. None if there is none now.
        """
        return self._leasing.lease(now)

    def restrict(self, cells: Collection[int] | None) -> None:
        """Let ``lease`` hand out URLs of these cells alone; None lifts that."""
        self._file.choice.restrict(cells)

    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        """Hand out the best URL of the first of these servers that is free, rested and has one."""
        return self._leasing.lease_among(servers, now)

    def lease_url(self, name: int) -> Lease | None:
        """Lease a URL by its key, whatever comes before it; None if it doesn't wait."""
        return self._leasing.lease_url(name)

    def lease_requisite(self, now: float) -> Lease | None:
        """Hand out the oldest requisite whose server is free and rested; ``lease`` never does.

        ``now`` as there. None if there is none now.
        """
        return self._leasing.lease_requisite(now)

    @property
    def holds_back(self) -> bool:
        """Whether the latest ``lease`` handed out nothing as what is free waits for better URLs."""
        return self._file.choice.ready_at is not None

    def next_ready(self) -> float | None:
        """Return when ``lease`` is worth another try though nothing is offered or finished here.

        That is when the next server is rested; None if none rests.
        """
        return self._leasing.next_ready()

    def foresee(self, visit: Visit) -> None:
        """Write into a visit what will be discarded once it is committed.

        Pending URLs, as its server's or directory's status changes; those that were postponed are
        only counted. And links to sites that aren't met yet, if too many unproven ones wait
        (``Caps``); of other workers' sites they say that.
        """
        visit.discarded = self._discarded_by(visit)
        if self._file.lines.families.sites and (lease := self._file.leases.of(visit)) is not None:
            with self._file.errors():
                by = self._file.lines.sizes.site(lease.server)
                servers = self._file.urls.without_room(visit.offers, by)
            leave_out(visit, {server for server in servers if self.outbox.is_own(server)})

    def _discarded_by(self, visit: Visit) -> list[str]:
        """Return the pending URLs that a visit's page makes the strategy discard."""
        if visit.relevant is None or not self.strategy.discards:
            return []  # without asking
        status = new_status(self.pages({visit.lease.unit}), visit, self.strategy)
        if status is None:
            return []
        cell_of, place = self.strategy.cell_of, int(status)
        if self.strategy.weighs_support:
            with self.reading() as reader:
                place += len(Status) * reader.support(site_of(visit.lease.server))
        return [url for url, kind in self._pending_of(visit) if cell_of[kind][place] == DISCARD]

    def _pending_of(self, visit: Visit) -> Iterable[tuple[str, int]]:
        """Return the pending URLs of a leased URL's unit, and their kinds; none if it has ended."""
        lease = self._file.leases.of(visit)
        if lease is None or lease.again or visit.lease.id in self._file.urls.again:
            return ()
        with self._file.errors():
            rows = self._file.db.execute(
                "SELECT url, code FROM url"
                " WHERE server = ? AND unit = ? AND outcome IS NULL AND seq <> ?",
                (lease.server, lease.unit, visit.lease.id),
            ).fetchall()
        return [(url, self.strategy.kind_of[code]) for url, code in rows]

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        """End a visit and its lease: in one transaction, count the page, ask again the URLs of
        its unit if the status changed, store what the page brought, and free the server.

        ``lengths`` are those in bytes of files that the crawl writes, by name, what this visit
        brought included: of all that changed since the last commit, or of more.
        False if the lease had ended. Raises StorageError if the file can't be written; it
        then has what it had before.
        """
        return self._ending.commit(visit, lengths)

    def postpone(self, visit: Visit, due: float, lengths: Mapping[str, int] | None = None) -> bool:
        """End a lease whose URL couldn't be had for now, as ``visit.outcome`` says.

        The URL waits until ``due``, on the clock of ``lease``, then it is pending as before; at
        once if the crawl was stopped meanwhile. It is tallied as "postponed" until then. Only what
        ``lswc.outcomes.is_transient`` tells counts as one of its tries.
        ``lengths``, the result and errors are those of ``commit``.
        """
        return self._ending.postpone(visit, due, lengths)

    def give_back(self, visit: Visit) -> bool:
        """End a lease as if its URL hadn't been leased. False if it had ended."""
        return self._ending.give_back(visit)

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        """Make the URLs due that finished so, or were postponed for it; return how many.

        Only outcomes that ``lswc.outcomes.may_return`` tells: of others the file may know no more.
        ``wanted`` tells by a URL and its depth which of them, None for all.
        """
        return self._ending.retry(outcomes, wanted)

    def reopen(self, urls: Collection[str], lengths: Mapping[str, int]) -> int:
        """Let finished URLs wait again, whose pages were lost; return how many there are.

        ``lengths`` are those of all files, as they are now. Raises LswcError.
        """
        with self._file.errors():
            if self._file.revisited.is_kept:
                begin(self._file.db)
                self._file.revisited.lost(urls)
            reopened = reopen(self._file.db, urls, lengths)
        self._file.load()
        return reopened

    def visit_again(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Visit the pages again that were ``records``-ed while none was, and listings.

        Also what later visits found, of which an older file doesn't know. Nothing if none is
        visited again, or all are. Raises LswcError.
        """
        if self._file.revisited.is_kept:
            with self._file.transaction():
                self._file.revisited.take_recorded(records, self._file.urls.next_seq)

    def check(self) -> None:
        """Raise StorageError if the file was removed or replaced while the crawl writes it."""
        self._file.check()

    def prepare_checkpoint(self) -> bool:
        """Begin to make durable what was committed, beside the crawl; tell whether that is done.

        Then a ``checkpoint`` takes a moment. Raises LswcError.
        """
        return self._file.prepare_checkpoint()

    def checkpoint(self) -> None:
        """Make all that was committed outlast a power cut. What it refers to must do so before."""
        self._file.checkpoint()

    def close(self) -> None:
        """Close the file. Unfinished leases become pending."""
        self._file.close()


class _OpenReader(Reader):
    """Reads the frontier of this process, which has counted its URLs."""

    def __init__(self, file: File) -> None:
        super().__init__(file.db, file.strategy)
        self._file = file

    def order(self) -> Order:
        return self._file.order

    def freshness(self, now: float) -> Freshness | None:
        found = super().freshness(now)
        return found and replace(found, used=self._file.revisited.used)

    def tallies(self) -> dict[str, dict[str, int]]:
        return self._sorted(self._file.tallies.by_kind)

    def pending(self) -> dict[int, int]:
        pending = self._file.lines.waiting.copy()
        pending.subtract(self._file.lines.leased_cells())
        return dict(+pending)

    def leased(self) -> int:
        return len(self._file.leases.leased)


def open_existing(path: Path) -> Frontier:
    """Open the frontier in a file as the crawl that it is. Raises LswcError."""
    with opened(path) as reader:
        identity, chosen = reader.identity(), strategy(reader.identity()["strategy"])
    for begun_with in ("earlier", "prior"):
        identity.pop(begun_with, None)
    return Frontier(path, chosen, identity)
