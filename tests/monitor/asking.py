"""Extension of Scrapy that asks a running crawl how it goes, as Prometheus and Docker do."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Self
from urllib.request import urlopen

from scrapy import signals

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

PATHS = ("metrics", "health")


class Asks:
    """Writes status, type and body of each answer into TEST_SAID, at each page."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._said = Path(crawler.settings["TEST_SAID"])
        crawler.signals.connect(self._page, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def _page(self) -> None:
        address = str(self._stats.get_value("lswc/metrics")).removesuffix(PATHS[0])
        said = {path: await asyncio.to_thread(_ask, address + path) for path in PATHS}
        self._said.write_text(json.dumps(said), "utf-8")


def _ask(url: str) -> tuple[int, str, str]:
    with urlopen(url) as answer:
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
