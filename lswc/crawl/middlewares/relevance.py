"""How relevant a page's servers are, and how far its links are from a relevant page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from lswc.crawl.page_item import Page
from lswc.crawl.running import RunningCrawl, running_of
from lswc.errors import LswcError
from lswc.strategy import distance_of, next_distance

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class ServerRelevanceMiddleware(BaseSpiderMiddleware):
    """Adds the status of the page's server, and of every link's target if the strategy asks for it.

    Taken after this page was counted (Tamura 2007 Fig. 3); directories instead of servers if
    the strategy counts by them.
    """

    def __init__(self, crawler: Crawler, running: RunningCrawl) -> None:
        super().__init__(crawler)
        self._running = running
        self._of_links = "target_server" in running.crawl.strategy.facts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, running_of(crawler))

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            lease = item.visit.lease
            units = {lease.unit, *(item.units if self._of_links else ())}
            try:
                item.statuses = self._running.frontier.statuses(units, lease, item.relevant)
            except LswcError as error:
                self._running.fail(error)
                return None
            item.server_status = item.statuses[lease.unit]
        return item


class ReferrerDistanceMiddleware(BaseSpiderMiddleware):
    """Adds the distance of the page's links from the latest relevant referrer (Kumar §III)."""

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            own = distance_of(item.visit.lease.code)
            item.link_distance = next_distance(item.relevant, own)
        return item
