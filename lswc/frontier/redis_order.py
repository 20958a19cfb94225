"""Order of cells, as one of many workers knows it."""

from __future__ import annotations

import json
from bisect import bisect_left
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from lswc.frontier.contract import is_far_better
from lswc.frontier.experience import experience_of
from lswc.frontier.ready_cells import ReadyCells
from lswc.frontier.redis_script import packed_cells
from lswc.strategy import GUESSES, REQUISITES, LearnedOrder, adaptive, order

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from lswc.frontier.redis_report import RedisReader
    from lswc.frontier.redis_script import Connection
    from lswc.frontier.sharded_report import ShardedReader
    from lswc.strategy import Rank

REFRESH = 1.0
"""Seconds between two looks at what other workers learned and found. They look sooner after as many
pages of all workers as make it worth to score all cells again."""


class SharedOrder:
    """The order of cells, and which cells have URLs.

    What this worker does is known at once, what others do at the next ``refresh``. Cells that are
    worth less than ``least_worth``, if that is known, are left out, and so are others than ``only``
    these. Methods that ask Redis raise LswcError.
    """

    least_worth = 0.0
    only: Collection[int] | None = None
    _hashes: tuple[str, ...] = ("pending", "unproven", "experience")

    def __init__(self, connection: Connection, reader: RedisReader | ShardedReader) -> None:
        self._connection = connection
        self._reader = reader
        self.strategy = reader.strategy
        self.order = order(reader.strategy)
        self._ready = ReadyCells(self.rank)
        self._numbers: dict[int, int] = {}
        self._unproven: dict[int, int] = {}
        self._beyond = {REQUISITES: 0, GUESSES: 0}
        self._looked = 0.0
        self._pages = 0
        self._is_kept = True
        self._earlier = reader.identity().get("earlier")

    @property
    def requisites(self) -> int:
        """How many requisites wait."""
        return sum(self._beyond.values())

    @property
    def cells(self) -> int:
        """How many cells have URLs."""
        return len(self._numbers)

    def rank(self, cell: int) -> Rank:
        """Return what cells are compared by: the smaller rank comes first."""
        return self.order.rank(cell)

    def expected(self, cell: int) -> float | None:
        """Return the share of relevant pages that a cell should bring, None if unknown."""
        return self.order.expected(cell)

    def pending(self, numbers: Sequence[Any]) -> None:
        """Take notice of cells and the number of URLs that now wait in each.

        What comes as -1 - cell is the number of those that are of unproven sites.
        """
        for cell, number in zip(map(int, numbers[::2]), numbers[1::2], strict=True):
            if cell < 0:
                self._unproven[-1 - cell] = number
            elif cell in self._beyond:
                self._beyond[cell] = number
            elif number:
                self._numbers[cell] = number
                self._ready.add(cell)
            else:
                self._numbers.pop(cell, None)
                self._ready.remove(cell)

    def expect(self, cell: int) -> None:
        """Take it that a URL comes to a cell."""
        if cell not in self._numbers and cell not in self._beyond:
            self.pending((cell, 1))

    def packed(self, waits: bool, number: int | None = None) -> tuple[bytes, int, int, int]:
        """Return so many cells with URLs, or all: the best first, 2 bytes each.

        Also how many of them needn't wait: as they aren't far worse than the best with a URL of a
        proven site, and than the best; or as none ``waits``. And 1 if they are all.
        """
        cells = self._ready.best(number)
        if self.least_worth or self.only is not None:
            cells = [cell for cell in cells if self.is_allowed(cell)]
        proven = next((cell for cell in cells if self._of_proven(cell)), None)
        good = [
            len(cells)
            if best is None or not waits
            else bisect_left(cells, True, key=partial(is_far_better, self.order, best))
            for best in (proven, cells[0] if cells else None)
        ]
        return packed_cells(cells), good[0], good[1], int(len(cells) == len(self._numbers))

    def is_allowed(self, cell: int) -> bool:
        """Tell whether the URLs of a cell aren't left out."""
        worth = self.order.worth(cell)
        is_worth = worth is None or worth >= self.least_worth
        return is_worth and (self.only is None or cell in self.only)

    def _of_proven(self, cell: int) -> bool:
        return self._numbers[cell] > self._unproven.get(cell, 0)

    def learn(self, cell: int, relevant: float) -> None:
        """Take notice of a page that is counted in Redis already."""
        if isinstance(self.order, LearnedOrder):
            if self.order.learn(cell, relevant):
                self._is_kept = False
                self._ready.reorder()
            else:
                self._ready.changed(cell)

    def compare(self, pages: int) -> None:
        """Look at what other workers did if the crawl's pages are many more than were known."""
        if (
            isinstance(self.order, LearnedOrder)
            and pages > self.order.experience.crawl.downloaded
            and adaptive.is_due(pages, self._pages)
        ):
            self.refresh()

    def keep(self) -> None:
        """Keep what was scored here, for those who read and join, if it isn't yet."""
        if self._is_kept or not isinstance(self.order, LearnedOrder):
            return
        key, scored = self._connection.prefix + "scored", json.dumps(self.order.scored.dump())
        with self._connection.errors():
            self._connection.client.set(key, scored)
        self._is_kept = True

    def refresh_if_due(self) -> None:
        """Look at what other workers did, now and then."""
        if monotonic() - self._looked > REFRESH:
            self.refresh()

    def refresh(self) -> None:
        """Look at what other workers did."""
        with self._connection.errors():
            reader = self._reader.having_read(*self._hashes)
            self._learn_from(reader)
            pending, self._unproven = reader.pending(), reader.unproven()
        self._beyond = {cell: pending.pop(cell, 0) for cell in self._beyond}
        self._numbers = pending
        self._ready = ReadyCells(self.rank, pending)
        self._looked = monotonic()

    def _learn_from(self, reader: RedisReader | ShardedReader) -> None:
        """Take notice of what pages of all workers brought."""
        if isinstance(self.order, LearnedOrder):
            self.order = self._looked_at(self.order, reader)
            self._pages = self.order.experience.crawl.downloaded
            self.keep()

    def _looked_at(self, known: LearnedOrder, reader: RedisReader | ShardedReader) -> LearnedOrder:
        if not self._looked:
            found = reader.order()
            return found if isinstance(found, LearnedOrder) else known
        now = experience_of(reader.pages_by_cell(), self._earlier)
        if now == known.experience:
            return known
        known = LearnedOrder(now, known.scored)
        if adaptive.is_due(now.crawl.downloaded, known.scored.crawl.downloaded):
            known.score_all()
            self._is_kept = False
        return known
