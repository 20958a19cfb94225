"""What a link's own address says of its target's language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from lswc.crawl.page_item import Page
from lswc.crawl.running import running_of
from lswc.urls import tld

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class LinkLanguageMiddleware(BaseSpiderMiddleware):
    """Adds whether the target's TLD is the language's (Chan & Yamana 2010 §3).

    The other half, the anchor text's language, was told when the page was read.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._tlds = frozenset(running_of(crawler).crawl.language.tlds)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            names = {link.url.hostname for link in item.links}
            item.in_tld = {name for name in names if tld(name) in self._tlds}
        return item
