"""Longest call of the Redis frontier: the time that nobody else is served, by what happens.

``python -m benchmarks.redis_longest [--size 10000]`` from the project's folder, with a redis-server
of its own. Printed: the longest call of the server (its slow log), how many calls there were,
and what all took together.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import redis

from benchmarks.frontier import CODE
from lswc.frontier.contract import Terms
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.visit import Lease, Offer, Visit
from lswc.strategy import SEED, PageLanguage, strategy
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH = 1000
CALLS = ("fcall", "evalsha", "exec")
"""Commands that the frontier sends, mostly."""

KINDS = 7
"""Codes of links, an odd number of steps apart."""


class Watched:
    """A frontier on an empty Redis, and what its calls take."""

    def __init__(self, client: redis.Redis, spec: str) -> None:
        self._client: Any = client
        client.flushall()
        worker = Worker(clock_of_caller=True, time_to_live=1e6)
        self.frontier = RedisFrontier(client, "c", strategy(spec), {}, Terms(), worker)

    def offer(self, urls: list[tuple[str, str, int]]) -> None:
        """Offer URLs, each as server, path and code."""
        for first in range(0, len(urls), BATCH):
            self.frontier.offer([
                Offer(f"http://{server}/{path}", server, server, code, PageLanguage.TARGET, 1)
                for server, path, code in urls[first : first + BATCH]
            ])  # fmt: skip

    def leased(self, now: float) -> Lease:
        """Lease a URL."""
        lease = self.frontier.lease(now)
        assert lease is not None
        return lease

    def watch(self, name: str, happens: Callable[[], object]) -> None:
        """Print what the calls take that something needs."""
        self._client.config_set("slowlog-max-len", 10_000)
        self._client.config_set("slowlog-log-slower-than", 500)
        self._client.slowlog_reset()
        self._client.config_resetstat()
        start = perf_counter()
        happens()
        took = perf_counter() - start
        self._client.config_set("slowlog-log-slower-than", -1)
        slow = [one["duration"] / 1000 for one in self._client.slowlog_get(10_000)]
        stats = self._client.info("commandstats")
        calls = sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in CALLS)
        print(
            f"{name}: longest call {max(slow, default=0.5):,.1f} ms, {calls} calls, "
            f"{1000 * took:,.0f} ms in all",
            flush=True,
        )


def site_of_many_servers(client: redis.Redis, size: int) -> None:
    """Let a page change the place of a site with so many servers, two URLs each."""
    watched = Watched(client, "adaptive")
    with closing(watched.frontier) as frontier:
        watched.offer([("www.blogs.co.th", "", SEED)])
        watched.offer(
            [(f"b{n}.blogs.co.th", f"{m}", CODE - 7 * m) for n in range(size) for m in range(2)]
        )
        lease = watched.leased(0.0)
        visit = Visit(lease, outcome="html", relevant=True)
        watched.watch(
            f"a site of {size:,} servers gets another place", lambda: _end(frontier, visit)
        )


def server_is_discarded(client: redis.Redis, size: int) -> None:
    """Let a server become irrelevant of which so many URLs wait."""
    watched = Watched(client, "server_aggressive:T=0")
    with closing(watched.frontier) as frontier:
        watched.offer([("a.co.th", str(n), CODE) for n in range(10 * size)])
        visit = Visit(watched.leased(0.0), outcome="html", relevant=False)
        name = f"a server's {10 * size:,} URLs"
        watched.watch(
            f"{name} that will be discarded are listed", lambda: frontier.discarded_by(visit)
        )
        watched.watch(f"{name} are discarded", lambda: _commit(frontier, visit))


def servers_wake(client: redis.Redis, size: int) -> None:
    """Let half as many servers wake at once, with URLs of several kinds."""
    size //= 2
    watched = Watched(client, "adaptive")
    with closing(watched.frontier) as frontier:
        watched.offer([
            (f"s{n}.co.th", f"{m}", CODE - 7 * m) for n in range(size) for m in range(KINDS)
        ])  # fmt: skip
        for _ in range(size):
            frontier.commit(Visit(watched.leased(0.0), outcome="html", relevant=True, rest=5.0))
        watched.watch(f"{size:,} servers wake", lambda: watched.leased(10.0))


def server_rests(client: redis.Redis, size: int) -> None:
    """Let a server with URLs of many kinds be leased, and rest, again and again."""
    watched = Watched(client, "adaptive")
    with closing(watched.frontier) as frontier:
        watched.offer([("a.co.th", str(n), n * 37 % SEED) for n in range(size)])
        watched.watch("a server with URLs of many kinds, 100 times", lambda: _visits(frontier))


def _visits(frontier: RedisFrontier) -> None:
    for now in range(100):
        lease = frontier.lease(float(now))
        assert lease is not None
        _commit(frontier, Visit(lease, outcome="html", relevant=True, rest=1.0))


def _end(frontier: RedisFrontier, visit: Visit) -> None:
    """Commit a visit, and lease the next URL, which waits for what the commit left to do."""
    assert frontier.commit(visit)
    assert frontier.lease(0.0) is not None


def _commit(frontier: RedisFrontier, visit: Visit) -> None:
    assert frontier.commit(visit)


HAPPENINGS = (site_of_many_servers, server_is_discarded, servers_wake, server_rests)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    size = parser.parse_args().size
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(Path(folder))
        try:
            with redis.Redis.from_url(server.url) as client:
                for happening in HAPPENINGS:
                    happening(client, size)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
