"""The Redis frontier at size: millions of waiting URLs on one, two and three servers.

``python -m benchmarks.redis_scale [--urls 1000000] [--servers 1 2 3] [--pages 100000]`` from the
project's folder, with servers of its own; 10 million URLs take 2 GB, and an hour for the three.
The web is that of ``benchmarks.large_web``.
``--bytes`` prints what a URL and a server take alone, of which docs/scale.md makes its model;
``--program valkey-server`` measures that.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import redis

from benchmarks.frontier import LINKS
from benchmarks.large_web import TERMS, Crawl, Web, code_of, loaded
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.sharded import ShardedFrontier
from lswc.frontier.visit import Offer, Visit
from lswc.strategy import Locality, PageLanguage, strategy
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.frontier import Frontier

LOGGED = 5_000  # pages, the last ones, with an append-only file
WORKER = Worker(clock_of_caller=True, time_to_live=1e6)
OPTIONS = (
    *("--hash-max-listpack-entries", "512", "--zset-max-listpack-entries", "512"),
    *("--auto-aof-rewrite-percentage", "0"),
)
"""As in deploy/redis.conf, but that the file of what is written isn't made anew meanwhile."""

MB = 1e6


class Servers:
    """Redis servers, and what they used since the last look."""

    def __init__(self, servers: Sequence[RedisServer]) -> None:
        self.clients: list[Any] = [redis.Redis.from_url(server.url) for server in servers]
        self.look()

    def frontier(self, servers: Sequence[RedisServer]) -> Frontier:
        """Return an empty frontier on them."""
        clients = [redis.Redis.from_url(server.url) for server in servers]
        chosen = strategy("adaptive")
        if len(clients) == 1:
            return RedisFrontier(clients[0], "scale", chosen, {}, TERMS, WORKER)
        return ShardedFrontier(clients, "scale", chosen, {}, TERMS, WORKER)

    def look(self) -> None:
        """Begin to count anew."""
        self._cpu, self._sent = self.cpu(), self._traffic()
        for client in self.clients:
            client.config_resetstat()
        self._sent = self._traffic()

    def cpu(self) -> list[float]:
        """Return the seconds of the processor of each."""
        found = [client.info("cpu") for client in self.clients]
        return [one["used_cpu_user"] + one["used_cpu_sys"] for one in found]

    def spent(self) -> list[float]:
        """Return the seconds of the processor of each since the last look."""
        return [now - then for now, then in zip(self.cpu(), self._cpu, strict=True)]

    def _traffic(self) -> int:
        found = [client.info("stats") for client in self.clients]
        return sum(one["total_net_input_bytes"] + one["total_net_output_bytes"] for one in found)

    def traffic(self) -> int:
        """Return the bytes that went to and from them since the last look."""
        return self._traffic() - self._sent

    def calls(self) -> int:
        """Return the functions called, and transactions, since the last look."""
        found = [client.info("commandstats") for client in self.clients]
        names = ("cmdstat_fcall", "cmdstat_evalsha", "cmdstat_exec")
        return sum(one.get(name, {"calls": 0})["calls"] for one in found for name in names)

    def each(self, section: str, field: str) -> list[Any]:
        """Return what each says of itself."""
        return [client.info(section)[field] for client in self.clients]

    def memory(self) -> int:
        """Return the bytes that all of them hold."""
        return sum(self.each("memory", "used_memory"))

    def at_once(self, begin: Callable[[Any], object], under_way: str) -> float:
        """Let each do what takes a process of its own; return the seconds until all are done."""
        start = perf_counter()
        for client in self.clients:
            begin(client)
        while any(self.each("persistence", under_way)):
            sleep(0.05)
        return perf_counter() - start


def started(stack: ExitStack, number: int, program: str) -> list[RedisServer]:
    """Start so many servers."""
    folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(number)]
    servers = [RedisServer(Path(folder), *OPTIONS, program=program) for folder in folders]
    for server in servers:
        stack.callback(server.stop)
    return servers


def measured(urls: int, number: int, pages: int, program: str) -> dict[str, str]:
    """Load so many URLs, visit pages; return what it took, by the table's columns."""
    with ExitStack() as stack:
        servers = started(stack, number, program)
        watched = Servers(servers)
        frontier = watched.frontier(servers)
        empty = watched.memory()
        web = Web(urls)
        say(f"{urls:,} URLs on {len(web.sizes):,} servers, {len(set(web.domain)):,} domains")
        start = perf_counter()
        watched.look()
        loaded(frontier, web, web.all_links())
        waiting, held = frontier.pending, watched.memory() - empty
        found = {
            "URLs": f"{urls:,}",
            "Redis servers": str(number),
            "waiting, web servers": f"{waiting:,}, {len(web.sizes):,}",
            "memory": f"{held / MB:,.0f} MB",
            "a waiting URL": f"{held / waiting:.0f} bytes",
            "load": f"{perf_counter() - start:,.0f} s",
            "load, server CPU a URL": f"{1e6 * sum(watched.spent()) / urls:.0f} us",
        }
        say(found)
        seconds = watched.at_once(redis.Redis.bgsave, "rdb_bgsave_in_progress")
        sizes = [Path(folder).stat().st_size for folder in _files(watched, "dump.rdb")]
        forks = [f"{usec / 1000:.0f}" for usec in watched.each("stats", "latest_fork_usec")]
        found |= {
            "fork": f"{', '.join(forks)} ms",
            "save": f"{seconds:.0f} s",
            "dump.rdb": f"{sum(sizes) / MB:,.0f} MB",
        }
        say(found)
        found |= crawled(frontier, web, watched, pages)
        found["peak"] = f"{sum(watched.each('memory', 'used_memory_peak')) / MB:,.0f} MB"
        return found


