"""The simulated crawl once more, in plain Python and by the book: what the kernel must equal."""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from lswc.strategy import (
    DISCARD,
    SEED,
    Anchor,
    Facts,
    Locality,
    PageLanguage,
    Status,
    Strategy,
    Unit,
    distance_of,
    effective_language,
    encode,
    from_site_queue,
    next_distance,
    status,
)
from lswc.trace.format import Fate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from lswc.trace.format import Trace


def units(t: Trace, s: Strategy) -> list[int]:
    """Return the server or directory of each URL."""
    assert t.directory is not None
    known: list[int] = (t.server if s.unit is Unit.SERVER else t.directory).tolist()
    return known


def links(t: Trace, page: int) -> list[int]:
    targets: list[int] = t.targets[t.offsets[page] : t.offsets[page + 1]].tolist()
    return targets


def effective(s: Strategy, language: PageLanguage, inherited: PageLanguage) -> PageLanguage:
    return effective_language(language, inherited) if s.guesses_unknown else language


def offers(
    t: Trace,
    page: int,
    code: int,
    language: PageLanguage,
    unit: list[int],
    of: Mapping[int, Status],
    oracle: NDArray[np.bool_],
) -> Iterator[tuple[int, int]]:
    """Yield target and code of each link of a page of that (effective) language, in order."""
    assert t.tld is not None
    assert t.anchors is not None
    server, distance = t.server[page], next_distance(language == 0, distance_of(code))
    for url, anchor in zip(links(t, page), t.anchors[t.offsets[page] :], strict=False):
        there = t.server[url]
        near = Locality.SAME_SITE if t.site[there] == t.site[server] else Locality.ELSEWHERE
        locality = Locality.SAME_SERVER if there == server else near
        at = (of[unit[page]], of[unit[url]], locality, bool(t.tld[there]), Anchor(anchor))
        facts = Facts(language, distance, *at, from_site_queue(code), bool(oracle[url]))
        yield url, encode(facts)


class Crawl:
    """A crawl of a trace; ``visits`` are the URLs taken from the queue, in order."""

    def __init__(self, t: Trace, s: Strategy, oracle: NDArray[np.bool_]) -> None:
        self.t, self.s, self.oracle, self.unit = t, s, oracle, units(t, s)
        self.counters: defaultdict[int, Counter[bool]] = defaultdict(Counter)
        self.of: defaultdict[int, Status] = defaultdict(lambda: Status.UNVISITED)
        # tier, seq, code, inherited; the queue also holds entries that a better one replaced
        self.pending: dict[int, tuple[int, int, int, PageLanguage]] = {}
        self.queue: list[tuple[int, int, int]] = []
        self.visits: dict[int, None] = {}
        self.seqs = count()
        for seed in t.seeds.tolist():
            self.offer(seed, SEED, PageLanguage.TARGET)
        while self.queue:
            *place, page = heappop(self.queue)
            if page in self.pending and list(self.pending[page][:2]) == place:
                self.visit(page)

    def put(self, url: int, tier: int, seq: int, code: int, inherited: PageLanguage) -> None:
        self.pending[url] = (tier, seq, code, inherited)
        if self.t.fate[url] != Fate.NEVER:
            heappush(self.queue, (tier, seq, url))

    def offer(self, url: int, code: int, inherited: PageLanguage) -> None:
        tier = self.s.tier(code, self.of[self.unit[url]])
        if tier == DISCARD or url in self.visits:
            return
        old = self.pending.get(url)
        if old is None:
            self.put(url, tier, next(self.seqs), code, inherited)
        elif (tier, distance_of(code)) < (old[0], distance_of(old[2])):
            self.put(url, tier, old[1], code, inherited)

    def visit(self, page: int) -> None:
        _, _, code, inherited = self.pending.pop(page)
        self.visits[page] = None
        if self.t.fate[page] == Fate.REDIRECT:
            for url in links(self.t, page):
                self.offer(url, code, inherited)
        elif self.t.fate[page] == Fate.PAGE:
            language = PageLanguage(self.t.language[page])
            taken = effective(self.s, language, inherited)
            self.ask_again(self.unit[page], taken == PageLanguage.TARGET)
            found = offers(self.t, page, code, taken, self.unit, self.of, self.oracle)
            for url, link in list(found):
                self.offer(url, link, language)

    def ask_again(self, unit: int, relevant: bool) -> None:
        na_nr, before = self.counters[unit], self.of[unit]
        na_nr[relevant] += 1
        self.of[unit] = status(na_nr.total(), na_nr[True], self.s.tolerated)
        if self.of[unit] == before:
            return
        for url in [url for url in self.pending if self.unit[url] == unit]:
            _, seq, code, inherited = self.pending.pop(url)
            tier = self.s.tier(code, self.of[unit])
            if tier != DISCARD:
                self.put(url, tier, seq, code, inherited)
