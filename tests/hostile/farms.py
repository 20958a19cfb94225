"""Webs that want to be crawled: spam farms and traps beside honest hosts, and a crawl of them.

A web is made as it is asked for, and the clock isn't real: what is leased, and when, is the live
frontier's own answer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.rules.contract import Caps, Terms
from lswc.frontier.rules.visit import Offer
from lswc.settings import LSWC_HASTE, LSWC_UNPROVEN_SHARE
from lswc.strategy import SEED, Anchor, Facts, Locality, PageLanguage, Status, encode
from lswc.urls import site
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Lease

HOSTS = 60
"""Honest hosts, beside a trap."""


class Page(NamedTuple):
    """Whether a page is in the language, and the URLs that it links to."""

    relevant: bool
    links: list[str]


Web = dict[str, "Callable[[str, Random], Page]"]
"""Kinds of hosts: what makes a page of its URL, by what the hosts' names begin with."""


def host_of(url: str) -> str:
    """Return the host of a URL."""
    return url.split("/", 3)[2]


def kind_of(host: str) -> str:
    """Return the kind of a host."""
    return host.partition("-")[0]


def honest(
    pages: int, *further: str, of: int = 1, at: int = 10, blogs: int = 0
) -> Callable[[str, Random], Page]:
    """Return hosts with so many pages each, four in five of them relevant.

    Every page links to others of its host, to two honest hosts, and to one of so many ``blogs``. Of
    so many hosts one page also links to what is named ``further``: a comment that nobody removed.
    """

    def page(url: str, choose: Random) -> Page:
        host, number = host_of(url), int(url.rpartition("/")[2] or 0)
        links = [f"http://{host}/{n}" for n in range(2 * number + 1, 2 * number + 3) if n < pages]
        links += [f"http://honest-{choose.randrange(HOSTS)}.co.th/" for _ in range(2)]
        if blogs:
            links.append(_blog(choose.randrange(blogs)))
        if number == at and int(host.split(".")[0].split("-")[1]) < of:
            links += further
        return Page(number % 5 > 0 or not number, links)

    return page


def trap(url: str, choose: Random) -> Page:
    """A page of a trap: it leads to eight domains that nobody has seen, and to itself."""
    own = [f"http://{host_of(url)}/{choose.randrange(10**9)}" for _ in range(4)]
    return Page(True, [*own, *(f"http://trap-{choose.randrange(10**9)}.com/" for _ in range(8))])


def farm(domains: int, kind: str = "farm") -> Callable[[str, Random], Page]:
    """Return a farm: each page of its domains links to eight others of them, and to itself."""

    def page(url: str, choose: Random) -> Page:
        own = [f"http://{host_of(url)}/{choose.randrange(10**9)}" for _ in range(4)]
        others = [f"http://{kind}-{choose.randrange(domains)}.com/" for _ in range(8)]
        return Page(True, own + others)

    return page


def expired(url: str, choose: Random) -> Page:
    """A page of an expired domain: good hosts still link to it, and it links to traps."""
    return Page(True, [f"http://trap-{choose.randrange(10**9)}.com/" for _ in range(8)])


def blogs(number: int, pages: int = 3) -> Callable[[str, Random], Page]:
    """Return honest blogs of one blog host: each links to two others, and to an honest host."""

    def page(url: str, choose: Random) -> Page:
        at = int(url.rpartition("/")[2] or 0)
        links = [f"http://{host_of(url)}/{at + 1}"] if at + 1 < pages else []
        links += [_blog(choose.randrange(number)) for _ in range(2)]
        return Page(True, [*links, f"http://honest-{choose.randrange(HOSTS)}.co.th/"])

    return page


def _blog(number: int) -> str:
    return f"http://blog-{number}.blogspot.com/"


TRAP = "http://trap-0.com/"
SEEDS = [f"http://honest-{n}.co.th/" for n in range(3)]


