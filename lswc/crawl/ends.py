"""Ends of a crawl that isn't finished: as little is left to find, or as it has enough pages.

What the archived pages need is still asked for.
"""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.extensions import closespider

from lswc.crawl.close_reasons import PAGES
from lswc.crawl.composition import parts_of
from lswc.frontier.rules.harvest import forecast
from lswc.outcomes import Outcome
from lswc.plurals import numbered
from lswc.strategy.adaptive import SEEDS, server_share
from lswc.strategy.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from lswc.crawl.commits import Commits
    from lswc.crawl.leases import Leases
    from lswc.frontier import Frontier
    from lswc.frontier.rules.harvest import CellHarvest
    from lswc.frontier.rules.visit import Visit
    from lswc.strategy import Strategy

REQUESTS_BETWEEN_LOOKS = 100
"""Requests between two looks at what comes next."""

IN_A_ROW = 1_000
"""Requests after a look at which little was expected, at all looks since then, too, that brought
little: no more is asked for than what is promising.

What is left then often lies behind some pages of other languages, one after the other. On the demo
web crawls ended at 96, 96-99, 99 and 100 % coverage with 300, 500, 550 and 600. So many for each
worker that took part: with no more for two, one crawl in ten ended too early.
"""

LOOK_SECONDS = 3_600.0
"""Seconds that count as much as all these requests: servers may be slow, or not there."""

AHEAD = 1_000
"""Downloads to come whose worth counts."""

PROMISING = 10.0
"""URLs of which so many times LSWC_STOP_HARVEST is expected are asked for in any case; and those of
which as much as that is, of servers most of whose pages were relevant. Of these, some that are like
no URLs before, too: what is expected of them goes by other servers."""

TRIED = 8
"""Pages of URLs of a kind, before what is expected of them goes by these."""

PROMISING_SHARE = 0.5
"""Most of a server's pages; and what is promising, whatever LSWC_STOP_HARVEST says."""

AGAIN = 1.0
"""Seconds between two looks, while nothing but what is promising is asked for."""

REASON = "little left to find"
"""Reason with which such a crawl closes."""

TALLY, REQUESTS_IN_A_ROW = "little expected", "requests in a row"
"""What such requests are tallied as."""

_LITTLE = {
    Value.PAGES: "of the next %d pages fewer than %g %% should be relevant",
    Value.TEXT: "the next %d pages should bring less than %g %% of a full page of text each",
    Value.YIELD: "of the next %d pages less than %g %% should be clean text",
}

logger = logging.getLogger(__name__)