def crawled(frontier: Frontier, web: Web, watched: Servers, pages: int) -> dict[str, str]:
    """Visit pages, the last of them with an append-only file; return what it took."""
    crawl = Crawl(frontier, web)
    crawl.visit(min(2000, pages))  # servers rest, and the order was learned a little
    watched.look()
    crawl.relevant, start = 0, perf_counter()
    before, held, plain = frontier.pending, watched.memory(), pages - LOGGED
    crawl.visit(plain)
    spent = watched.spent()
    parts = ", ".join(f"{part / sum(spent):.0%}" for part in spent)
    found = {
        "pages": f"{plain:,} in {perf_counter() - start:,.0f} s",
        "servers' CPU a page": f"{1000 * sum(spent) / plain:.2f} ms",
        "links/s of their CPU": f"{plain * LINKS / sum(spent):,.0f}",
        "shares": parts,
        "calls a page": f"{watched.calls() / plain:.2f}",
        "network a page": f"{watched.traffic() / plain / 1000:.1f} kB",
        "relevant": f"{crawl.relevant / plain:.1%}",
        "looks for nothing": str(crawl.waited),
        "more waiting, memory": f"{frontier.pending - before:,}, "
        f"{(watched.memory() - held) / MB:,.1f} MB",
    }
    say(found)
    watched.at_once(
        lambda client: client.config_set("appendonly", "yes"), "aof_rewrite_in_progress"
    )
    sizes, spent = watched.each("persistence", "aof_current_size"), watched.cpu()
    crawl.visit(LOGGED)
    grown = sum(watched.each("persistence", "aof_current_size")) - sum(sizes)
    logged = sum(watched.cpu()) - sum(spent)
    watched.at_once(lambda client: client.config_set("appendonly", "no"), "aof_rewrite_in_progress")
    return found | {
        "append-only file a page": f"{grown / LOGGED / 1000:.1f} kB",
        "CPU a page with it": f"{1000 * logged / LOGGED:.2f} ms",
    }


def _files(watched: Servers, name: str) -> list[Path]:
    return [Path(client.config_get("dir")["dir"]) / name for client in watched.clients]


def report_bytes(urls: int, program: str) -> None:
    """Print bytes of one URL and one web server more, in a frontier of so many URLs."""
    with ExitStack() as stack:
        servers = started(stack, 1, program)
        watched = Servers(servers)
        frontier = watched.frontier(servers)
        loaded(frontier, web := Web(urls), web.all_links())
        held = watched.memory()

        def more() -> float:
            nonlocal held
            before, held = held, watched.memory()
            return (held - before) / MORE

        names = [f"www.another{n}.co.th" for n in range(MORE)]
        offers = [
            [
                Offer(f"http://{name}/some/folder/of/{part}/page{part}.html", name, name,
                      code_of(True, Locality.SAME_SERVER, part, True), PageLanguage.TARGET, 3)
                for name in names
            ]
            for part in range(PARTS)
        ]  # fmt: skip
        frontier.offer(offers[0])
        first = more()
        frontier.offer([offer for some in offers[1:] for offer in some])
        url = more() / (PARTS - 1)
        ended = []
        for _ in range(3):
            for n, name in enumerate(names):
                lease = frontier.lease_among([name], 0.0)
                assert lease is not None
                assert frontier.commit(Visit(lease, outcome="html", relevant=n % 2 > 0))
            ended.append(more())
        finished = (ended[1] + ended[2]) / 2
        say(f"a waiting URL {url:.0f} bytes, its web server and site {first - url:.0f}")
        say(
            f"a finished URL {url + finished:.0f}, and once a server was visited "
            f"{ended[0] - finished:.0f} more"
        )


MORE, PARTS = 5000, 11  # web servers, and URLs of each


def say(what: object) -> None:
    """Print at once: a run takes long."""
    print(what, flush=True)


def main() -> None:
    """Measure, and print a table of a column a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--pages", type=int, default=100_000, help=f"more than {LOGGED:,}")
    parser.add_argument("--program", default="redis-server")
    parser.add_argument("--bytes", action="store_true")
    given = parser.parse_args()
    if given.pages <= LOGGED:
        parser.error(f"--pages: the last {LOGGED:,} are counted apart, give more than that")
    if given.bytes:
        report_bytes(given.urls, given.program)
        return
    runs = [measured(given.urls, number, given.pages, given.program) for number in given.servers]
    for name in runs[0]:
        say(f"| {name} | {' | '.join(run[name] for run in runs)} |")


if __name__ == "__main__":
    main()
