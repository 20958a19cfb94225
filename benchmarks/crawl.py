"""CPU time of a crawl per page, beside the plainest CrawlSpider.

``python -m benchmarks.crawl [--hosts 50 1000] [--pages 2000] [--pairs 5] [--web FOLDER] [--tls]``

The server is a process of its own; what counts is the CPU time of the crawling process. The first
figure is that of a page more: from the end of the first quarter of the pages to the last page. The
second has start and end too, from the moment the spider is open to the moment it is closed: it says
what a short crawl costs.

Both crawl with the same concurrency, delay (none), robots.txt and number of pages: lswc with its
default strategy and with `soft_focused`, its frontier on disk and all safety on, without and with
WARC, and with a reader (LSWC_READERS), whose CPU time stands beside the figure, its start included.
Both follow links to the hosts of the seeds only: a frozen web has no other, and a failed visit
costs nearly as much as a page. For the same reason no sitemap is asked for.

The rival is a CrawlSpider with a LinkExtractor, which tells, checks and keeps nothing. Each runs in
turn, so that neighbours make a pair, whose figure is the rival's CPU time for a page more by that
of lswc.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule
from typing_extensions import override

from benchmarks.addresses import of_loopback, public
from lswc.settings import EXTENSIONS
from tests.resolvers import OverNames

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

PORT, RESULT, WEB = "BENCHMARK_PORT", "BENCHMARK_RESULT", "BENCHMARK_WEB"

COMMON: dict[str, Any] = {
    "DOWNLOAD_DELAY": 0,
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "ROBOTSTXT_OBEY": True,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "CRITICAL",  # Scrapy logs a traceback for every host that doesn't resolve
    "TWISTED_DNS_RESOLVER": "benchmarks.crawl.EveryName",
}
OURS: dict[str, dict[str, Any]] = {
    "lswc": {"LSWC_ARCHIVE": "none"},
    "lswc, WARC": {"LSWC_ARCHIVE": "all"},
    "lswc, soft_focused": {"LSWC_ARCHIVE": "none", "LSWC_PROFILE": "soft_focused"},
    "lswc, 1 reader": {"LSWC_ARCHIVE": "none", "LSWC_READERS": 1},
    "lswc, 1 reader, WARC": {"LSWC_ARCHIVE": "all", "LSWC_READERS": 1},
}
RIVAL = "CrawlSpider, LinkExtractor"
METER = {"benchmarks.crawl.Meter": 0}


class EveryName(OverNames):
    """Gives every name an address of its own, public to the crawl's filter, of loopback behind it.

    So limits by address (LSWC_MAX_PER_ADDRESS) are those of hosts on machines of their own.
    """

    def addresses(self, name: str) -> Sequence[str]:
        return [public(name)]

    def leads(self, name: str, port: int, address: str) -> int:
        return int(os.environ[PORT])

    @override
    def machine(self, address: str) -> str:
        return of_loopback(address)


class Meter:
    """Writes down a Cost, once the spider is closed."""

    def __init__(self, crawler: Crawler) -> None:
        self._pages = crawler.settings.getint("CLOSESPIDER_ITEMCOUNT")
        self._scraped = 0
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._page, signals.item_scraped)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self) -> None:
        self._since, self._at_start = process_time(), _resident()

    def _page(self) -> None:
        self._scraped += 1
        if self._scraped == self._pages // 4:
            self._warmed = process_time()
        elif self._scraped == self._pages:
            self._latest, self._at_end = process_time(), _peak()

    def _closed(self) -> None:
        readers = resource.getrusage(resource.RUSAGE_CHILDREN)
        cost = Cost(
            self._scraped,
            (self._latest - self._warmed) / (self._pages - self._pages // 4),
            (process_time() - self._since) / self._scraped,
            (readers.ru_utime + readers.ru_stime) / self._scraped,
            self._at_start,
            self._at_end,
            _peak(),
        )
        Path(os.environ[RESULT]).write_text(json.dumps(cost))


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


class Cost(NamedTuple):
    """What a crawl's process took for its ``pages``.

    CPU seconds of a page ``more``, and of one with ``all`` that the crawl took, and those of its
    ``readers``; MB of memory when the spider opened, the most until the last page, and the most.
    """

    pages: int
    more: float
    all: float
    readers: float
    at_start: float
    at_end: float
    peak: float


class Plain(CrawlSpider):
    """Follows every link of every page."""

    name = "plain"
    rules = (Rule(LinkExtractor(), callback="keep", follow=True),)

    def __init__(self, seeds: str) -> None:
        super().__init__(start_urls=Path(seeds).read_text().split())
        self.allowed_domains = hosts_of(os.environ[WEB])

    def keep(self, response: Response) -> Iterator[dict[str, Any]]:
        """Yield what is kept of a page."""
        yield {"url": response.url, "title": response.css("title::text").get()}


def hosts_of(web: str) -> list[str]:
    """Return the hosts of a frozen web's folder, outside which nothing is; none of made pages."""
    return sorted(host.name for host in Path(web).iterdir() if host.is_dir()) if web else []


