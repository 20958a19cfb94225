"""Crawls of one frozen web by several strategies, in the papers' order and in one process.

``python -m tests.lab.trace.crawls WEB FOLDER STRATEGY ...`` crawls into ``FOLDER/<strategy>``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.utils.project import get_project_settings

from lswc.crawl.spider import LswcSpider


def crawler(web: str, folder: Path, name: str) -> Crawler:
    """Return a crawl by one strategy."""
    settings = get_project_settings()
    given = {
        "DOWNLOAD_DELAY": 0,
        "LSWC_ARCHIVE": "none",
        "LSWC_CRAWL": str(folder / name),
        "LSWC_IN_ORDER": 1,
        "LSWC_PROFILE": "bfs,as_in_the_paper",
        "LSWC_READERS": 0,
        "LSWC_STRATEGY": name,
        "LSWC_WEB": web,
        "RETRY_ENABLED": False,
    }
    settings.setdict(given, priority="cmdline")
    return Crawler(LswcSpider, settings)


def main(web: str, folder: Path, names: list[str]) -> None:
    """Crawl by each strategy; all of them share the reactor and the web's server."""
    shared = get_project_settings()
    shared.set("LSWC_WEB", web)  # for the resolver
    process = AsyncCrawlerProcess(shared)
    for name in names:
        process.crawl(crawler(web, folder, name), lang="th")
    process.start()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
