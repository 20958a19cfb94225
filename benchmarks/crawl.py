"""Pages a second of a whole crawl of the demo web, beside the plainest CrawlSpider.

``python -m benchmarks.crawl [--runs 3]``

Both crawl the same pages breadth-first, from the same server in their own process, with the same
delay (none), depth, concurrency and robots.txt. Ours tells every page's language and keeps its
frontier on disk, once without and once with the archive; the CrawlSpider follows every link of a
LinkExtractor and keeps its queue in memory. The three take turns.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from lswc import web

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

COMMON = {
    "DOWNLOAD_DELAY": 0,
    "DEPTH_LIMIT": 12,
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "ROBOTSTXT_OBEY": True,
    "COOKIES_ENABLED": False,
    "TWISTED_DNS_RESOLVER": "lswc.crawler.transport.resolver.Resolver",
    "LOG_LEVEL": "ERROR",
}
OURS = {"lswc": "none", "lswc, archive on": "all"}
RIVAL = "CrawlSpider, LinkExtractor"


class Plain(CrawlSpider):
    """Follows every link of every page."""

    name = "plain"
    rules = (Rule(LinkExtractor(), callback="keep", follow=True),)

    def keep(self, response: Response) -> Iterator[dict[str, Any]]:
        yield {"url": response.url, "title": response.css("title::text").get()}


def rival(folder: Path, crawl: Path) -> None:
    seeds = (folder / "seeds-th.txt").read_text().split()
    # CRITICAL: it logs a traceback for every host that doesn't resolve.
    process = AsyncCrawlerProcess({**COMMON, "LSWC_WEB": str(folder), "LOG_LEVEL": "CRITICAL"})
    crawler = process.create_crawler(Plain)
    process.crawl(crawler, start_urls=seeds)
    process.start()
    _write(crawl, crawler.stats.get_stats())


def _write(crawl: Path, stats: dict[str, Any]) -> None:
    crawl.mkdir(parents=True)
    pages, seconds = stats["item_scraped_count"], stats["elapsed_time_seconds"]
    (crawl / "result.json").write_text(json.dumps([pages, seconds]))


def ours(folder: Path, crawl: Path, archive: str) -> None:
    settings = {**COMMON, "LSWC_WEB": folder, "LSWC_CRAWL": crawl, "LSWC_PROFILE": "bfs",
                "LSWC_ARCHIVE": archive, "STATS_DUMP": True, "LOG_LEVEL": "INFO"}  # fmt: skip
    command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th"]
    command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    line = next(line for line in done.stderr.splitlines() if "elapsed_time_seconds" in line)
    pages = json.loads((crawl / "summary.json").read_text())["pages"]
    (crawl / "result.json").write_text(json.dumps([pages, float(line.split()[-1].rstrip(",}"))]))


def once(name: str, folder: Path) -> tuple[int, float, float]:
    """Return pages, seconds and CPU seconds of one crawl, by a process of its own."""
    before = _cpu()
    with tempfile.TemporaryDirectory() as temporary:
        crawl = Path(temporary) / "crawl"
        if name == RIVAL:
            subprocess.run(
                [sys.executable, "-m", __spec__.name, "--one", folder, crawl], check=True
            )
        else:
            ours(folder, crawl, OURS[name])
        pages, seconds = json.loads((crawl / "result.json").read_text())
        return pages, seconds, _cpu() - before


def _cpu() -> float:
    """Return the CPU seconds of all processes started so far that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", nargs=2, type=Path, metavar=("WEB", "OUT"))
    options = parser.parse_args()
    if options.one:
        rival(*options.one)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = web.prepare("demo", Path(temporary))
        assert folder is not None
        results: dict[str, list[tuple[int, float, float]]] = {name: [] for name in (*OURS, RIVAL)}
        for _ in range(options.runs):
            for name, runs in results.items():
                runs.append(once(name, folder))
    for name, runs in results.items():
        speeds = [pages / seconds for pages, seconds, _ in runs]
        cpu = statistics.median(used / pages * 1000 for pages, _, used in runs)
        spread = f"{min(speeds):.0f} - {max(speeds):.0f}"
        print(
            f"{name:28}{runs[0][0]:>7,} pages {statistics.median(speeds):7.0f} pages/s ({spread})"
            f"  {cpu:5.2f} ms CPU a page, start included; medians of {options.runs}"
        )


if __name__ == "__main__":
    main()
