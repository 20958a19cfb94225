"""Timed crawl: workers, and servers that rest. The live frontier under a clock that isn't real.

Nothing of the frontier is written again: what is leased, and when, is its own answer. So a trace of
a million pages takes an hour or so; the kernel, which knows no time, takes seconds.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lswc.errors import ConfigError
from lswc.frontier.rules.contract import Terms, patience_of
from lswc.frontier.rules.visit import Offer, Visit
from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.lab.simulator.brought import Brought
from lswc.lab.simulator.strategy_arrays import decisions
from lswc.lab.trace import graph
from lswc.lab.trace.format import Fate
from lswc.outcomes import Outcome, of_status
from lswc.settings import LSWC_DELAY_FACTOR, LSWC_HASTE, LSWC_UNPROVEN_SHARE
from lswc.strategy import (
    SEED,
    Anchor,
    Locality,
    PageLanguage,
    Status,
    distance_of,
    from_site_queue,
    next_distance,
    redirected,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from lswc.frontier.rules.visit import Lease
    from lswc.lab.trace.format import Trace
    from lswc.strategy import Strategy

HOUR = 3600.0
ROBOTS = -1
"""Stands for a server's robots.txt, which is asked for before its first URL."""

SLOW = (10.0, 60.0)
"""Seconds of the Crawl-delays of slow servers."""

_OUTCOMES = {
    Fate.FAILED: of_status(404), Fate.REDIRECT: Outcome.REDIRECT, Fate.PAGE: Outcome.HTML,
}  # fmt: skip

_STEP = 200  # visits between two reports of progress


@dataclass(frozen=True)
class Pace:
    """How fast a crawl may go: ``delay`` is the least rest of a server after an answer, in seconds;
    ``workers`` is the number of requests at a time, ``answer`` the seconds that one takes. A share
    of the servers, chosen by chance, is ``slow``: these have a Crawl-delay in the range SLOW.

    Raises ConfigError.
    """

    delay: float = 1.0
    workers: int = 32
    answer: float = 0.5
    slow: float = 0.0

    def __post_init__(self) -> None:
        if self.delay < 0 or self.answer < 0 or self.workers < 1:
            raise ConfigError("a delay and the time of a page are at least 0, workers at least 1")
        if not 0 <= self.slow <= 1:
            raise ConfigError(f"the share of slow servers is from 0 to 1, and {self.slow:g} isn't")
        if not self.delay + self.answer:
            raise ConfigError("with neither a delay nor time for a page there are no hours")

    @property
    def rest(self) -> float:
        """Seconds that a server rests after an answer, as live."""
        return max(self.delay, LSWC_DELAY_FACTOR * self.answer) if self.delay else 0.0

    def rests(self, trace: Trace) -> NDArray[np.float64]:
        """Return the seconds that each server of a trace rests after an answer, shape (s,)."""
        rests = np.full(len(trace.site), self.rest)
        if trace.crawl_delay is not None:
            rests = np.maximum(rests, trace.crawl_delay)
        chance = np.random.default_rng(0)
        is_slow = chance.random(len(rests)) < self.slow
        return np.where(is_slow, np.maximum(rests, chance.uniform(*SLOW, len(rests))), rests)


class Request(NamedTuple):
    """A request: the URL (an id, or ROBOTS), its server, and when it began and ended, in s."""

    url: int
    server: int
    begin: float
    end: float


@dataclass(frozen=True)
class Timed:
    """What a strategy achieved in time.

    ``hours``, ``relevant`` and ``server``, of shape (pages,): when each page had come, whether it
    is relevant, and whose it is, in order. ``requests`` are all of them by their end, ``pace``
    is the crawl's.
    """

    strategy: str
    pace: Pace
    requests: list[Request]
    hours: NDArray[np.float64]
    relevant: NDArray[np.bool_]
    server: NDArray[np.int32]

    def pages_to(self, relevant: float) -> int | None:
        """Return the pages until so many of them were relevant; None if they never were."""
        reached = np.flatnonzero(np.cumsum(self.relevant) >= relevant)
        return int(reached[0]) + 1 if len(reached) else None

    def hours_to(self, relevant: float) -> float | None:
        """Return the hours until so many relevant pages had come; None if they never did."""
        pages = self.pages_to(relevant)
        return None if pages is None else float(self.hours[pages - 1])

    def without_rest(self, hours: float) -> float:
        """Return the hours that the requests until then take if no worker ever waits."""
        requests = sum(one.end <= hours * HOUR for one in self.requests)
        return requests * self.pace.answer / self.pace.workers / HOUR


