"""Kills of workers and of Redis, one after the other, while a web is crawled by several workers.

``python -m benchmarks.kills [--kills 40] [--workers 3] [--pages 3000]`` from the project's folder.
Every few seconds a worker is killed and started again, or Redis is, and comes back empty. A worker
joins in the middle, and another gives all that it has. Printed: pages that are in no record, and
those that are in two.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING

from lswc.frontier.exchange.post import Post
from tests.frontier.redis_server import RedisServer
from tests.scenarios.shared_web import SharedWeb
from tests.scenarios.site import THAI, page, words
from tests.scenarios.test_workers import Workers

if TYPE_CHECKING:
    from lswc.frontier.exchange.owners import Owners

EVERY = 6.0
"""Seconds between two kills, about."""

SERVERS = 60


def url(number: int) -> str:
    """Return the address of a page; the first is that of the tests' seed."""
    if not number:
        return "http://www.s0.example/0.html"
    return f"http://www.s{number % SERVERS}.example/{number // SERVERS}.html"


def graph(pages: int) -> dict[str, str]:
    """Return pages that are all reached from the first."""
    chance = random.Random(1)
    return {
        url(n): page(
            THAI + words(n),
            *(url(chance.randrange(pages)) for _ in range(4)),
            *(url(m) for m in (2 * n + 1, 2 * n + 2) if m < pages),
        )
        for n in range(pages)
    }


class Trial:
    """A crawl under way, and what is done to it."""

    def __init__(self, workers: Workers, redis: RedisServer, number: int) -> None:
        self.workers, self._redis = workers, redis
        self._chance = random.Random(2)
        self._own = {"LSWC_MAX_PER_ADDRESS": 0, "DOWNLOAD_DELAY": 1.0, "LOG_LEVEL": "ERROR"}
        for _ in range(number):
            workers.start(**self._own)  # type: ignore[arg-type]
        self.done: Counter[str] = Counter()

    def next(self, kills: int) -> None:
        """Do the next thing; start again what ended."""
        if self._chance.random() < 0.3:
            self._redis.kill()
            sleep(1.0)
            self._redis.start()
            self.done["Redis killed, and empty"] += 1
        else:
            number = self._chance.randrange(len(self.workers.running))
            self.workers.running[number].kill()
            self.workers.running[number].wait()
            self.done["workers killed"] += 1
        if sum(self.done.values()) == kills // 2:
            self.workers.start(**self._own)  # type: ignore[arg-type]
            self.done["workers joined"] += 1
        if sum(self.done.values()) == kills * 3 // 4:
            self._remove()
        self.start_again()

    def start_again(self) -> None:
        """Start the workers that don't run."""
        for number, process in enumerate(self.workers.running):
            if process.poll() is not None:
                self.workers.restart(number, **self._own)

    def _remove(self) -> None:
        post = Post(self.workers.client, "lswc:th")
        there = post.begun()
        if there is not None:
            owners: Owners = there[1]
            leaves = owners.members[0]
            self.done["workers removed"] += post.replace(owners.left(leaves), owners.version)


def main() -> None:
    """Crawl among kills; print what is lost and doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--pages", type=int, default=3_000)
    given = parser.parse_args()
    pages = graph(given.pages)
    began = monotonic()
    with tempfile.TemporaryDirectory() as folder, SharedWeb(pages) as web:
        own = Path(folder)
        (own / "redis").mkdir()
        redis = RedisServer(own / "redis")
        with closing(Workers(own, web, redis)) as workers:
            trial = Trial(workers, redis, given.workers)
            while sum(trial.done.values()) < given.kills:
                sleep(EVERY)
                trial.next(given.kills)
            while set(workers.recorded()) != set(pages) and monotonic() - began < 3_600:
                sleep(1.0)
                trial.start_again()
            workers.finish()
            recorded = Counter(workers.recorded())
            print(
                f"{dict(trial.done)} in {monotonic() - began:.0f} s; of {len(pages):,} pages "
                f"{len(set(pages) - set(recorded))} are in no record, "
                f"{sum(number > 1 for number in recorded.values())} in two; fetched again: "
                f"{len(web.fetched) - len(set(web.fetched))}; by worker "
                f"{[sum(1 for _ in one.open()) for one in workers.who_recorded()]}"
            )
        redis.stop()


if __name__ == "__main__":
    main()
