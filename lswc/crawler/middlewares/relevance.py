"""How relevant a page's servers are, and how far its links are from a relevant page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from lswc.crawler.scheduler import scheduler_of
from lswc.reading.page import Page
from lswc.strategy import distance_of, next_distance

if TYPE_CHECKING:
    from scrapy.http import Response


class ServerRelevanceMiddleware(BaseSpiderMiddleware):
    """Adds the status of the page's server and of every link's target.

    Taken after this page was counted (Tamura 2007 Fig. 3); directories instead of servers if
    the strategy counts by them.
    """

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            frontier = scheduler_of(self.crawler).frontier
            units = {link.unit for link in item.links} | {item.lease.unit}
            statuses = frontier.statuses(units, item.lease, item.relevant)
            item.server_status = statuses[item.lease.unit]
            for link in item.links:
                link.target_server = statuses[link.unit]
        return item


class ReferrerDistanceMiddleware(BaseSpiderMiddleware):
    """Adds the distance of the page's links from the latest relevant referrer (Kumar §III)."""

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            item.link_distance = next_distance(item.relevant, distance_of(item.lease.code))
        return item
