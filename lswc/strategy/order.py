"""Order of cells: fixed, or one that learns."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Protocol

from lswc.strategy.adaptive import LearnedOrder
from lswc.strategy.prior import prior_of

if TYPE_CHECKING:
    from lswc.strategy.adaptive import Rank
    from lswc.strategy.cells import Strategy


class Order(Protocol):
    """Which cell comes first.

    ``pages`` is how many the crawl has learned from itself, infinite if nothing is learned.
    """

    pages: float

    def rank(self, cell: int) -> Rank:
        """Return what cells are compared by: the smaller rank comes first."""

    def expected(self, cell: int) -> float | None:
        """Return the share of relevant pages that a cell should bring, None if unknown."""

    def before(self, cell: int) -> int:
        """Return how many pages of a cell the crawl began with, that others had."""

    def worth(self, cell: int) -> float | None:
        """Return what a cell is ranked by: what it should bring, or the price of a look."""

    def learn(self, cell: int, relevant: float) -> bool:
        """Count a page that was leased from a cell, and is relevant: 1, 0 or its share.

        True if all cells were scored.
        """

    def miss(self, cell: int) -> None:
        """Count a URL that was leased from a cell, and asked for in vain."""


class FixedOrder:
    """The smaller cell comes first."""

    pages: float = inf

    def rank(self, cell: int) -> Rank:
        return (0.0, cell)

    def expected(self, cell: int) -> float | None:
        return None

    def before(self, cell: int) -> int:
        return 0

    def worth(self, cell: int) -> float | None:
        return None

    def learn(self, cell: int, relevant: float) -> bool:
        return False

    def miss(self, cell: int) -> None:
        pass


def better(rank: Rank, distance: int, known_rank: Rank, known_distance: int) -> bool:
    """Tell whether an offer of a known URL is better than what it was found by.

    The better cell wins; ties: the smaller distance from the latest relevant referrer, else what
    was found first.
    """
    return (rank, distance) < (known_rank, known_distance)


def order(strategy: Strategy) -> Order:
    """Return the order of a strategy's cells as a new crawl has it, with the prior if it learns."""
    if not strategy.learns:
        return FixedOrder()
    prior = prior_of(strategy)
    return LearnedOrder(prior.copy(), earlier=prior)
