"""Longest call of the Redis frontier: the time that nobody else is served, by what happens.

``python -m benchmarks.redis_longest [--size 10000] [--runs 3] [--only WORDS]`` from the project's
folder, with a redis-server of its own. Printed, of the run whose longest call was shortest, as
neighbours only make calls longer: that call (of the slow log, whatever it is), how many calls of
the script there were, and what these took of the server's processor, on the mean: what one takes
on an idle machine.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import redis

from benchmarks.frontier import CODE
from benchmarks.redis_frontier import cpu
from lswc.frontier.contract import DEFAULTS, Caps, Terms
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.redis_report import RedisReader
from lswc.frontier.visit import Lease, Offer, Visit
from lswc.strategy import REQUISITE, SEED, PageLanguage, strategy
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

    found: ClassVar[dict[str, list[tuple[float, int, float]]]] = defaultdict(list)
    """Of what was watched, in each run: longest call in ms, calls, ms of the processor."""

    def __init__(self, client: redis.Redis, spec: str, terms: Terms = DEFAULTS) -> None:
        self.client: Any = client
        client.flushall()
        worker = Worker(clock_of_caller=True, time_to_live=1e6)
        self.frontier = RedisFrontier(client, "c", strategy(spec), {}, terms, worker)

    def offer(self, urls: list[tuple[str, str, int]]) -> None:
        """Offer URLs, each as server, path and code."""
        for first in range(0, len(urls), BATCH):
            self.frontier.offer([
                _offer(server, path, code) for server, path, code in urls[first : first + BATCH]
            ])  # fmt: skip

    def leased(self, now: float) -> Lease:
        """Lease a URL."""
        lease = self.frontier.lease(now)
        assert lease is not None
        return lease

    def watch(self, name: str, happens: Callable[[], object]) -> None:
        """Measure the calls that something needs."""
        self.client.config_set("slowlog-max-len", 10_000)
        self.client.config_set("slowlog-log-slower-than", 200)
        self.client.slowlog_reset()
        self.client.config_resetstat()
        before = cpu(self.client)
        happens()
        took = cpu(self.client) - before
        self.client.config_set("slowlog-log-slower-than", -1)
        slow = [one["duration"] / 1000 for one in self.client.slowlog_get(10_000)]
        stats = self.client.info("commandstats")
        calls = sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in CALLS)
        self.found[name].append((max(slow, default=0.2), calls, 1000 * took))


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
        watched.watch(f"{name} are discarded", lambda: _end(frontier, visit))


def servers_wake(client: redis.Redis, size: int) -> None:
    """Let half as many servers wake at once, with URLs of several kinds."""
    size //= 2
    watched = Watched(client, "adaptive")
    with closing(watched.frontier):
        _let_rest(watched, size)
        watched.watch(f"{size:,} servers wake", lambda: watched.leased(10.0))


def server_rests(client: redis.Redis, size: int) -> None:
    """Let a server with URLs of many kinds be leased, and rest, again and again."""
    watched = Watched(client, "adaptive")
    with closing(watched.frontier) as frontier:
        watched.offer([("a.co.th", str(n), n * 37 % SEED) for n in range(size)])
        watched.watch("a server with URLs of many kinds, 100 times", lambda: _visits(frontier))


def busy_servers_are_met(client: redis.Redis, size: int) -> None:
    """Let a worker meet half as many busy servers, with other lines; then these wake."""
    size //= 2
    watched = Watched(client, "adaptive")
    with closing(watched.frontier) as frontier:
        _let_rest(watched, size)
        watched.offer([("free.co.th", "", REQUISITE)])
        name = f"{size:,} busy servers, {KINDS - 1} lines each"
        watched.watch(
            f"{name}, are met by a worker that looks for a URL", lambda: frontier.lease(1.0)
        )
        watched.watch(f"{name}, wake", lambda: watched.leased(10.0))


def leases_expire(client: redis.Redis, size: int) -> None:
    """Let a worker die that has leased URLs of a tenth as many servers."""
    size //= 10
    watched = Watched(client, "adaptive")
    with closing(watched.frontier) as frontier:
        watched.offer([
            (f"s{n}.co.th", f"{m}", CODE - 7 * m) for n in range(size) for m in range(KINDS)
        ])  # fmt: skip
        for _ in range(size):
            watched.leased(0.0)
        watched.watch(f"{size:,} leases of a dead worker expire", lambda: frontier.lease(1e7))
        for _ in range(size - 1):
            watched.leased(1e7)
        watched.watch(f"{size:,} leases are given back at the end of a worker", frontier.close)


def postponed_are_due(client: redis.Redis, size: int) -> None:
    """Let half as many URLs be due at once that were postponed; and let as many be tried again."""
    size //= 2
    watched = Watched(client, "adaptive")
    with closing(watched.frontier) as frontier:
        watched.offer([(f"s{n}.co.th", "", CODE) for n in range(size)])
        for _ in range(size):
            visit = Visit(watched.leased(0.0), outcome="timeout")
            frontier.postpone(visit, 1000.0)
        watched.watch(
            f"{size:,} postponed URLs are made due by an instruction",
            lambda: frontier.retry(["timeout"], lambda url, depth: True),
        )
        watched.watch(f"{size:,} postponed URLs come back", lambda: watched.leased(10.0))


def cap_is_lowered(client: redis.Redis, size: int) -> None:
    """Let ten times as many URLs of a server wait, and then of it and its site a hundred may."""
    many = 10 * size
    for kind, caps in (("server", Caps(server=100)), ("site", Caps(domain=100))):
        watched = Watched(client, "adaptive")
        watched.offer([("a.co.th", str(n), CODE - 7 * (n % KINDS)) for n in range(many)])
        watched.frontier.close()
        worker = Worker(clock_of_caller=True, time_to_live=1e6)
        terms = Terms(caps=caps)
        with closing(
            RedisFrontier(client, "c", strategy("adaptive"), {}, terms, worker)
        ) as watched.frontier:
            watched.watch(
                f"{many:,} URLs of a {kind} are cut to 100",
                partial(watched.offer, [("a.co.th", "one more", CODE)]),
            )


def site_is_proven(client: redis.Redis, size: int) -> None:
    """Let a site be proven, by four others, that has URLs on so many servers."""
    watched = Watched(client, "adaptive", Terms(unproven_share=0.2))
    with closing(watched.frontier) as frontier:
        watched.offer([(f"seed{n}.co.th", "", SEED) for n in range(5)])
        first, *others = (watched.leased(0.0) for _ in range(5))
        pages = [_offer(f"page{n}.co.th", "", SEED) for n in range(len(others))]
        _commit(frontier, Visit(first, outcome="html", relevant=True, offers=pages[:1]))
        for lease, page in zip(others, pages, strict=True):
            _commit(frontier, Visit(lease, outcome="html", relevant=True, offers=[page]))
        leases = [watched.leased(0.0) for _ in pages]
        links = [_offer(f"b{n}.spam.co.th", "", CODE) for n in range(size)]
        for n, lease in enumerate(leases):
            visit = Visit(lease, outcome="html", relevant=True, offers=links[: 1 if n else None])
            what = f"is supported by site {n + 1}" if n else "is met"
            name = f"a site of {size:,} servers {what}"
            watched.watch(name, partial(_end, frontier, visit))


def page_has_many_links(client: redis.Redis, size: int) -> None:
    """Let a page have as many links as are taken of one, and one ten thousand; then many seeds."""
    for number in (3000, size):
        watched = Watched(client, "adaptive", Terms(unproven_share=0.2))
        with closing(watched.frontier) as frontier:
            watched.offer([("seed.co.th", "", SEED)])
            for kind, host in (("its own server", "seed"), ("a server each", "h{}")):
                lease = watched.leased(0.0)
                visit = Visit(lease, outcome="html", relevant=True)
                visit.offers = [
                    _offer(host.format(n) + ".co.th", str(n), CODE - 7 * (n % KINDS))
                    for n in range(number)
                ]
                name = f"a page has {number:,} links to {kind}"
                watched.watch(name, lambda visit=visit: _commit(frontier, visit))


def seeds_are_many(client: redis.Redis, size: int) -> None:
    """Let a crawl begin with ten times as many seeds."""
    watched = Watched(client, "adaptive", Terms(unproven_share=0.2))
    with closing(watched.frontier) as frontier:
        seeds = [_offer(f"s{n}.co.th", "", SEED) for n in range(10 * size)]
        watched.watch(f"{10 * size:,} seeds are offered", lambda: frontier.offer(seeds))


def cells_are_many(client: redis.Redis, size: int) -> None:
    """Let a worker look for a URL where all cells but one are of busy servers."""
    watched = Watched(client, "adaptive", Terms(unproven_share=0.2))
    with closing(watched.frontier) as frontier:
        codes = range(0, SEED, 3)
        watched.offer([("a.co.th", str(n), code) for n, code in enumerate(codes)])
        watched.offer([("b.co.th", str(n), code) for n, code in enumerate(codes)])
        for _ in range(2):
            watched.leased(0.0)
        watched.offer([("free.co.th", "", REQUISITE)])
        cells = client.hlen("{c}:pending")
        name = f"a worker looks for a URL in {cells:,} cells of busy servers"
        watched.watch(name, lambda: [frontier.lease(1.0) for _ in range(5)])


def directory_moves(client: redis.Redis, size: int) -> None:
    """Let a directory get another place of which ten times as many URLs wait."""
    watched = Watched(client, "directory_conservative:T=0")
    with closing(watched.frontier) as frontier:
        for first in range(0, 10 * size, BATCH):
            frontier.offer([
                _offer("a.co.th", f"d/{n}", CODE)._replace(unit="a.co.th/d/")
                for n in range(first, first + BATCH)
            ])  # fmt: skip
        visit = Visit(watched.leased(0.0), outcome="html", relevant=False)
        watched.watch(
            f"a directory's {10 * size:,} URLs get another place", lambda: _end(frontier, visit)
        )


def frontier_is_reported(client: redis.Redis, size: int) -> None:
    """Let everything be told of a frontier of a hundred times as many URLs."""
    watched = Watched(client, "adaptive")
    with closing(watched.frontier) as frontier:
        watched.offer([
            (f"s{n % size}.co.th", str(n), CODE - 7 * (n % KINDS)) for n in range(100 * size)
        ])  # fmt: skip
        _commit(frontier, Visit(watched.leased(0.0), outcome="html", relevant=True))
        with frontier.reading() as reader:
            assert isinstance(reader, RedisReader)
            reports: dict[str, Callable[[], object]] = {
                "longest queues": lambda: reader.longest(10),
                "counts": reader.counts,
                "cells": reader.cells,
                "families": lambda: reader.families(10),
                "servers that ended": lambda: reader.ended(10),
                "one URL": lambda: reader.find("http://s1.co.th/1"),
                "a server": lambda: [reader.waiting_of("s1.co.th"), reader.queue("s1.co.th")],
                "servers by name": lambda: reader.servers_like("s99", 20),
                "what is unfinished": lambda: frontier.unfinished,
                "what a worker finished": lambda: list(reader.workers.finished_by(1)),
            }
            for what, told in reports.items():
                watched.watch(f"of {100 * size:,} URLs are told: {what}", told)


def _let_rest(watched: Watched, size: int) -> None:
    """Let so many servers rest, with URLs of several kinds."""
    watched.offer([
        (f"s{n}.co.th", f"{m}", CODE - 7 * m) for n in range(size) for m in range(KINDS)
    ])  # fmt: skip
    for _ in range(size):
        visit = Visit(watched.leased(0.0), outcome="html", relevant=True, rest=5.0)
        watched.frontier.commit(visit)


def _visits(frontier: RedisFrontier) -> None:
    for now in range(100):
        lease = frontier.lease(float(now))
        assert lease is not None
        _commit(frontier, Visit(lease, outcome="html", relevant=True, rest=1.0))


def _end(frontier: RedisFrontier, visit: Visit) -> None:
    """Commit a visit, and lease the next URL, which waits for what the commit left to do."""
    assert frontier.commit(visit)
    frontier.lease(0.0)


def _commit(frontier: RedisFrontier, visit: Visit) -> None:
    assert frontier.commit(visit)


def _offer(server: str, path: str, code: int) -> Offer:
    return Offer(f"http://{server}/{path}", server, server, code, PageLanguage.TARGET, 1)


HAPPENINGS = (
    site_of_many_servers,
    server_is_discarded,
    directory_moves,
    cap_is_lowered,
    servers_wake,
    busy_servers_are_met,
    leases_expire,
    postponed_are_due,
    server_rests,
    cells_are_many,
    site_is_proven,
    page_has_many_links,
    seeds_are_many,
    frontier_is_reported,
)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="what happens, by a part of its function's name")
    given = parser.parse_args()
    for happening in HAPPENINGS:
        if given.only in happening.__name__:
            _measure(happening, given.size, given.runs)


def _measure(happening: Callable[[redis.Redis, int], None], size: int, runs: int) -> None:
    """Let something happen so often, and print the shortest of the longest calls."""
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(Path(folder))
        try:
            with redis.Redis.from_url(server.url) as client:
                for _ in range(runs):
                    happening(client, size)
        finally:
            server.stop()
    for name, found in Watched.found.items():
        longest, calls, took = min(found)
        each = f", {took / calls:,.1f} ms of the processor each" if calls else ""
        print(f"{name}: longest call {longest:,.1f} ms, {calls} calls{each}", flush=True)
    Watched.found.clear()


if __name__ == "__main__":
    main()
