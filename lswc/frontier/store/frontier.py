"""Frontier of one process: one SQLite file, one transaction a page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lswc.frontier.rules.contract import DEFAULTS, Frontier, Terms
from lswc.frontier.store.ending import Ending
from lswc.frontier.store.file import MEMORY, File
from lswc.frontier.store.leases import Leasing
from lswc.frontier.store.report import SqliteReader, opened
from lswc.frontier.store.servers import begin
from lswc.frontier.store.sharing import Sharing
from lswc.frontier.store.urls import reopen
from lswc.strategy import LearnedOrder, Pages, Strategy, strategy
from lswc.strategy.adaptive import SEEDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lswc.frontier.exchange.status import Elsewhere
    from lswc.frontier.rules.contract import Wanted
    from lswc.frontier.rules.harvest import CellHarvest
    from lswc.frontier.rules.report import Freshness
    from lswc.frontier.rules.visit import Lease, Offer, Visit
    from lswc.strategy import Order

__all__ = ["MEMORY", "SqliteFrontier", "open_existing"]


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
        self._file = File(path, strategy, identity, terms)
        self.strategy = self._file.strategy
        self._leasing, self._ending = Leasing(self._file), Ending(self._file)
        self.sharing = Sharing(self._file)
        self.outbox, self.inbox = self._file.outbox, self.sharing.inbox
        self.giving, self.choice = self.sharing.giving, self._file.choice
        self.transaction = self._file.transaction

    @contextmanager
    def reading(self) -> Iterator[SqliteReader]:
        with self._file.errors():
            yield _OpenReader(self._file)

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        try:
            return self._file.servers.pages(set(units))
        except sqlite3.Error as error:
            raise self._file.failed(error) from error

    @property
    def pending(self) -> int:
        return self.unfinished - self._file.leases.pending

    @property
    def unfinished(self) -> int:
        return self._file.lines.waiting.total() + len(self._file.urls.postponed)

    @property
    def leased(self) -> int:
        """Number of leased URLs."""
        return len(self._file.leases.held)

    @property
    def order(self) -> Order:
        """The order of cells as it is now."""
        return self._file.order

    @property
    def has_seeds(self) -> bool:
        """Whether seeds wait that are fetched first."""
        return self.strategy.learns and self._file.lines.waiting[SEEDS] > 0

    @property
    def is_shared(self) -> bool:  # type: ignore[override]
        return bool(self.sharing.membership())

    def hear(self, elsewhere: Elsewhere) -> None:
        self.elsewhere = elsewhere
        order = self._file.order
        if isinstance(order, LearnedOrder):
            order.hear(elsewhere.experience)
            self._file.lines.reorder()

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
    def held(self) -> int:
        return self._file.held.number

    def hold(self, records: Iterable[Mapping[str, Any]]) -> None:
        if self._file.held.is_kept:
            with self._file.transaction():
                self._file.held.hold(records, self._file.urls.next_seq)

    @property
    def requisites(self) -> int:
        return self._file.requisites

    @property
    def later(self) -> int:
        return len(self._file.urls.postponed)

    def next_due(self) -> float | None:
        return self._file.urls.postponed.next_due

    def lengths(self) -> dict[str, int]:
        return self._file.lengths

    def prepare_checkpoint(self) -> bool:
        return self._file.prepare_checkpoint()

    def checkpoint(self) -> None:
        self._file.checkpoint()

    @property
    def unsaved(self) -> int:
        return self._file.unsaved

    def reopen(
        self,
        urls: Collection[str],
        lengths: Mapping[str, int],
    ) -> int:
        with self._file.errors():
            if self._file.held.is_kept:
                begin(self._file.db)
                self._file.held.lost(urls)
            reopened = reopen(self._file.db, urls, lengths)
        self._file.load()
        return reopened

    def _pending_of(self, visit: Visit) -> Iterable[tuple[str, int]]:
        held = self._file.leases.of(visit)
        if held is None or held.again or visit.lease.id in self._file.urls.again:
            return ()
        with self._file.errors():
            rows = self._file.db.execute(
                "SELECT url, code FROM url"
                " WHERE server = ? AND unit = ? AND outcome IS NULL AND seq <> ?",
                (held.server, held.unit, visit.lease.id),
            ).fetchall()
        return [(url, self.strategy.kind_of[code]) for url, code in rows]

    def offer(self, offers: Sequence[Offer]) -> None:
        with self._file.transaction():
            self._file.urls.store(self.outbox.divert(offers, None, lambda: None), None)

    def lease(self, now: float) -> Lease | None:
        return self._leasing.lease(now)

    @property
    def holds_back(self) -> bool:
        return self._file.choice.ready_at is not None

    def restrict(self, cells: Collection[int] | None) -> None:
        self._file.lines.restrict(cells)

    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        return self._leasing.lease_among(servers, now)

    def lease_url(self, name: int) -> Lease | None:
        """Lease a URL by its key, whatever comes before it; None if it doesn't wait."""
        return self._leasing.lease_url(name)

    def lease_requisite(self, now: float) -> Lease | None:
        return self._leasing.lease_requisite(now)

    def next_ready(self) -> float | None:
        return self._leasing.next_ready()

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        return self._ending.commit(visit, lengths)

    def postpone(self, visit: Visit, due: float, lengths: Mapping[str, int] | None = None) -> bool:
        return self._ending.postpone(visit, due, lengths)

    def give_back(self, visit: Visit) -> bool:
        return self._ending.give_back(visit)

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        return self._ending.retry(outcomes, wanted)

    def close(self, under_way: Iterable[Visit] = ()) -> None:
        self._file.close()


class _OpenReader(SqliteReader):
    """Reads the frontier of this process, which has counted its URLs."""

    def __init__(self, file: File) -> None:
        super().__init__(file.db, file.strategy)
        self._file = file

    def order(self) -> Order:
        return self._file.order

    def freshness(self, now: float) -> Freshness | None:
        found = super().freshness(now)
        return found and replace(found, used=self._file.held.used)

    def tallies(self) -> dict[str, dict[str, int]]:
        return self._sorted(self._file.tallies.by_kind)

    def pending(self) -> dict[int, int]:
        pending = self._file.lines.waiting.copy()
        pending.subtract(self._file.lines.leased_cells())
        return dict(+pending)

    def leased(self) -> int:
        return len(self._file.leases.held)


def open_existing(path: Path) -> SqliteFrontier:
    """Open the frontier in a file as the crawl that it is. Raises LswcError."""
    with opened(path) as reader:
        identity, chosen = reader.identity(), strategy(reader.identity()["strategy"])
    identity.pop("earlier", None)
    return SqliteFrontier(path, chosen, identity)
