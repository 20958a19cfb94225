"""A crawl in time: the order of the plain reference, and manners that any clock would show."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.crawl.ends import HarvestStopExtension
from lswc.errors import ConfigError
from lswc.frontier.rules.contract import patience_of
from lswc.frontier.rules.visit import Attempt
from lswc.lab.simulator.hours import TAIL, InHours, tail
from lswc.lab.simulator.timed import HOUR, ROBOTS, Pace, Request, Timed, TimedSimulation
from lswc.lab.trace import graph
from lswc.lab.trace.format import About, Fate, Trace
from lswc.strategy import PageLanguage, strategy
from tests.lab.simulator import reference
from tests.lab.trace.webs import STRATEGIES, webs

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.frontier import Frontier
    from lswc.frontier.rules.contract import Terms
    from lswc.frontier.rules.visit import Lease, Visit
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


DELAYS = st.lists(st.sampled_from([0.0, 0.0, 0.0, 15.0, 90.0]), min_size=8, max_size=8)


def slow(trace: Trace, delays: list[float]) -> Trace:
    """Return a trace whose servers have these Crawl-delays."""
    return replace(trace, crawl_delay=np.array(delays[: len(trace.site)], np.float32))


@settings(max_examples=60, deadline=None)
@given(webs(), DELAYS, PACES)
def test_each_server_rests_for_its_own_crawl_delay(
    trace: Trace, delays: list[float], pace: Pace
) -> None:
    timed = TimedSimulation(slow(trace, delays), strategy("bfs"), pace).run()
    of_server = defaultdict(list)
    for one in timed.requests:
        of_server[one.server].append(one)
    for server, requests in of_server.items():
        for before, after in pairwise(requests):
            assert after.begin >= before.end + max(pace.rest, delays[server]) - 1e-9


def found_at(trace: Trace, timed: Timed) -> dict[int, float]:
    """Return when each URL that was asked for had been found: its first referrer's end."""
    found = dict.fromkeys(trace.seeds.tolist(), 0.0)
    for one in sorted(timed.requests, key=lambda request: request.end):
        if one.url != ROBOTS:
            for url in reference.links(trace, one.url):
                found.setdefault(url, one.end)
    return found


