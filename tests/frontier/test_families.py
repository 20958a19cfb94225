"""Who vouches for a site, what families share, and what is told of them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.rules.contract import Caps, Share, Terms
from lswc.frontier.rules.report import Family
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.outcomes import Outcome
from lswc.strategy import SEED, PageLanguage, Support, strategy
from lswc.strategy.families import URLS
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    Open = Callable[..., AbstractContextManager[Frontier]]

QUARTER = Terms(unproven_share=0.25, small_family=0)


@pytest.fixture(scope="module")
def store() -> Open:
    return lambda terms, name="bfs": closing(Frontier(MEMORY, strategy(name), {}, terms))


def offers(*urls: str, code: int = 1) -> list[Offer]:
    servers = [url.split("/")[0] for url in urls]
    return [
        Offer(f"http://{url}", server, server, code, PageLanguage.TARGET, 1)
        for url, server in zip(urls, servers, strict=True)
    ]


def seeds(frontier: Frontier, *urls: str) -> None:
    frontier.offer(offers(*urls, code=SEED))


def visit(frontier: Frontier, *links: str, rest: float = 0.0, now: float = 0.0) -> str:
    """Fetch the next URL, which has these links; return its server."""
    lease = frontier.lease(now)
    assert lease is not None
    done = ended(lease, "html", relevant=True, offers=offers(*links))
    done.rest = rest
    frontier.commit(done)
    return lease.server


def grown(frontier: Frontier) -> None:
    """Let a seed's site prove a.com and b.com, and a.com introduce c.com, which introduces more."""
    seeds(frontier, "seed.com/")
    visit(frontier, "a.com/", "b.com/")
    assert visit(frontier, "c.com/") == "a.com"
    assert visit(frontier) == "b.com"
    assert visit(frontier, "d.com/", "e.com/", "a.com/2") == "c.com"


def family_of(frontier: Frontier, site: str) -> str:
    return "".join(frontier.family_of(site)[:1])


def test_a_family_is_what_a_proven_site_introduced_be_it_by_others(store: Open) -> None:
    with store(QUARTER) as frontier:
        grown(frontier)
        expected = {"seed.com": "", "a.com": "", "b.com": "", "never.com": ""}
        expected |= dict.fromkeys(["c.com", "d.com", "e.com"], "a.com")
        assert {site: family_of(frontier, site) for site in expected} == expected
        assert frontier.families(5) == [Family("a.com", 3, 1, "c.com", 3)]
        assert frontier.family_of("www.d.com") == frontier.family_of("c.com") == ("a.com", "c.com")


def test_a_second_proven_site_proves_and_an_unproven_one_does_not(store: Open) -> None:
    with store(QUARTER) as frontier:
        grown(frontier)
        assert visit(frontier) == "a.com"
        assert visit(frontier, "e.com/2", "c.com/2") == "d.com"  # unproven: it vouches for none
        assert family_of(frontier, "e.com") == family_of(frontier, "c.com") == "a.com"
        visit(frontier, "b.com/2")
        server = ""
        while server != "b.com":
            server = visit(frontier, "c.com/3", "e.com/3")
        assert family_of(frontier, "c.com") == ""  # by a.com and b.com
        assert family_of(frontier, "d.com") == "a.com"


def test_a_site_of_a_seed_proves_alone(store: Open) -> None:
    with store(QUARTER) as frontier:
        grown(frontier)  # nobody who counts vouches for d.com and e.com
        seeds(frontier, "later.com/")
        while (lease := frontier.lease(0)) and lease.server != "later.com":
            frontier.commit(ended(lease, "html"))
        assert lease is not None
        frontier.commit(ended(lease, "html", relevant=True, offers=offers("d.com/2")))
        assert family_of(frontier, "d.com") == ""
        assert family_of(frontier, "e.com") == "a.com"


def test_the_support_of_a_site_is_counted_and_a_strategy_is_asked_again(store: Open) -> None:
    with store(Terms(), "tests.strategy.own_rules:supported_first") as frontier:
        seeds(frontier, "seed.com/", *(f"s{n}.com/" for n in range(6)))
        assert visit(frontier, "a.com/", "b.com/", "b.com/2") == "seed.com"
        for n in range(6):
            links = ["b.com/3"] if n < 2 else []
            visit(frontier, *links, "c.com/")
        with frontier.reading() as reader:
            found = {name: reader.support(f"{name}.com") for name in ("a", "b", "c", "seed", "d")}
        assert found == {
            "a": Support.ONE, "b": Support.FEW, "c": Support.MANY,
            "seed": Support.MANY, "d": Support.NONE,
        }  # fmt: skip
        assert {cell for cell, number in frontier.counts().pending.items() if number} == {0, 1, 3}
        assert served(frontier, 3) == ["c.com", "b.com", "b.com"]


def test_what_an_unproven_site_introduces_has_its_family_as_one_supporter(store: Open) -> None:
    with store(QUARTER) as frontier:
        grown(frontier)
        with frontier.reading() as reader:
            found = [reader.support(f"{name}.com") for name in ("a", "c", "d", "never")]
        assert found == [Support.ONE, Support.ONE, Support.ONE, Support.NONE]


def test_a_link_is_discarded_until_a_second_site_has_it(store: Open) -> None:
    with store(Terms(), "tests.strategy.own_rules:only_supported") as frontier:
        seeds(frontier, "seed.com/", "other.com/")
        visit(frontier, "a.com/", "b.com/")
        visit(frontier, "a.com/", "b.com/")
        assert frontier.tallies()["discarded"] == {Outcome.STRATEGY: 2}
        assert visit(frontier, "c.com/") == "a.com"
        assert visit(frontier, "c.com/") == "b.com"
        assert visit(frontier, "d.com/", "d.com/2") == "c.com"
        assert frontier.tallies()["discarded"] == {Outcome.STRATEGY: 5}
        assert frontier.pending == 0


