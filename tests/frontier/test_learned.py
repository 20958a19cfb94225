"""What every frontier promises of an order that is learned."""

from __future__ import annotations

import random
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from lswc.frontier.exchange.status import Status, summed
from lswc.frontier.rules import contract
from lswc.frontier.rules.contract import AWAITED, FrontierError, Terms
from lswc.frontier.rules.harvest import CellHarvest, forecast, wilson
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.frontier.store.report import taught_by
from lswc.strategy import SEED, Experience, PageLanguage, Pages, adaptive, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lswc.frontier.rules.visit import Lease

ADAPTIVE = strategy("adaptive")
FORMS = 12
"""Kinds of links in the web below."""

SERVERS = [f"{host}site{n}.co.th" for n in range(12) for host in ("", "www.", "blog.")]
CODES = [random.Random(form).randrange(SEED) for form in range(FORMS)]


class Open(Protocol):
    def __call__(
        self,
        spec: str = ...,
        name: str = ...,
        experience: Experience | None = ...,
        haste: float = ...,
    ) -> Frontier: ...


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let URLs wait for those that are hardly better."""
    monkeypatch.setattr(contract, "FAR", 0.9)
    monkeypatch.setattr(contract, "FIRST_PAGES", 0)


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as stack:

        def opened(
            spec: str = "adaptive",
            name: str = "crawl",
            experience: Experience | None = None,
            haste: float = 1.0,
        ) -> Frontier:
            chosen = strategy(spec)
            identity = {"language": "th", "strategy": chosen.name}
            terms = Terms(haste=haste, experience=experience or Experience())
            (tmp_path / name).mkdir(exist_ok=True)
            store = Frontier(tmp_path / name / "frontier.db", chosen, identity, terms)
            return stack.enter_context(closing(store))

        yield opened


@pytest.fixture
def learned(tmp_path: Path) -> Callable[[str], Experience]:
    """Return a function that reads what the crawl of a name learned."""

    def read(name: str, language: str = "th") -> Experience:
        return taught_by(tmp_path / name / "frontier.db", language)

    return read


def link(server: str, page: int, form: int) -> Offer:
    url = f"http://{server}/{page}.{form}"
    return Offer(url, server, server, CODES[form], PageLanguage.TARGET, 1)


def seed(server: str) -> Offer:
    return Offer(f"http://{server}/", server, server, SEED, PageLanguage.TARGET, 0)


def is_relevant(lease: Lease) -> bool:
    """Pages of some sites are relevant, and where links of a form lead."""
    chance = random.Random(lease.url).random()
    site, form = SERVERS.index(lease.server) // 3, CODES.index(lease.code) if lease.referrer else 0
    return chance < (0.9 if site % 3 == 0 else 0.1) * (1.0 if form % 2 else 0.3)


def links(lease: Lease) -> list[Offer]:
    choose = random.Random(lease.url)
    return [
        link(choose.choice(SERVERS), choose.randrange(40), choose.randrange(FORMS))
        for _ in range(6)
    ]


def visit(f: Frontier) -> Lease:
    lease = f.lease(0.0)
    assert lease is not None
    assert f.commit(ended(lease, relevant=is_relevant(lease), offers=links(lease)))
    return lease


def visits(f: Frontier, number: int) -> list[str]:
    return [visit(f).url for _ in range(number)]


def test_a_crawl_that_was_stopped_decides_as_one_that_was_not(frontier: Open) -> None:
    whole = frontier(name="whole")
    whole.offer([seed(server) for server in SERVERS[:4]])
    expected = visits(whole, 260)
    stopped = frontier(name="stopped")
    stopped.offer([seed(server) for server in SERVERS[:4]])
    found: list[str] = []
    for number in (1, 40, 99, 80, 3, 37):
        found += visits(stopped, number)
        stopped.lease(0.0)
        stopped.close()
        stopped = frontier(name="stopped")
    assert found == expected


def test_cells_that_brought_pages_come_first(frontier: Open) -> None:
    f = frontier()
    f.offer([seed(server) for server in SERVERS[:4]])
    visits(f, 200)
    ranked = [cell.worth for cell in f.cells() if cell.cell != adaptive.SEEDS]
    assert ranked == sorted(ranked, reverse=True)
    lease = visit(f)
    assert lease.expected is not None
    assert lease.expected > sum(c.expected for c in f.cells()) / len(f.cells())
    brought = sum(is_relevant(visit(f)) for _ in range(100))
    pending = [c for c in f.cells() if c.pending]
    assert brought > 100 * pending[-1].expected
    assert sum(c.pending for c in pending) == f.pending
    assert sum(c.pages.downloaded for c in f.cells()) == 301


def test_a_server_that_brings_nothing_sinks(frontier: Open) -> None:
    f = frontier()
    f.offer([seed("a.co.th"), seed("b.co.th")])
    urls = {s: [link(f"{s}.co.th", n, 0) for n in range(8)] for s in "ab"}
    for server in "ab":
        lease = f.lease(0.0)
        assert lease is not None
        assert lease.server == f"{server}.co.th"
        f.commit(ended(lease, relevant=server == "b", offers=urls[server]))
    order = []
    while (lease := f.lease(0.0)) is not None:
        order.append(lease.server[0])
        f.commit(ended(lease, relevant=lease.server == "b.co.th"))
    assert "".join(order).rindex("b") < "".join(order).rindex("a")
    assert order[:6] == ["b"] * 6


@pytest.mark.parametrize("outcome", ["status 404", "name not resolved", "timeout", "robots.txt"])
def test_a_server_is_known_by_looks_that_brought_nothing(frontier: Open, outcome: str) -> None:
    f = frontier()
    f.offer([seed("a.co.th"), link("b.co.th", 1, 0), link("b.co.th", 2, 0)])
    first = f.lease(0.0)
    assert first is not None
    f.commit(ended(first, relevant=True, offers=[link("a.co.th", n, 0) for n in range(9)]))

    def waits_in() -> set[str]:
        found = {c.cell for c in f.cells() if c.pending} - {adaptive.SEEDS}
        return {adaptive.describe(cell).partition("; ")[2].partition(",")[0] for cell in found}

    before = waits_in()
    for _ in range(adaptive.PAGES_HARDLY_KNOWN + 1):
        lease = f.lease_among(["a.co.th"], 0.0)
        assert lease is not None
        f.commit(ended(lease, outcome))
    known = f"server with more than {adaptive.PAGES_HARDLY_KNOWN} pages"
    assert (known in waits_in()) == (outcome != "robots.txt")
    assert known not in before
    assert f.pages_of("a.co.th") == Pages(1, 1), "they are no pages"
    with f.reading() as reader:
        assert reader.taken("a.co.th")[0].pages == 1


def test_a_site_moves_its_servers_without_pages(frontier: Open) -> None:
    f = frontier()
    f.offer([seed("a.one.co.th"), seed("a.two.co.th")])
    for site, relevant in (("one", False), ("two", True)):
        lease = f.lease(0.0)
        assert lease is not None
        f.commit(ended(lease, relevant=relevant, offers=[link(f"b.{site}.co.th", 1, 0)]))
    lease = f.lease(0.0)
    assert lease is not None
    assert lease.server == "b.two.co.th"


@pytest.mark.usefixtures("patient")
def test_nobody_waits_for_urls_that_are_leased_already(frontier: Open) -> None:
    f = frontier(haste=0.0)
    f.offer([link("a.co.th", 1, 0), seed("b.a.co.th")])
    lease = f.lease(0.0)
    assert lease is not None
    f.commit(ended(lease, relevant=False))
    f.offer([seed("b.co.th")])
    better, worse = f.lease(0.0), f.lease(0.0)
    assert better is not None
    assert worse is not None
    assert (better.server, worse.server) == ("b.co.th", "a.co.th")
    assert worse.expected is not None
    assert better.expected is not None
    assert worse.expected < 0.9 * better.expected, "and so it would wait for another like that"


def beside_the_good(f: Frontier, rounds: int) -> list[str]:
    """Crawl a relevant server and another; return what is asked for beside the first, each time."""
    give_links_to_two(f, 2 * rounds)
    servers = []
    for now in range(10, 10 + 2 * rounds, 2):
        good, other = f.lease(now), f.lease(now)
        assert good is not None
        f.commit(ended(good, relevant=True, rest=2.0))
        if other is not None:
            f.commit(ended(other, relevant=False, rest=2.0))
        servers.append("" if other is None else other.server)
    return servers


def give_links_to_two(f: Frontier, number: int) -> None:
    """Visit the seeds of a relevant server, a.co.th, and of another, with so many links each."""
    f.offer([seed("a.co.th"), seed("b.co.th")])
    for server in "ab":
        lease = f.lease(0.0)
        assert lease is not None
        urls = [link(f"{server}.co.th", n, 0) for n in range(number)]
        f.commit(ended(lease, relevant=server == "a", offers=urls, rest=2.0))


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("haste", [0.0, 1.0])
def test_without_haste_urls_wait_for_far_better_ones(frontier: Open, haste: float) -> None:
    f = frontier(haste=haste)
    give_links_to_two(f, 8)
    good = f.lease(10.0)
    assert good is not None
    assert good.server == "a.co.th"
    assert (f.lease(10.0) is None) == (haste == 0)
    f.commit(ended(good, relevant=True, rest=2.0))
    lease = f.lease(12.0)
    assert lease is not None
    assert lease.server == "a.co.th"


@pytest.mark.usefixtures("patient")
def test_one_request_in_five_need_not_wait_where_there_is_such_haste(frontier: Open) -> None:
    servers = beside_the_good(frontier(haste=0.2), 10)
    assert servers == ["", "b.co.th", "", "", "", "b.co.th", "", "", "", "b.co.th"]


@pytest.mark.usefixtures("patient")
def test_a_young_crawl_is_in_no_haste(frontier: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "FIRST_PAGES", 12)
    monkeypatch.setattr(contract, "FAR_AT_FIRST", 0.9)
    servers = beside_the_good(frontier(haste=0.2), 25)
    # Ten of the first pages come after the seeds; then one in haste is earned by four others.
    assert servers.index("b.co.th") == 10 + 3


class Known:
    """An order of two cells: the best, and one that is worth a share of it."""

    def __init__(self, pages: int, share: float) -> None:
        self.pages, self._worth = pages, {1: 1.0, 2: share}

    def expected(self, cell: int) -> float:
        return self._worth[cell]

    worth = expected


@pytest.mark.parametrize(
    ("pages", "share", "is_far"),
    [(0, 0.39, True), (0, 0.41, False), (500, 0.24, True), (500, 0.26, False),
     (1_000, 0.09, True), (1_000, 0.11, False), (10**6, 0.09, True), (10**6, 0.11, False)],
)  # fmt: skip
def test_what_is_far_worse_is_a_larger_share_at_first(
    pages: int, share: float, is_far: bool
) -> None:
    order: Any = Known(pages, share)
    assert contract.is_far_better(order, 1, 2) is is_far


def test_what_is_asked_for_in_vain_teaches_its_cell_and_nothing_else(
    frontier: Open, learned: Callable[[str], Experience]
) -> None:
    f = frontier()
    f.offer([seed("a.co.th")])
    lease = f.lease(0.0)
    assert lease is not None
    f.commit(ended(lease, relevant=True, offers=[link("a.co.th", n, 0) for n in range(30)]))
    expected = []
    for outcome in ("html", *(["status 404"] * 12), "html", *(["status 404"] * 3)):
        lease = f.lease(0.0)
        assert lease is not None
        assert lease.expected is not None
        expected.append(lease.expected)
        f.commit(ended(lease, outcome, relevant=True if outcome == "html" else None))
    assert expected[12] < 0.7 * expected[1]
    lease = f.lease(0.0)
    assert lease is not None
    f.commit(ended(lease, "connection refused"))
    ranks = {cell.cell: f.order.rank(cell.cell) for cell in f.cells()}
    f.close()
    taught = learned("crawl")
    assert taught.crawl == Pages(3, 3), "and a server that is away says nothing of links"
    assert sum(pages.downloaded for pages in taught.cells.values()) == 2 + 15
    again = frontier()
    assert {cell.cell: again.order.rank(cell.cell) for cell in again.cells()} == ranks
    assert sum(cell.pages.downloaded for cell in again.cells()) == 3, "pages are pages"


def test_workers_tell_each_other_what_was_asked_for_in_vain() -> None:
    cells, missed = [(5, 3, 2.0, 0)], {5: 4, 7: 1}
    others = [
        Status(number, "", "", 0, 0, (), {}, {}, {}, {}, cells=cells, missed=missed)
        for number in (1, 2)
    ]
    experience = summed(others, (), waits=False).experience
    assert experience.crawl == Pages(6, 4)
    assert experience.cells == {5: Pages(14, 4), 7: Pages(2, 0)}


@pytest.mark.usefixtures("patient")
def test_nobody_waits_for_what_is_hardly_relevant_either(frontier: Open) -> None:
    f = frontier(haste=0.0)
    f.offer([seed("a.co.th"), seed("b.co.th")])
    for server, pages in (("a.co.th", 8), ("b.co.th", 100)):
        for n in range(pages):
            lease = f.lease_among([server], 0.0)
            assert lease is not None
            urls = [link(server, m, 0) for m in range(pages + 2)] if n == 0 else []
            f.commit(ended(lease, relevant=False, offers=urls))
    better, worse = f.lease(0.0), f.lease(0.0)
    assert better is not None
    assert worse is not None
    assert (better.server, worse.server) == ("a.co.th", "b.co.th")
    assert worse.expected is not None
    assert better.expected is not None
    assert worse.expected < 0.9 * better.expected < AWAITED


def test_an_earlier_crawl_teaches_another(
    frontier: Open, learned: Callable[[str], Experience]
) -> None:
    first = frontier(name="first")
    first.offer([seed(server) for server in SERVERS[:4]])
    visits(first, 150)
    first.close()
    taught = learned("first")
    assert taught.crawl.downloaded == 150
    second = frontier(name="second", experience=taught)
    second.offer([seed(server) for server in SERVERS[:4]])
    visits(second, 20)
    assert sum(cell.pages.downloaded for cell in second.cells()) == 20
    second.close()
    both = learned("second")
    assert both.crawl.downloaded == 170
    assert sum(pages.downloaded for pages in both.cells.values()) > sum(
        pages.downloaded for pages in taught.cells.values()
    )


def test_experience_that_does_not_fit_is_refused(
    frontier: Open, learned: Callable[..., Experience], tmp_path: Path
) -> None:
    frontier(name="thai").close()
    with pytest.raises(FrontierError, match="of language 'th', not 'lo'"):
        learned("thai", "lo")
    frontier("bfs", name="fixed").close()
    with pytest.raises(FrontierError, match="'bfs' learns nothing"):
        learned("fixed")
    frontier("adaptive_text", name="text").close()
    with pytest.raises(FrontierError, match="LSWC_VALUE was another"):
        learned("text")
    with pytest.raises(FrontierError, match="doesn't exist"):
        taught_by(tmp_path / "none", "th")


def test_a_fixed_order_says_what_to_expect_too(frontier: Open) -> None:
    f = frontier("soft_focused")
    f.offer([seed(server) for server in SERVERS])
    lease = f.lease(0.0)
    assert lease is not None
    assert lease.expected is None
    f.commit(ended(lease, relevant=True))
    (cell,) = f.cells()
    assert (cell.cell, cell.pending, cell.pages, cell.group) == (0, 35, Pages(1, 1), "tier 0")
    assert cell.expected == pytest.approx((1 + 8 * 2 / 3) / 9)


def test_a_forecast_takes_the_best_cells_first() -> None:
    best, next_best = (Pages(), 0.9, 0.9, ""), (Pages(), 0.1, 0.3, "")
    cells = [CellHarvest(1, 10, *best), CellHarvest(2, 100, *next_best)]
    told = forecast(cells, 20)
    assert told.expected == pytest.approx(19.0)
    assert told.next_downloads == 20
    assert told.next_harvest == pytest.approx(0.5)
    assert told.next_worth == pytest.approx(0.6)
    assert told.at_most == 110, "nothing of what waits was tried"
    assert forecast([]).next_harvest is None
    assert forecast([]).next_worth is None


def test_what_is_left_is_at_most_what_few_tries_leave_open() -> None:
    hopeless = CellHarvest(1, 1_000, Pages(100, 0), 0.0001, 0.0001, "")
    more = CellHarvest(2, 1_000, Pages(296, 4), 0.01, 0.01, "")
    for cells in ([hopeless], [hopeless, more]):
        of_group = wilson(sum(c.pages.relevant for c in cells), 100 if len(cells) == 1 else 396)
        assert forecast(cells).at_most == pytest.approx(len(cells) * 1_000 * of_group[1])
    assert forecast([hopeless]).at_most == pytest.approx(37, abs=0.5)
    sure = CellHarvest(3, 10, Pages(1_000, 10), 0.99, 0.99, "")
    assert forecast([sure]).at_most == pytest.approx(9.9), "never less than is expected"


def test_every_cell_has_words() -> None:
    said = {ADAPTIVE.describe(cell) for cell in range(adaptive.CELLS)}
    assert len(said) == adaptive.CELLS
