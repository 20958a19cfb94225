"""The last pipeline: a page whose record reaches it is committed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from lswc.crawl.page_item import Page
from lswc.crawl.running import RunningCrawl, running_of
from lswc.frontier.page_record import Record
from lswc.outcomes import Outcome
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class RecordPipeline:
    """Ends the visits of the pages whose records reach it.

    So a page that another pipeline drops has no record.
    """

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(running_of(crawler))

    def process_item(self, item: Any) -> Any:
        """Take a Record; other items pass. A Page is a TypeError: a middleware is missing."""
        if isinstance(item, Page):
            raise TypeError(
                "a Page reached the pipelines: StrategyMiddleware is missing in SPIDER_MIDDLEWARES"
            )
        visit = self._running.visits.get(item.id) if isinstance(item, Record) else None
        if visit is not None and visit.relevant is not None:  # else it is of an earlier lease
            visit.record = item
            is_html = item.kind == Kind.HTML
            self._running.commit(visit, Outcome.HTML if is_html else Outcome.DOCUMENT)
        return item
