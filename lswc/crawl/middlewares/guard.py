"""The outermost spider middleware: no callback ends without ending its visit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy import Request

from lswc.crawl.requests import visit_of
from lswc.crawl.running import RunningCrawl, running_of
from lswc.frontier.page_record import Record
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from lswc.frontier.visit import Visit


class VisitGuardMiddleware:
    """Ends the visit of a page that brought no record, and doesn't go on with another request.

    Of an output that is empty, or emptied by a middleware, Scrapy sends no signal.
    """

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(running_of(crawler))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        visit = visit_of(response)
        goes_on = False
        async for item in result:
            goes_on |= isinstance(item, Record) or _is_of(visit, item)
            yield item
        if visit is not None and not goes_on:
            self._running.commit(visit, Outcome.NO_RECORD)


def _is_of(visit: Visit | None, item: object) -> bool:
    return visit is not None and isinstance(item, Request) and visit_of(item) is visit
