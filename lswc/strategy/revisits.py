"""Revisits: what another request of a page is worth, and when it is worth its price.

A page's changes are a Poisson process (Cho & Garcia-Molina 2003a, "Estimating frequency of
change"). Its rate isn't known, so it is a gamma distribution: ``shape`` changes in ``days``. What
was seen is only whether a page changed since the visit before, and the time between two visits is
never the same: so the belief after a change is that gamma distribution which has the mean and the
variance of the exact posterior.

All is counted in days that one page is as it was at its visit. A page that has changed costs one
a day, and so does a page of the language that nobody has found yet. A visit after t days gains what
:func:`worth` says, and is due once that is its ``price``. With one price for all pages this is the
best order for a budget: the condition of Lagrange, which Cho & Garcia-Molina 2003b ("Effective page
refresh policies") and Azar et al. 2018 ("Tractable near-optimal policies for crawling") solve. A
page that changes much faster than it can be visited is worth less than one that doesn't; all of
them say so.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from math import exp, expm1, log, log1p
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

SHAPE = 0.5
"""Shape of what is believed of a page's rate before it was seen twice: rates differ widely."""

SECOND_LOOK = 1.0
"""Days after which a page that is gone is asked for once more. Then it is gone."""

OF_KIND = 3.0
"""Changes of a site's pages of a kind that count as much as what is known of the kind."""

DAYS_AT_MOST = 365.0
"""Days after which a page is visited, whatever it costs: none is forgotten."""

FIRST_CHANGES, FIRST_NEW = 0.05, 0.01
"""Changes, and new pages found, a day: of a page of any kind, before anything is known."""

_STEP, _LATE = 10.0, 3.0
"""How much the logarithm of the price changes while as many pages are visited as there are, at
most, and how fast it comes to that."""

_NEAR_ONE = 1e-4  # a shape so near to 1 is 1: the formula divides by the difference
_STEPS = 32  # of a bisection of DAYS_AT_MOST: below a second


def seen_unchanged(shape: float, days: float, since: float) -> tuple[float, float]:
    """Return what is believed of a page's rate that hasn't changed for so many days: exact."""
    return shape, days + since


def seen_changed(shape: float, days: float, since: float) -> tuple[float, float]:
    """Return what is believed of a page's rate that has changed, once or often, in ``since`` days.

    The posterior is the gamma distribution less its part without a change. Its two moments are
    exact, and are those of the gamma distribution that is returned.
    """
    part = log(days / (days + since))  # of a mean that is left, without a change
    changed = -expm1(shape * part)
    mean = shape / days * -expm1((shape + 1) * part) / changed
    square = shape * (shape + 1) / days**2 * -expm1((shape + 2) * part) / changed
    rate = mean / (square - mean**2)
    return mean * rate, rate


def changes(shape: float, days: float, since: float) -> float:
    """Return how often a page is expected to have changed in ``since`` days, if it has changed."""
    return shape / days * since / -expm1(shape * log(days / (days + since)))


def unchanged(shape: float, days: float, since: float) -> float:
    """Return the probability that a page hasn't changed in ``since`` days."""
    return exp(-shape * log1p(since / days))


def worth(shape: float, days: float, finds: float, since: float) -> float:
    """Return what a visit after ``since`` days should gain: the mean over what is believed.

    ``finds`` are the new pages of the language that the page should link to, a day. Of a rate that
    is known, ``1 - exp(-rate * since) * (1 + rate * since)`` divided by the rate is what is gained
    by the page itself, and ``finds * since**2 / 2`` by what it leads to.
    """
    part = log1p(since / days)
    none = exp(-shape * part)  # the probability that it hasn't changed
    if abs(shape - 1) < _NEAR_ONE:
        stale = days * part - since * none
    else:
        # The mean of 1 / rate, without what is beyond the visit.
        stale = days * -expm1((1 - shape) * part) / (shape - 1) - since * none
    return stale + finds * since**2 / 2


@lru_cache(1_000)  # pages that were seen once have few beliefs
def due(shape: float, days: float, finds: float, price: float) -> float:
    """Return after how many days a visit is worth its price, at most DAYS_AT_MOST."""
    low, high = 0.0, DAYS_AT_MOST
    if worth(shape, days, finds, high) <= price:
        return high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if worth(shape, days, finds, middle) < price:
            low = middle
        else:
            high = middle
    return high


def next_price(price: float, pages: int, now: float, at: float, visited: float) -> float:
    """Return the price once one of ``pages`` is visited, which was due ``at`` a time, in days.

    It rises as long as visits come too late, and falls while they come too early.
    """
    late = (now - at) / max(at - visited, SECOND_LOOK)
    return price * exp(_STEP / pages * min(1.0, max(-1.0, _LATE * late)))


