"""A crawl ends when little is left to find, unless something that is worth it waits."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import NotConfigured

from lswc.crawl.ends import EVERY, IN_A_ROW, MOST_IN_A_ROW, HarvestStopExtension
from lswc.frontier.harvest import CellHarvest
from lswc.strategy import Pages
from lswc.strategy.value import Value
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LITTLE = CellHarvest(9, 5_000, Pages(), 0.0, 0.001, "expected under 1 %")


class Ending:
    """A crawl whose pending URLs are in ``cells``: the looks until it is told to end."""

    def __init__(self, *cells: CellHarvest) -> None:
        self.cells = [*cells, LITTLE]
        self.confirms: Callable[[], bool] | None = None
        frontier: Any = SimpleNamespace(cells=lambda: tuple(self.cells))
        leases: Any = SimpleNamespace(finish=self._finish)
        commits: Any = SimpleNamespace(halted=False)
        self._extension = HarvestStopExtension(0.1, Value.PAGES, frontier, commits, leases)

    def _finish(self, reason: str, confirms: Callable[[], bool]) -> None:
        self.confirms = confirms

    def looks(self, most: int = 2 * MOST_IN_A_ROW) -> int:
        """Record pages until the crawl is to end; return the looks that this took."""
        for look in range(1, most + 1):
            for _ in range(EVERY):
                self._extension.page_recorded()
            if self.confirms is not None:
                return look
        return most + 1


@pytest.mark.parametrize(
    ("pending", "expected", "looks"),
    [
        (0, 0.9, IN_A_ROW),
        (30, 0.2, IN_A_ROW),
        (30, 0.9, MOST_IN_A_ROW),  # else a server that can't be asked would hold it up for ever
        (5_000, 0.9, 2 * MOST_IN_A_ROW + 1),
    ],
)
def test_what_is_promising_is_waited_for(pending: int, expected: float, looks: int) -> None:
    cell = CellHarvest(1, pending, Pages(), expected, expected, "expected 80-100 %")
    assert Ending(cell).looks() == looks


def test_it_goes_on_for_what_was_found_while_it_ended() -> None:
    ending = Ending()
    assert ending.looks() == IN_A_ROW
    assert ending.confirms is not None
    assert ending.confirms()
    ending.cells.insert(0, CellHarvest(1, 30, Pages(), 0.9, 0.9, "expected 80-100 %"))
    assert not ending.confirms()
    ending.cells[0] = CellHarvest(1, 300, Pages(), 0.9, 0.9, "expected 80-100 %")
    assert not ending.confirms()
    ending.cells.pop(0)
    assert not ending.confirms(), "it has to be little for some time again"


@pytest.mark.parametrize(("visits", "ends"), [(0, True), (0.05, False)])
def test_a_crawl_that_visits_pages_again_is_not_ended(
    tmp_path: Path, visits: float, ends: bool
) -> None:
    with SetUp(tmp_path, LSWC_PROFILE="adaptive", LSWC_REVISIT=visits) as crawl:
        assert crawl.parts.crawl.stop_harvest > 0
        with nullcontext() if ends else pytest.raises(NotConfigured):
            HarvestStopExtension.from_crawler(crawl.crawler)
