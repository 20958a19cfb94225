"""Costs of a crawl that several workers share: each with the frontier of its own sites, and Redis.

``python -m benchmarks.exchange [--urls 1000000] [--workers 4] [--pages 20000] [--late 250000]``
from the project's folder, with a redis-server of its own. URLs of ``benchmarks.large_web`` are
shared out, then pages are visited by the default strategy and settings, 64 at a time, by processes
at once. Printed: CPU a page of the workers' frontiers and exchange (without that of the made web),
and of Redis; links that travelled. With ``--late`` a worker joins one that knows so many URLs and
goes on: printed is after how long it has its share.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from time import monotonic, process_time, sleep
from typing import Any

import redis

from benchmarks.large_web import TERMS, Crawl, Web
from lswc.frontier.exchange.exchange import Exchange
from lswc.frontier.exchange.joining import join
from lswc.frontier.exchange.owners import PARTS
from lswc.frontier.exchange.post import Post
from lswc.frontier.store.frontier import Frontier
from lswc.strategy import strategy
from tests.frontier.redis_server import RedisServer

LONGEST = 600.0
"""Seconds for anything."""

TURN = 20
"""Pages between two turns of the exchange."""


class Worker:
    """A worker in this process; ``cpu`` is what its frontier and exchange took, in seconds."""

    def __init__(self, url: str, folder: Path) -> None:
        self.frontier = Frontier(folder / "frontier.db", strategy("adaptive"), {}, TERMS)
        self.post = Post(redis.Redis.from_url(url), "bench")
        member = join(self.frontier, self.post, folder.name, {})
        self._threads = ThreadPoolExecutor(1)
        self.exchange = Exchange(self.frontier, self.post, member, self._threads.submit)

    def turn_until(self, parts: int) -> float:
        """Take part until this worker has so many parts; return the seconds."""
        began = monotonic()
        while len(self.frontier.outbox.own) != parts:
            self.exchange.turn()
            sleep(0.02)
            if monotonic() - began > LONGEST:
                raise TimeoutError(f"{len(self.frontier.outbox.own)} parts, not {parts}")
        return monotonic() - began

    def load(self, web: Web) -> None:
        """Let the web's URLs of own sites wait."""
        is_own = self.frontier.outbox.is_own
        for links in web.all_links():
            self.frontier.offer([link for link in links if is_own(link.server)])

    def visit(self, web: Web, pages: int) -> float:
        """Visit so many pages; return the seconds of CPU, without those of the web."""
        crawl = Crawl(self.frontier, web)
        of_web = 0.0
        links = web.links

        def timed(*arguments: Any) -> Any:
            nonlocal of_web
            began = process_time()
            found = links(*arguments)
            of_web += process_time() - began
            return found

        web.links = timed  # type: ignore[method-assign]
        began = process_time()
        for _ in range(pages // TURN):
            crawl.visit(TURN)
            self.exchange.turn()
        spent = process_time() - began - of_web
        web.links = links  # type: ignore[method-assign]
        return spent


def work(url: str, folder: Path, number: int, urls: int, pages: int, workers: int) -> None:
    """Be one of the workers, and print what it took."""
    worker = Worker(url, folder)
    with closing(worker.frontier):
        worker.turn_until(PARTS // workers)
        web = Web(urls, seed=1)
        worker.load(web)
        web.random = __import__("numpy").random.default_rng(number)
        worker.visit(web, 2_000)
        print("ready", flush=True)
        sys.stdin.readline()
        spent = worker.visit(web, pages)
        outbox = worker.frontier.outbox
        print(f"{spent / pages * 1000:.4f} {outbox.latest} {outbox.skipped}", flush=True)
        sys.stdin.readline()
        worker.exchange.close()


def measured(urls: int, pages: int, workers: int) -> None:
    """Let workers crawl at once, and print their costs."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "redis").mkdir()
        server = RedisServer(Path(folder) / "redis")
        client: Any = redis.Redis.from_url(server.url)
        processes = []
        for number in range(workers):
            own = Path(folder) / f"worker{number}"
            own.mkdir()
            what = [server.url, str(own), str(number), str(urls), str(pages), str(workers)]
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.exchange", "--work", *what],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            sleep(2)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        before = client.info("cpu")
        began = monotonic()
        for process in processes:
            _go_on(process)
        took = [process.stdout.readline().split() for process in processes if process.stdout]
        seconds, after = monotonic() - began, client.info("cpu")
        memory = client.info("memory")["used_memory"] / 1e6
        for process in processes:
            _go_on(process)
            process.wait(LONGEST)
        names = ("used_cpu_user", "used_cpu_sys")
        of_redis = sum(after[name] - before[name] for name in names) / pages / workers * 1000
        own = sum(float(one[0]) for one in took) / workers
        print(
            f"{urls:,} URLs, {workers} workers, {pages * workers:,} pages: {own:.3f} ms a page of "
            f"the workers and {of_redis:.4f} of Redis; {seconds:.0f} s; messages "
            f"{[int(one[1]) for one in took]}, links not sent again {[int(one[2]) for one in took]}"
            f"; Redis has {memory:.0f} MB",
            flush=True,
        )
        client.close()
        server.stop()


def _go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def joined_late(urls: int) -> None:
    """Let a worker join one that knows so many URLs and crawls on; print how long it takes."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("redis", "first", "second"):
            (Path(folder) / name).mkdir()
        server = RedisServer(Path(folder) / "redis")
        first = Worker(server.url, Path(folder) / "first")
        web = Web(urls, seed=1)
        first.load(web)
        crawl = Crawl(first.frontier, web)
        crawl.visit(2_000)
        second = Worker(server.url, Path(folder) / "second")
        began, pages, longest = monotonic(), 0, 0.0
        while len(second.frontier.outbox.own) < PARTS // 2:
            crawl.visit(TURN)
            pages += TURN
            for worker in (first, second):
                at = monotonic()
                worker.exchange.turn()
                longest = max(longest, monotonic() - at)
            if monotonic() - began > LONGEST:
                raise TimeoutError(f"{len(second.frontier.outbox.own)} parts")
        print(
            f"{urls:,} URLs: a worker that joins has its half, {second.frontier.pending:,} that "
            f"wait, after {monotonic() - began:.1f} s; {pages:,} pages were fetched meanwhile; "
            f"longest turn {longest * 1000:.0f} ms",
            flush=True,
        )
        for worker in (first, second):
            worker.exchange.close()
            worker.frontier.close()
        server.stop()


def main() -> None:
    """Measure, or be a worker that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--pages", type=int, default=20_000, help="in all")
    parser.add_argument("--late", type=int, default=0)
    parser.add_argument("--work", nargs=6)
    given = parser.parse_args()
    if given.work:
        url, folder, *numbers = given.work
        work(url, Path(folder), *map(int, numbers))
    elif given.late:
        joined_late(given.late)
    else:
        print(f"load {os.getloadavg()[0]:.1f}")
        measured(given.urls, given.pages // given.workers, given.workers)


if __name__ == "__main__":
    main()
