"""The Redis frontier beside scrapy-redis 0.9.1, on the same redis-server in the same run.

``python -m benchmarks.redis_frontier [--pages 3000] [--runs 3]`` from the project's folder:
offer 20 links, lease one, finish it, page after page, by one process and by two; and bytes per
URL. scrapy-redis does the same with its priority queue and its dupefilter. With ``--shards``: the
same over one, two and three servers, by one process; links per second of the servers' processors.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import redis
from scrapy import Request, Spider
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import PriorityQueue

from benchmarks.frontier import LINKS, pages
from lswc.frontier.redis import RedisFrontier
from lswc.frontier.sharded import ShardedFrontier
from lswc.frontier.visit import Offer, Visit
from lswc.strategy import Anchor, Facts, Locality, PageLanguage, Status, encode, strategy
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from lswc.frontier import Frontier

HOSTS = 1000
WHOSE = ("adaptive", "lswc", "scrapy-redis")
"""The default strategy, another of ours, and the other's frontier."""

CODES = [
    encode(Facts(language, distance, Status.RELEVANT, Status.UNVISITED, where, False, words, False))
    for language, distance in ((PageLanguage.TARGET, 1), (PageLanguage.OTHER, 2))
    for where in Locality
    for words in Anchor
]
"""Of links on pages in the crawl's language, and on others: wherever they lead, in any words."""


def offers(links: list[tuple[str, str]]) -> list[Offer]:
    """Return the links as the frontier takes them."""
    return [
        Offer(url, host, host, CODES[n % len(CODES)], PageLanguage.TARGET, 3)
        for n, (host, url) in enumerate(links)
    ]


def ours(spec: str, client: redis.Redis, number: int, seed: int) -> float:
    """Return the seconds that so many pages take."""
    return crawled(RedisFrontier(client, "bench", strategy(spec), {}), number, seed)


def crawled(frontier: Frontier, number: int, seed: int) -> float:
    """Return the seconds that so many pages take in a frontier."""
    frontier.offer(offers([(f"seed{n}", f"http://seed{n}/") for n in range(100)]))
    start = perf_counter()
    for links in pages(HOSTS, number, seed):
        lease = frontier.lease(0.0)
        assert lease is not None
        frontier.commit(
            Visit(lease, outcome="html", relevant=len(lease.url) % 3 > 0, offers=offers(links))
        )
    return perf_counter() - start


def on_servers(spec: str, servers: list[RedisServer], number: int) -> tuple[float, list[float]]:
    """Return links a second of the servers' processors, and each server's share of the work."""
    clients = [redis.Redis.from_url(server.url) for server in servers]
    for client in clients:
        client.flushall()
    before = [cpu(client) for client in clients]
    if len(clients) == 1:
        ours(spec, clients[0], number, 0)
    else:
        crawled(ShardedFrontier(clients, "bench", strategy(spec), {}), number, 0)
    clients = [redis.Redis.from_url(server.url) for server in servers]
    spent = [cpu(client) - then for client, then in zip(clients, before, strict=True)]
    return number * LINKS / sum(spent), [part / sum(spent) for part in spent]


def cpu(client: redis.Redis) -> float:
    """Return the seconds of the processor that a server has used."""
    used = client.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def report_shards(number: int, runs: int) -> None:
    """Print what one, two and three servers do of the same work."""
    with ExitStack() as stack:
        servers = []
        for _ in range(3):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            servers.append(RedisServer(Path(folder)))
            stack.callback(servers[-1].stop)
        for spec in WHOSE[:2]:
            for _ in range(runs):
                for many in (1, 2, 3):
                    rate, shares = on_servers(spec, servers[:many], number)
                    parts = ", ".join(f"{share:.0%}" for share in shares)
                    print(f"{spec}, {many} servers: {rate:,.0f} links/s of CPU; {parts}")


class Plain(Spider):
    """What scrapy-redis wants to know of a spider."""

    name = "bench"

    def parse(self, response: Any) -> None:
        """Be the callback of the requests."""


def theirs(client: redis.Redis, number: int, seed: int) -> float:
    """Return the seconds that scrapy-redis takes for the same."""
    spider = Plain()
    queue = PriorityQueue(client, spider, "bench:requests")
    known = RFPDupeFilter(client, "bench:dupefilter")
    start = perf_counter()
    for links in pages(HOSTS, number, seed):
        for _, url in links:
            request = Request(url, callback=spider.parse, meta={"depth": 3})
            if not known.request_seen(request):
                queue.push(request)
        queue.pop()
    return perf_counter() - start


def process(url: str, whose: str, number: int, seed: int) -> subprocess.Popen[str]:
    """Start one worker's share in a process of its own; it prints its seconds."""
    command = [sys.executable, "-m", "benchmarks.redis_frontier", "--worker", whose]
    command += ["--url", url, "--pages", str(number), "--seed", str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def links_per_second(server: RedisServer, whose: str, number: int, workers: int) -> float:
    """Return what that many workers do together on an empty Redis."""
    with redis.Redis.from_url(server.url) as client:
        client.flushall()
    running = [process(server.url, whose, number, seed) for seed in range(workers)]
    seconds = [float(worker.communicate()[0]) for worker in running]
    return workers * number * LINKS / max(seconds)


def bytes_per_url(server: RedisServer, whose: str, number: int) -> float:
    """Return the bytes of Redis's memory per URL that waits."""
    with redis.Redis.from_url(server.url) as client:
        client.flushall()
        before = client.info("memory")["used_memory"]
        if whose == "scrapy-redis":
            theirs(client, number, 0)
            urls = int(client.zcard("bench:requests"))
        else:
            ours(whose, client, number, 0)
            urls = RedisFrontier(client, "bench", strategy(whose), {}).pending
        return float(client.info("memory")["used_memory"] - before) / urls


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--worker", choices=WHOSE)
    parser.add_argument("--url")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--shards", action="store_true")
    given = parser.parse_args()
    if given.worker:
        work = theirs if given.worker == "scrapy-redis" else partial(ours, given.worker)
        with redis.Redis.from_url(given.url) as client:
            print(work(client, given.pages, given.seed))
        return
    if given.shards:
        report_shards(given.pages, given.runs)
        return
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(Path(folder))
        try:
            report(server, given.pages, given.runs)
        finally:
            server.stop()


def report(server: RedisServer, number: int, runs: int) -> None:
    """Print links a second (median [least .. most]) and bytes a URL."""
    rates: dict[tuple[str, int], list[float]] = {}
    for _ in range(runs):
        for whose in WHOSE:
            for workers in (1, 2):
                rate = links_per_second(server, whose, number, workers)
                rates.setdefault((whose, workers), []).append(rate)
    for (whose, workers), found in rates.items():
        middle = statistics.median(found)
        print(
            f"{whose}, {workers} worker(s): {middle:,.0f} links/s "
            f"[{min(found):,.0f} .. {max(found):,.0f}]"
        )
    for whose in WHOSE:
        print(f"{whose}: {bytes_per_url(server, whose, number):.0f} bytes per URL that waits")


if __name__ == "__main__":
    main()
