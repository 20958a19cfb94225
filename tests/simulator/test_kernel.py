"""The kernel beside the plain reference, and the reference beside the live frontier."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings

from lswc.frontier.sqlite import MEMORY, SqliteFrontier
from lswc.simulator.simulation import Simulation
from lswc.strategy import SEED, PageLanguage, Strategy, strategy
from lswc.trace import graph
from lswc.trace.format import Fate, Trace
from lswc.visit.lease import Offer
from tests.simulator import reference
from tests.trace.webs import STRATEGIES, webs
from tests.visits import ended

if TYPE_CHECKING:
    from numpy.typing import NDArray

EVERY = [strategy(name) for name in STRATEGIES]


def oracle(trace: Trace, s: Strategy) -> NDArray[np.bool_]:
    return graph.oracle(trace) if "oracle" in s.facts else np.zeros(trace.urls, np.bool_)


def simulated(trace: Trace, s: Strategy, slots: int | None = None) -> list[int]:
    visits: list[int] = Simulation(trace, s, keep_visits=True, slots=slots).run().visits.tolist()
    return visits


def referred(trace: Trace, s: Strategy) -> list[int]:
    return list(reference.Crawl(trace, s, oracle(trace, s)).visits)


def live(trace: Trace, s: Strategy) -> list[int]:
    """Drive the live frontier with one page at a time, and leave out what was never downloaded."""
    unit, known, visits = reference.units(trace, s), oracle(trace, s), []

    def offer(url: int, code: int, inherited: PageLanguage) -> Offer:
        return Offer(f"http://{url}", str(trace.server[url]), str(unit[url]), code, inherited, 0)

    with closing(SqliteFrontier(MEMORY, s, {})) as frontier:
        frontier.offer([offer(u, SEED, PageLanguage.TARGET) for u in trace.seeds.tolist()])
        while lease := frontier.lease(0):
            page = int(lease.url.removeprefix("http://"))
            visits.append(page)
            visit = ended(lease)
            if trace.fate[page] == Fate.REDIRECT:
                targets = reference.links(trace, page)
                visit.offers = [offer(u, lease.code, lease.inherited) for u in targets]
            elif trace.fate[page] == Fate.PAGE:
                language = PageLanguage(trace.language[page])
                taken = reference.effective(s, language, lease.inherited)
                visit.relevant = taken == PageLanguage.TARGET
                asked = {str(unit[u]) for u in [page, *reference.links(trace, page)]}
                statuses = frontier.statuses(asked, lease, visit.relevant)
                of = {int(name): status for name, status in statuses.items()}
                found = reference.offers(trace, page, lease.code, taken, unit, of, known)
                visit.offers = [offer(u, code, language) for u, code in found]
            frontier.commit(visit)
    return [url for url in visits if trace.fate[url] != Fate.NEVER]


@settings(max_examples=60, deadline=None)
@given(webs())
def test_the_kernel_visits_what_the_reference_visits(trace: Trace) -> None:
    for s in EVERY:
        assert simulated(trace, s) == referred(trace, s), s.name


@settings(max_examples=12, deadline=None)
@given(webs())
def test_the_reference_visits_what_the_live_frontier_visits(trace: Trace) -> None:
    for s in EVERY:
        assert referred(trace, s) == live(trace, s), s.name


@settings(max_examples=20, deadline=None)
@given(webs())
def test_sequence_numbers_may_run_out(trace: Trace) -> None:
    tried = int(np.count_nonzero(trace.fate != Fate.NEVER))
    for s in EVERY:
        assert simulated(trace, s, slots=tried) == simulated(trace, s), s.name
