"""The Redis frontier beside scrapy-redis 0.9.1, on the same redis-server in the same run.

``python -m benchmarks.redis_frontier [--pages 3000] [--runs 3]`` from the project's folder:
offer 20 links, lease one, finish it, page after page, by one process and by two; and bytes per
URL. scrapy-redis does the same with its priority queue and its dupefilter. With ``--shards``: the
same over one, two and three servers, by one process, and three crawls by turns on a server each;
links per second of the servers' processors. With ``--home 18`` so many of the links stay on their
server. With ``--instructions``: what a page more of one server and of three takes, counted by
valgrind (callgrind). That doesn't depend on what else the machine does; it takes some minutes.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from itertools import cycle, islice
from math import inf
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import redis
from scrapy import Request, Spider
from scrapy_redis.dupefilter import RFPDupeFilter
from scrapy_redis.queue import PriorityQueue

from benchmarks.frontier import LINKS, pages
from lswc.frontier import redis_order, sharded
from lswc.frontier.redis import RedisFrontier
from lswc.frontier.sharded import ShardedFrontier
from lswc.frontier.visit import Offer, Visit
from lswc.strategy import Anchor, Facts, Locality, PageLanguage, Status, encode, strategy
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    return crawled([RedisFrontier(client, "bench", strategy(spec), {})], number, seed)


def crawled(
    frontiers: Sequence[Frontier],
    number: int,
    seed: int,
    home: int = 0,
    first: int | None = None,
) -> float:
    """Return the seconds that so many pages take, or the first of them, in frontiers by turns.

    So many links of each page stay at ``home``: on its web server.
    """
    for frontier in frontiers:
        frontier.offer(offers([(f"seed{n}", f"http://seed{n}/") for n in range(100)]))
    start = perf_counter()
    found = islice(pages(HOSTS, number, seed), first)
    for links, frontier in zip(found, cycle(frontiers), strict=False):
        lease = frontier.lease(0.0)
        assert lease is not None
        own = [(lease.server, url.replace(host, lease.server)) for host, url in links[:home]]
        to = offers(own + links[home:])
        frontier.commit(Visit(lease, outcome="html", relevant=len(lease.url) % 3 > 0, offers=to))
    return perf_counter() - start


def over(spec: str, servers: Sequence[RedisServer], apart: bool = False) -> list[Frontier]:
    """Return an empty frontier over servers; one on each if they are ``apart``."""
    clients = [redis.Redis.from_url(server.url) for server in servers]
    for client in clients:
        client.flushall()
    chosen = strategy(spec)
    if apart or len(clients) == 1:
        return [RedisFrontier(client, "bench", chosen, {}) for client in clients]
    return [ShardedFrontier(clients, "bench", chosen, {})]


def on_servers(
    spec: str, servers: Sequence[RedisServer], number: int, home: int, apart: bool
) -> tuple[float, list[float]]:
    """Return links a second of the servers' processors, and each server's share of the work."""
    frontiers = over(spec, servers, apart)
    clients = [redis.Redis.from_url(server.url) for server in servers]
    before = [cpu(client) for client in clients]
    crawled(frontiers, number, 0, home)
    spent = [cpu(client) - then for client, then in zip(clients, before, strict=True)]
    return number * LINKS / sum(spent), [part / sum(spent) for part in spent]


def cpu(client: redis.Redis) -> float:
    """Return the seconds of the processor that a server has used."""
    used = client.info("cpu")
    return float(used["used_cpu_user"]) + float(used["used_cpu_sys"])


def report_shards(number: int, runs: int, home: int) -> None:
    """Print what one, two and three servers do of the same work."""
    with ExitStack() as stack:
        servers = []
        for _ in range(3):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            servers.append(RedisServer(Path(folder)))
            stack.callback(servers[-1].stop)
        for spec in WHOSE[:2]:
            for _ in range(runs):
                for many, apart in ((1, False), (2, False), (3, False), (3, True)):
                    rate, shares = on_servers(spec, servers[:many], number, home, apart)
                    parts = ", ".join(f"{share:.0%}" for share in shares)
                    what = "crawls, a server each" if apart else "servers"
                    print(f"{spec}, {many} {what}: {rate:,.0f} links/s of CPU; {parts}", flush=True)


def report_instructions(number: int, home: int) -> None:
    """Print the instructions of the servers for a page more: of the last two thirds."""
    for spec in WHOSE[:2]:
        for many in (1, 3):
            few, all_pages = (
                instructions(spec, many, number, home, first) for first in (number // 3, number)
            )
            each = (all_pages - few) / (number - number // 3)
            print(f"{spec}, {many} servers: {each / 1e6:.2f} million instructions", flush=True)


def instructions(spec: str, many: int, number: int, home: int, first: int) -> int:
    """Return the instructions of so many servers, from their start to their end.

    They are some fifty times slower meanwhile, so no worker looks each second at what others did.
    """
    with ExitStack() as stack:
        counted = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        program = counted / "redis-server"
        count = f"valgrind -q --tool=callgrind --callgrind-out-file={counted}/%p.counted"
        program.write_text(f'#!/bin/sh\nexec {count} redis-server "$@"\n')
        program.chmod(0o700)
        servers = [RedisServer(counted, "--hz", "1", program=str(program)) for _ in range(many)]
        stack.enter_context(patch.object(redis_order, "REFRESH", inf))
        stack.enter_context(patch.object(sharded, "REFRESH", inf))
        try:
            crawled(over(spec, servers), number, 0, home, first)
        finally:
            for server in servers:
                server.stop()
        found = [
            re.search(r"^totals: (\d+)", path.read_text(), re.M)
            for path in counted.glob("*.counted")
        ]
        return sum(int(one[1]) for one in found if one)


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
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--home", type=int, default=0)
    given = parser.parse_args()
    if given.worker:
        work = theirs if given.worker == "scrapy-redis" else partial(ours, given.worker)
        with redis.Redis.from_url(given.url) as client:
            print(work(client, given.pages, given.seed))
        return
    if given.shards:
        report_shards(given.pages, given.runs, given.home)
        return
    if given.instructions:
        report_instructions(given.pages, given.home)
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
