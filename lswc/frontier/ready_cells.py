"""Ready cells: those that may have a URL to hand out, best first."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lswc.strategy import Rank


class ReadyCells:
    """A set of cells, kept in order though the order changes.

    ``rank`` gives a cell's rank as it is now: the smaller comes first. A rank that changed must
    be told.
    """

    def __init__(self, rank: Callable[[int], Rank], cells: Iterable[int] = ()) -> None:
        self._rank = rank
        self._sort(cells)

    def _sort(self, cells: Iterable[int]) -> None:
        self._rank_of = {cell: self._rank(cell) for cell in cells}
        self._ranks = sorted(self._rank_of.values())

    def __contains__(self, cell: int) -> bool:
        return cell in self._rank_of

    def first(self) -> int | None:
        """Return the best cell, None if there is none."""
        return self._ranks[0][1] if self._ranks else None

    def best(self, number: int | None = None) -> list[int]:
        """Return so many cells, or all, the best first."""
        return [cell for _, cell in self._ranks[:number]]

    def since(self, rank: Rank, number: int) -> list[Rank]:
        """Return the ranks of so many cells, from this one on."""
        first = bisect_left(self._ranks, rank)
        return self._ranks[first : first + number]

    def add(self, *cells: int) -> None:
        """Add cells, but for those that are there."""
        for cell in cells:
            if cell not in self._rank_of:
                self._rank_of[cell] = rank = self._rank(cell)
                insort(self._ranks, rank)

    def remove(self, cell: int) -> None:
        """Take a cell out, if it is there."""
        rank = self._rank_of.pop(cell, None)
        if rank is not None:
            del self._ranks[bisect_left(self._ranks, rank)]

    def changed(self, cell: int) -> None:
        """Take notice of one cell's new rank."""
        if cell in self._rank_of:
            self.remove(cell)
            self.add(cell)

    def reorder(self) -> None:
        """Take notice of a new order of all cells."""
        self._sort(list(self._rank_of))
