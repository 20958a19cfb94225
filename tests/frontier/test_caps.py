"""No server and no domain floods a queue: the worst that is too much is let go, and counted."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from functools import cache
from itertools import count, islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.frontier.rules.contract import Caps, Terms
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.outcomes import Outcome
from lswc.strategy import REQUISITE, SEED, PageLanguage, Unit, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from lswc.frontier.rules.visit import Lease

    Open = Callable[[str, Caps], AbstractContextManager[Frontier]]

SPECS = ["bfs", "soft_focused", "directory_conservative:T=9", "lswc:S=3,T=5", "adaptive"]
made = cache(strategy)


@pytest.fixture(scope="module")
def store() -> Open:
    return lambda spec, caps: closing(Frontier(MEMORY, made(spec), {}, Terms(caps=caps)))


@st.composite
def pages(draw: st.DrawFn, servers: list[str]) -> list[list[Offer]]:
    """Draw the links of some pages; no URL is offered twice."""
    numbers, link = count(), st.tuples(st.sampled_from(servers), st.integers(0, SEED))
    return [
        [
            Offer(
                f"http://{server}/{next(numbers)}",
                server,
                f"{server}/",
                code,
                PageLanguage.TARGET,
                1,
            )
            for server, code in links
        ]
        for links in draw(st.lists(st.lists(link, max_size=9), min_size=1, max_size=4))
    ]


def by(spec: str, offers: list[Offer]) -> list[Offer]:
    """Return offers with the unit that a strategy counts by."""
    if made(spec).unit is Unit.DIRECTORY:
        return offers
    return [offer._replace(unit=offer.server) for offer in offers]


def drained(frontier: Frontier) -> list[Lease]:
    """Fetch all that waits; nothing is learned, so the order stays what it is."""
    leases = []
    while (lease := frontier.lease(0.0)) is not None:
        assert frontier.commit(ended(lease))
        leases.append(lease)
    return leases


def run(store: Open, spec: str, caps: Caps, found: list[list[Offer]]) -> tuple[list[Lease], int]:
    """Offer what pages found; return what is fetched then, and how many were let go."""
    with store(spec, caps) as frontier:
        for offers in found:
            frontier.offer(by(spec, offers))
        discarded = frontier.counts().tally.get("discarded", {})
        return drained(frontier), sum(discarded.values())


@given(spec=st.sampled_from(SPECS), found=pages(["a.co.th"]), most=st.integers(1, 12))
@settings(max_examples=15, deadline=None)
def test_the_best_of_a_server_wait(
    store: Open, spec: str, found: list[list[Offer]], most: int
) -> None:
    everything, _ = run(store, spec, Caps(), found)
    kept, gone = run(store, spec, Caps(server=most), found)
    assert [lease.url for lease in kept] == [lease.url for lease in everything[:most]]
    assert gone + len(kept) == sum(map(len, found))


@given(
    spec=st.sampled_from(SPECS),
    found=pages(["a.co.th", "www.a.co.th", "b.a.co.th"]),
    caps=st.builds(Caps, server=st.sampled_from([0, 5]), domain=st.integers(1, 12)),
)
@settings(max_examples=15, deadline=None)
def test_the_best_of_a_domain_wait(
    store: Open, spec: str, found: list[list[Offer]], caps: Caps
) -> None:
    everything, _ = run(store, spec, Caps(server=caps.server), found)
    kept, gone = run(store, spec, caps, found)
    if not caps.server:  # else what one lets go, the other may not count
        assert [lease.cell for lease in kept] == [lease.cell for lease in everything[: caps.domain]]
    assert len(kept) <= caps.domain
    assert gone + len(kept) == sum(map(len, found))


def test_of_a_domains_cell_the_urls_of_the_server_met_last_go_first(store: Open) -> None:
    servers = ["c.a.co.th", "a.a.co.th", "b.a.co.th"]
    found = [
        Offer(f"http://{server}/{number}", server, server, SEED, PageLanguage.TARGET, 1)
        for number in range(2)
        for server in servers
    ]
    kept, gone = run(store, "bfs", Caps(domain=3), [found])
    assert {lease.url for lease in kept} == {
        "http://c.a.co.th/0", "http://c.a.co.th/1", "http://a.a.co.th/0"
    }  # fmt: skip
    assert gone == 3


@given(
    spec=st.sampled_from(SPECS),
    found=pages(["a.co.th", "www.a.co.th", "b.co.th"]),
    caps=st.builds(Caps, server=st.integers(1, 5), domain=st.integers(1, 7)),
    relevant=st.lists(st.booleans(), min_size=1, max_size=5),
    data=st.data(),
)
@settings(max_examples=15, deadline=None)
def test_nothing_is_lost_and_never_too_much_waits(
    store: Open, spec: str, found: list[list[Offer]], caps: Caps, relevant: list[bool],
    data: st.DataObject,
) -> None:  # fmt: skip
    with store(spec, caps) as frontier:
        offered = finished = 0
        for offers in found:
            lease = frontier.lease(0.0)
            offered += len(offers)
            if lease is None:
                frontier.offer(by(spec, offers))
            elif data.draw(st.booleans()):
                frontier.postpone(ended(lease, "timeout"), 0.0)
                frontier.offer(by(spec, offers))
            else:
                told = data.draw(st.sampled_from(relevant))
                frontier.commit(ended(lease, relevant=told, offers=by(spec, offers)))
                finished += 1
            assert frontier.pending - frontier.later <= 2 * caps.domain
        waiting = list(islice(iter(lambda: frontier.lease(0.0), None), 100))
        assert len({lease.server for lease in waiting}) == len(waiting)
        for lease in waiting:
            frontier.give_back(ended(lease))
        postponed = frontier.later
        left = drained(frontier)
        if not postponed:
            assert max(Counter(lease.server for lease in left).values(), default=0) <= caps.server
        finished += len(left)
        discarded = sum(frontier.counts().tally.get("discarded", {}).values())
        assert finished + discarded == offered


def test_a_flood_leaves_other_servers_alone(store: Open) -> None:
    flood = [offer_of("flood.example", number) for number in range(40)]
    others = [offer_of(f"s{number}.example.org", 0) for number in range(3)]
    with store("bfs", Caps(server=10)) as frontier:
        frontier.offer([flood[0], *others])
        for number in range(4):
            lease = frontier.lease(0.0)
            assert lease is not None
            frontier.commit(ended(lease, offers=flood[number * 10 : number * 10 + 10]))
        assert frontier.pending == 10
        assert frontier.counts().tally["discarded"] == {Outcome.SERVER_QUEUE_FULL: 29}
        assert [lease.url for lease in drained(frontier)] == [
            f"http://flood.example/{number}" for number in range(1, 11)
        ]


def test_the_bound_of_a_server_is_not_that_of_a_domain(store: Open) -> None:
    found = [offer_of(f"{s}.co.th", n) for s in ("a.x", "b.x", "a.y") for n in range(9)]
    with store("bfs", Caps(server=3, domain=5)) as frontier:
        frontier.offer(found)
        assert frontier.counts().tally["discarded"] == {
            Outcome.SERVER_QUEUE_FULL: 18, Outcome.SITE_QUEUE_FULL: 1
        }  # fmt: skip
        sites = Counter(lease.server[2:] for lease in drained(frontier))
        assert sites == {"x.co.th": 5, "y.co.th": 3}


def test_what_was_discarded_may_come_again(store: Open) -> None:
    with store("bfs", Caps(server=1)) as frontier:
        frontier.offer([offer_of("a", 0), offer_of("a", 1), offer_of("a", 1)])
        (first,) = drained(frontier)
        frontier.offer([offer_of("a", 0), offer_of("a", 1)])
        (second,) = drained(frontier)
    assert (first.url, second.url) == ("http://a/0", "http://a/1")


@pytest.mark.parametrize("spec", SPECS)
def test_what_pages_need_makes_room_for_pages(store: Open, spec: str) -> None:
    links = by(spec, [offer_of("a.example", number) for number in range(6)])
    needed = by(spec, [offer_of("a.example", number, REQUISITE) for number in range(10, 16)])
    with store(spec, Caps(server=8)) as frontier:
        frontier.offer(needed)
        frontier.offer(links)
        assert frontier.pending == 8
        assert frontier.requisites == 2
        assert frontier.counts().tally["discarded"] == {Outcome.SERVER_QUEUE_FULL: 4}


def offer_of(server: str, number: int, code: int = SEED) -> Offer:
    return Offer(f"http://{server}/{number}", server, server, code, PageLanguage.TARGET, 0)
