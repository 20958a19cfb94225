"""The kernel beside the plain reference, and the reference beside the live frontier."""

from __future__ import annotations

from contextlib import closing
from functools import cache
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.frontier.rules.visit import Offer, offer_of_redirect
from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.lab.simulator import kernel
from lswc.lab.simulator.brought import Brought
from lswc.lab.simulator.simulation import Simulation
from lswc.lab.trace import graph
from lswc.lab.trace.format import Fate, Trace
from lswc.outcomes import of_status
from lswc.strategy import (
    SEED,
    Experience,
    LearnedOrder,
    PageLanguage,
    Pages,
    Strategy,
    Unit,
    adaptive,
    better,
    strategy,
)
from lswc.urls import parse
from tests.lab.simulator import reference
from tests.lab.trace.webs import STRATEGIES, webs
from tests.visits import ended

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.frontier.rules.visit import Visit


OFFERED = st.tuples(
    st.tuples(st.sampled_from([-0.5, -0.25, 0.0]), st.integers(0, 3)), st.integers(1, 3)
)
OWN = "tests.strategy.own_rules:"
RULES = [OWN + "supported_first", OWN + "only_supported:T=1"]


@cache
def every() -> list[Strategy]:
    """Return each strategy: made once, by the process that tests them."""
    return [strategy(name) for name in [*STRATEGIES, *RULES]]


def oracle(trace: Trace, s: Strategy) -> NDArray[np.bool_]:
    return graph.oracle(trace) if "oracle" in s.facts else np.zeros(trace.urls, np.bool_)


def simulated(trace: Trace, s: Strategy, slots: int | None = None) -> list[int]:
    visits: list[int] = Simulation(trace, s, keep_visits=True, slots=slots).run().visits.tolist()
    return visits


def referred(trace: Trace, s: Strategy) -> list[int]:
    return list(reference.Crawl(trace, s, oracle(trace, s)).visits)


def live(trace: Trace, s: Strategy, opened: Frontier) -> list[int]:
    """Drive the live frontier with one page at a time, and leave out what was never downloaded."""
    unit, known, visits = reference.units(trace, s), oracle(trace, s), []
    brought = Brought(trace, s)

    def server(url: int) -> str:
        return f"s{trace.server[url]}.site{trace.site[trace.server[url]]}.com"

    def named(url: int) -> str:
        return server(url) if s.unit is Unit.SERVER else str(unit[url])

    def name(url: int, scheme: str) -> str:
        assert trace.folder is not None
        return f"{scheme}://{server(url)}/{trace.folder[url]}/{url}"

    def offer(url: int, code: int, inherited: PageLanguage, depth: int = 0) -> Offer:
        """Return the offer of a URL: of each two links to it, one is to its https twin."""
        scheme = next(schemes)
        return Offer(name(url, scheme), server(url), named(url), code, inherited, depth)

    def redirected(visit: Visit, url: int) -> Offer:
        """Return the offer of a redirect's target, as the crawl makes it."""
        target = parse(name(url, "http"))
        assert target is not None
        return offer_of_redirect(visit, target, named(url), visit.lease.redirects + 1)

    schemes = cycle(("http", "https"))

    with closing(opened) as frontier:
        frontier.offer([offer(u, SEED, PageLanguage.TARGET) for u in trace.seeds.tolist()])
        while lease := frontier.lease(0):
            page = int(lease.url.rpartition("/")[2])
            visits.append(page)
            visit = ended(lease)
            if trace.fate[page] == Fate.REDIRECT:
                targets = reference.links(trace, page)
                visit.offers = [redirected(visit, u) for u in targets]
            elif trace.fate[page] == Fate.PAGE:
                language = PageLanguage(trace.language[page])
                taken = reference.effective(s, language, lease.inherited)
                visit.relevant = taken == PageLanguage.TARGET
                visit.brought = brought.by(page)
                own = frontier.statuses({named(page)}, lease, visit.counted)[named(page)]
                found = reference.offers(trace, page, lease.code, taken, own, known)
                depth = lease.depth + 1
                follows = not s.levels or depth < s.levels
                visit.offers = [offer(u, c, language, depth) for u, c in found if follows]
            elif trace.fate[page] == Fate.FAILED:
                visit.outcome = of_status(404)
            frontier.commit(visit)
    return [url for url in visits if trace.fate[url] != Fate.NEVER]


