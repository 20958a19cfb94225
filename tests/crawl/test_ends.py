"""A crawl ends when little is left to find, unless something that is worth it waits."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import nullcontext
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import NotConfigured

from lswc.crawl.ends import (
    AGAIN,
    IN_A_ROW,
    LOOK_SECONDS,
    REASON,
    REQUESTS_BETWEEN_LOOKS,
    REQUESTS_IN_A_ROW,
    TALLY,
    TRIED,
    HarvestStopExtension,
)
from lswc.crawl.leases import ASKED, STAY
from lswc.frontier.exchange.status import Elsewhere
from lswc.frontier.rules.harvest import CellHarvest
from lswc.frontier.rules.report import Standing
from lswc.outcomes import Outcome
from lswc.strategy import Pages, strategy
from lswc.strategy.adaptive import PLACES, server_share
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

LITTLE = CellHarvest(9, 5_000, Pages(), 0.0, 0.001, "expected under 1 %")
LOOKS = IN_A_ROW // REQUESTS_BETWEEN_LOOKS + 1
ADAPTIVE = strategy("adaptive")


class Ending:
    """A crawl whose pending URLs are in ``cells``: the looks until it is to end.

    ``unread`` are the seeds that nobody asked for yet. If URLs of some cells alone are asked for,
    these are ``only``.
    """

    def __init__(self, *cells: CellHarvest, unread: Sequence[str] = ()) -> None:
        self.cells = [*cells, LITTLE]
        self.unread = list(unread)
        self.confirms: Callable[[], bool] | None = None
        self.only: Collection[int] | None = None
        self.now = 0.0
        self.elsewhere = Elsewhere()
        self._tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.start()

    def start(self) -> None:
        """Begin to watch the crawl, or go on with it as another process would."""
        frontier: Any = SimpleNamespace(
            cells=lambda: tuple(self.cells),
            tallies=lambda: self._tallies,
            cells_everywhere=lambda: tuple(self.cells),
            elsewhere=self.elsewhere,
            restrict=lambda cells: setattr(self, "only", cells),
            reading=lambda: nullcontext(SimpleNamespace(find=self._find)),
        )
        self.leases: Any = SimpleNamespace(finish=self._finish, ends_after="")
        leases: Any = self.leases
        commits: Any = SimpleNamespace(failed=False)
        seeds = ["http://read.example/", *self.unread]
        self._extension = HarvestStopExtension(0.01, ADAPTIVE, seeds, frontier, commits, leases)

    def _find(self, url: str) -> Standing:
        return Standing(None if url in self.unread else Outcome.HTML)

    def _finish(self, reason: str, confirms: Callable[[], bool]) -> None:
        self.confirms = confirms

    def fetch(self, visits: int, *, requests: int = 1, relevant: float | None = None) -> None:
        """End so many visits, each after some requests; what they bring counts so much."""
        for _ in range(visits):
            visit: Any = SimpleNamespace(
                tally=Counter(), attempts=[None] * requests, is_page=True, counted=relevant
            )
            self._extension.visit_ends(visit)
            for (kind, name), number in visit.tally.items():
                self._tallies[kind][name] += number
            self.now += 0.001
            self._extension.next_is_asked_for(self.now)

    def wait(self, seconds: float) -> None:
        """Let nothing end for so long, but for the clock."""
        self.now += seconds
        self._extension.next_is_asked_for(self.now)

    def looks(self, most: int = 2 * LOOKS) -> int:
        """End visits until the crawl is to end; return the looks that this took."""
        for look in range(1, most + 1):
            self.fetch(REQUESTS_BETWEEN_LOOKS)
            if self.confirms is not None:
                return look
        return most + 1


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[Ending], None]:
    """Return what lets the extension's clock be that of an ending."""

    def use(ending: Ending) -> None:
        monkeypatch.setattr("lswc.crawl.ends.monotonic", lambda: ending.now)
        ending.start()

    return use


KNOWN_TO_BE_RELEVANT = next(cell for cell in range(1, PLACES) if server_share(cell) >= 0.7)