class HarvestStopExtension:
    """Ends the crawl once the next downloads stay worth less than LSWC_STOP_HARVEST.

    They are worth what should be relevant of them, but a look at a server hardly known has its
    price in the frontier's order (``lswc.frontier.rules.harvest``). Then only what is promising is
    still asked for, as its servers allow, and every seed. It is looked at once more when nothing is
    being read any more: a sitemap may have named what is worth to go on.

    A request counts whatever comes of it: a page, an error, or no answer. But a relevant page takes
    back as many as LSWC_STOP_HARVEST asks of it, 100 at 0.01: then more lies behind than what is
    pending can tell (a cumulative sum, Page 1954). For how long little was expected, and found, is
    tallied with what the requests brought: so a crawl that was stopped ends where it would have,
    and the requests of all workers count.
    """

    def __init__(
        self,
        least: float,
        strategy: Strategy,
        seeds: Iterable[str],
        frontier: Frontier,
        commits: Commits,
        leases: Leases,
    ) -> None:
        self._least, self._frontier = least, frontier
        self._promising = min(PROMISING * least, max(least, PROMISING_SHARE))
        self._learns = strategy.learns
        self._little = _LITTLE[strategy.value]
        self._seeds = list(seeds)[::-1]
        self._commits, self._leases = commits, leases
        tallies = frontier.tallies()
        self._requests = tallies.get(TALLY, {}).get("requests", 0)
        self._own_in_a_row = _in_a_row(tallies)
        self._looked = self._little_since = monotonic()
        self._expects_little = self._own_in_a_row > 0
        self._is_due = self._is_over = self._has_said = False
        leases.may_end = self._expects_little

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch the crawl's requests. Raises NotConfigured if the setting is 0.

        Or if pages are visited again: then what is worth less only waits, in the frontier.
        """
        parts = parts_of(crawler)
        least = parts.crawl.stop_harvest
        if not least or parts.crawl.revisit:
            raise NotConfigured
        found = map(parts.crawl.seed, parts.crawl.seeds)
        seeds = [offer.url for offer in found if not isinstance(offer, Outcome)]
        strategy = parts.crawl.strategy
        extension = cls(least, strategy, seeds, parts.frontier, parts.commits, parts.leases)
        parts.commits.tallied = extension.visit_ends
        parts.leases.asked_for = extension.next_is_asked_for
        return extension

    def visit_ends(self, visit: Visit) -> None:
        """Tally the requests of a visit that ends now, and now and then look at what comes next.

        Raises LswcError.
        """
        requests = len(visit.attempts)
        if not (requests and visit.is_page):
            return
        looks = self._requests // REQUESTS_BETWEEN_LOOKS
        self._requests += requests
        visit.tally[TALLY, "requests"] += requests
        if self._requests // REQUESTS_BETWEEN_LOOKS > looks:
            self._look()
        in_a_row = self._in_a_row_after(visit) if self._expects_little else 0
        visit.tally[TALLY, REQUESTS_IN_A_ROW] += in_a_row - self._own_in_a_row
        self._own_in_a_row = in_a_row

    def _in_a_row_after(self, visit: Visit) -> int:
        """Return the requests in a row that were of little worth, with those of a visit.

        That what is promising brings relevant pages says nothing of the rest.
        """
        brought = 0.0 if self._is_due else visit.counted or 0.0
        in_a_row = self._own_in_a_row + len(visit.attempts) - int(brought / self._least)
        if in_a_row <= 0:
            self._little_since = monotonic()
        return max(0, in_a_row)

    def next_is_asked_for(self, now: float) -> None:
        """End the crawl if that is due; else see whether what is promising was fetched.

        ``now`` in seconds on a monotonic clock. Raises LswcError.
        """
        if self._commits.failed:
            return
        if self._expects_little and now - self._looked > (
            AGAIN if self._is_due else LOOK_SECONDS / 10
        ):
            self._look()
        if self._is_over:
            self._is_over = False
            self._say("the crawl ends, unless more is found by what is still being read")
            self._leases.finish(REASON, self._confirms)

    def _say(self, what: str) -> None:
        logger.info(f"{self._little}: {what}", AHEAD, 100 * self._least)

    def _confirms(self) -> bool:
        """Tell whether too little is expected still, when nothing is being read any more."""
        try:
            self._look()
        except Exception as error:
            self._commits.fail(error)
            return True
        is_over, self._is_over = self._is_over, False
        return is_over

    def _look(self) -> None:
        """See whether little is expected now, and has been for some time. Raises LswcError."""
        cells, now = self._frontier.cells_everywhere(), monotonic()
        self._looked = now
        in_a_row = self._own_in_a_row + _in_a_row(self._frontier.elsewhere.tallies)
        worth = forecast(cells, AHEAD).next_worth
        expected_little, self._expects_little = (
            self._expects_little,
            worth is None or worth < self._least,
        )
        if not expected_little:
            self._little_since = now
        is_long = (
            in_a_row >= IN_A_ROW * (1 + self._frontier.elsewhere.workers)
            or now - self._little_since >= LOOK_SECONDS
        )
        self._is_due = worth is None or (self._expects_little and is_long)
        promising = [cell for cell in cells if self._is_promising(cell)]
        seed = self._unread_seed() if self._is_due else None
        # Where an order isn't learned, seeds may wait among others.
        restricts = self._is_due and (self._learns or seed is None)
        self._frontier.restrict({c.cell for c in promising} if restricts else None)
        left = _left(promising, seed) if self._is_due else ""
        if self._is_due and not left and self._frontier.elsewhere.seeds:
            left = "seeds of other workers"
        self._is_over = self._is_due and not left
        self._leases.may_end = self._expects_little or self._is_due
        self._leases.ends_after = left
        if left and not self._has_said:
            self._has_said = True
            self._say(f"nothing else is asked for than {left}")

    def _is_promising(self, cell: CellHarvest) -> bool:
        """Tell whether URLs of a cell are asked for though little is expected of all."""
        if not self._learns:
            return cell.expected >= self._promising
        is_of_relevant = server_share(cell.cell) >= PROMISING_SHARE
        least = self._least if is_of_relevant else self._promising
        is_untried = is_of_relevant and cell.pages.downloaded < TRIED
        return cell.cell == SEEDS or is_untried or cell.expected >= least

    def _unread_seed(self) -> str | None:
        """Return a seed that wasn't asked for yet, or is being asked for; None if there is none."""
        with self._frontier.reading() as reader:
            while self._seeds:
                standing = reader.find(self._seeds[-1])
                if standing is not None and standing.outcome is None:
                    return self._seeds[-1]
                self._seeds.pop()
        return None


def _left(promising: Iterable[CellHarvest], seed: str | None) -> str:
    """Return what is to be asked for before the end, in words; "" if nothing is."""
    number = sum(cell.pending for cell in promising if cell.cell != SEEDS or seed is None)
    found = [] if seed is None else [f"seeds such as {seed}"]
    return " and ".join([*found, numbered(number, "promising URL")] if number else found)


def _in_a_row(tallies: Mapping[str, Mapping[str, int]]) -> int:
    return tallies.get(TALLY, {}).get(REQUESTS_IN_A_ROW, 0)


class CloseSpider(closespider.CloseSpider):
    """Scrapy's own, which ends a crawl of CLOSESPIDER_ITEMCOUNT pages at once: here it ends them
    with all that they need."""

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Count a page."""
        if self.counter["itemcount"] + 1 == self.close_on["itemcount"]:
            self.close_on["itemcount"] = 0
            parts_of(self.crawler).leases.finish(PAGES)
        super().item_scraped(item, spider)
