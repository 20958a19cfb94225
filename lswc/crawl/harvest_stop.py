"""The end of a crawl that has little left to find."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from lswc.crawl.running import RunningCrawl, running_of
from lswc.errors import LswcError
from lswc.frontier.harvest import forecast

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

EVERY = 100
"""Pages between two looks at what comes next."""

IN_A_ROW = 3
"""Looks at which little is expected, after which the crawl ends."""

AHEAD = 1_000
"""Downloads to come whose expected harvest counts."""

REASON = "little left to find"
"""Reason with which such a crawl closes."""

logger = logging.getLogger(__name__)


class HarvestStopExtension:
    """Ends the crawl once the expected harvest rate stays below LSWC_STOP_HARVEST.

    What the archived pages need is still asked for.
    What is expected is that of the frontier's order (``lswc.frontier.harvest``).
    """

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running
        self._pages = self._below = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch the crawl's pages. Raises NotConfigured if the setting is 0."""
        running = running_of(crawler)
        if not running.crawl.stop_harvest:
            raise NotConfigured
        extension = cls(running)
        crawler.signals.connect(extension.page_recorded, signals.item_scraped)
        return extension

    def page_recorded(self) -> None:
        """Count a page, and now and then look at what comes next."""
        self._pages += 1
        if self._pages % EVERY or self._running.failed:
            return
        try:
            expected = forecast(self._running.frontier.cells(), AHEAD).next_harvest
        except LswcError as error:
            self._running.fail(error)
            return
        least = self._running.crawl.stop_harvest
        self._below = self._below + 1 if expected is not None and expected < least else 0
        if self._below == IN_A_ROW:
            logger.info(
                "of the next %d pages %.2f %% should be relevant", AHEAD, 100 * (expected or 0)
            )
            self._running.finish(REASON)
