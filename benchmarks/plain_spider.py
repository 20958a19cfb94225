"""A crawl with plain scrapy-redis, for ``benchmarks/workers.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import TextResponse
from scrapy.linkextractors import LinkExtractor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class PlainSpider(Spider):
    """Follows every link from ``-a seed=URL``."""

    name = "plain"

    async def start(self) -> AsyncIterator[Any]:
        """Yield the seed."""
        yield Request(vars(self)["seed"])

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Yield a request for every link."""
        if not isinstance(response, TextResponse):
            return
        for link in LinkExtractor().extract_links(response):
            yield Request(link.url)
