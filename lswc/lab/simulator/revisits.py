"""Simulated revisits: what policies find of a changing web with the same budget of requests."""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from heapq import heapify, heappop, heappush
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

from lswc.lab.simulator.changing_web import ChangingWeb, Kind
from lswc.strategy.revisits import (
    DAYS_AT_MOST,
    FIRST_CHANGES,
    FIRST_NEW,
    SECOND_LOOK,
    Known,
    Rates,
    due,
    next_price,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lswc.lab.simulator import changing_web
    from lswc.lab.simulator.changing_web import Found

_CERTAIN = 1e6
"""Shape of a rate that is known."""

_TRIES = 20  # to find the first price

_MOVED, _GROWN = 1.2, 1.3
"""How far the price moves, and how many more visits there are, until all is put in order anew."""


@dataclass(slots=True)
class _Page(Known):
    """What the crawl knows of a page."""

    is_gone: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a policy brought in ``days`` with a ``budget`` of requests a day for each first page.

    ``freshness``, of shape (days,), is the share of all pages that were as at their latest visit,
    on each day; ``within_a_day``, of shape (days,), how many new pages were found, until then, no
    later than a day after they came to be. ``born`` is how many came to be in all, ``found`` how
    many were found, ``median_wait`` their days until then; None if none was.
    """

    policy: str
    budget: float
    freshness: NDArray[np.float64]
    within_a_day: NDArray[np.int64]
    born: int
    found: int
    requests: int
    median_wait: float | None


class _Revisits:
    """One policy on one web: the page that is due first is asked for, new pages before any."""

    def __init__(self, policy: str, web: ChangingWeb, budget: float) -> None:
        self._web = web
        self._sees_bytes = policy == "by_bytes"
        self._due = POLICIES[policy]
        self.price = 1.0
        self.changes = Rates(dict.fromkeys(Kind, FIRST_CHANGES))
        self.new = Rates(dict.fromkeys(Kind, FIRST_NEW))
        self.known = [_Page(0.0) for _ in web.site]
        self._queue: list[tuple[float, int]] = []
        self._visits = 0
        self._ordered_at = 0.0, 0  # price and visits
        self._price_for(budget)
        self._to_find: deque[tuple[int, float]] = deque()
        self.waits: list[float] = []

    def _price_for(self, budget: float) -> None:
        """Choose the price at which all pages are due ``budget`` times a day, on the mean."""
        low, high = 1e-6, 1e6
        for _ in range(_TRIES):
            self.price = (low * high) ** 0.5
            visits = sum(1 / self._due(self, page) for page in range(len(self.known)))
            if visits > budget * len(self.known):
                low = self.price
            else:
                high = self.price

    def ask(self, now: float) -> None:
        """Spend one request."""
        if self._to_find:
            by, came = self._to_find.popleft()
            page = self._web.add(by, came, now)
            self.known.append(_Page(now))
            self.waits.append(now - came)
            heappush(self._queue, (now + self._due(self, page), page))
        elif self._put_in_order():
            at, page = heappop(self._queue)
            known = self.known[page]
            self.price = next_price(self.price, len(self.known), now, at, known.visited)
            self._visits += 1
            self._visit(page, known, now)

    def _put_in_order(self) -> bool:
        """Say anew when each page is due, if that has changed much; False if none is left."""
        price, visits = self._ordered_at
        if price / _MOVED < self.price < price * _MOVED and self._visits < visits * _GROWN + 1:
            return bool(self._queue)
        self._ordered_at = self.price, self._visits
        gone = [(at, page) for at, page in self._queue if self.known[page].is_gone]
        kept = [
            (known.visited + self._due(self, page), page)
            for page, known in enumerate(self.known)
            if not known.is_gone
        ]
        self._queue = gone + kept
        heapify(self._queue)
        return bool(self._queue)

    def _visit(self, page: int, known: _Page, now: float) -> None:
        found = self._web.visit(page, now)
        self._to_find.extend((page, came) for came in found.new)
        if found.gone:
            if not known.is_gone:
                known.is_gone = True
                heappush(self._queue, (now + SECOND_LOOK, page))
            return
        since = now - known.visited
        known.visited = now
        self._learn(page, known, since, found)
        heappush(self._queue, (now + self._due(self, page), page))

    def _learn(self, page: int, known: _Page, since: float, found: Found) -> None:
        kind, site = self._web.kind[page], self._web.site[page]
        is_changed = found.bytes_changed if self._sees_bytes else found.changed
        changes = known.learn(is_changed, since, self.changes.of(kind, site))
        self.changes.add(kind, site, changes, since)
        known.new += len(found.new)
        self.new.add(kind, site, len(found.new), since)

    def belief(self, page: int) -> tuple[float, float]:
        """Return the shape and the days of what is believed of a page's changes."""
        usual = self.changes.of(self._web.kind[page], self._web.site[page])
        return self.known[page].belief(usual)

    def finds(self, page: int) -> float:
        """Return the new pages a day that a page should lead to."""
        return self.known[page].finds(self.new.of(self._web.kind[page], self._web.site[page]))

    def rates(self, page: int) -> tuple[float, float]:
        """Return the changes and the new pages a day, as nobody can know them."""
        return self._web.changes[page], self._web.new[page]


def _in_turn(crawl: _Revisits, page: int) -> float:
    return crawl.price


def _by_change(crawl: _Revisits, page: int) -> float:
    shape, days = crawl.belief(page)
    return min(DAYS_AT_MOST, crawl.price * days / shape)


def _by_worth(crawl: _Revisits, page: int) -> float:
    return due(*crawl.belief(page), crawl.finds(page), crawl.price)


def _optimum(crawl: _Revisits, page: int) -> float:
    changes, finds = crawl.rates(page)
    return due(_CERTAIN, _CERTAIN / changes, finds, crawl.price)


POLICIES: dict[str, Callable[[_Revisits, int], float]] = {
    "in_turn": _in_turn,
    "by_bytes": _by_change,
    "by_change": _by_change,
    "by_worth": _by_worth,
    "optimum": _optimum,
}
"""After how many days each policy's pages are due: all in turn; in proportion to what is believed
of changes of their bytes, or of their texts; by what a visit is worth; and so if the rates are
known."""


def simulate(
    policy: str, rates: changing_web.Rates, days: int, budget: float, seed: int
) -> Outcome:
    """Visit a web again for so many days; ``budget`` in requests a day for each first page."""
    web = ChangingWeb(rates, days, seed)
    crawl = _Revisits(policy, web, budget)
    requests = int(budget * rates.pages * days)
    up_to_date = np.zeros((days + 1, 2))
    within = np.zeros(days, np.int64)
    asked = 0
    for day in range(1, days + 1):
        while asked < requests * day // days:
            asked += 1
            crawl.ask(days * asked / requests)
        up_to_date[day] = web.page_days(float(day))
        within[day - 1] = sum(wait <= 1.0 for wait in crawl.waits)
    kept, there = np.diff(up_to_date, axis=0).T
    fresh = np.divide(kept, there, out=np.ones(days), where=there > 0)
    median = float(np.median(crawl.waits)) if crawl.waits else None
    return Outcome(
        policy, budget, fresh, within, web.births, len(crawl.waits),
        requests, median,
    )  # fmt: skip


def simulate_all(
    rates: changing_web.Rates, days: int, budgets: Sequence[float], seed: int
) -> Iterator[Outcome]:
    """Yield what each policy brings with each budget, a process each."""
    runs = [(policy, budget) for budget in budgets for policy in POLICIES]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(simulate, policy, rates, days, b, seed) for policy, b in runs]
        yield from (future.result() for future in futures)


def save(outcomes: Sequence[Outcome], out: Path) -> None:
    """Write ``revisits.json``. Raises OSError."""
    results = [
        asdict(one)
        | {"freshness": one.freshness.tolist(), "within_a_day": one.within_a_day.tolist()}
        for one in outcomes
    ]
    (out / "revisits.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
