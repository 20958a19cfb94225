"""Ends a crawl once what a test waits for was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy import signals

from lswc.crawl.composition import parts_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from lswc.frontier.rules.visit import Record


class Until:
    """Ends the crawl once each of TEST_UNTIL was recorded: a URL and what became of it.

    And TEST_FINISHED URLs have ended: on a slow machine pages that are due again come first.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._parts = parts_of(crawler)
        self._left = set(crawler.settings.getlist("TEST_UNTIL"))
        self._finished = crawler.settings.getint("TEST_FINISHED")
        crawler.signals.connect(self._recorded, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _recorded(self, item: Record) -> None:
        self._left.discard(f"{item.change} {item.url}")
        if self._left:
            return
        if sum(self._parts.frontier.counts().tally["finished"].values()) >= self._finished:
            self._parts.commits.stop("finished")