@dataclass(slots=True)
class Known:
    """What is known of a visited page: the belief of its changes, new pages, and its visit.

    ``visited`` is when it was visited last, in days. ``shape`` is 0 as long as it was seen once:
    then what is ``usual`` of its kind counts, in events a day. ``new`` pages came by it in the
    days ``seen``.
    """

    visited: float
    shape: float = 0.0
    days: float = 0.0
    new: int = 0
    seen: float = 0.0

    def belief(self, usual: float) -> tuple[float, float]:
        """Return the shape and the days of what is believed of its changes."""
        return (self.shape, self.days) if self.shape else (SHAPE, SHAPE / usual)

    def finds(self, usual: float) -> float:
        """Return the new pages a day that it should lead to."""
        return (self.new + SHAPE) / (self.seen + SHAPE / usual)

    def learn(self, is_changed: bool, since: float, usual: float) -> float:
        """Learn by a visit after ``since`` days; return how often it should have changed."""
        before = self.belief(usual)
        self.seen += since
        if is_changed:
            self.shape, self.days = seen_changed(*before, since)
            return changes(*before, since)
        self.shape, self.days = seen_unchanged(*before, since)
        return 0.0


@dataclass(slots=True)
class Seen:
    """What was counted over ``days``: changes or finds."""

    number: float = 0.0
    days: float = 0.0

    def add(self, number: float, days: float) -> None:
        """Count so many more."""
        self.number += number
        self.days += days


class Rates:
    """What is known of the rates of kinds of pages, and of each site's pages of a kind.

    ``first`` is what is believed of each kind before anything was seen, in events a day.
    """

    def __init__(self, first: Mapping[Hashable, float]) -> None:
        self._kinds = {kind: Seen(OF_KIND, OF_KIND / rate) for kind, rate in first.items()}
        self._sites: defaultdict[tuple[Hashable, Hashable], Seen] = defaultdict(Seen)

    def add(self, kind: Hashable, site: Hashable, number: float, days: float) -> None:
        """Count what was seen of a page."""
        self._kinds[kind].add(number, days)
        self._sites[kind, site].add(number, days)

    def of(self, kind: Hashable, site: Hashable) -> float:
        """Return the events a day to expect of a site's page of a kind."""
        return expected(self._kinds[kind], self._sites.get((kind, site), _NOTHING))


_NOTHING = Seen()


def expected(of_kind: Seen, of_site: Seen) -> float:
    """Return the events a day to expect of a site's page, by what was seen of its kind's pages.

    ``of_kind`` holds OF_KIND events of what was believed before anything was seen.
    """
    usual = of_kind.number / of_kind.days
    return (of_site.number + OF_KIND) / (of_site.days + OF_KIND / usual)


def first_price(budget: float) -> float:
    """Return the price at which a page that nothing is known of is due ``budget`` times a day."""
    since = min(DAYS_AT_MOST, 1 / budget)
    return worth(SHAPE, SHAPE / FIRST_CHANGES, FIRST_NEW, since)


class Budget:
    """Visits that may be made now: ``budget`` a day for each page, on the mean.

    None is in stock at first, and later at most one and an hour's: neither a start nor a pause nor
    a clock that jumps lets many go at once. Times are in seconds, of a clock that doesn't go back;
    a ``day`` has so many.
    """

    def __init__(self, budget: float, day: float) -> None:
        self._a_second, self._hour = budget / day, day / 24
        self._stock = 0.0
        self._at: float | None = None
        self._earned = self._spent = 0.0

    @property
    def used(self) -> float | None:
        """The share that was spent of what there was to spend so far; None if that was nothing."""
        return self._spent / self._earned if self._earned else None

    def may_spend(self, pages: int, now: float) -> bool:
        """Tell whether one of so many ``pages`` may be visited now."""
        if self._at is not None and now > self._at:
            most = 1.0 + pages * self._a_second * self._hour
            earned = pages * self._a_second * (now - self._at)
            self._stock = min(most, self._stock + earned)
            self._earned += earned
        self._at = now
        return pages > 0 and self._stock >= 1

    def spend(self) -> None:
        """Count a visit."""
        self._stock -= 1
        self._spent += 1

    def next(self, pages: int, now: float) -> float | None:
        """Return when one may be visited, by the stock of the last look; None if there is none."""
        return now + max(0.0, 1 - self._stock) / (pages * self._a_second) if pages else None
