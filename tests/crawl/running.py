"""A crawl that is set up as any is, for the tests of its components."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

from scrapy.utils.test import get_crawler

from lswc import settings as defaults
from lswc.crawl.requests import request_for
from lswc.crawl.spider import LswcSpider

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy import Request
    from scrapy.crawler import Crawler

    from lswc.crawl.composition import Parts
    from lswc.frontier.rules.visit import Visit


class SetUp:
    """A crawler with a crawl in memory, of the given seeds; nothing runs."""

    def __init__(self, folder: Path, *seeds: str, **settings: object) -> None:
        file = folder / "seeds.txt"
        file.write_text("\n".join(seeds or ["http://a.example/"]), "utf-8")
        given = {name: value for name, value in vars(defaults).items() if name.isupper()}
        given |= {
            "LSWC_CONTACT": "https://library.example/",
            "LSWC_CRAWL": str(folder / "crawl"),
            "LSWC_FRONTIER": ":memory:",
            "LSWC_STRATEGY": "bfs",
            "LSWC_TRY_AGAIN": [],
            "LSWC_READERS": 0,
            "DOWNLOAD_HANDLERS": {},  # which Scrapy's get_crawler sets
        }
        self.crawler: Crawler = get_crawler(LswcSpider, given | settings)
        self.spider = LswcSpider.from_crawler(self.crawler, lang="th", seeds=str(file))
        self.crawler.spider = self.spider

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.parts.close()

    @cached_property
    def parts(self) -> Parts:
        """The parts of the crawl; its seeds are offered."""
        parts = self.spider.parts
        parts.leases.open()
        return parts

    def visit(self, now: float = 0.0) -> Visit:
        """Lease the next URL."""
        return cast("Visit", self.parts.leases.lease(now))

    def request(self, visit: Visit, **meta: Any) -> Request:
        """Return the request for a visit."""
        request = request_for(
            visit, self.parts.crawl.headers, self.spider.parse, self.parts.commits.errback
        )
        request.meta.update(meta)
        return request
