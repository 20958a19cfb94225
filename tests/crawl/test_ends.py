"""A crawl ends when little is left to find, unless something that is worth it waits."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import nullcontext
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import NotConfigured

from lswc.crawl.ends import EVERY, IN_A_ROW, MOST_IN_A_ROW, REASON, HarvestStopExtension
from lswc.crawl.leases import ASKED, STAY
from lswc.frontier.harvest import CellHarvest
from lswc.outcomes import Outcome
from lswc.strategy import Pages
from lswc.strategy.value import Value
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

LITTLE = CellHarvest(9, 5_000, Pages(), 0.0, 0.001, "expected under 1 %")


LOOKS = IN_A_ROW // EVERY + 1
MOST_LOOKS = MOST_IN_A_ROW // EVERY + 1


class Ending:
    """A crawl whose pending URLs are in ``cells``: the looks until it is told to end."""

    def __init__(self, *cells: CellHarvest) -> None:
        self.cells = [*cells, LITTLE]
        self.confirms: Callable[[], bool] | None = None
        self.others: list[str] = []
        self._tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.start()

    def start(self) -> None:
        """Begin to watch the crawl, or go on with it as another process would."""
        self._extension = self.worker()

    def worker(self) -> HarvestStopExtension:
        """Return what a process watches the crawl with."""
        frontier: Any = SimpleNamespace(
            cells=lambda: tuple(self.cells),
            tallies=lambda: self._tallies,
            others=lambda: (self.others, 0),
        )
        leases: Any = SimpleNamespace(finish=self._finish)
        commits: Any = SimpleNamespace(halted=False)
        return HarvestStopExtension(0.1, Value.PAGES, frontier, commits, leases)

    def _finish(self, reason: str, confirms: Callable[[], bool]) -> None:
        self.confirms = confirms

    def record(self, pages: int, by: HarvestStopExtension | None = None) -> None:
        """Record so many pages."""
        extension = by or self._extension
        for _ in range(pages):
            visit: Any = SimpleNamespace(tally=Counter({("page", "irrelevant"): 1}))
            extension.page_comes(visit)
            for (kind, name), number in visit.tally.items():
                self._tallies[kind][name] += number
            extension.page_recorded()

    def looks(self, most: int = 2 * MOST_LOOKS) -> int:
        """Record pages until the crawl is to end; return the looks that this took."""
        for look in range(1, most + 1):
            self.record(EVERY)
            if self.confirms is not None:
                return look
        return most + 1


@pytest.mark.parametrize(
    ("pending", "expected", "looks"),
    [
        (0, 0.9, LOOKS),
        (30, 0.2, LOOKS),
        (30, 0.9, MOST_LOOKS),  # else a server that can't be asked would hold it up for ever
        (5_000, 0.9, 2 * MOST_LOOKS + 1),
    ],
)
def test_what_is_promising_is_waited_for(pending: int, expected: float, looks: int) -> None:
    cell = CellHarvest(1, pending, Pages(), expected, expected, "expected 80-100 %")
    assert Ending(cell).looks() == looks


def test_it_goes_on_for_what_was_found_while_it_ended() -> None:
    ending = Ending()
    assert ending.looks() == LOOKS
    assert ending.confirms is not None
    assert ending.confirms()
    ending.cells.insert(0, CellHarvest(1, 30, Pages(), 0.9, 0.9, "expected 80-100 %"))
    assert not ending.confirms()
    ending.cells[0] = CellHarvest(1, 300, Pages(), 0.9, 0.9, "expected 80-100 %")
    assert not ending.confirms()
    ending.record(2)
    ending.cells.pop(0)
    assert not ending.confirms(), "it has to be little for some time again"
    ending.confirms = None
    assert ending.looks() == LOOKS, "that begins with the next look"


@pytest.mark.parametrize("stops", [[130], [350], [99, 1, 101], [1] * 399])
def test_a_crawl_that_was_stopped_ends_where_it_would_have(stops: list[int]) -> None:
    """Looks are at the same pages, and for how long little was expected is known."""
    unbroken, stopped = Ending(), Ending()
    unbroken.record(EVERY * LOOKS - 1)
    for pages in stops:
        stopped.record(pages)
        stopped.start()
    stopped.record(EVERY * LOOKS - 1 - sum(stops))
    assert unbroken.confirms is stopped.confirms is None
    unbroken.record(1)
    stopped.record(1)
    assert unbroken.confirms is not None
    assert stopped.confirms is not None


def test_what_was_promising_before_a_stop_begins_the_count_anew() -> None:
    ending = Ending()
    ending.record(250)
    ending.start()
    ending.cells.insert(0, CellHarvest(1, 5_000, Pages(), 0.9, 0.9, "expected 80-100 %"))
    ending.record(50)
    ending.cells.pop(0)
    ending.start()
    ending.record(EVERY * LOOKS - 1)
    assert ending.confirms is None
    ending.record(1)
    assert ending.confirms is not None


def test_the_pages_of_all_workers_count_and_have_to_be_more() -> None:
    ending = Ending()
    ending.others = ["another"]
    some, others = ending.worker(), ending.worker()
    for by in (some, others):
        ending.record(EVERY, by)
    for by in (some, others):
        ending.record(IN_A_ROW - 1, by)
    assert ending.confirms is None
    ending.record(EVERY, some)
    assert ending.confirms is not None


@pytest.mark.parametrize("found", ["nothing", "much", "no end"])
def test_what_other_workers_fetch_is_waited_for(
    tmp_path: Path, redis_server: RedisServer, found: str
) -> None:
    """What it brings may be worth to go on; but who fetches on for long ends by themselves."""
    seeds = [f"http://h{number}.example/" for number in range(3)]
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    with (
        SetUp(tmp_path / "one", *seeds, LSWC_FRONTIER=redis_server.url) as one,
        SetUp(tmp_path / "other", *seeds, LSWC_FRONTIER=redis_server.url) as other,
    ):
        ends: list[str] = []
        one.parts.commits.stop = ends.append
        is_little, now = True, monotonic()
        fetched = other.visit(now)
        one.parts.leases.finish(REASON, lambda: is_little)
        assert one.parts.leases.next(now + ASKED) is None, "nothing that is little worth"
        again = one.parts.leases.next_ready(now)
        assert again is not None
        assert again > now, "it doesn't ask again and again"
        assert not ends
        if found == "no end":
            assert one.parts.leases.next(now + 2 * STAY) is None
            assert ends == [REASON]
            return
        is_little = found == "nothing"
        other.parts.commits.commit(fetched, Outcome.FAILED)
        visit = one.parts.leases.next(now + 3 * ASKED)
        assert (visit is None, ends) == (is_little, [REASON] * is_little)


@pytest.mark.parametrize(("visits", "ends"), [(0, True), (0.05, False)])
def test_a_crawl_that_visits_pages_again_is_not_ended(
    tmp_path: Path, visits: float, ends: bool
) -> None:
    with SetUp(tmp_path, LSWC_PROFILE="adaptive", LSWC_REVISIT=visits) as crawl:
        assert crawl.parts.crawl.stop_harvest > 0
        with nullcontext() if ends else pytest.raises(NotConfigured):
            HarvestStopExtension.from_crawler(crawl.crawler)