@pytest.mark.parametrize(
    ("cell", "pending", "pages", "expected", "ends", "only"),
    [
        (1, 0, 0, 0.9, True, True),
        (1, 30, 0, 0.05, True, True),
        (1, 30, 0, 0.2, False, True),
        (1, 5_000, 0, 0.9, False, False),  # that isn't little
        (KNOWN_TO_BE_RELEVANT, 30, 100, 0.05, False, True),
        (KNOWN_TO_BE_RELEVANT, 30, 100, 0.005, True, True),
        (KNOWN_TO_BE_RELEVANT, 30, TRIED - 1, 0.0001, False, True),
    ],
)
def test_nothing_but_what_is_promising_is_asked_for_before_the_end(
    cell: int, pending: int, pages: int, expected: float, ends: bool, only: bool
) -> None:
    ending = Ending(CellHarvest(cell, pending, Pages(pages), expected, expected, "expected"))
    assert (ending.looks() == LOOKS) == ends
    assert (ending.only is not None) == only
    if ending.only is not None:
        assert (cell in ending.only) == (not ends or not pending)
        assert LITTLE.cell not in ending.only
        assert bool(ending.leases.ends_after) == (not ends)


def test_it_ends_once_what_is_promising_was_fetched(clock: Callable[[Ending], None]) -> None:
    ending = Ending(CellHarvest(1, 30, Pages(), 0.2, 0.2, "expected 20-50 %"))
    clock(ending)
    ending.looks()
    assert ending.confirms is None
    assert ending.leases.ends_after == "30 promising URLs"
    ending.cells.pop(0)
    ending.wait(2 * AGAIN)
    assert ending.confirms is not None, "though nothing ended here: another worker had them"
    assert ending.confirms()


def test_no_end_before_each_seed_was_asked_for(clock: Callable[[Ending], None]) -> None:
    ending = Ending(unread=["http://one.example/", "http://slow.example/"])
    clock(ending)
    ending.looks()
    assert ending.confirms is None
    assert ending.leases.ends_after == "seeds such as http://one.example/"
    ending.unread.pop(0)
    ending.wait(2 * AGAIN)
    assert ending.confirms is None
    assert ending.leases.ends_after == "seeds such as http://slow.example/"
    ending.unread.pop()
    ending.wait(2 * AGAIN)
    assert ending.confirms is not None


