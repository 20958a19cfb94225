"""Order of cells: fixed, or one that learns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from lswc.errors import ConfigError
from lswc.strategy import adaptive
from lswc.strategy.cells import REQUISITES
from lswc.strategy.status import NO_PAGES, Pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.strategy.cells import Strategy

Rank = tuple[float, int]


class ExperienceError(ConfigError):
    """What was learned can't be read; the message says why."""


class Order(Protocol):
    """Which cell comes first."""

    def rank(self, cell: int) -> Rank:
        """Return what cells are compared by: the smaller rank comes first."""

    def expected(self, cell: int) -> float | None:
        """Return the share of relevant pages that a cell should bring, None if unknown."""

    def learn(self, cell: int, relevant: bool) -> bool:
        """Count a downloaded page that was leased from a cell; True if all cells were scored."""


class FixedOrder:
    """The smaller cell comes first."""

    def rank(self, cell: int) -> Rank:
        return (0.0, cell)

    def expected(self, cell: int) -> float | None:
        return None

    def learn(self, cell: int, relevant: bool) -> bool:
        return False


def better(rank: Rank, distance: int, known_rank: Rank, known_distance: int) -> bool:
    """Tell whether an offer of a known URL is better than what it was found by.

    The better cell wins; ties: the smaller distance from the latest relevant referrer, else what
    was found first.
    """
    return (rank, distance) < (known_rank, known_distance)


@dataclass
class Experience:
    """Pages that taught, by the cell that they were leased from, and all pages of the crawl.

    Integers that only grow: the experience of several workers is the sum of theirs.
    """

    cells: dict[int, Pages] = field(default_factory=dict)
    crawl: Pages = NO_PAGES

    def learn(self, cell: int, relevant: bool) -> None:
        """Count a downloaded page. Seeds don't teach, but count as pages of the crawl."""
        self.crawl = _sum(self.crawl, Pages(1, int(relevant)))
        if cell != adaptive.SEEDS:
            self.cells[cell] = _sum(self.cells.get(cell, NO_PAGES), Pages(1, int(relevant)))

    def merge(self, other: Experience) -> None:
        """Add another crawl's or worker's experience."""
        self.crawl = _sum(self.crawl, other.crawl)
        for cell, pages in other.cells.items():
            self.cells[cell] = _sum(self.cells.get(cell, NO_PAGES), pages)

    def copy(self) -> Experience:
        """Return the experience as it is now."""
        return Experience(dict(self.cells), self.crawl)

    def dump(self) -> dict[str, Any]:
        """Return it as plain integers and strings, for JSON."""
        cells = [[cell, *pages] for cell, pages in sorted(self.cells.items())]
        return {"cells_of": adaptive.SIGNATURE, "crawl": list(self.crawl), "cells": cells}

    @classmethod
    def load(cls, dumped: Mapping[str, Any]) -> Experience:
        """Return what ``dump`` gave. Raises ExperienceError, also if its cells were others."""
        try:
            signature, crawl = dumped["cells_of"], Pages(*map(int, dumped["crawl"]))
            cells = {int(c): Pages(int(n), int(r)) for c, n, r in dumped["cells"]}
        except (KeyError, TypeError, ValueError) as error:
            raise ExperienceError(f"this is no experience of a crawl ({error!r})") from error
        if signature != adaptive.SIGNATURE:
            raise ExperienceError(
                f"the experience is of another version of the strategy: its cells are {signature},"
                f" now they are {adaptive.SIGNATURE}"
            )
        if not all(
            0 < cell < adaptive.CELLS and 0 <= pages.relevant <= pages.downloaded
            for cell, pages in cells.items()
        ):
            raise ExperienceError("the experience is damaged: it has counts that no crawl makes")
        return cls(cells, crawl)


def _sum(some: Pages, more: Pages) -> Pages:
    return Pages(some.downloaded + more.downloaded, some.relevant + more.relevant)


class LearnedOrder:
    """The cell of the higher expected relevance comes first; ties: the smaller cell.

    ``experience`` grows with each page. ``scored`` is the experience as it was when all
    cells were last scored; since then each cell has gone on by its own pages alone. So the two
    are all that a crawl must keep to go on as if it had never stopped.
    """

    def __init__(
        self, experience: Experience | None = None, scored: Experience | None = None
    ) -> None:
        self.experience = experience or Experience()
        self.scored = scored or self.experience.copy()
        self._fit()

    def learn(self, cell: int, relevant: bool) -> bool:
        self.experience.learn(cell, relevant)
        self._scores.pop(cell, None)
        due = adaptive.is_due(self.experience.crawl.downloaded, self.scored.crawl.downloaded)
        if due:
            self.score_all()
        return due

    def score_all(self) -> None:
        """Score all cells by the experience as it is now."""
        self.scored = self.experience.copy()
        self._fit()

    def expected(self, cell: int) -> float:
        if cell == adaptive.SEEDS:
            return (self.scored.crawl.relevant + 1) / (self.scored.crawl.downloaded + 2)
        return -self.rank(cell)[0]

    def rank(self, cell: int) -> Rank:
        if cell == REQUISITES:
            return (0.0, cell)  # after all pages
        known = self._scores.get(cell)
        if known is None:
            own = self.experience.cells.get(cell, NO_PAGES)
            known = adaptive.score(cell, *own, *self.scored.crawl, self._places, self._effects)
            self._scores[cell] = known
        return (-known, cell)

    def _fit(self) -> None:
        self._scores: dict[int, float] = {}
        self._places = [0.0] * adaptive.PLACES
        self._effects = [0.0] * (adaptive.PLACES * adaptive.VALUES)
        used, crawl = sorted(self.scored.cells), self.scored.crawl
        downloaded = {cell: pages.downloaded for cell, pages in self.scored.cells.items()}
        relevant = {cell: pages.relevant for cell, pages in self.scored.cells.items()}
        adaptive.learn_effects(used, downloaded, relevant, *crawl, self._places, self._effects)


def order(
    strategy: Strategy, experience: Experience | None = None, scored: Experience | None = None
) -> Order:
    """Return the order of a strategy's cells, for one that learns with what it knows already."""
    return LearnedOrder(experience, scored) if strategy.learns else FixedOrder()