@dataclass
class TimedSimulation:
    """A strategy made ready for a trace; ``progress`` hears the number of pages so far.

    A server rests as the pace says, or for the trace's Crawl-delay if that is longer. ``haste`` and
    ``unproven_share`` are the frontier's terms.
    """

    trace: Trace
    strategy: Strategy
    pace: Pace
    oracle: NDArray[np.bool_] | None = None
    progress: Callable[[int], None] = lambda pages: None
    haste: float = LSWC_HASTE
    unproven_share: float = LSWC_UNPROVEN_SHARE
    _requests: list[Request] = field(default_factory=list)
    _pages: list[tuple[float, int]] = field(default_factory=list)

    def run(self) -> Timed:
        """Crawl until only URLs are left that the trace never downloaded."""
        self._links = _Links(self.trace, self.strategy, self.oracle)
        self._brought = Brought(self.trace, self.strategy)
        patience = patience_of(self.pace.delay)
        terms = Terms(haste=self.haste, patience=patience, unproven_share=self.unproven_share)
        self._rests = self.pace.rests(self.trace).tolist()
        with closing(self.frontier(terms)) as frontier:
            frontier.offer(self._links.seeds())
            self._run(frontier)
        urls = np.array([url for _, url in self._pages], np.int64)
        return Timed(
            self.strategy.name,
            self.pace,
            self._requests,
            np.array([end for end, _ in self._pages]) / HOUR,
            self.trace.relevant[urls],
            self.trace.server[urls],
        )

    def frontier(self, terms: Terms) -> Frontier:
        """Return the empty frontier that is crawled by."""
        return Frontier(MEMORY, self.strategy, {}, terms)

    def _run(self, frontier: Frontier) -> None:
        """Go from event to event: an answer, a server that has rested, a page that waited so."""
        now, numbers = 0.0, count()
        under_way: list[tuple[float, int, Visit, bool]] = []
        waiting: list[tuple[float, int, Visit]] = []
        met: set[int] = set()
        while True:
            while len(under_way) < self.pace.workers:
                if waiting and waiting[0][0] <= now:  # as a retry is, before all others
                    visit, robots = heappop(waiting)[2], False
                else:
                    lease = frontier.lease(now)
                    if lease is None:
                        break
                    visit, server = Visit(lease, now), self._server(lease)
                    robots = server not in met
                    met.add(server)
                end = now + self.pace.answer
                heappush(under_way, (end, next(numbers), visit, robots))
                url = ROBOTS if robots else int(visit.lease.url.rpartition("/")[2])
                self._requests.append(Request(url, self._server(visit.lease), now, end))
            free = len(under_way) < self.pace.workers
            events = [under_way[0][0]] if under_way else []
            events += [waiting[0][0]] if waiting and free else []
            ready = frontier.next_ready() if free else None
            events += [ready] if ready is not None and ready > now else []
            if not events:
                return
            now = min(events)
            while under_way and under_way[0][0] <= now:
                _, number, visit, robots = heappop(under_way)
                if robots:
                    rest = self._rests[self._server(visit.lease)]
                    heappush(waiting, (now + rest, number, visit))
                else:
                    self._end(frontier, visit, now)

    def _server(self, lease: Lease) -> int:
        return int(lease.server[1:].partition(".")[0])

    def _end(self, frontier: Frontier, visit: Visit, now: float) -> None:
        url, lease = int(visit.lease.url.rpartition("/")[2]), visit.lease
        visit.rest = now - visit.since + self._rests[self._server(lease)]
        visit.outcome = _OUTCOMES[Fate(self.trace.fate[url])]
        self._links.ended[url] = True
        if self.trace.fate[url] == Fate.REDIRECT:
            visit.offers = self._links.of_redirect(url, lease)
        elif self.trace.fate[url] == Fate.PAGE:
            language = PageLanguage(self.trace.language[url])
            effective = PageLanguage(self._links.effective[language, lease.inherited])
            visit.relevant = effective == PageLanguage.TARGET
            visit.brought = self._brought.by(url)
            status = frontier.statuses({lease.unit}, lease, visit.counted)[lease.unit]
            visit.offers = self._links.of_page(url, lease, effective, status)
            self._pages.append((now, url))
            if len(self._pages) % _STEP == 0:
                self.progress(len(self._pages))
        frontier.commit(visit)


