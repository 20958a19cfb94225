"""The last pipeline: hands a page's record over, which ends its lease."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from lswc.crawler.scheduler import scheduler_of
from lswc.reading.page import Page
from lswc.visit.record import Record

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class RecordPipeline:
    """Ends the leases of the pages whose records reach it; the scheduler stores the records.

    So a page that another pipeline drops has no record.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def open_spider(self) -> None:
        self._scheduler = scheduler_of(self._crawler)

    def process_item(self, item: Any) -> Any:
        """Take a Record; other items pass. A Page is a TypeError: a middleware is missing."""
        if isinstance(item, Page):
            raise TypeError(
                "a Page reached the pipelines: StrategyMiddleware is missing in SPIDER_MIDDLEWARES"
            )
        if isinstance(item, Record):
            self._scheduler.finish(item.id, "html", item)
        return item
