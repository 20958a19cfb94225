"""Links a second through a frontier: offer 20, lease one, finish it, page after page.

``python -m benchmarks.frontier [--pages 3000] [--runs 3]``

Beside it, on the same links in the same run: Scrapy's scheduler with its memory queue (the
default), its disk queue and queuelib's SQLite queue. Each includes what it needs to know a URL
again: our frontier its fingerprint column, Scrapy its dupefilter. Every measurement is a process
of its own, so that none leaves the next a bigger heap.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.core.downloader import Downloader
from scrapy.core.scheduler import Scheduler
from scrapy.utils.test import get_crawler

from lswc.frontier.rules.contract import Terms
from lswc.frontier.rules.visit import Offer, Visit
from lswc.frontier.store.frontier import Frontier
from lswc.settings import LSWC_UNPROVEN_SHARE
from lswc.strategy import Anchor, Facts, Locality, PageLanguage, Status, encode, strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINKS = 20
CODE = encode(
    Facts(
        PageLanguage.TARGET,
        1,
        Status.RELEVANT,
        Status.UNDECIDED,
        Locality.ELSEWHERE,
        False,
        Anchor.NONE,
        False,
    )
)
RIVALS = {
    "Scrapy, memory queue": "",
    "Scrapy, disk queue": "scrapy.squeues.PickleFifoDiskQueue",
    "Scrapy, queuelib SQLite": "scrapy.squeues.PickleFifoSQLiteQueue",
}


def pages(hosts: int, number: int, seed: int = 1) -> Iterator[list[tuple[str, str]]]:
    """Yield the links (server, URL) of each page; about a third were seen before."""
    choose = random.Random(seed)
    space = number * LINKS
    for _ in range(number):
        links = []
        for _ in range(LINKS):
            page = choose.randrange(space)
            server = f"www.host{page % hosts}.co.th"
            links.append((server, f"http://{server}/some/folder/page{page}.html"))
        yield links


def new_sites(number: int) -> Iterator[list[tuple[str, str]]]:
    """Yield the links of each page, every one of which introduces a site."""
    for page in range(number):
        servers = [f"www.new{LINKS * page + link}.co.th" for link in range(LINKS)]
        yield [(server, f"http://{server}/some/folder/page.html") for server in servers]


def ours(
    spec: str, hosts: int, number: int, folder: Path, share: float = LSWC_UNPROVEN_SHARE,
    introduces: bool = False,
) -> float:  # fmt: skip
    """Return the seconds for so many pages; all sites are known, unless each link introduces one.

    ``share`` is that of the unproven sites: at 1 nothing is counted for it.
    """
    terms = Terms(unproven_share=share)
    frontier = Frontier(folder / "frontier.db", strategy(spec), {}, terms)
    _fill(frontier, 100 if introduces else hosts)
    start = perf_counter()
    found = new_sites(number) if introduces else pages(hosts, number)
    for now, links in enumerate(found):
        lease = frontier.lease(float(now))
        assert lease is not None
        offers = [Offer(url, server, server, CODE, PageLanguage.TARGET, 1) for server, url in links]
        frontier.commit(Visit(lease, outcome="html", relevant=True, offers=offers))
    took = perf_counter() - start
    frontier.close()
    return took


def _fill(frontier: Frontier, hosts: int) -> None:
    servers = [f"www.host{host}.co.th" for host in range(hosts)]
    frontier.offer([Offer(f"http://{s}/", s, s, CODE, PageLanguage.TARGET, 0) for s in servers])


def scrapys(queue: str) -> Callable[[int, int, Path], float]:
    def measure(hosts: int, number: int, folder: Path) -> float:
        queued = scheduler(queue, folder)
        for host in range(hosts):
            queued.enqueue_request(Request(f"http://www.host{host}.example.co.th/"))
        start = perf_counter()
        for links in pages(hosts, number):
            assert queued.next_request() is not None
            for _, url in links:
                queued.enqueue_request(Request(url))
        took = perf_counter() - start
        queued.close("finished")
        return took

    return measure


def scheduler(queue: str, folder: Path) -> Scheduler:
    # No handlers: nothing is downloaded, only asked how busy it is.
    settings: dict[str, Any] = {"DOWNLOAD_HANDLERS": {"http": None, "https": None}}
    if queue:
        settings |= {"SCHEDULER_DISK_QUEUE": queue, "JOBDIR": str(folder)}
    crawler = get_crawler(Spider, settings_dict=settings)
    spider = Spider.from_crawler(crawler, name="bench")
    crawler.spider = spider
    crawler.engine = SimpleNamespace(downloader=Downloader(crawler))
    made = Scheduler.from_crawler(crawler)
    made.open(spider)
    return made


MEASURES: dict[str, Callable[[int, int, Path], float]] = {
    "lswc, SQLite": partial(ours, "lswc"),
    "lswc, SQLite, learned order": partial(ours, "adaptive"),
    "  every link a new site": partial(ours, "adaptive", introduces=True),
    "  the same, without a share": partial(ours, "adaptive", share=1.0, introduces=True),
    **{name: scrapys(queue) for name, queue in RIVALS.items()},
}


def once(name: str, hosts: int, number: int) -> float:
    """Return the links a second of one measurement in a process of its own; 0 if it fails."""
    command = [sys.executable, "-m", __spec__.name, "--one", name, "--hosts", str(hosts)]
    done = subprocess.run(
        [*command, "--pages", str(number)], capture_output=True, text=True, check=False
    )
    return float(done.stdout) if done.returncode == 0 else 0.0


def compare(number: int, runs: int) -> None:
    """Print medians over runs, all taking turns."""
    for hosts in (1_000, 50_000):
        # Scrapy's default scans every host at each pop.
        length = number if hosts == 1_000 else number // 3
        results: dict[str, list[float]] = {name: [] for name in MEASURES}
        for _ in range(runs):
            for name in MEASURES:
                results[name].append(once(name, hosts, length))
        print(f"{hosts:,} hosts, {length:,} pages, {LINKS} links a page, median of {runs}")
        for name, speeds in results.items():
            spread = f"{min(speeds):,.0f} - {max(speeds):,.0f}"
            print(f"  {name:28} {statistics.median(speeds):>9,.0f} links/s   ({spread})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--one", choices=MEASURES)
    options = parser.parse_args()
    if options.one is None:
        compare(options.pages, options.runs)
        return
    with tempfile.TemporaryDirectory() as folder:
        took = MEASURES[options.one](options.hosts, options.pages, Path(folder))
    print(options.pages * LINKS / took)


if __name__ == "__main__":
    main()