class _Links:
    """The links of a trace as offers.

    Those to pages that never came are left out, and those to finished ones of the page's own site:
    of another, they vouch for it (``lswc.strategy.families``).
    """

    def __init__(self, trace: Trace, strategy: Strategy, oracle: NDArray[np.bool_] | None) -> None:
        self._trace = trace
        decided = decisions(strategy)
        self._weights, self.effective = decided.weights, decided.effective
        self._levels = strategy.levels
        by_directory = strategy.unit.name == "DIRECTORY"
        self._directory = trace.directory if by_directory else None
        self._oracle = oracle
        if "oracle" in strategy.facts and oracle is None:
            self._oracle = graph.oracle(trace)
        self.ended = trace.fate == Fate.NEVER
        self._site = trace.site[trace.server]

    def seeds(self) -> list[Offer]:
        """Return the offers of the seeds."""
        return [self._offer(url, SEED, PageLanguage.TARGET, 0) for url in self._waiting(None)[0]]

    def of_redirect(self, url: int, lease: Lease) -> list[Offer]:
        """Return the offer of a redirect's target, in a place of its own."""
        targets = self._waiting(url)[0]
        hops, folder = self._localities(url, targets), self._trace.folder
        near = [False] * len(targets) if folder is None else folder[targets] == folder[url]
        return [
            self._offer(
                to, redirected(lease.code, int(hop), bool(is_near)), lease.inherited, lease.depth
            )
            for to, hop, is_near in zip(targets.tolist(), hops, near, strict=True)
        ]

    def of_page(
        self, url: int, lease: Lease, effective: PageLanguage, status: Status
    ) -> list[Offer]:
        """Return the offers of a page's links; ``status`` is its unit's, the page counted."""
        trace, weights, code, depth = self._trace, self._weights, lease.code, lease.depth + 1
        targets, links = self._waiting(url)
        if not len(targets) or depth >= self._levels > 0:
            return []
        here, there = trace.server[url], trace.server[targets]
        locality = self._localities(url, targets)
        distance = next_distance(effective == PageLanguage.TARGET, distance_of(code))
        codes = (
            weights.referrer * effective
            + weights.distance * (distance - 1)
            + weights.referrer_server * (status - Status.UNDECIDED)
            + weights.in_site * from_site_queue(code)
            + weights.from_seed * (code == SEED)
            + weights.locality * locality
        )
        if trace.tld is not None:
            codes += weights.tld * trace.tld[there]
        codes += weights.anchor * (
            int(Anchor.NONE) if trace.anchors is None else trace.anchors[links].astype(np.int64)
        )
        if trace.named is not None:
            codes += weights.named * trace.named[links].astype(np.int64)
        if trace.folder is not None:
            same_folder = (there == here) & (trace.folder[targets] == trace.folder[url])
            codes += weights.same_folder * same_folder
        if self._oracle is not None:
            codes += weights.oracle * self._oracle[targets]
        language = PageLanguage(trace.language[url])
        return [
            self._offer(to, of_link, language, depth)
            for to, of_link in zip(targets.tolist(), codes.tolist(), strict=True)
        ]

    def _localities(self, url: int, targets: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return where links of a URL lead, as Locality."""
        here, there = self._trace.server[url], self._trace.server[targets]
        same_site = self._trace.site[there] == self._trace.site[here]
        return np.where(
            there == here, Locality.SAME_SERVER,
            np.where(same_site, Locality.SAME_SITE, Locality.ELSEWHERE),
        )  # fmt: skip

    def _waiting(self, url: int | None) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the targets of a URL, or the seeds, that may still come, and their links."""
        trace = self._trace
        if url is None:
            links = np.arange(len(trace.seeds))
            targets = trace.seeds
        else:
            links = np.arange(trace.offsets[url], trace.offsets[url + 1])
            targets = trace.targets[links]
        waiting = ~self.ended[targets]
        if url is not None:
            came = trace.fate[targets] != Fate.NEVER
            waiting |= came & (self._site[targets] != self._site[url])
        return targets[waiting], links[waiting]

    def _offer(self, url: int, code: int, inherited: PageLanguage, depth: int) -> Offer:
        server = self._trace.server[url]
        name = f"s{server}.site{self._trace.site[server]}.com"
        unit = name if self._directory is None else f"{name}/{self._directory[url]}"
        return Offer(f"http://{name}/{url}", name, unit, code, inherited, depth)
