"""A crawl in time: the order of the plain reference, and manners that any clock would show."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.errors import ConfigError
from lswc.lab.simulator.hours import TAIL, InHours, tail
from lswc.lab.simulator.timed import HOUR, ROBOTS, Pace, Request, Timed, TimedSimulation
from lswc.lab.trace import graph
from lswc.lab.trace.format import Fate
from lswc.strategy import strategy
from tests.lab.simulator import reference
from tests.lab.trace.webs import STRATEGIES, webs

if TYPE_CHECKING:
    from lswc.lab.trace.format import Trace
    from lswc.strategy import Strategy

CHOSEN = st.sampled_from(STRATEGIES).map(cache(strategy))
PACES = st.builds(
    Pace, st.sampled_from([0.5, 1.0, 7.0]), st.integers(1, 5), st.sampled_from([0.1, 1.0])
)


def asked(timed: Timed) -> list[int]:
    return [one.url for one in timed.requests if one.url != ROBOTS]


@settings(max_examples=60, deadline=None)
@given(webs(), CHOSEN)
def test_one_worker_that_never_waits_goes_in_the_papers_order(trace: Trace, s: Strategy) -> None:
    known = graph.oracle(trace) if "oracle" in s.facts else np.zeros(trace.urls, np.bool_)
    timed = TimedSimulation(trace, s, Pace(0, 1, 1.0), unproven_share=1.0).run()
    assert asked(timed) == list(reference.Crawl(trace, s, known).visits)


@settings(max_examples=60, deadline=None)
@given(webs(), CHOSEN, PACES)
def test_servers_rest_and_workers_are_as_many_as_there_are(
    trace: Trace, s: Strategy, pace: Pace
) -> None:
    timed = TimedSimulation(trace, s, pace).run()
    of_server = defaultdict(list)
    for one in timed.requests:
        under_way = sum(o.begin <= one.begin < o.end for o in timed.requests)
        assert under_way <= pace.workers
        of_server[one.server].append(one)
    for requests in of_server.values():
        assert [one.url for one in requests].index(ROBOTS) == 0
        for before, after in pairwise(requests):
            assert after.begin >= before.end + pace.rest - 1e-9
    assert len(set(asked(timed))) == len(asked(timed))
    assert not any(trace.fate[url] == Fate.NEVER for url in asked(timed))
    assert np.all(np.diff(timed.hours) >= 0)
    assert len(timed.hours) == sum(trace.fate[url] == Fate.PAGE for url in asked(timed))


@settings(max_examples=30, deadline=None)
@given(webs(), PACES)
def test_breadth_first_gets_all_there_is_however_slowly(trace: Trace, pace: Pace) -> None:
    timed = TimedSimulation(trace, strategy("bfs"), pace).run()
    assert set(asked(timed)) == set(asked(TimedSimulation(trace, strategy("bfs"), Pace(0)).run()))
    longest = max(sum(one.server == s for one in timed.requests) for s in trace.server)
    last = max((one.end for one in timed.requests), default=0.0)
    assert last >= longest * pace.answer + max(longest - 1, 0) * pace.rest - 1e-9
    assert last >= len(timed.requests) * pace.answer / pace.workers - 1e-9


def timed_of(hours: list[float], relevant: list[bool], servers: list[int]) -> Timed:
    arrays = np.array(hours), np.array(relevant), np.array(servers, np.int32)
    requests = [Request(url, servers[url], 0.0, end * HOUR) for url, end in enumerate(hours)]
    return Timed("bfs", Pace(1.0, 2, 360.0), requests, *arrays)


def test_hours_to_a_share_and_the_tail() -> None:
    timed = timed_of([0.1, 0.2, 0.3, 2.0], [True, False, True, True], [5, 7, 5, 7])
    found = InHours(timed, 10, 4)
    assert [found.hours_to(share) for share in (0.25, 0.5, 0.75, 1.0)] == [0.1, 0.3, 2.0, None]
    assert [found.pages_to(share) for share in (0.25, 0.5, 0.75, 1.0)] == [1, 3, 4, None]
    assert found.coverage.tolist() == [0.25, 0.25, 0.5, 0.75]
    assert found.harvest_rate[-1] == 0.75
    assert tail(timed) == [(7, 2, 1, 0.2, 2.0), (5, 2, 2, 0.1, 0.3)]
    many = timed_of([1.0] * 50, [True] * 50, list(range(50)))
    assert len(tail(many)) == TAIL


def test_what_the_rest_costs() -> None:
    timed = timed_of([0.1, 0.2, 0.3, 2.0], [True] * 4, [0] * 4)
    # Four answers of 0.1 h by two workers take 0.2 h.
    assert InHours(timed, 4, 4).cost(1.0) == pytest.approx(10)
    assert InHours(timed, 4, 4).cost(0.25) == pytest.approx(2)
    assert InHours(timed, 4, 9).cost(1.0) is None


@pytest.mark.parametrize(("delay", "workers", "answer"), [(-1, 1, 1), (1, 0, 1), (0, 1, 0)])
def test_a_pace_that_is_none(delay: float, workers: int, answer: float) -> None:
    with pytest.raises(ConfigError):
        Pace(delay, workers, answer)