@dataclass
class Crawl:
    """A crawl of a web: so many ``workers``, each answer takes ``answer`` seconds, and a server
    rests ``delay`` after it.

    ``log`` has when each page came, and the kind of its host; ``hosts`` how many each host gave.
    """

    frontier: Frontier
    web: Web
    workers: int = 32
    answer: float = 0.3
    delay: float = 1.0
    seeds: Iterable[str] = tuple(SEEDS)
    log: list[tuple[float, str]] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)
    now: float = 0.0

    def run(self, pages: int, until: float = 1e9) -> Crawl:
        """Crawl so many pages, or until a time, or to the end."""
        numbers = count()
        under_way: list[tuple[float, int, str]] = []
        leases: dict[int, tuple[Lease, float]] = {}
        self.frontier.offer([_offer(url, url, SEED) for url in self.seeds])
        while len(self.log) < pages and self.now < until:
            while len(under_way) < self.workers and (lease := self.frontier.lease(self.now)):
                number = next(numbers)
                leases[number] = lease, self.now
                heappush(under_way, (self.now + self.answer, number, lease.url))
            ready = self.frontier.next_ready() if len(under_way) < self.workers else None
            events = [under_way[0][0]] if under_way else []
            events += [ready] if ready is not None and ready > self.now else []
            if not events:
                break
            self.now = min(events)
            while under_way and under_way[0][0] <= self.now:
                _, number, url = heappop(under_way)
                lease, since = leases.pop(number)
                self._end(lease, url, self.now - since + self.delay if self.delay else 0.0)
        return self

    def _end(self, lease: Lease, url: str, rest: float) -> None:
        host = host_of(url)
        page = self.web[kind_of(host)](url, Random(url))
        language = PageLanguage.TARGET if page.relevant else PageLanguage.OTHER
        offers = [_offer(link, url, _code(link, url, language)) for link in page.links]
        self.log.append((self.now, kind_of(host)))
        self.hosts[host] += 1
        visit = ended(lease, "html", relevant=page.relevant, offers=offers)
        visit.rest = rest
        self.frontier.commit(visit)

    def pages(self, kind: str, until: float = 1e9) -> int:
        """Return the pages of hosts of a kind that had come by a time."""
        return sum(of == kind and time <= until for time, of in self.log)

    def time_of(self, kind: str, number: int) -> float:
        """Return when so many pages of hosts of a kind had come."""
        return [time for time, of in self.log if of == kind][number - 1]

    def share(self, kind: str, until: float = 1e9) -> float:
        """Return the share of hosts of other kinds, from their first page until then."""
        first = next((time for time, of in self.log if of != kind), 0.0)
        found = [of != kind for time, of in self.log if first <= time <= until]
        return sum(found) / len(found)

    def shares(self, kind: str, step: int = 200) -> Iterator[tuple[float, float]]:
        """Yield times, and the share of hosts of other kinds since the time before."""
        for first in range(0, len(self.log) - step + 1, step):
            part = self.log[first : first + step]
            yield part[-1][0], sum(of != kind for _, of in part) / step


def _offer(link: str, url: str, code: int) -> Offer:
    host = host_of(link)
    return Offer(link, host, host, code, PageLanguage.TARGET, 1)


def _code(link: str, url: str, language: PageLanguage) -> int:
    there, here = host_of(link), host_of(url)
    where = Locality.SAME_SERVER if there == here else Locality.ELSEWHERE
    if where is Locality.ELSEWHERE and site(there) == site(here):
        where = Locality.SAME_SITE
    distance, status = 1 if language == PageLanguage.TARGET else 2, Status.RELEVANT
    is_thai = there.endswith(".th")
    return encode(Facts(language, distance, status, status, where, is_thai, Anchor.TARGET, False))


def terms(share: float = LSWC_UNPROVEN_SHARE, sites: int = 0) -> Terms:
    """Return the terms of a crawl; ``sites`` are the cap of the unproven."""
    caps = Caps(sites=sites)
    return Terms(haste=LSWC_HASTE, caps=caps, unproven_share=share)
