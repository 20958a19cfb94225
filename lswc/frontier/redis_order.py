"""The order of cells, as one of many workers knows it."""

from __future__ import annotations

import json
from struct import pack
from time import monotonic
from typing import TYPE_CHECKING, Any

from lswc.frontier.experience import by_cell, experience_of
from lswc.frontier.ready import ReadyCells
from lswc.strategy import Experience, LearnedOrder, Pages, adaptive, order

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import redis

    from lswc.strategy import Rank, Strategy

REFRESH = 1.0
"""Seconds between two looks at what other workers learned and found."""


class SharedOrder:
    """The order of cells, and which cells have URLs.

    What this worker does is known at once, what others do at the next ``refresh``. Methods that
    ask Redis raise redis.RedisError.
    """

    def __init__(self, client: redis.Redis, prefix: str, strategy: Strategy) -> None:
        self._client = client
        self._prefix = prefix
        self._strategy = strategy
        self._order = order(strategy)
        self._ready = ReadyCells(self.rank)
        self._looked = 0.0

    def rank(self, cell: int) -> Rank:
        """Return what cells are compared by: the smaller rank comes first."""
        return self._order.rank(cell)

    def expected(self, cell: int) -> float | None:
        """Return the share of relevant pages that a cell should bring, None if unknown."""
        return self._order.expected(cell)

    def pending(self, numbers: Sequence[Any]) -> None:
        """Take notice of cells and the number of URLs that now wait in each."""
        for cell, number in zip(map(int, numbers[::2]), numbers[1::2], strict=True):
            if number:
                self._ready.add(cell)
            else:
                self._ready.remove(cell)

    def packed(self, number: int | None = None) -> bytes:
        """Return so many cells with URLs, or all: the best first, 2 bytes each."""
        cells = self._ready.best(number)
        return pack(f">{len(cells)}H", *cells)

    def learn(self, cell: int, relevant: bool) -> None:
        """Take notice of a page that is counted in Redis already."""
        if isinstance(self._order, LearnedOrder):
            if self._order.learn(cell, relevant):
                self._keep_scored(self._order)
                self._ready.reorder()
            else:
                self._ready.changed(cell)

    def _keep_scored(self, learned: LearnedOrder) -> None:
        self._client.set(self._prefix + "scored", json.dumps(learned.scored.dump()))

    def refresh_if_due(self) -> None:
        """Look at what other workers did, now and then."""
        if monotonic() - self._looked > REFRESH:
            self.refresh()

    def refresh(self) -> None:
        """Look at what other workers did."""
        with self._client.pipeline() as pipeline:
            pipeline.hkeys(self._prefix + "pending")
            pipeline.hgetall(self._prefix + "experience")
            pipeline.get(self._prefix + "scored")
            cells, learned, scored = pipeline.execute()
        if isinstance(self._order, LearnedOrder):
            self._take_over(self._order, load(learned), scored)
        self._ready = ReadyCells(self.rank, map(int, cells))
        self._looked = monotonic()

    def _take_over(self, known: LearnedOrder, now: Experience, scored: bytes | None) -> None:
        if now == known.experience:
            return
        first = not self._looked
        before = Experience.load(json.loads(scored)) if first and scored else known.scored
        self._order = LearnedOrder(now, before)
        if adaptive.is_due(now.crawl.downloaded, before.crawl.downloaded):
            self._order.score_all()
            self._keep_scored(self._order)


def dump(experience: Experience) -> dict[str, int]:
    """Return an experience as the fields of a hash in Redis."""
    fields = {"n": experience.crawl.downloaded, "r": experience.crawl.relevant}
    for cell, pages in by_cell(experience).items():
        fields |= {f"n:{cell}": pages.downloaded, f"r:{cell}": pages.relevant}
    return fields


def pages_by_cell(found: Mapping[bytes, bytes]) -> dict[int, Pages]:
    """Return the pages by the cell that they were leased from, out of such fields."""
    counts = {key.decode(): int(value) for key, value in found.items()}
    cells = sorted(int(key[2:]) for key in counts if key.startswith("n:"))
    return {cell: Pages(counts[f"n:{cell}"], counts.get(f"r:{cell}", 0)) for cell in cells}


def load(found: Mapping[bytes, bytes]) -> Experience:
    """Return the experience out of the fields of a hash in Redis."""
    return experience_of(pages_by_cell(found))
