"""What a link's own words say of its target's language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from lswc.crawl import crawl_of
from lswc.page import Page
from lswc.urls import tld

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class LinkLanguageMiddleware(BaseSpiderMiddleware):
    """Adds whether the target's TLD is the language's, and the anchor text's language.

    Chan & Yamana 2010 §3.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        crawl = crawl_of(crawler)
        self._tlds = frozenset(crawl.language.tlds)
        self._identifier = crawl.identifier

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            hint = item.identification.language
            for link in item.links:
                link.tld = tld(link.url.hostname) in self._tlds
                link.anchor = self._identifier.anchor(link.text, hint)
        return item
