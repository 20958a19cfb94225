"""The Redis frontier at size: millions of waiting URLs on one, two and three servers.

``python -m benchmarks.redis_scale [--urls 1000000] [--servers 1 2 3] [--pages 100000]`` from the
project's folder, with servers of its own; 10 million URLs take 2 GB, and an hour for the three.
The web is made: servers per registered domain and URLs per server follow power laws, a page has
20 links, most of them on its own server and known, and servers differ by language. Its URLs are
loaded as links of some thousand seeds; then pages are visited by the default strategy and settings,
64 at a time, each server every two seconds of a clock that makes 400 pages a second.
``--bytes`` prints what a URL and a server take alone, of which docs/scale.md makes its model;
``--program valkey-server`` measures that.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import deque
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

import numpy as np
import redis

from benchmarks.frontier import LINKS
from lswc.frontier.contract import Caps, Terms
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.sharded import ShardedFrontier
from lswc.frontier.visit import Offer, Visit
from lswc.settings import (
    LSWC_HASTE,
    LSWC_MAX_UNPROVEN_SITES,
    LSWC_MAX_WAITING_PER_SERVER,
    LSWC_UNPROVEN_SHARE,
)
from lswc.strategy import SEED, Anchor, Facts, Locality, PageLanguage, Status, encode, strategy
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lswc.frontier import Frontier

BATCH = 1000  # links of a page that loads
UNDER_WAY, REST, PER_SECOND = 64, 2.0, 400
LOGGED = 5_000  # pages, the last ones, with an append-only file
TERMS = Terms(
    haste=LSWC_HASTE,
    unproven_share=LSWC_UNPROVEN_SHARE,
    caps=Caps(server=LSWC_MAX_WAITING_PER_SERVER, sites=LSWC_MAX_UNPROVEN_SITES),
)
WORKER = Worker(clock_of_caller=True, time_to_live=1e6)
OPTIONS = (
    *("--hash-max-listpack-entries", "512", "--zset-max-listpack-entries", "512"),
    *("--auto-aof-rewrite-percentage", "0"),
)
"""As in deploy/redis.conf, but that the file of what is written isn't made anew meanwhile."""

MB = 1e6


