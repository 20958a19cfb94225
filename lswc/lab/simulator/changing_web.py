"""Changing web: the relevant pages of a trace, whose texts change, and which lead to new pages.

All is seeded. Changes of a page, and new pages that it links to, are Poisson processes. Their rates
are drawn around those of its kind, times a factor of its site.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lswc.lab.trace.format import Trace


class Kind(IntEnum):
    """What a page is for."""

    FRONT = 0
    """A server's page that is nearest to the seeds."""
    LIST = 1
    """A page with more links than nine of ten."""
    ARTICLE = 2


CHANGES = {Kind.FRONT: 0.4, Kind.LIST: 0.15, Kind.ARTICLE: 0.01}
"""Changes of the text a day, the median of each kind. Fetterly et al. 2003 and Adar et al. 2009
saw that most pages hardly change, and that the few which do are often visited ones."""

NEW = {Kind.FRONT: 0.05, Kind.LIST: 0.01, Kind.ARTICLE: 0.0}
"""New relevant pages a day that a page is the first to link to, the median of each kind."""

GONE = 0.002
"""Share of articles that go in a day: half of all in a year (Ntoulas, Cho & Olston 2004)."""

NOISY = 0.3
"""Share of pages whose bytes are others at each visit though their text isn't: clocks,
advertisements, tokens of forms."""

SPREAD = 1.5
"""Standard deviation of the logarithms of the rates of a site's pages of a kind."""

_OF_SITE = 1.0  # and of sites
_LISTS = 0.9  # the share of a trace's pages that have fewer links than a list


@dataclass(frozen=True)
class Rates:
    """How the n pages of a web change. Shapes: (n,); all but ``site`` and ``noisy`` a day."""

    site: NDArray[np.int32]
    kind: NDArray[np.int8]
    changes: NDArray[np.float64]
    new: NDArray[np.float64]
    gone: NDArray[np.float64]
    noisy: NDArray[np.bool_]

    @property
    def pages(self) -> int:
        """Number of pages at the beginning, n."""
        return len(self.site)


def rates_of(trace: Trace, seed: int) -> Rates:
    """Draw the rates of a trace's relevant pages."""
    chosen = np.flatnonzero(trace.relevant)
    return draw_rates(_kinds(trace, chosen), trace.site[trace.server[chosen]], seed)


def draw_rates(kind: NDArray[np.int8], site: NDArray[np.integer], seed: int) -> Rates:
    """Draw the rates of pages of kinds and of sites. Shapes: (n,)."""
    draw = np.random.default_rng(seed)
    sites, where = np.unique(site, return_inverse=True)
    n = len(site)

    def around(medians: dict[Kind, float]) -> NDArray[np.float64]:
        of_site = draw.lognormal(0, _OF_SITE, len(sites))[where]
        middle = np.array([medians[one] for one in Kind])[kind]
        drawn: NDArray[np.float64] = middle * of_site * draw.lognormal(0, SPREAD, n)
        return drawn

    changes, new = around(CHANGES), around(NEW)
    gone = np.where(kind == Kind.ARTICLE, GONE, 0.0)
    return Rates(site.astype(np.int32), kind, changes, new, gone, draw.random(n) < NOISY)


def _kinds(trace: Trace, chosen: NDArray[np.int64]) -> NDArray[np.int8]:
    links = np.diff(trace.offsets)[chosen]
    kind = np.where(links > np.quantile(links, _LISTS), Kind.LIST, Kind.ARTICLE).astype(np.int8)
    server = trace.server[chosen]
    order = np.lexsort((chosen, trace.distance[chosen], server))
    first = np.ones(len(order), bool)
    first[1:] = np.diff(server[order]) != 0
    kind[order[first]] = Kind.FRONT
    return kind


@dataclass(frozen=True)
class Found:
    """What a visit found: whether the text ``changed``, or the bytes did; whether the page is
    ``gone``; and when the ``new`` pages that it links to, and nobody had found, came to be.
    """

    changed: bool
    bytes_changed: bool
    gone: bool
    new: Sequence[float]


class ChangingWeb:
    """Pages by number, as they are for so many ``days``; all are known at the beginning.

    New pages come at the same times whoever asks. Methods take times in days, never an earlier one
    than before.
    """

    def __init__(self, rates: Rates, days: float, seed: int) -> None:
        self._draw = np.random.default_rng(seed)
        self._days = days
        self.site = rates.site.tolist()
        self.kind = [Kind(one) for one in rates.kind.tolist()]
        self.changes = rates.changes.tolist()
        self.new = rates.new.tolist()
        self._noisy = rates.noisy.tolist()
        self._next_change = [self._wait(rate) for rate in self.changes]
        self._end = [self._wait(rate) for rate in rates.gone.tolist()]
        self._births = [
            sorted(self._draw.uniform(0, days, self._draw.poisson(rate * days)).tolist())
            for rate in self.new
        ]
        self._found = [0] * rates.pages  # of its births
        self._first = rates.pages
        self._began = [0.0] * rates.pages
        self._visited = [0.0] * rates.pages
        self._up_to_date = 0.0

    def _wait(self, rate: float) -> float:
        return self._draw.exponential(1 / rate) if rate else inf

    def visit(self, page: int, now: float) -> Found:
        """Ask for a page that is known."""
        self._hold(page, now)
        gone = self._end[page] <= now
        changed = not gone and self._next_change[page] <= now
        if changed:
            self._next_change[page] = now + self._wait(self.changes[page])
        births, before = self._births[page], self._found[page]
        self._found[page] = max(before, bisect_right(births, min(now, self._end[page])))
        new = births[before : self._found[page]]
        return Found(changed, changed or self._noisy[page], gone, new)

    def add(self, by: int, came: float, now: float) -> int:
        """Ask for a new article for the first time, which a page led to; return its number."""
        self.site.append(self.site[by])
        self.kind.append(Kind.ARTICLE)
        self.changes.append(CHANGES[Kind.ARTICLE] * self._draw.lognormal(0, SPREAD))
        self.new.append(0.0)
        self._noisy.append(bool(self._draw.random() < NOISY))
        self._next_change.append(now + self._wait(self.changes[-1]))
        self._end.append(now + self._wait(GONE))
        self._births.append([])
        self._found.append(0)
        self._began.append(came)
        self._visited.append(now)
        return len(self.site) - 1

    def _hold(self, page: int, now: float) -> None:
        before, until = self._visited[page], min(self._next_change[page], self._end[page], now)
        self._up_to_date += max(0.0, until - before)
        self._visited[page] = now

    @property
    def births(self) -> int:
        """How many new pages come to be in all."""
        return sum(map(len, self._births))

    def page_days(self, now: float) -> tuple[float, float]:
        """Return on how many days pages were as at their latest visit, and all days of pages.

        A page has days until it is gone, and also before somebody finds it.
        """
        for page in range(len(self.site)):
            self._hold(page, now)
        days = sum(min(end, now) - begin for end, begin in zip(self._end, self._began, strict=True))
        added = self._began[self._first :]
        born = (came for births in self._births for came in births if came < now)
        unfound = sum(now - came for came in born) - sum(now - came for came in added)
        return self._up_to_date, days + unfound
