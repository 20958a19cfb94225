"""The order of cells, as one of many workers knows it."""

from __future__ import annotations

import json
from bisect import bisect_left
from struct import pack
from time import monotonic
from typing import TYPE_CHECKING, Any

from lswc.frontier.contract import is_far_better
from lswc.frontier.experience import check_source, experience_of, loaded
from lswc.frontier.harvest import harvest
from lswc.frontier.ready_cells import ReadyCells
from lswc.strategy import REQUISITES, Experience, LearnedOrder, Pages, adaptive, order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import redis

    from lswc.frontier.harvest import CellHarvest
    from lswc.strategy import Order, Rank, Strategy

REFRESH = 1.0
"""Seconds between two looks at what other workers learned and found. They look sooner after as many
pages of all workers as make it worth to score all cells again."""


class SharedOrder:
    """The order of cells, and which cells have URLs. ``requisites`` is how many of those wait.

    What this worker does is known at once, what others do at the next ``refresh``. Methods that
    ask Redis raise redis.RedisError.
    """

    def __init__(self, client: redis.Redis, prefix: str, strategy: Strategy) -> None:
        self._client = client
        self._prefix = prefix
        self._strategy = strategy
        self._order = order(strategy)
        self._ready = ReadyCells(self.rank)
        self.requisites = 0
        self._looked = 0.0
        self._pages = 0
        self._earlier: Any = client.hget(prefix + "about", "earlier")

    def rank(self, cell: int) -> Rank:
        """Return what cells are compared by: the smaller rank comes first."""
        return self._order.rank(cell)

    def expected(self, cell: int) -> float | None:
        """Return the share of relevant pages that a cell should bring, None if unknown."""
        return self._order.expected(cell)

    def pending(self, numbers: Sequence[Any]) -> None:
        """Take notice of cells and the number of URLs that now wait in each."""
        for cell, number in zip(map(int, numbers[::2]), numbers[1::2], strict=True):
            if cell == REQUISITES:
                self.requisites = number
            elif number:
                self._ready.add(cell)
            else:
                self._ready.remove(cell)

    def packed(self, patience: float, number: int | None = None) -> tuple[bytes, int]:
        """Return so many cells with URLs, or all: the best first, 2 bytes each.

        Also how many of them aren't far worse than the best, by ``patience``.
        """
        cells = self._ready.best(number)
        good = bisect_left(
            cells, True, key=lambda cell: is_far_better(self._order, cells[0], cell, patience)
        )
        return pack(f">{len(cells)}H", *cells), good

    def learn(self, cell: int, relevant: bool) -> None:
        """Take notice of a page that is counted in Redis already."""
        if isinstance(self._order, LearnedOrder):
            if self._order.learn(cell, relevant):
                self._keep_scored(self._order)
                self._ready.reorder()
            else:
                self._ready.changed(cell)

    def compare(self, pages: int) -> None:
        """Look at what other workers did if the crawl's pages are many more than were known."""
        if (
            isinstance(self._order, LearnedOrder)
            and pages > self._order.experience.crawl.downloaded
            and adaptive.is_due(pages, self._pages)
        ):
            self.refresh()

    def _keep_scored(self, learned: LearnedOrder) -> None:
        self._client.set(self._prefix + "scored", json.dumps(learned.scored.dump()))

    def refresh_if_due(self) -> None:
        """Look at what other workers did, now and then."""
        if monotonic() - self._looked > REFRESH:
            self.refresh()

    def refresh(self) -> None:
        """Look at what other workers did."""
        known = self._order
        if isinstance(known, LearnedOrder):
            self._order = self._looked_at(known)
            self._pages = self._order.experience.crawl.downloaded
        found: Any = self._client.hgetall(self._prefix + "pending")
        pending = {int(cell): int(number) for cell, number in found.items()}
        self.requisites = pending.pop(REQUISITES, 0)
        self._ready = ReadyCells(self.rank, pending)
        self._looked = monotonic()

    def _looked_at(self, known: LearnedOrder) -> LearnedOrder:
        if not self._looked:
            loaded = load(self._client, self._prefix, self._strategy)
            return loaded if isinstance(loaded, LearnedOrder) else known
        learned: Any = self._client.hgetall(self._prefix + "experience")
        now = experience_of(pages_by_cell(learned), self._earlier)
        if now == known.experience:
            return known
        known = LearnedOrder(now, known.scored)
        if adaptive.is_due(now.crawl.downloaded, known.scored.crawl.downloaded):
            known.score_all()
            self._keep_scored(known)
        return known

    def harvest(self) -> tuple[CellHarvest, ...]:
        """Return the cells with URLs or pages, the best first."""
        self.refresh()
        return read_harvest(self._client, self._prefix, self._order)


def read_harvest(client: redis.Redis, prefix: str, known: Order) -> tuple[CellHarvest, ...]:
    """Return the cells of a crawl with URLs or pages, the best first."""
    waiting: Any = client.hgetall(prefix + "pending")
    learned: Any = client.hgetall(prefix + "experience")
    numbers = {int(cell): int(number) for cell, number in waiting.items()}
    numbers.pop(REQUISITES, None)
    return harvest(known, numbers, pages_by_cell(learned))


def pages_by_cell(found: Mapping[bytes, bytes]) -> dict[int, Pages]:
    """Return the pages by the cell that they were leased from, out of the hash ``experience``."""
    counts = {key.decode(): int(value) for key, value in found.items()}
    cells = sorted(int(key[2:]) for key in counts if key.startswith("n:"))
    return {cell: Pages(counts[f"n:{cell}"], counts.get(f"r:{cell}", 0)) for cell in cells}


def load(client: redis.Redis, prefix: str, strategy: Strategy) -> Order:
    """Return the order of a crawl's cells as all workers know it."""
    with client.pipeline() as pipeline:
        pipeline.hgetall(prefix + "experience")
        pipeline.get(prefix + "scored")
        pipeline.hget(prefix + "about", "earlier")
        learned, scored, earlier = pipeline.execute()
    if not strategy.learns:
        return order(strategy)
    now = experience_of(pages_by_cell(learned), earlier)
    before = Experience.load(json.loads(scored)) if scored else experience_of({}, earlier)
    known = LearnedOrder(now, before)
    if adaptive.is_due(now.crawl.downloaded, before.crawl.downloaded):
        known.score_all()
    return known


def read(client: redis.Redis, name: str, language: str) -> Experience:
    """Return what the crawl of this name in Redis learned.

    Raises FrontierError if that is of no use, redis.RedisError if it can't be read.
    """
    prefix = f"{{{name}}}:"
    about: Any = client.hgetall(prefix + "about")
    found = {key.decode(): value.decode() for key, value in about.items()}
    check_source(name, found, language)
    learned: Any = client.hgetall(prefix + "experience")
    return loaded(name, pages_by_cell(learned), found.get("earlier"))