class Web:
    """A made web: how many URLs each server has, and what its pages link to."""

    def __init__(self, urls: int, seed: int = 1) -> None:
        self.random = choose = np.random.default_rng(seed)
        sizes = np.minimum(choose.pareto(1.1, urls // 8) * 5 + 1, urls // 100 + 10).astype(int)
        number = int(np.searchsorted(np.cumsum(sizes), urls)) + 1
        self.sizes = sizes[:number].tolist()
        each = np.minimum(choose.zipf(2.3, number), 1000)
        domain = np.repeat(np.arange(number), each)[:number]
        self.domain = domain.tolist()
        self._first = np.searchsorted(domain, domain).tolist()  # server of the domain
        self._is_thai = (choose.random(number) < 0.4).tolist()
        self._servers: Any = None
        words = bytes(choose.choice(list(b"aaabcdeeefghiiklmnoooprsttuvy--//_"), 5000).tolist())
        self._words = words.decode().replace("//", "/n").replace("//", "/a")
        self._lengths = np.minimum(choose.lognormal(3.3, 0.6, 1024), 400).astype(int).tolist()
        self._drawn: Iterator[float] = iter(())
        self.names = [self._name(n) for n in range(number)]
        self.number_of = {name: n for n, name in enumerate(self.names)}

    def _name(self, server: int) -> str:
        domain = self.domain[server]
        at = domain * 7919 % 4900
        label = self._words[at : at + 3 + domain % 7].translate(str.maketrans("/-_", "xyz"))
        part = server - self._first[server]
        end = ("co.th", "com", "ac.th", "net", "go.th")[domain % 5]
        return f"{f's{part}' if part else 'www'}.{label}{domain}.{end}"

    def draw(self) -> float:
        """Return a random number, of which many are made at once."""
        drawn = next(self._drawn, None)
        if drawn is None:
            self._drawn = iter(self.random.random(100_000).tolist())
            drawn = next(self._drawn)
        return drawn

    def url(self, server: int, page: int) -> str:
        """Return the address of a server's page; the first is its entry."""
        if not page:
            return f"http://{self.names[server]}/"
        at = (page * 7919 + server * 104_729) % 4500
        return (
            f"http://{self.names[server]}/{self._words[at : at + self._lengths[at % 1024]]}{page}"
        )

    def offer(self, server: int, page: int, where: Locality, is_thai: bool) -> Offer:
        """Return a link to a page, on a page of that language."""
        name, draw = self.names[server], self.draw()
        code = code_of(is_thai, where, int(draw * 20), self.domain[server] % 5 in (0, 2, 4))
        return Offer(self.url(server, page), name, name, code, PageLanguage.OTHER, 3)

    def is_page_thai(self, server: int) -> bool:
        """Draw the language of a server's page."""
        return self.draw() < (0.9 if self._is_thai[server] else 0.04)

    def seeds(self) -> list[tuple[int, Offer]]:
        """Return the entries of so many servers that they link to all URLs."""
        number = sum(self.sizes) // BATCH + 1
        chosen = self.random.choice(len(self.sizes), min(number, len(self.sizes)), replace=False)
        return [
            (n, Offer(self.url(n, 0), self.names[n], self.names[n], SEED, PageLanguage.TARGET, 0))
            for n in chosen.tolist()
        ]

    def all_links(self) -> Iterator[list[Offer]]:
        """Yield all URLs in batches, in any order; most are known by links of their own server."""
        servers = np.repeat(np.arange(len(self.sizes), dtype=np.int32), self.sizes)
        pages = np.arange(len(servers)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        order = self.random.permutation(len(servers))
        for first in range(0, len(order), BATCH):
            chosen = order[first : first + BATCH]
            yield [
                self.offer(server, page, self._where(), self.is_page_thai(server))
                for server, page in zip(
                    servers[chosen].tolist(), pages[chosen].tolist(), strict=True
                )
            ]

    def _where(self) -> Locality:
        draw = self.draw()
        if draw < 0.8:
            return Locality.SAME_SERVER
        return Locality.SAME_SITE if draw < 0.85 else Locality.ELSEWHERE

    def links(self, server: int, is_thai: bool) -> list[Offer]:
        """Return the links of a page: 16 stay, one leads to a sister, 3 elsewhere; one in 8 is new.

        Where they lead is drawn as pages are: the larger a server, the more lead there.
        """
        found = [self._link(server, Locality.SAME_SERVER, is_thai) for _ in range(LINKS - 4)]
        sister = self._first[server] + int(self.draw() * (server - self._first[server] + 1))
        found.append(self._link(sister, Locality.SAME_SITE, is_thai))
        for _ in range(3):
            other = self._any_server()
            if self.draw() < 0.7 and self._is_thai[other] != is_thai:
                other = self._any_server()
            found.append(self._link(other, Locality.ELSEWHERE, is_thai))
        return list({one.url: one for one in found}.values())

    def _any_server(self) -> int:
        if self.draw() < 0.5:
            return int(self.draw() * len(self.sizes))
        if self._servers is None:
            weights = np.minimum(self.sizes, 10_000) // 10 + 1
            self._servers = np.repeat(np.arange(len(self.sizes), dtype=np.int32), weights)
        return int(self._servers[int(self.draw() * len(self._servers))])

    def _link(self, server: int, where: Locality, is_thai: bool) -> Offer:
        page = int(self.draw() * self.sizes[server])
        if self.draw() < 1 / 8:
            page = self.sizes[server]
            self.sizes[server] += 1
        elif where is Locality.ELSEWHERE and self.draw() < 0.5:
            page = 0
        return self.offer(server, page, where, is_thai)


@cache
def code_of(is_thai: bool, where: Locality, draw: int, tld: bool) -> int:
    """Return the code of a link; ``draw``, below 20, says its words and folder."""
    own = Anchor.TARGET if is_thai else Anchor.OTHER
    words = own if draw % 10 < 6 else Anchor.NONE if draw % 10 < 9 else Anchor.OTHER
    language = PageLanguage.TARGET if is_thai else PageLanguage.ENGLISH
    referrer = Status.RELEVANT if is_thai else Status.IRRELEVANT
    same_folder = where is Locality.SAME_SERVER and draw < 10
    facts = Facts(
        language, 1 if is_thai else 3, referrer, Status.UNVISITED, where, tld, words, False
    )
    return encode(facts._replace(same_folder=same_folder))


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


def loaded(frontier: Frontier, web: Web) -> None:
    """Let all of a web's URLs wait, as links of seeds."""
    seeds = web.seeds()
    frontier.offer([offer for _, offer in seeds])
    leases = []
    while (lease := frontier.lease(0.0)) is not None:
        leases.append(lease)
    assert len(leases) == len(seeds)
    for lease, links in zip(leases, web.all_links(), strict=False):
        frontier.commit(Visit(lease, outcome="html", relevant=True, offers=links))


class Crawl:
    """Visits of a made web, so many at a time."""

    def __init__(self, frontier: Frontier, web: Web) -> None:
        self.frontier, self.web = frontier, web
        self.now, self.relevant, self.waited = 1.0, 0, 0
        self._under_way: deque[Any] = deque()

    def visit(self, pages: int, with_links: bool = True) -> None:
        """Visit so many pages."""
        for _ in range(pages):
            while len(self._under_way) < UNDER_WAY:
                lease = self.frontier.lease(self.now)
                if lease is None:
                    self.waited += 1
                    self.now += 0.05
                    if self._under_way:
                        break
                else:
                    self._under_way.append(lease)
            self.now += 1 / PER_SECOND
            self._end(self._under_way.popleft(), with_links)

    def _end(self, lease: Any, with_links: bool) -> None:
        server = self.web.number_of[lease.server]
        is_thai = self.web.is_page_thai(server)
        self.relevant += is_thai
        visit = Visit(lease, outcome="html", relevant=is_thai, rest=REST)
        if with_links:
            visit.offers = self.web.links(server, is_thai)
        assert self.frontier.commit(visit)


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
        loaded(frontier, web)
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
        loaded(frontier, Web(urls))
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
