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
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from lswc.crawl.commits import Commits
    from lswc.crawl.leases import Leases
    from lswc.frontier import Frontier

EVERY = 100
"""Pages between two looks at what comes next."""

IN_A_ROW = 3
"""Looks at which little is expected, after which the crawl ends."""

AHEAD = 1_000
"""Downloads to come whose worth counts."""

PROMISING = 0.5
"""Expected of a URL for which the crawl goes on, however little is expected of the others."""

MOST_IN_A_ROW = 30
"""Looks after which it ends though such URLs are pending: their servers can't be asked."""

REASON = "little left to find"
"""Reason with which such a crawl closes."""

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
    """

    def __init__(
        self, least: float, value: Value, frontier: Frontier, commits: Commits, leases: Leases
    ) -> None:
        self._least, self._frontier = least, frontier
        self._little = _LITTLE[value]
        self._commits, self._leases = commits, leases
        self._pages = self._below = 0

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
        crawler.signals.connect(extension.page_recorded, signals.item_scraped)
        return extension

    def page_recorded(self) -> None:
        """Count a page, and now and then look at what comes next."""
        self._pages += 1
        if self._pages % EVERY or self._commits.halted:
            return
        self._below += 1
        if self._is_over():
            logger.info(
                f"{self._little}: the crawl ends, unless more is found by what is still being read",
                AHEAD, 100 * self._least,
            )  # fmt: skip
            self._leases.finish(REASON, self._is_over)

    def _is_over(self) -> bool:
        """Tell whether too little is expected, for some time now."""
        try:
            cells = self._frontier.cells()
        except LswcError as error:
            self._commits.fail(error)
            return True
        worth = forecast(cells, AHEAD).next_worth
        if worth is None or worth >= self._least:
            self._below = 0
            return worth is None
        promising = max(PROMISING, self._least)
        waits = any(cell.pending and cell.expected >= promising for cell in cells)
        return self._below >= (MOST_IN_A_ROW if waits else IN_A_ROW)


class CloseSpider(closespider.CloseSpider):
    """Scrapy's own, which ends a crawl of CLOSESPIDER_ITEMCOUNT pages at once: here it ends them
    with all that they need."""

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Count a page."""
        if self.counter["itemcount"] + 1 == self.close_on["itemcount"]:
            self.close_on["itemcount"] = 0
            parts_of(self.crawler).leases.finish(PAGES)
        super().item_scraped(item, spider)
