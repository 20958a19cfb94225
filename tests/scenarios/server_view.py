"""What servers saw of a crawl: who came too early, and how many at once."""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.scenarios.guest_web import Visit


def server(visit: Visit) -> str:
    return urlsplit(visit.url).netloc


def domain(visit: Visit) -> str:
    return site(urlsplit(visit.url).hostname or "")


def address(visit: Visit) -> str:
    return visit.address


def too_many(
    visits: Iterable[Visit], group: Callable[[Visit], str], slots: int, rest: float
) -> list[Visit]:
    """Return the visits that found no free slot: each takes one of its group's until ``rest``
    seconds after its answer."""
    taken: defaultdict[str, list[float]] = defaultdict(list)
    found = []
    for visit in sorted(visits, key=lambda visit: visit.at):
        until = taken[group(visit)]
        while until and until[0] <= visit.at:
            heappop(until)
        if len(until) >= slots:
            found.append(visit)
        heappush(until, visit.ended + rest)
    return found


def before_robots(visits: Iterable[Visit]) -> list[Visit]:
    """Return the visits to pages of servers whose robots.txt wasn't asked for before."""
    asked: set[str] = set()
    found = []
    for visit in sorted(visits, key=lambda visit: visit.at):
        if visit.path == "/robots.txt":
            asked.add(server(visit))
        elif server(visit) not in asked:
            found.append(visit)
    return found
