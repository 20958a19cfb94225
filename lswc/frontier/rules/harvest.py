"""Harvest that the pending URLs should bring, by cell and in all."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from msgspec import Struct

from lswc.frontier.rules.visit import BANDS, group
from lswc.strategy import Pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lswc.strategy import Order

NEXT = 10_000
"""Downloads that a forecast looks ahead."""

Z = 1.959964
"""Standard normal quantile of a two-sided interval of 95 %."""

TOGETHER = 4.0
"""Pages of a cell that count as one where it is to be sure, as those of a server are alike."""

_PRIOR = 8.0
"""Pages of a cell that weigh as much as the crawl's mean, where the order isn't learned."""


@dataclass(frozen=True)
class CellHarvest:
    """A cell: URLs ``pending``, pages that were leased from it, share of relevant ones expected.

    ``worth`` is what it is ranked by, ``group`` what its URLs are counted under. ``before`` are the
    pages like these that the crawl began with (``lswc.strategy.prior``, or an earlier crawl's).
    """

    cell: int
    pending: int
    pages: Pages
    expected: float
    worth: float
    group: str
    before: int = 0


class Group(Struct, frozen=True):
    """Cells counted together, by tier or by what is expected of their URLs; and their pages."""

    name: str
    pending: int
    pages: int
    relevant: float


@dataclass(frozen=True)
class Forecast:
    """Relevant pages: ``expected`` among all pending URLs, hardly less than ``at_least`` and hardly
    more than ``at_most``; ``next_relevant`` among the ``next_downloads`` that come first. These are
    worth ``next_worth`` each, on average; None if nothing is pending.

    As if no more links were found. A URL may turn out not to be a page at all.
    """

    at_least: float
    expected: float
    at_most: float
    next_downloads: int
    next_relevant: float
    next_worth: float | None

    @property
    def next_harvest(self) -> float | None:
        """The harvest rate that the next downloads should have, None if nothing is pending."""
        return self.next_relevant / self.next_downloads if self.next_downloads else None


def harvest(
    order: Order, pending: Mapping[int, int], pages: Mapping[int, Pages]
) -> tuple[CellHarvest, ...]:
    """Return the cells with URLs or pages, the best first.

    What an order doesn't expect, as it isn't learned, is estimated by the cell's own pages and
    the mean of the crawl.
    """
    downloaded = sum(page.downloaded for page in pages.values())
    mean = (sum(page.relevant for page in pages.values()) + 1) / (downloaded + 2)
    cells = []
    for cell in sorted({*(c for c, n in pending.items() if n), *pages}, key=order.rank):
        own = pages.get(cell, Pages())
        learned = order.expected(cell)
        seen = (own.relevant + _PRIOR * mean) / (own.downloaded + _PRIOR)
        expected = seen if learned is None else learned
        worth = order.worth(cell) or expected
        named = group(cell, learned)
        number, before = pending.get(cell, 0), order.before(cell)
        cells.append(CellHarvest(cell, number, own, expected, worth, named, before))
    return tuple(cells)


def by_group(cells: Iterable[CellHarvest]) -> list[Group]:
    """Return what cells hold by group, the best first; ``cells`` come the best first."""
    groups: dict[str, Group] = {}
    for cell in cells:
        name, (pages, relevant) = cell.group, cell.pages
        before = groups.get(name, Group(name, 0, 0, 0))
        groups[name] = Group(
            name,
            before.pending + cell.pending,
            before.pages + pages,
            before.relevant + relevant,
        )
    bands = [name for _, name in BANDS]  # seeds come first whatever is expected of them
    return sorted(groups.values(), key=lambda g: bands.index(g.name) if g.name in bands else -1)


def wilson(part: float, whole: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval (1927) of a share; (0, 1) of nothing."""
    if not whole:
        return 0.0, 1.0
    p, z2 = part / whole, Z * Z
    centre = p + z2 / (2 * whole)
    spread = Z * sqrt(p * (1 - p) / whole + z2 / (4 * whole * whole))
    low, high = (centre - spread) / (1 + z2 / whole), (centre + spread) / (1 + z2 / whole)
    return (low if part else 0.0), (high if part < whole else 1.0)


def forecast(cells: Sequence[CellHarvest], downloads: int = NEXT) -> Forecast:
    """Say what the pending URLs should bring, and the first of them by the order of cells.

    What it is at most goes by groups, of which few or no pages are known to be relevant: as many as
    the upper end of ``wilson`` of what a group has brought. What it is at least goes by cells: as
    many as the lower end of what a cell has brought itself, nothing of one without pages. It says
    nothing of what lies behind.
    """
    at_least = expected = following = worth = 0.0
    left = downloads
    for cell in cells:
        expected += cell.pending * cell.expected
        at_least += cell.pending * min(_sure(cell.pages), cell.expected)
        number = min(cell.pending, left)
        following += number * cell.expected
        worth += number * cell.worth
        left -= number
    taken = downloads - left
    bounds = (one.pending * wilson(one.relevant, one.pages)[1] for one in by_group(cells))
    at_most = max(expected, sum(bounds))
    return Forecast(at_least, expected, at_most, taken, following, worth / taken if taken else None)


def _sure(pages: Pages) -> float:
    """Return the share of relevant pages that is sure of URLs like those that brought these."""
    return wilson(pages.relevant / TOGETHER, pages.downloaded / TOGETHER)[0]
