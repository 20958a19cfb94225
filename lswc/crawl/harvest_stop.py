"""Harvest stop: the end of a crawl that has little left to find."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from lswc.crawl.composition import parts_of
from lswc.errors import LswcError
from lswc.frontier.harvest import forecast

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from lswc.crawl.commits import Commits
    from lswc.crawl.leases import Leases
    from lswc.frontier import Frontier

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

    def __init__(self, least: float, frontier: Frontier, commits: Commits, leases: Leases) -> None:
        self._least, self._frontier = least, frontier
        self._commits, self._leases = commits, leases
        self._pages = self._below = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Watch the crawl's pages. Raises NotConfigured if the setting is 0."""
        parts = parts_of(crawler)
        least = parts.crawl.stop_harvest
        if not least:
            raise NotConfigured
        extension = cls(least, parts.frontier, parts.commits, parts.leases)
        crawler.signals.connect(extension.page_recorded, signals.item_scraped)
        return extension

    def page_recorded(self) -> None:
        """Count a page, and now and then look at what comes next."""
        self._pages += 1
        if self._pages % EVERY or self._commits.failed:
            return
        try:
            expected = forecast(self._frontier.cells(), AHEAD).next_harvest
        except LswcError as error:
            self._commits.fail(error)
            return
        self._below = self._below + 1 if expected is not None and expected < self._least else 0
        if self._below == IN_A_ROW:
            logger.info(
                "of the next %d pages %.2f %% should be relevant", AHEAD, 100 * (expected or 0)
            )
            self._leases.finish(REASON)