def test_seeds_are_proven_whoever_met_them_before(store: Open) -> None:
    with store(QUARTER) as frontier:
        grown(frontier)
        seeds(frontier, "e.com/seed")
        assert family_of(frontier, "e.com") == ""
        assert frontier.families(5) == [Family("a.com", 2, 1, "c.com", 2)]


def test_two_links_of_one_site_are_one(store: Open) -> None:
    with store(QUARTER) as frontier:
        grown(frontier)
        assert visit(frontier, "d.com/2", "c.com/4") == "a.com"
        assert family_of(frontier, "c.com") == "a.com"


def served(frontier: Frontier, number: int) -> list[str]:
    """Return the servers of so many requests, one after the other."""
    return [visit(frontier) for _ in range(number)]


def with_a_farm(frontier: Frontier, farms: int = 1) -> None:
    """Let farms introduce twenty sites each before a hundred pages of a seed's site are found."""
    seeds(frontier, "seed.com/")
    visit(frontier, *(f"farm{n}.com/" for n in range(farms)))
    for n in range(farms):
        visit(frontier, *(f"of{n}-{site}.com/" for site in range(20)))
    seeds(frontier, *(f"seed.com/{page}" for page in range(100)))


def test_a_family_that_is_alone_gets_a_tenth_and_several_a_quarter(store: Open) -> None:
    for farms, expected in ((1, 4), (3, 10)):
        with store(QUARTER) as frontier:
            with_a_farm(frontier, farms)
            unproven = [server for server in served(frontier, 40) if server != "seed.com"]
            assert abs(len(unproven) - expected) <= 2
            turns = {name[:4] for name in unproven}
            assert len(turns) == min(farms, 3)


def test_the_unproven_have_all_once_nobody_else_waits(store: Open) -> None:
    with store(QUARTER) as frontier:
        with_a_farm(frontier)
        assert len(served(frontier, 120)) == 120
        assert frontier.lease(0.0) is None


def test_with_a_share_of_all_the_order_is_the_strategys(store: Open) -> None:
    with store(Terms()) as frontier:
        with_a_farm(frontier)
        assert served(frontier, 20) == [f"of0-{site}.com" for site in range(20)]


def test_while_the_others_rest_a_family_is_as_one_server(store: Open) -> None:
    with store(QUARTER) as bounded:
        with_a_farm(bounded, 2)
        now = 1.0
        while visit(bounded, rest=100.0, now=now) != "seed.com":
            now += 100.0
        leases = [bounded.lease(now) for _ in range(3)]
        assert {lease.server[:4] for lease in leases if lease} == {"of0-", "of1-"}
        assert leases[2] is None
        done = leases[0]
        assert done is not None
        bounded.commit(ended(done, "html", relevant=True))
        again = bounded.lease(now)
        assert again is not None
        assert again.server[:4] == done.server[:4]


def test_no_more_unproven_sites_wait_than_may_and_known_ones_are_taken(store: Open) -> None:
    with store(replace(QUARTER, caps=Caps(sites=30))) as frontier:
        seeds(frontier, "seed.com/")
        visit(frontier, "farm.com/")
        visit(frontier, *(f"of{site}.com/" for site in range(5)), "farm.com/2")
        visit(frontier, "new.com/", "new.com/2", "of4.com/2")
        assert frontier.tallies()["discarded"] == {Outcome.TOO_MANY_UNPROVEN: 2}
        assert "new.com" not in set(frontier.server_names())
        served(frontier, 4)  # some of them end, so others have room
        assert visit(frontier, "new.com/") == "of4.com"
        assert "new.com" in set(frontier.server_names())


def test_a_crawl_goes_on_with_its_families(tmp_path: object) -> None:
    path = f"{tmp_path}/frontier.db"
    with closing(Frontier(path, strategy("bfs"), {}, QUARTER)) as frontier:
        grown(frontier)
    with closing(Frontier(path, strategy("bfs"), {}, QUARTER)) as frontier:
        assert frontier.families(5) == [Family("a.com", 3, 1, "c.com", 3)]
        assert frontier._file.lines.families.sites == {1 + 1: 2}


def test_an_unproven_site_has_a_thousand_urls_that_wait_and_a_proven_one_more(store: Open) -> None:
    with store(replace(QUARTER, caps=Caps(sites=30))) as frontier:
        seeds(frontier, "seed.com/")
        visit(frontier, "a.com/")
        visit(frontier, "c.com/", *(f"a.com/{n}" for n in range(URLS + 5)))
        visit(frontier, *(f"c.com/{n}" for n in range(URLS + 5)))
        assert frontier.tallies()["discarded"] == {Outcome.SITE_QUEUE_FULL: 6}
        assert frontier.pending == URLS + URLS + 4


def test_the_credit_of_the_unproven_as_worked_out_by_hand() -> None:
    share = Share(0.25)
    left = []
    for family in (*[0] * 13, 7, 7):
        share.leased(family, others_wait=True)
        left.append(share.credit)
    assert left == [*(n / 4 for n in range(1, 13)), 3.0, 2.25, 0.0]
    assert not share.may(8), "0.75"
    share.leased(8, others_wait=False)
    assert (share.credit, share.turn) == (0.0, 8), "free of charge"
    for credit in [*(-2.25 * n for n in range(1, 67)), -150.0]:
        share.leased(8, others_wait=True)
        assert share.credit == credit
    for _ in range(609):
        share.leased(0, others_wait=True)
    assert share.credit == 2.25
    assert (share.may(8), share.may(9)) == (True, True)
    share.leased(9, others_wait=True)
    assert (share.credit, share.may(9), share.may(8)) == (1.5, False, True)
