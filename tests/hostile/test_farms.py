"""A web that wants to be crawled gets its share, and no more; an honest one loses nothing by it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.outcomes import Outcome
from lswc.strategy import strategy
from tests.hostile.farms import TRAP, Crawl, blogs, expired, farm, honest, terms, trap

if TYPE_CHECKING:
    from tests.hostile.farms import Web

PAGES = 16
"""Pages of an honest host: 60 of them have 960."""

EXPIRED = "http://expired-0.com/"
WEBS: dict[str, Web] = {
    "trap": {"honest": honest(PAGES, TRAP), "trap": trap},
    "trap linked by 20 hosts": {"honest": honest(PAGES, TRAP, of=20), "trap": trap},
    "farm": {"honest": honest(PAGES, "http://farm-0.com/"), "farm": farm(200)},
    "expired": {"honest": honest(PAGES, EXPIRED), "expired": expired, "trap": trap},
}
LAST = 850
"""Honest pages until which the shares are measured: then few hosts have any left."""


def crawl(web: Web, delay: float, pages: int = 10_000, until: float = 1e9, **more: float) -> Crawl:
    made = terms(**more)  # type: ignore[arg-type]
    with closing(Frontier(MEMORY, strategy("adaptive"), {}, made)) as frontier:
        return Crawl(frontier, web, delay=delay).run(pages, until)


@pytest.mark.parametrize(
    ("name", "delay"),
    [
        ("trap", 1.0),
        *(pytest.param(name, 0.0, marks=pytest.mark.slow) for name in WEBS),
        *(pytest.param(name, 1.0, marks=pytest.mark.slow) for name in [*WEBS][1:]),
    ],
)
def test_a_farm_gets_its_share_and_no_more(name: str, delay: float) -> None:
    alone = crawl({"honest": honest(PAGES)}, delay)
    beside = crawl(WEBS[name], delay, until=alone.now + 1)
    time = alone.time_of("honest", LAST)
    assert beside.pages("honest", time) >= 0.85 * LAST
    assert beside.share("honest", time) <= 0.15


def test_without_a_share_the_trap_takes_all() -> None:
    taken = crawl(WEBS["trap"], 1.0, pages=900, share=1.0)
    assert taken.share("honest") > 0.5


def test_no_more_unproven_sites_wait_than_may() -> None:
    web = WEBS["trap"]
    with closing(Frontier(MEMORY, strategy("adaptive"), {}, terms(sites=200))) as made:
        Crawl(made, web).run(900)
        assert made.servers < 150
        assert made.tallies()["discarded"][Outcome.TOO_MANY_UNPROVEN] > 20


def test_honest_blogs_of_one_host_are_no_farm() -> None:
    """Each is a site of its own, and most are linked by two others that are proven."""
    number = 200
    web: Web = {"honest": honest(PAGES, blogs=number), "blog": blogs(number)}
    with closing(Frontier(MEMORY, strategy("adaptive"), {}, terms())) as frontier:
        made = Crawl(frontier, web).run(10_000)
        names = [f"blog-{n}.blogspot.com" for n in range(number)]
        assert sum(frontier.family_of(name) == () for name in names) >= 0.95 * number
    without = crawl(web, 1.0, share=1.0)
    assert made.hosts == without.hosts
    half = made.time_of("honest", made.pages("honest") // 2)
    assert made.pages("blog", half) >= 0.8 * made.pages("blog")
