"""Work of four workers of which two are killed, with lswc and with plain scrapy-redis 0.9.1.

``python -m benchmarks.workers [--pages 480]`` from the project's folder. One real web on
loopback, one Redis, four processes; two of them get SIGKILL when a quarter of the pages was
asked for. Printed: pages never fetched, pages fetched twice, and workers that quit while more
than a tenth of the pages was still to come.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from tests.frontier.redis_server import RedisServer
from tests.scenarios.shared_web import PORT, SharedWeb
from tests.scenarios.site import ENGLISH, ROOT, THAI, page

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVERS, DELAY = 40, 0.2
COMMON = {
    "DOWNLOAD_DELAY": DELAY,
    "CONCURRENT_REQUESTS": 16,
    "TWISTED_DNS_RESOLVER": "tests.scenarios.shared_web.Resolver",
}
LSWC = {
    "LSWC_LEASE_SECONDS": 5,
    "LSWC_CONTACT": "https://example.org/",
    "LSWC_STOP_HARVEST": 0,  # the whole web is to be fetched, by the default strategy
    "LSWC_SITEMAPS": 0,
}
SCRAPY_REDIS = {
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "DOWNLOAD_DELAY_JITTER": 0,
    "ROBOTSTXT_OBEY": True,
}


def graph(total: int, servers: int = SERVERS) -> dict[str, str]:
    """Return a random graph of pages, every one of them reachable from the first."""
    choose = random.Random(1)
    urls = [f"http://www.s{n % servers}.example/{n // servers}.html" for n in range(total)]
    return {
        url: page(
            THAI if n % 3 else ENGLISH,
            *choose.sample(urls, 4),
            *urls[2 * n + 1 : 2 * n + 3],
            anchor=("", ENGLISH, THAI)[n // 3 % 3],
        )
        for n, url in enumerate(urls)
    }


def command(name: str, folder: Path, number: int, redis_url: str, seed: str) -> list[str]:
    """Return the command that starts one worker."""
    scrapy = [sys.executable, "-m", "scrapy"]
    if name == "lswc":
        own = {"LSWC_FRONTIER": redis_url, "LSWC_CRAWL": folder / str(number), **LSWC}
        (folder / "seeds.txt").write_text(seed)
        start = [*scrapy, "crawl", "lswc", "-a", "lang=th", "-a", f"seeds={folder}/seeds.txt"]
    else:
        persist = "persist" in name
        own = {"REDIS_URL": redis_url, "SCHEDULER_PERSIST": persist, **SCRAPY_REDIS}
        spider = str(ROOT / "benchmarks" / "plain_spider.py")
        start = [*scrapy, "runspider", spider, "-a", f"seed={seed}"]
    settings = {**COMMON, **own}
    return start + [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]


def run(name: str, pages: Mapping[str, str]) -> str:
    """Crawl with four workers, kill two, wait for the rest; return what happened."""
    total = len(pages)
    with tempfile.TemporaryDirectory() as temporary, SharedWeb(pages) as web:
        folder = Path(temporary)
        redis = RedisServer(folder)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), PORT: str(web.port)}
        workers = [
            subprocess.Popen(
                command(name, folder, number, redis.url, next(iter(pages))),
                cwd=ROOT if name == "lswc" else folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for number in range(4)
        ]
        victims, quitters = workers[1:3], set()
        while any(worker.poll() is None for worker in workers):
            fetched = len(set(web.fetched))
            if victims and fetched > total / 4:
                for victim in victims:
                    victim.kill()
                victims = []
            if fetched < total * 0.9:
                quitters |= {worker.pid for worker in workers if worker.poll() == 0}
            sleep(0.05)
        redis.stop()
        fetched = len(set(web.fetched) & set(pages))
        return (
            f"{name}: {total - fetched} of {total} lost, {len(web.fetched) - fetched} fetched "
            f"twice, {len(quitters)} workers quit early, "
            f"least gap {web.shortest_gap():.3f} s at a delay of {DELAY} s"
        )


def main() -> None:
    """Run the three, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=480)
    pages = graph(parser.parse_args().pages)
    for name in ("lswc", "scrapy-redis", "scrapy-redis, persist"):
        print(run(name, pages), flush=True)


if __name__ == "__main__":
    main()
