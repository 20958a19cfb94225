"""The outermost spider middleware: no callback ends without ending its lease."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from lswc.crawler.scheduler import LEASE, scheduler_of
from lswc.visit.record import Record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response


class LeaseGuardMiddleware:
    """Ends the lease of a page that brought no record.

    Of an output that is empty, or emptied by a middleware, Scrapy sends no signal.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        recorded = False
        async for item in result:
            recorded |= isinstance(item, Record)
            yield item
        if not recorded and LEASE in response.meta:
            scheduler_of(self._crawler).finish(response.meta[LEASE], "no record")
