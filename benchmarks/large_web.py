"""A made web of any size for measurements of a frontier at scale, and a crawl of it.

Servers per registered domain and URLs per server follow power laws, a page has 20 links, most of
them on its own server and known, and servers differ by language. Its URLs are loaded as links of
some thousand seeds; then pages are visited by the default strategy and settings, 64 at a time, each
server every two seconds of a clock that makes 400 pages a second.
"""

from __future__ import annotations

from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.frontier import LINKS
from lswc.frontier.rules.contract import Caps, Terms
from lswc.frontier.rules.visit import Offer, Visit
from lswc.settings import (
    LSWC_HASTE,
    LSWC_MAX_UNPROVEN_SITES,
    LSWC_MAX_WAITING_PER_SERVER,
    LSWC_UNPROVEN_SHARE,
)
from lswc.strategy import SEED, Anchor, Facts, Locality, PageLanguage, Status, encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lswc.frontier import Frontier

BATCH = 1000  # links of a page that loads
UNDER_WAY, REST, PER_SECOND = 64, 2.0, 400
TERMS = Terms(
    haste=LSWC_HASTE,
    unproven_share=LSWC_UNPROVEN_SHARE,
    caps=Caps(server=LSWC_MAX_WAITING_PER_SERVER, sites=LSWC_MAX_UNPROVEN_SITES),
)


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

    def draw_anew(self, seed: int) -> None:
        """Draw other random numbers from now on."""
        self.random, self._drawn = np.random.default_rng(seed), iter(())

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

    def entries(self) -> Iterator[list[Offer]]:
        """Yield the first URLs of all servers, in any order."""
        order = self.random.permutation(len(self.sizes)).tolist()
        for first in range(0, len(order), BATCH):
            yield [
                self.offer(server, 0, Locality.ELSEWHERE, self.is_page_thai(server))
                for server in order[first : first + BATCH]
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


def loaded(frontier: Frontier, web: Web, found: Iterable[list[Offer]]) -> None:
    """Let URLs of a web wait, as links of seeds."""
    seeds = web.seeds()
    frontier.offer([offer for _, offer in seeds])
    leases = []
    while (lease := frontier.lease(0.0)) is not None:
        leases.append(lease)
    assert len(leases) == len(seeds)
    for lease, links in zip(leases, found, strict=False):
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
