"""Pages that are visited again: which, when, how often, and what is learned of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from lswc.frontier.rules.contract import Terms
from lswc.frontier.rules.revisited import Became, Claim, Claims, became
from lswc.frontier.store.frontier import Frontier
from lswc.strategy import LISTING, strategy
from tests.frontier.test_contract import OTHER, RELEVANT, offer
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.frontier.rules.revisited import Revisited
    from lswc.frontier.rules.visit import Lease, Offer

DAY = 86_400.0


class Crawl:
    """A frontier, and the time of both of its clocks, in seconds."""

    def __init__(self, open_frontier: Callable[[Terms], Frontier], budget: float) -> None:
        self.now = 1_000 * DAY
        self.jumped = 0.0  # of the clock on the wall
        self._open, self._budget = open_frontier, budget
        self.start()

    def start(self, budget: float | None = None) -> None:
        self._budget = self._budget if budget is None else budget
        self.f = self._open(Terms(revisit=self._budget, clock=lambda: self.now + self.jumped))

    def lease(self) -> Lease:
        lease = self.f.lease(self.now)
        assert lease is not None
        return lease

    def end(self, lease: Lease, *offers: Offer, outcome: str = "html", **brought: Any) -> None:
        brought = {"relevant": True, "simhash": 0} | brought
        assert self.f.commit(ended(lease, outcome, offers=offers, **brought))

    def page_of(self, number: int) -> Revisited | None:
        return self.f._file.revisited.of(number)

    def begin(self, *urls: str) -> None:
        """Visit new pages, all relevant."""
        self.f.offer([offer(url) for url in urls])
        for _ in urls:
            lease = self.lease()
            assert lease.visits == 0
            self.end(lease)
        assert self.f.lease(self.now) is None

    def visits(self, seconds: float, step: float, **brought: Any) -> list[str]:
        """Make all visits that there are in so many seconds."""
        urls = []
        for _ in range(round(seconds / step)):
            self.now += step
            while (lease := self.f.lease(self.now)) is not None:
                assert lease.visits > 0
                urls.append(lease.url)
                self.end(lease, **brought)
        return urls

    def counts(self, kind: str) -> dict[str, int]:
        return dict(self.f.counts().tally.get(kind, {}))


Open = Callable[[str, Terms], Frontier]


def sqlite(path: Path, spec: str, terms: Terms) -> Frontier:
    return Frontier(path / "frontier.db", strategy(spec), {"language": "th"}, terms)


@pytest.fixture
def store(tmp_path: Path) -> Open:
    return partial(sqlite, tmp_path)


@pytest.fixture
def begin(store: Open) -> Iterator[Callable[..., Crawl]]:
    with ExitStack() as stack:

        def opened(terms: Terms) -> Frontier:
            stack.pop_all().close()
            return stack.enter_context(closing(store("soft_focused", terms)))

        yield lambda budget=1.0: Crawl(opened, budget)


def test_a_page_is_not_visited_again_at_once(begin: Callable[..., Crawl]) -> None:
    crawl = begin(24.0)
    crawl.begin("http://a/1")
    assert crawl.f.lease(crawl.now) is None
    assert crawl.f.lease(crawl.now + DAY / 25) is None
    assert crawl.f.lease(crawl.now + DAY / 23) is not None


def test_nothing_is_visited_again_without_a_budget(begin: Callable[..., Crawl]) -> None:
    crawl = begin(0.0)
    crawl.begin("http://a/1")
    crawl.now += 500 * DAY
    assert crawl.f.lease(crawl.now) is None
    assert (crawl.f.revisited, crawl.f.unfinished, crawl.f.next_ready()) == (0, 0, None)


def test_relevant_pages_and_listings_are_held_and_nothing_else(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin()
    crawl.f.offer([offer("http://a/"), offer("http://b/"), offer("http://c/")])
    leases = [crawl.lease() for _ in range(3)]
    crawl.end(leases[0], offer("http://a/sitemap.xml", LISTING))
    crawl.end(leases[1], relevant=False)
    crawl.end(leases[2], outcome="status 404", relevant=None)
    assert crawl.f.revisited == 1
    lease = crawl.f.lease_requisite(crawl.now)
    assert lease is not None
    crawl.end(lease, outcome="listing", relevant=None, simhash=None)
    assert (crawl.f.revisited, crawl.f.pending, crawl.f.unfinished) == (2, 0, 0)


@pytest.mark.parametrize("budget", [0.05, 1.0])
def test_the_budget_is_spent_and_no_more(begin: Callable[..., Crawl], budget: float) -> None:
    crawl = begin(budget)
    crawl.begin(*(f"http://s{i}/page" for i in range(20)))
    made = crawl.visits(40 * DAY, DAY / 48)
    assert len(made) == pytest.approx(20 * 40 * budget, abs=2)
    assert set(made) == {f"http://s{i}/page" for i in range(20)}
    assert crawl.f.counts().tally["finished"] == {"html": 20}
    assert crawl.counts("visited again") == {"unchanged": len(made)}


def test_a_page_that_changes_is_visited_more_often(begin: Callable[..., Crawl]) -> None:
    crawl = begin(0.2)
    crawl.begin(*(f"http://s{i}/page" for i in range(10)))
    made, changes = [], 0
    for _ in range(200):
        crawl.now += DAY / 2
        lease = crawl.f.lease(crawl.now)
        if lease is not None:
            made.append(lease.url)
            changes += 1
            differs = lease.url == "http://s3/page"
            crawl.end(lease, simhash=(changes * 0x9E3779B97F4A7C15) % 2**64 if differs else 0)
    times = {url: made.count(url) for url in made}
    assert times.pop("http://s3/page") > 2 * max(times.values())
    assert min(times.values()) > 0


def test_neither_a_pause_nor_a_clock_that_jumps_lets_many_go(begin: Callable[..., Crawl]) -> None:
    crawl = begin(1.0)
    crawl.begin(*(f"http://s{i}/page" for i in range(48)))
    for jump in (1_000 * DAY, -2_000 * DAY, 0.0):
        crawl.jumped = jump
        crawl.now += 100 * DAY
        assert len(crawl.visits(1.0, 1.0)) <= 3  # one, and an hour's of 48 a day
    # Those that were visited in days to come aren't forgotten until then.
    assert len(set(crawl.visits(8 * DAY, DAY / 48))) == 48
    assert crawl.counts("visited again")["clock went back"] > 0


def test_one_request_at_a_time_a_server_and_its_rest(begin: Callable[..., Crawl]) -> None:
    crawl = begin(24.0)
    crawl.begin("http://a/1", "http://a/2", "http://b/1")
    crawl.now += DAY
    first, second = crawl.lease(), crawl.lease()
    assert {first.server, second.server} == {"a", "b"}
    assert crawl.f.lease(crawl.now) is None
    assert (crawl.f.pending, crawl.f.counts().leased) == (0, 2)
    of_a, of_b = (first, second) if first.server == "a" else (second, first)
    crawl.end(of_a, rest=5.0)
    assert crawl.f.lease(crawl.now) is None
    assert crawl.f.give_back(ended(of_b))
    assert crawl.lease().url == "http://b/1"


def test_a_slow_server_with_many_pages_holds_up_no_other(begin: Callable[..., Crawl]) -> None:
    crawl = begin(24.0)
    crawl.begin(*(f"http://slow/{i}" for i in range(500)), "http://other/1")
    crawl.now += DAY
    assert crawl.lease().server == "slow"
    urls = [lease.url for _ in range(4) if (lease := crawl.f.lease(crawl.now)) is not None]
    assert urls == ["http://other/1"]


def test_new_pages_that_come_later_are_finds_of_their_referrer(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin(1.0)
    crawl.f.offer([offer("http://front/")])
    front = crawl.lease()
    crawl.end(front, offer("http://a/old", RELEVANT))
    crawl.end(crawl.lease())
    page = crawl.page_of(front.id)
    assert page is not None
    assert page.new == 0
    crawl.now += 2 * DAY
    again = crawl.lease()
    while again.url != "http://front/":
        crawl.end(again)
        crawl.now += DAY
        again = crawl.lease()
    crawl.end(again, offer("http://a/old", RELEVANT), offer("http://a/new", RELEVANT))
    new = crawl.lease()
    assert (new.url, new.visits) == ("http://a/new", 0)
    crawl.end(new)
    page = crawl.page_of(front.id)
    assert page is not None
    assert (page.new, page.visits) == (1, 2)


def test_a_page_that_is_gone_twice_a_day_apart_is_held_no_more(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin(24.0)
    crawl.begin("http://a/1")
    crawl.now += DAY
    crawl.end(crawl.lease(), outcome="status 404", relevant=None)
    assert crawl.visits(0.9 * DAY, 600) == []
    assert crawl.f.revisited == 1
    crawl.now += 0.2 * DAY
    crawl.end(crawl.lease(), outcome="status 410", relevant=None)
    assert crawl.f.revisited == 0
    assert crawl.counts("no longer visited") == {"gone": 1}
    assert crawl.counts("visited again") == {"not there": 2}


def test_a_site_that_answers_nothing_is_visited_ever_more_seldom(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin(24.0)
    crawl.begin("http://a/1")
    times = []
    for _ in range(2_000):
        crawl.now += DAY / 2
        lease = crawl.f.lease(crawl.now)
        if lease is not None:
            times.append(crawl.now / DAY)
            assert crawl.f.postpone(ended(lease, "timeout"), crawl.now)
    rests = [after - before for before, after in pairwise(times)]
    assert rests[:4] == [2, 4, 8, 16]
    assert max(rests) <= 366
    assert len(times) > 8
    crawl.now += 400 * DAY
    crawl.end(crawl.lease())  # it is there again, and as often as others
    assert len(crawl.visits(DAY, DAY / 48)) > 10


def test_a_page_that_was_missed_is_looked_for_though_the_clock_went_back(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin(24.0)
    crawl.begin("http://a/1")
    crawl.now += DAY
    crawl.jumped = 2_000 * DAY
    crawl.end(crawl.lease(), outcome="timeout", relevant=None)
    crawl.jumped = 0.0
    assert crawl.visits(2 * DAY, DAY / 24)


@pytest.mark.parametrize(("brought", "reason"), [
    ({"relevant": False}, "irrelevant"),
    ({"outcome": "noindex", "relevant": None}, "not kept"),
])  # fmt: skip
def test_a_page_that_is_no_longer_wanted_is_held_no_more(
    begin: Callable[..., Crawl], brought: dict[str, Any], reason: str
) -> None:
    crawl = begin()
    crawl.begin("http://a/1")
    crawl.now += DAY
    crawl.end(crawl.lease(), **brought)
    assert crawl.f.revisited == 0
    assert crawl.counts("no longer visited") == {reason: 1}


def test_a_visit_counts_neither_for_its_server_nor_for_its_cell(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin()
    crawl.begin("http://a/1")
    before = crawl.f.pages_of("a")
    crawl.now += DAY
    crawl.end(crawl.lease())
    assert crawl.f.pages_of("a") == before
    assert crawl.f.counts().tally["finished"] == {"html": 1}


def test_a_visit_is_of_the_tier_that_its_page_would_wait_in(begin: Callable[..., Crawl]) -> None:
    crawl = begin(24.0)
    crawl.f.offer([offer("http://a/")])
    sitemap = offer("http://a/sitemap.xml", LISTING)
    crawl.end(crawl.lease(), offer("http://b/1", OTHER), sitemap)
    first = crawl.lease()
    crawl.end(first)
    lease = crawl.f.lease_requisite(crawl.now)
    assert lease is not None
    crawl.end(lease, outcome="listing", relevant=None, simhash=None)
    tiers = {}
    for _ in range(48):
        crawl.now += DAY / 24
        again = crawl.lease()
        tiers[again.url] = again.tier
        crawl.end(again)
    assert tiers == {"http://a/": 0, "http://b/1": first.tier, sitemap.url: None}
    assert first.tier == 1


def test_what_is_held_outlasts_a_restart(begin: Callable[..., Crawl]) -> None:
    crawl = begin()
    crawl.begin("http://a/1")
    crawl.now += DAY
    crawl.end(crawl.lease(), simhash=2**64 - 1)
    crawl.now += DAY
    crawl.lease()  # and it is killed
    crawl.start()
    assert crawl.f.lease(crawl.now) is None
    crawl.now += DAY
    again = crawl.lease()
    assert (again.url, again.visits, again.simhash) == ("http://a/1", 2, 2**64 - 1)
    crawl.start(0.0)
    assert crawl.f.lease(crawl.now + DAY) is None
    crawl.start(1.0)
    assert crawl.f.revisited == 1


def test_a_page_whose_records_were_lost_is_a_new_one(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin(24.0)
    crawl.begin("http://a/1", "http://b/1")
    crawl.now += DAY
    crawl.end(lease := crawl.lease())
    crawl.start(0.0)  # as `lswc check` opens it
    assert crawl.f.reopen([lease.url], {}) == 1
    crawl.start(24.0)
    assert (crawl.f.revisited, crawl.f.pending) == (1, 1)
    again = crawl.lease()
    assert (again.url, again.visits) == (lease.url, 0)
    crawl.end(again)
    assert (crawl.f.revisited, crawl.f.pending) == (2, 0)


def record(number: int, url: str, visit: int = 1, **claims: object) -> dict[str, Any]:
    about = {"relevant": True, "guessed": False, "simhash": f"{number:016x}", "visit": visit}
    time = "1970-01-11T00:00:00.000+00:00"
    return {"id": number, "url": url, "time": time, **about, **claims}


def test_what_was_recorded_without_visits_again_is_held_once_there_are(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin(0.0)
    urls = [f"http://s{number}/" for number in range(1, 5)]
    crawl.begin(*urls)
    records = [record(number, url) for number, url in enumerate(urls, 1)]
    records[3]["relevant"] = False
    records += [record(2, urls[1], 2), record(9, "http://s9/")]  # of another frontier
    crawl.f.visit_again(records)
    assert crawl.f.revisited == 0
    crawl.start(1.0)
    crawl.f.visit_again(records)
    assert crawl.f.revisited == 3
    page = crawl.page_of(2)
    assert page is not None
    assert (page.visits, page.simhash, page.visited) == (2, 2, 10.0)
    assert crawl.f.lease(crawl.now) is None  # a budget has to come about first
    assert len(crawl.visits(DAY, DAY / 48, simhash=1)) == 3

    def none() -> Iterator[dict[str, Any]]:
        raise AssertionError("all are visited again")
        yield

    crawl.start(1.0)
    crawl.f.visit_again(none())
    visits = [page.visits for number in (1, 2, 3) if (page := crawl.page_of(number))]
    crawl.start(0.0)
    crawl.start(1.0)
    crawl.f.visit_again([*records, record(1, urls[0], 9, relevant=False)])
    left = [page.visits if page else 0 for page in map(crawl.page_of, (1, 2, 3, 4))]
    assert left == [0, *visits[1:], 0]


@pytest.mark.parametrize(("least", "waits"), [(0.0, False), (0.999, True)])
def test_what_is_worth_too_little_waits_while_pages_are_held(
    store: Open, least: float, waits: bool
) -> None:
    with closing(store("adaptive", Terms(revisit=1.0, least_worth=least))) as frontier:
        frontier.offer([offer("http://a/"), offer("http://b/")])
        for relevant in (False, True):
            lease = frontier.lease(0.0)
            assert lease is not None  # nothing was visited
            assert frontier.commit(
                ended(lease, relevant=relevant, offers=[offer(f"{lease.url}1", OTHER)])
            )
        assert frontier.revisited == 1
        assert (frontier.lease(0.0) is None) == waits
        assert frontier.unfinished == 2


def test_an_idle_crawl_says_when_to_look_again(begin: Callable[..., Crawl]) -> None:
    crawl = begin(1.0)
    crawl.begin("http://a/1")
    crawl.now += DAY
    crawl.end(crawl.lease())
    assert crawl.f.lease(crawl.now) is None
    ready = crawl.f.next_ready()
    assert ready == pytest.approx(crawl.now + DAY)


@pytest.mark.parametrize(("outcome", "what"), [
    ("redirect", Became.NOT_THERE), ("status 404", Became.NOT_THERE), ("timeout", Became.NOT_HAD),
    ("status 503", Became.NOT_HAD), ("robots.txt", Became.NOT_HAD), ("noarchive", Became.NOT_KEPT),
])  # fmt: skip
def test_what_a_visit_without_a_page_says(
    begin: Callable[..., Crawl], outcome: str, what: Became
) -> None:
    crawl = begin()
    crawl.f.offer([offer("http://a/1")])
    assert became(ended(crawl.lease(), outcome)) == what


SAYS: dict[str, Any] = {"outcome": "listing", "relevant": None, "simhash": None}


def with_sitemap(crawl: Crawl, urls: list[str]) -> Lease:
    """Visit pages of a server and its sitemap, which has claims nothing yet; return its lease."""
    crawl.f.offer([offer(url) for url in urls])
    crawl.end(crawl.lease(), offer("http://a/sitemap.xml", LISTING))
    for _ in urls[1:]:
        crawl.end(crawl.lease())
    sitemap = crawl.f.lease_requisite(crawl.now)
    assert sitemap is not None
    crawl.end(sitemap, **SAYS)
    return sitemap


def changes_told(crawl: Crawl, urls: list[str], days: int, *, is_true: bool) -> list[float]:
    """Let a page a day change, in turn, which the sitemap tells; or it tells that all did.

    Returns the days that each change waited until it was seen.
    """
    changed = dict.fromkeys(urls, crawl.now)
    seen = dict(changed)
    waits = []
    for step in range(days * 24):
        crawl.now += DAY / 24
        if step % 24 == 0:
            changed[urls[step // 24 % len(urls)]] = crawl.now
        while (lease := crawl.f.lease(crawl.now)) is not None:
            if lease.is_listing:
                claims = changed if is_true else dict.fromkeys(urls, crawl.now)
                crawl.end(lease, dates=claims, **SAYS)
                continue
            at = changed[lease.url]
            if at > seen[lease.url]:
                waits.append((crawl.now - at) / DAY)
            seen[lease.url] = crawl.now
            crawl.end(lease, simhash=round(at) * 0x9E3779B97F4A7C15 % 2**64)
    return waits


def test_a_server_is_believed_once_it_was_right(begin: Callable[..., Crawl]) -> None:
    """Every other page changes each time, and the sitemap says so."""
    crawl, visits = begin(24.0), 0
    urls = [f"http://a/{number}" for number in range(4)]
    with_sitemap(crawl, urls)
    while "changed" not in crawl.counts("claims of listings"):
        crawl.now += DAY / 24
        lease = crawl.f.lease(crawl.now)
        visits += 1
        assert visits < 1_000
        if lease is None:
            continue
        if lease.is_listing:
            dates = {url: crawl.now if url in urls[::2] else 0.0 for url in urls}
            crawl.end(lease, dates=dates, **SAYS)
        else:
            changed = lease.url in urls[::2]
            crawl.end(lease, simhash=visits * 0x9E3779B97F4A7C15 % 2**64 if changed else 0)
    claims = crawl.counts("claims of listings")
    assert "wrong" not in claims
    assert claims["right"] >= 8
    heard = [page.heard for number in range(1, 7) if (page := crawl.page_of(number))]
    assert max(heard) == crawl.now / DAY


def test_what_a_believed_sitemap_says_to_have_changed_is_due_at_once(
    begin: Callable[..., Crawl], tmp_path: Path
) -> None:
    """One that says of all pages that they changed now isn't believed: as if it claims none."""
    urls, waited = [f"http://a/{number}" for number in range(20)], {}
    for is_true in (True, False):
        crawl = begin(0.2)
        with_sitemap(crawl, urls)
        waits = changes_told(crawl, urls, 120, is_true=is_true)[60:]
        waited[is_true] = sum(waits) / len(waits)
        assert sum(crawl.counts("visited again").values()) <= 120 * 0.2 * 21  # the budget bounds it
        claims = crawl.counts("claims of listings")
        if is_true:
            assert claims["right"] > 4 * claims["wrong"]
            assert claims["changed"] > claims["changed, not believed"]
        else:
            assert claims["wrong"] > 2 * claims["right"]
            assert "changed" not in claims
        crawl.f.close()
        (tmp_path / "frontier.db").unlink()
    assert waited[True] < 0.8 * waited[False]


