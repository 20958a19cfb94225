"""The last pipeline: writes a page's record, then ends its lease."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Self

from lswc.crawl import PAGES, crawl_of
from lswc.page import Page
from lswc.record import Record
from lswc.scheduler import scheduler_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class RecordPipeline:
    """Appends records to ``pages.jsonl`` in the crawl folder.

    The record is written before the frontier commits the page, and the frontier remembers how
    long the file is; what a killed crawl wrote beyond that is cut on resume, so no line is torn
    and no page is in the file twice. When it can't write, the crawl stops in order and the page
    stays pending.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def open_spider(self) -> None:
        self._scheduler = scheduler_of(self._crawler)
        path = crawl_of(self._crawler).folder / PAGES
        # Unbuffered: a line is in the system's hands before its page is committed.
        self._file: IO[bytes] = path.open("ab", buffering=0)
        self._end = min(self._file.tell(), self._scheduler.frontier.records())
        self._file.truncate(self._end)

    def close_spider(self) -> None:
        self._file.close()

    def process_item(self, item: Any) -> Any:
        """Write a Record; other items pass. A Page is a TypeError: a middleware is missing."""
        if isinstance(item, Page):
            raise TypeError(
                "a Page reached the pipelines: StrategyMiddleware is missing in SPIDER_MIDDLEWARES"
            )
        if isinstance(item, Record) and not self._scheduler.failed:
            self._store(item)
        return item

    def _store(self, record: Record) -> None:
        line = record.line()
        try:
            written = self._file.write(line)
        except OSError as error:
            self._scheduler.fail(f"can't write {PAGES}: {error.strerror}")
            return
        if written != len(line):
            self._scheduler.fail(f"can't write {PAGES}: no space left")
            return
        if self._scheduler.finish(record.id, "html", self._end + written):
            self._end += written
        elif not self._scheduler.failed:
            self._file.truncate(self._end)  # the lease expired: another worker records the page
