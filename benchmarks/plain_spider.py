"""A crawl with plain scrapy-redis, for ``benchmarks/workers.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.linkextractors import LinkExtractor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import TextResponse


class PlainSpider(Spider):
    """Follows every link from ``-a seed=URL``."""

    name = "plain"

    async def start(self) -> AsyncIterator[Any]:
        """Yield the seed."""
        yield Request(vars(self)["seed"])

    def parse(self, response: TextResponse, **kwargs: Any) -> Iterator[Request]:
        """Yield a request for every link."""
        for link in LinkExtractor().extract_links(response):
            yield Request(link.url)
