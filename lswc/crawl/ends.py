"""Ends of a crawl that isn't finished: as little is left to find, or as it has enough pages.

What the archived pages need is still asked for.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.extensions import closespider

from lswc.crawl.close_reasons import PAGES
from lswc.crawl.composition import parts_of
from lswc.errors import LswcError
from lswc.frontier.harvest import forecast
from lswc.strategy.value import Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from lswc.crawl.commits import Commits
    from lswc.crawl.leases import Leases
    from lswc.frontier import Frontier
    from lswc.frontier.visit import Visit

EVERY = 100
"""Pages between two looks at what comes next."""

IN_A_ROW = 300
"""Pages after a look at which little was expected, at all looks since then, too: the crawl ends.

What is left then often lies behind some pages of other languages, one after the other. So many for
each worker that took part: with no more for two, one crawl in ten ended too early.
"""

AHEAD = 1_000
"""Downloads to come whose worth counts."""

PROMISING = 0.5
"""Expected of a URL for which the crawl goes on, however little is expected of the others."""

MOST_IN_A_ROW = 3_000
"""Pages after which it ends though such URLs are pending: their servers can't be asked."""

REASON = "little left to find"
"""Reason with which such a crawl closes."""

TALLY, PAGES_IN_A_ROW = "little expected", "pages in a row"
"""What such pages are tallied as."""

_LITTLE = {
    Value.PAGES: "of the next %d pages fewer than %g %% should be relevant",
    Value.TEXT: "the next %d pages should bring less than %g %% of a full page of text each",
    Value.YIELD: "of the next %d pages less than %g %% should be clean text",
}

logger = logging.getLogger(__name__)


class HarvestStopExtension:
    """Ends the crawl once the next downloads stay worth less than LSWC_STOP_HARVEST.

    They are worth what should be relevant of them, but a look at a server hardly known has its
    price in the frontier's order (``lswc.frontier.harvest``). It is looked at once more when
    nothing is being read any more: a sitemap may have named what is worth to go on.

    For how long little was expected is tallied with the pages themselves: so a crawl that was
    stopped ends where it would have, and the pages of all workers count.
    """

    def __init__(
        self, least: float, value: Value, frontier: Frontier, commits: Commits, leases: Leases
    ) -> None:
        self._least, self._frontier = least, frontier
        self._little = _LITTLE[value]
        self._commits, self._leases = commits, leases
        tallies = frontier.tallies()
        self._pages = sum(tallies.get("page", {}).values())
        self._in_a_row = _in_a_row(tallies)
        self._expects_little = self._in_a_row > 0
        self._is_over = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch the crawl's pages. Raises NotConfigured if the setting is 0.

        Or if pages are visited again: then what is worth less only waits, in the frontier.
        """
        parts = parts_of(crawler)
        least = parts.crawl.stop_harvest
        if not least or parts.crawl.revisit:
            raise NotConfigured
        value = parts.crawl.strategy.value
        extension = cls(least, value, parts.frontier, parts.commits, parts.leases)
        parts.commits.recording = extension.page_comes
        crawler.signals.connect(extension.page_recorded, signals.item_scraped)
        return extension

    def page_comes(self, visit: Visit) -> None:
        """Tally a page that is recorded now, and now and then look at what comes next.

        Raises LswcError.
        """
        self._pages += 1
        if self._pages % EVERY == 0:
            self._look()
        if self._expects_little:
            visit.tally[TALLY, PAGES_IN_A_ROW] += 1
        elif self._in_a_row:
            visit.tally[TALLY, PAGES_IN_A_ROW] -= self._in_a_row
            self._in_a_row = 0

    def page_recorded(self) -> None:
        """End the crawl if that was found to be due."""
        if not self._is_over or self._commits.halted:
            return
        self._is_over = False
        logger.info(
            f"{self._little}: the crawl ends, unless more is found by what is still being read",
            AHEAD, 100 * self._least,
        )  # fmt: skip
        self._leases.finish(REASON, self._confirms)

    def _confirms(self) -> bool:
        """Tell whether too little is expected still, when nothing is being read any more."""
        try:
            self._look()
        except LswcError as error:
            self._commits.fail(error)
            return True
        return self._is_over

    def _look(self) -> None:
        """See whether little is expected now, and has been for some time. Raises LswcError."""
        cells = self._frontier.cells()
        self._in_a_row = _in_a_row(self._frontier.tallies())
        worth = forecast(cells, AHEAD).next_worth
        self._expects_little = worth is None or worth < self._least
        promising = max(PROMISING, self._least)
        waits = any(cell.pending and cell.expected >= promising for cell in cells)
        enough = MOST_IN_A_ROW if waits else min(MOST_IN_A_ROW, IN_A_ROW * self._workers())
        self._is_over = worth is None or (self._expects_little and self._in_a_row >= enough)

    def _workers(self) -> int:
        here, elsewhere = self._frontier.others()
        return 1 + len(here) + elsewhere


def _in_a_row(tallies: Mapping[str, Mapping[str, int]]) -> int:
    return tallies.get(TALLY, {}).get(PAGES_IN_A_ROW, 0)


class CloseSpider(closespider.CloseSpider):
    """Scrapy's own, which ends a crawl of CLOSESPIDER_ITEMCOUNT pages at once: here it ends them
    with all that they need."""

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Count a page."""
        if self.counter["itemcount"] + 1 == self.close_on["itemcount"]:
            self.close_on["itemcount"] = 0
            parts_of(self.crawler).leases.finish(PAGES)
        super().item_scraped(item, spider)