LESSONS = st.dictionaries(
    st.integers(1, adaptive.CELLS - 1),
    st.tuples(st.integers(1, 500), st.integers(0, 500)),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(LESSONS, st.integers(0, 40_000), st.integers(0, 40_000))
def test_the_kernel_expects_the_same_numbers_bit_for_bit(
    lessons: dict[int, tuple[int, int]], relevant: int, others: int
) -> None:
    cells = {cell: Pages(n, min(n, r)) for cell, (n, r) in lessons.items()}
    crawl = Pages(relevant + others, relevant)
    learned = LearnedOrder(Experience(cells, crawl))
    downloaded, hits = np.zeros((2, adaptive.CELLS), np.int64)
    for cell, pages in cells.items():
        downloaded[cell], hits[cell] = pages
    places = np.zeros(adaptive.PLACES)
    effects = np.zeros(adaptive.PLACES * adaptive.VALUES)
    used = np.array(sorted(cells), np.int32)
    kernel.learn_effects(used, downloaded, hits, *crawl, places, effects)
    for cell in [*cells, 1, 40, adaptive.CELLS - 1]:
        share = kernel.share_of(cell, downloaded[cell], hits[cell], places, effects)
        assert kernel.expected_of(share) == learned.expected(cell)
        assert kernel.worth_of(cell, share, *crawl) == learned.worth(cell)


@given(st.lists(OFFERED, min_size=2, max_size=2))
def test_the_kernel_takes_the_better_offer(offers: list[tuple[tuple[float, int], int]]) -> None:
    (rank, distance), (known, known_distance) = offers
    wins = kernel.better(rank, distance, known, known_distance)
    assert wins == better(rank, distance, known, known_distance)


SOME = st.sets(st.sampled_from(range(len(STRATEGIES) + len(RULES))), min_size=4, max_size=6)
"""Strategies that are compared on one web, by their numbers."""


def of_kernel(trace: Trace) -> None:
    for s in every():
        assert simulated(trace, s) == referred(trace, s), s.name


def of_frontier(trace: Trace, some: set[int]) -> None:
    for s in [every()[number] for number in some]:
        assert referred(trace, s) == live(trace, s, Frontier(MEMORY, s, {})), s.name


@settings(max_examples=100, deadline=None)
@given(webs())
def test_the_kernel_visits_what_the_reference_visits(trace: Trace) -> None:
    of_kernel(trace)


@settings(max_examples=100, deadline=None)
@given(webs(), SOME)
def test_the_reference_visits_what_the_live_frontier_visits(trace: Trace, some: set[int]) -> None:
    of_frontier(trace, some)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None)
@given(webs())
def test_the_kernel_visits_the_same_of_a_thousand_webs(trace: Trace) -> None:
    of_kernel(trace)


@pytest.mark.slow
@settings(max_examples=1_000, deadline=None)
@given(webs(), SOME)
def test_the_live_frontier_visits_the_same_of_a_thousand_webs(trace: Trace, some: set[int]) -> None:
    of_frontier(trace, some)


@settings(max_examples=30, deadline=None)
@given(webs())
def test_the_queue_has_the_size_of_the_references(trace: Trace) -> None:
    for s in every():
        result = Simulation(trace, s).run()
        crawl = reference.Crawl(trace, s, oracle(trace, s))
        after_pages = result.series[:, kernel.PAGES] > 0
        assert result.series[after_pages, kernel.QUEUE].tolist() == crawl.queue_sizes, s.name
        assert result.discarded_urls == crawl.discarded, s.name


@settings(max_examples=20, deadline=None)
@given(webs())
def test_sequence_numbers_may_run_out(trace: Trace) -> None:
    tried = int(np.count_nonzero(trace.fate != Fate.NEVER))
    dropping = [strategy(OWN + "not_undecided:T=1"), strategy(OWN + "not_undecided:T=3"), *every()]
    for s in dropping:
        assert simulated(trace, s, slots=tried) == simulated(trace, s), s.name
        assert simulated(trace, s, slots=tried) == referred(trace, s), s.name