@settings(max_examples=100, deadline=None)
@given(webs(), DELAYS, PACES, st.sampled_from([0.0, 0.1]))
def test_no_crawl_stands_while_something_can_be_fetched(
    trace: Trace, delays: list[float], pace: Pace, haste: float
) -> None:
    """No connection is free for longer than URLs wait, while a server is free that has some."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            "lswc.frontier.rules.contract.FAR", 0.9
        )  # they wait for what is hardly better
        timed = TimedSimulation(slow(trace, delays), strategy("adaptive"), pace, haste=haste).run()
    found, rests = found_at(trace, timed), np.maximum(delays, pace.rest)
    for began, begins in pairwise(sorted(one.begin for one in timed.requests)):
        free_from = began + patience_of(pace.delay) + 1e-6
        if begins <= free_from or sum(o.begin <= began < o.end for o in timed.requests) == (
            pace.workers
        ):
            continue
        until = {one.server: one.end for one in timed.requests if one.begin <= began}
        for one in timed.requests:
            if one.begin >= begins and one.url != ROBOTS and found[one.url] <= began:
                rested = until.get(one.server)
                assert rested is not None
                assert rested + rests[one.server] > began, "its server was free all the time"


class Ended(TimedSimulation):
    """A crawl that ends once little is left to find, by looks that follow each other closely."""

    now = 0.0

    def frontier(self, terms: Terms) -> Any:
        self.watched = Watched(super().frontier(terms), self.trace, self)
        return self.watched


class Watched:
    """A frontier, of which the end is watched as a crawl does it."""

    def __init__(self, frontier: Frontier, trace: Trace, crawl: Ended) -> None:
        self._frontier, self._crawl = frontier, crawl
        self._finish = self.is_over = False
        self._under_way = 0
        self._leases: Any = SimpleNamespace(finish=self._finishes, ends_after="")
        commits: Any = SimpleNamespace(failed=False)
        seeds = [f"http://{s}/{url}" for url, s in seeds_of(trace)]
        leases: Any = self._leases
        self._stop = HarvestStopExtension(
            0.01, strategy("adaptive"), seeds, frontier, commits, leases
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frontier, name)

    def _finishes(self, reason: str, confirms: Callable[[], bool]) -> None:
        self._confirms = confirms
        self._finish = True

    def lease(self, now: float) -> Lease | None:
        self._crawl.now = now
        if self.is_over:
            return None
        if not self._finish:
            self._stop.next_is_asked_for(now)
        if self._finish and not self._under_way:
            self._finish = False
            self.is_over = self._confirms()
        if self._finish or self.is_over:
            return None
        lease = self._frontier.lease(now)
        self._under_way += lease is not None
        return lease

    def commit(self, visit: Visit) -> bool:
        visit.attempts = [Attempt(visit.url, datetime.now(UTC))]
        self._stop.visit_ends(visit)
        self._under_way -= 1
        return self._frontier.commit(visit)


def seeds_of(trace: Trace) -> list[tuple[int, str]]:
    servers = trace.server[trace.seeds].tolist()
    names = [f"s{server}.site{trace.site[server]}.com" for server in servers]
    return list(zip(trace.seeds.tolist(), names, strict=True))


def ends(trace: Trace, pace: Pace) -> tuple[Ended, Timed]:
    """Crawl until little is left to find; each second request is followed by a look."""
    simulation = Ended(trace, strategy("adaptive"), pace)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lswc.crawl.ends.REQUESTS_BETWEEN_LOOKS", 2)
        patched.setattr("lswc.crawl.ends.IN_A_ROW", 4)
        patched.setattr("lswc.crawl.ends.monotonic", lambda: simulation.now)
        patched.setattr("lswc.frontier.rules.harvest.Z", 0.0)
        return simulation, simulation.run()


@pytest.mark.parametrize("examples", [50, pytest.param(1_000, marks=pytest.mark.slow)])
def test_no_crawl_ends_with_a_seed_unread(examples: int) -> None:
    ended = 0

    @settings(max_examples=examples, deadline=None)
    @given(webs(), DELAYS, PACES)
    def check(trace: Trace, delays: list[float], pace: Pace) -> None:
        nonlocal ended
        trace.language[np.arange(len(trace.language)) % 7 > 0] = PageLanguage.OTHER
        simulation, timed = ends(slow(trace, delays), pace)
        ended += simulation.watched.is_over
        seeds = {url for url in trace.seeds.tolist() if trace.fate[url] != Fate.NEVER}
        assert seeds <= set(asked(timed))

    check()
    assert ended, "some ended before all was fetched"


def two_sites(relevant: int, others: int) -> Trace:
    """Return a web of two servers whose roots link to all their pages: one's are relevant."""
    server = np.repeat([0, 1], [relevant + 1, others + 1]).astype(np.int32)
    n = len(server)
    roots = np.array([0, relevant + 1], np.int32)
    degree = np.zeros(n, np.int64)
    degree[roots] = relevant, others
    targets = np.delete(np.arange(n), roots).astype(np.int32)
    language = np.where(server == 0, PageLanguage.TARGET, PageLanguage.OTHER).astype(np.int8)
    offsets = np.concatenate([[0], np.cumsum(degree)])
    return Trace(
        About("th", ("th",), "two sites"), server, server, np.arange(2, dtype=np.int32),
        np.zeros(2, np.bool_), language, np.full(n, Fate.PAGE, np.int8),
        graph.distances(offsets, targets, roots), offsets, targets,
        np.zeros(len(targets), np.int8), roots, np.zeros(len(targets), np.int8), server,
    )  # fmt: skip


@pytest.mark.parametrize(("delay", "waits"), [(0.0, True), (20.0, False)])
def test_others_wait_for_a_good_server_but_not_for_a_slow_one(delay: float, waits: bool) -> None:
    """The slow one's pages come one by one as before; the others take none of its time."""
    trace = replace(two_sites(60, 400), crawl_delay=np.array([delay, 0.0], np.float32))
    timed = TimedSimulation(trace, strategy("adaptive"), Pace(1.0, 8, 0.2), haste=0.0).run()
    ends = [one.end for one in timed.requests if one.server == 1]
    last = max(one.end for one in timed.requests if one.server == 0)
    meanwhile = sum(end < last for end in ends)
    assert meanwhile < 20 if waits else len(ends) == meanwhile
    slowest = max(delay, 1.0) + 0.2
    assert last <= 62 * slowest