def test_a_listing_says_nothing_of_other_servers_and_of_pages_that_are_not_held(
    begin: Callable[..., Crawl],
) -> None:
    crawl = begin(24.0)
    with_sitemap(crawl, ["http://a/1", "http://b/1"])
    crawl.now += DAY
    while not (lease := crawl.lease()).is_listing:
        crawl.end(lease)
        crawl.now += DAY / 24
    dates = dict.fromkeys(("http://a/1", "http://b/1", "http://a/2"), crawl.now + DAY)
    crawl.end(lease, dates=dates, **SAYS)
    pages = [page for number in (1, 2) if (page := crawl.page_of(number))]
    assert [page.claim for page in pages] == [Claim.CHANGED, Claim.NONE]
    assert crawl.counts("claims of listings") == {"changed, not believed": 1}


@pytest.mark.parametrize(("claims", "are_believed"), [
    (Claims(), False), (Claims(9, 9), False), (Claims(0, 0, 9, 9), False),
    (Claims(3, 3, 99, 99), False), (Claims(4, 4, 4, 4), True), (Claims(99, 60, 99, 99), True),
    (Claims(99, 55, 99, 99), False),
])  # fmt: skip
def test_a_server_is_believed_once_most_of_what_it_says_is_right(
    claims: Claims, are_believed: bool
) -> None:
    assert claims.are_believed == are_believed