def rival(settings: dict[str, Any], seeds: Path) -> None:
    """Run the rival in this process."""
    process = AsyncCrawlerProcess(settings)
    process.crawl(Plain, seeds=str(seeds))
    process.start()


def once(name: str, port: int, seeds: Path, pages: int) -> Cost:
    """Return what one crawl costs, by a process of its own."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        settings = COMMON | {"EXTENSIONS": METER, "CLOSESPIDER_ITEMCOUNT": pages}
        if name == RIVAL:
            command = [sys.executable, "-m", __spec__.name, "--rival", json.dumps(settings)]
            command += ["--seeds", str(seeds)]
        else:
            settings |= {
                "EXTENSIONS": json.dumps(EXTENSIONS | METER),
                "LSWC_CRAWL": folder / "crawl",
                "LSWC_CONTACT": "crawl@library.example",
                "LSWC_MAX_DUPLICATES": 0,
                "LSWC_STOP_HARVEST": 0,
                "LSWC_SITEMAPS": 0,
                "LSWC_READERS": 0,
                "LSWC_ALLOWED_DOMAINS": ",".join(hosts_of(os.environ[WEB])),
                **OURS[name],
            }
            command = [sys.executable, "-m", "scrapy", "crawl", "lswc"]
            command += ["-a", "lang=th", "-a", f"seeds={seeds}"]
            command += [part for k, v in settings.items() for part in ("-s", f"{k}={v}")]
        result = folder / "result.json"
        environment = {**os.environ, PORT: str(port), RESULT: str(result), "PYTHONPATH": "."}
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return Cost(*json.loads(result.read_text()))


@contextmanager
def serving(arguments: Sequence[str]) -> Iterator[int]:
    """Run a server while the block lasts; gives its port."""
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        try:
            yield int("".join(filter(str.isdigit, line.partition(", ")[0].rpartition(":")[2])))
        finally:
            server.terminate()


def compare(title: str, server: Sequence[str], seeds: Path, options: argparse.Namespace) -> None:
    """Print what each needs for a page on one web, and how that compares pair by pair."""
    names = [name for name in OURS if name in options.only or not options.only]
    results: dict[str, list[Cost]] = {name: [] for name in (RIVAL, *names)}
    with serving(server) as port:
        for _ in range(options.pairs):
            for name, runs in results.items():
                runs.append(once(name, port, seeds, options.pages))
    print(f"\n{title}: {options.pairs} rounds of {options.pages:,} pages")
    for name, runs in results.items():
        pairs = zip(results[RIVAL], runs, strict=True)
        ratios = sorted(theirs.more / ours.more for theirs, ours in pairs)
        cost = Cost(*map(statistics.median, zip(*runs, strict=True)))
        print(
            f"{name:28}{1000 * cost.more:6.2f} ms CPU a page more"
            f"   x {statistics.median(ratios):.2f} ({ratios[0]:.2f} - {ratios[-1]:.2f})"
            f"   with start and end {1000 * cost.all:6.2f} ms"
            f"   readers {1000 * cost.readers:.2f} ms"
            f"   MB {cost.at_start:.0f}, {cost.at_end:.0f}, {cost.peak:.0f}",
            flush=True,
        )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="*", default=[50, 1_000])
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--web", help="a frozen web's folder, instead of made pages")
    parser.add_argument("--seeds", type=Path, help="its seeds")
    parser.add_argument("--rival", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="*", default=[], choices=OURS, help="of lswc's: these")
    parser.add_argument("--tls", action="store_true", help="made pages by https")
    options = parser.parse_args()
    if options.rival:
        rival(options.rival, options.seeds)
        return
    os.environ[WEB] = options.web or ""
    with tempfile.TemporaryDirectory() as temporary:
        seeds = Path(temporary) / "seeds.txt"
        if options.web:
            server = ["benchmarks.peer_crawls.server", options.web, os.devnull]
            server += [str(options.seeds), "--delay", "0"]
            compare(options.web, server, options.seeds, options)
            return
        scheme = "https" if options.tls else "http"
        for hosts in options.hosts:
            lines = (f"{scheme}://www.host{host}.co.th/" for host in range(hosts))
            seeds.write_text("\n".join(lines))
            server = ["benchmarks.made_web", "--hosts", str(hosts), "--scheme", scheme]
            compare(f"{hosts:,} hosts, {scheme}", server, seeds, options)


if __name__ == "__main__":
    main()