def test_a_request_counts_whatever_comes_of_it() -> None:
    ending = Ending()
    ending.fetch(REQUESTS_BETWEEN_LOOKS // 4 * LOOKS - 1, requests=4)
    assert ending.confirms is None
    ending.fetch(1, requests=4)
    assert ending.confirms is not None


def test_what_was_refused_without_a_request_does_not_count() -> None:
    ending = Ending()
    ending.fetch(10 * IN_A_ROW, requests=0)
    assert ending.confirms is None


def test_little_for_long_is_as_many_requests(clock: Callable[[Ending], None]) -> None:
    ending = Ending()
    clock(ending)
    ending.fetch(REQUESTS_BETWEEN_LOOKS)
    for _ in range(9):
        ending.wait(LOOK_SECONDS / 9.5)
        assert ending.confirms is None
    ending.wait(LOOK_SECONDS / 9.5)
    assert ending.confirms is not None


def test_it_goes_on_for_what_was_found_while_it_ended() -> None:
    ending = Ending()
    assert ending.looks() == LOOKS
    assert ending.confirms is not None
    assert ending.confirms()
    ending.cells.insert(0, CellHarvest(1, 30, Pages(), 0.9, 0.9, "expected 80-100 %"))
    assert not ending.confirms()
    ending.cells[0] = CellHarvest(1, 300, Pages(), 0.9, 0.9, "expected 80-100 %")
    assert not ending.confirms()
    ending.fetch(2)
    ending.cells.pop(0)
    assert not ending.confirms(), "it has to be little for some time again"
    ending.confirms = None
    assert ending.looks() == LOOKS, "that begins with the next look"


@pytest.mark.parametrize("stops", [[130], [350], [99, 1, 101], [1] * 399])
def test_a_crawl_that_was_stopped_ends_where_it_would_have(stops: list[int]) -> None:
    """Looks are at the same pages, and for how long little was expected is known."""
    unbroken, stopped = Ending(), Ending()
    unbroken.fetch(REQUESTS_BETWEEN_LOOKS * LOOKS - 1)
    for pages in stops:
        stopped.fetch(pages)
        stopped.start()
    stopped.fetch(REQUESTS_BETWEEN_LOOKS * LOOKS - 1 - sum(stops))
    assert unbroken.confirms is stopped.confirms is None
    unbroken.fetch(1)
    stopped.fetch(1)
    assert unbroken.confirms is not None
    assert stopped.confirms is not None


def test_what_was_promising_before_a_stop_begins_the_count_anew() -> None:
    ending = Ending()
    ending.fetch(250)
    ending.start()
    ending.cells.insert(0, CellHarvest(1, 5_000, Pages(), 0.9, 0.9, "expected 80-100 %"))
    ending.fetch(50)
    ending.cells.pop(0)
    ending.start()
    ending.fetch(REQUESTS_BETWEEN_LOOKS * LOOKS - 1)
    assert ending.confirms is None
    ending.fetch(1)
    assert ending.confirms is not None


def test_the_pages_of_all_workers_count_and_have_to_be_more() -> None:
    ending = Ending()
    others = Counter({REQUESTS_IN_A_ROW: IN_A_ROW - 1})
    ending.elsewhere = Elsewhere(workers=1, tallies={TALLY: others})
    ending.start()
    ending.fetch(REQUESTS_BETWEEN_LOOKS * LOOKS)
    assert ending.confirms is None
    ending.fetch(REQUESTS_BETWEEN_LOOKS)
    assert ending.confirms is not None


@pytest.mark.parametrize(("share", "ends"), [(0.0, True), (0.005, True), (0.02, False)])
def test_it_goes_on_while_more_is_found_than_was_expected(share: float, ends: bool) -> None:
    ending = Ending()
    for _ in range(30):
        ending.fetch(round(100 * (1 - share)) if share < 0.01 else 98)
        ending.fetch(2, relevant=50 * share)
    assert (ending.confirms is not None) == ends


def test_finds_do_not_buy_more_requests_than_were_made() -> None:
    ending = Ending()
    ending.fetch(REQUESTS_BETWEEN_LOOKS)
    ending.fetch(3, relevant=1.0)
    ending.fetch(REQUESTS_BETWEEN_LOOKS * LOOKS - 4)
    assert ending.confirms is None
    ending.fetch(1)
    assert ending.confirms is not None


def test_what_is_promising_brings_no_more_of_the_rest() -> None:
    ending = Ending(CellHarvest(1, 30, Pages(), 0.2, 0.2, "expected 20-50 %"))
    ending.looks()
    assert ending.only == {1}
    ending.fetch(REQUESTS_BETWEEN_LOOKS, relevant=1.0)
    assert ending.only == {1}


def test_finds_put_off_the_end_of_a_slow_crawl(clock: Callable[[Ending], None]) -> None:
    ending = Ending()
    clock(ending)
    ending.fetch(REQUESTS_BETWEEN_LOOKS)
    ending.wait(LOOK_SECONDS / 2)
    ending.fetch(1, relevant=1.0)
    ending.wait(LOOK_SECONDS * 0.9)
    assert ending.confirms is None
    ending.wait(LOOK_SECONDS / 2)
    assert ending.confirms is not None


@pytest.mark.parametrize("found", ["nothing", "much", "no end"])
def test_what_other_workers_fetch_is_waited_for(tmp_path: Path, found: str) -> None:
    """What it brings may be worth to go on; but who fetches on for long ends by themselves."""
    with SetUp(tmp_path, "http://h.example/") as one:
        ends: list[str] = []
        one.parts.commits.stop = ends.append
        is_little, now = True, monotonic()
        one.parts.frontier.hear(Elsewhere(workers=1, live=1, leased=1, waits=True))
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
        one.parts.frontier.hear(Elsewhere(workers=1, live=1, waits=True))
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
