"""How fresh the pages are that are visited again, by what is believed of their changes."""

from __future__ import annotations

from contextlib import closing
from math import exp, log
from typing import TYPE_CHECKING

import pytest

from lswc.cli.commands.why import _of_visits
from lswc.frontier.rules.contract import Terms
from lswc.frontier.store import report as sqlite_report
from lswc.frontier.store.frontier import Frontier
from lswc.frontier.store.report import opened
from lswc.strategy import LISTING, strategy
from lswc.strategy.revisits import FIRST_CHANGES, SHAPE
from tests.frontier.test_contract import offer
from tests.frontier.test_revisited import DAY, Crawl, begin, store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lswc.frontier.rules.visit import Lease

__all__ = ["begin", "store"]


def unchanged(shape: float, days: float, since: float) -> float:
    return exp(shape * log(days / (days + since)))


FIRST = SHAPE, SHAPE / FIRST_CHANGES


def test_nothing_is_told_of_a_crawl_that_visits_nothing_again(
    begin: Callable[..., Crawl], tmp_path: Path
) -> None:
    crawl = begin(1.0)
    crawl.begin("http://a/1")
    assert crawl.f.freshness(crawl.now) is not None
    crawl.start(0.0)
    assert crawl.f.freshness(crawl.now) is None
    crawl.f.close()
    with opened(tmp_path / "frontier.db") as reader:
        assert reader.freshness(crawl.now) is None
        assert reader.revisited("http://a/1") is None


def test_pages_grow_stale_by_what_is_believed_of_them(
    begin: Callable[..., Crawl], tmp_path: Path
) -> None:
    crawl = begin(1.0)
    crawl.begin("http://a/1", "http://b/1")
    first = crawl.f.freshness(crawl.now)
    assert first is not None
    assert (first.pages, first.fresh, first.budget) == (2, 1.0, 2.0)
    assert (first.due, first.used) == (0, None)
    assert first.next_due is not None
    assert first.next_due > crawl.now
    later = crawl.f.freshness(crawl.now + 30 * DAY)
    assert later is not None
    assert later.fresh == pytest.approx(unchanged(*FIRST, 30))
    assert later.due == 2
    with opened(tmp_path / "frontier.db") as reader:
        assert reader.freshness(crawl.now + 30 * DAY) == later


def again(crawl: Crawl) -> Lease:
    """Wait for the next visit of a page that is visited again."""
    while (lease := crawl.f.lease(crawl.now)) is None:
        crawl.now += DAY / 24
    assert lease.visits
    return lease


def test_visits_and_what_they_found_are_counted(begin: Callable[..., Crawl]) -> None:
    crawl = begin(1.0)
    crawl.begin("http://a/1", "http://b/1")
    crawl.end(again(crawl), offer("http://c/1"), simhash=0xFF)
    new = crawl.lease()
    assert new.visits == 0
    crawl.end(new)
    crawl.now += DAY
    for _ in range(3):
        crawl.end(again(crawl), simhash=0xFF)
    found = crawl.f.freshness(crawl.now)
    assert found is not None
    tally = crawl.counts("visited again")
    assert (found.changed, found.unchanged) == (tally["changed"], tally["unchanged"])
    assert found.changed + found.unchanged == 4
    assert found.finds == 1
    assert found.used is not None
    assert 0.5 < found.used <= 1.0


def test_a_page_that_is_not_there_is_not_fresh(begin: Callable[..., Crawl]) -> None:
    crawl = begin(24.0)
    crawl.begin("http://a/1")
    crawl.end(again(crawl), outcome="status 404", relevant=None, simhash=None)
    found = crawl.f.freshness(crawl.now)
    assert found is not None
    assert (found.pages, found.fresh, found.gone) == (1, 0.0, 0)
    with crawl.f.reading() as reader:
        page = reader.revisited("http://a/1")
    assert page is not None
    assert page.is_gone
    assert "it wasn't there" in _of_visits(page)


def test_a_listing_has_no_text_to_be_fresh(begin: Callable[..., Crawl]) -> None:
    crawl = begin(1e-9)
    crawl.f.offer([offer("http://a/sitemap.xml", LISTING)])
    lease = crawl.f.lease_requisite(crawl.now)
    assert lease is not None
    crawl.end(lease, outcome="listing", relevant=None, simhash=None)
    listed = crawl.f.freshness(crawl.now)
    assert listed is not None
    assert (listed.pages, listed.fresh) == (1, None)
    crawl.now += 10 * DAY
    crawl.begin("http://a/1")
    found = crawl.f.freshness(crawl.now)
    assert found is not None
    assert (found.pages, found.fresh) == (2, 1.0)


def test_of_many_pages_some_from_all_over_tell(
    begin: Callable[..., Crawl], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first half was had long ago, and the second just now."""
    monkeypatch.setattr(sqlite_report, "SAMPLE", 40)
    crawl = begin(1e-9)
    crawl.begin(*(f"http://a/{n}" for n in range(200)))
    crawl.now += 300 * DAY
    crawl.begin(*(f"http://b/{n}" for n in range(200)))
    found = crawl.f.freshness(crawl.now)
    assert found is not None
    assert found.pages == 400
    assert found.fresh == pytest.approx((1 + unchanged(*FIRST, 300)) / 2, abs=0.05)


def test_what_is_known_of_a_page_is_told_in_seconds_of_any_day(tmp_path: Path) -> None:
    """A day of a web whose time is pressed is shorter."""
    now, day = 1_000_000.0, 10.0
    terms = Terms(revisit=1.0, day=day, clock=lambda: now)
    path = tmp_path / "frontier.db"
    with closing(Frontier(path, strategy("bfs"), {"language": "th"}, terms)) as frontier:
        crawl = Crawl(lambda _: frontier, 1.0)
        crawl.now = now
        crawl.begin("http://a/1")
    with opened(path) as reader:
        page = reader.revisited("http://a/1")
        assert page is not None
        assert reader.revisited("http://b/1") is None
        fresh = reader.freshness(now + 30 * day)
    assert (page.visits, page.misses) == (1, 0)
    assert page.visited == pytest.approx(now)
    assert page.changes == pytest.approx(FIRST_CHANGES)
    assert now < page.due < now + 365 * day
    assert fresh is not None
    assert fresh.fresh == pytest.approx(unchanged(*FIRST, 30))
    assert "1970-01-12 13:46:40" in _of_visits(page)
