"""The simulated crawl once more, in plain Python and by the book: what the kernel must equal."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from lswc.lab.simulator.brought import Brought
from lswc.lab.trace.format import Fate
from lswc.strategy import (
    DISCARD,
    NO_PAGES,
    SEED,
    Anchor,
    Facts,
    Locality,
    Named,
    PageLanguage,
    Pages,
    Status,
    Strategy,
    Unit,
    better,
    decode,
    distance_of,
    effective_language,
    encode,
    from_site_queue,
    next_distance,
    order,
    status,
)
from lswc.strategy.families import KNOWN, NEW, PROOF, PROVEN, SUPPORT, UNPROVEN, support_of
from lswc.strategy.families import SEED as OF_SEED

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from lswc.lab.trace.format import Trace


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
    referrer_server: Status,
    oracle: NDArray[np.bool_],
) -> Iterator[tuple[int, int]]:
    """Yield target and code of each link of a page of that (effective) language, in order."""
    assert t.tld is not None
    assert t.anchors is not None
    assert t.named is not None
    assert t.folder is not None
    distance = next_distance(language == 0, distance_of(code))
    begin = t.offsets[page]
    for link, url in enumerate(links(t, page), begin):
        facts = Facts(
            referrer=language,
            distance=distance,
            referrer_server=referrer_server,
            target_server=Status.UNVISITED,
            locality=locality(t, page, url),
            tld=bool(t.tld[t.server[url]]),
            anchor=Anchor(t.anchors[link]),
            in_site=from_site_queue(code),
            oracle=bool(oracle[url]),
            named=Named(t.named[link]),
            same_folder=bool(t.folder[url] == t.folder[page]),
            from_seed=code == SEED,
        )
        yield url, encode(facts)


def target_of_redirect(t: Trace, source: int, url: int, code: int) -> int:
    """Return the code of a redirect's target: the link's, as far from its page as either leads."""
    assert t.folder is not None
    if code == SEED:
        return SEED
    facts = decode(code, Status.UNVISITED)
    hop = locality(t, source, url)
    return encode(
        facts._replace(
            locality=max(facts.locality, hop),
            same_folder=facts.same_folder and bool(t.folder[url] == t.folder[source]),
        )
    )


def locality(t: Trace, source: int, url: int) -> Locality:
    here, there = t.server[source], t.server[url]
    if here == there:
        return Locality.SAME_SERVER
    return Locality.SAME_SITE if t.site[here] == t.site[there] else Locality.ELSEWHERE


class Pending(NamedTuple):
    cell: int
    seq: int
    code: int
    inherited: PageLanguage
    level: int


class Crawl:
    """A crawl of a trace; ``visits`` are the URLs taken from the queue, in order.

    ``queue_sizes`` are those after each page, ``discarded`` the URLs discarded from the queue.
    """

    def __init__(self, t: Trace, s: Strategy, oracle: NDArray[np.bool_]) -> None:
        self.t, self.s, self.oracle, self.unit = t, s, oracle, units(t, s)
        self.site: list[int] = t.site[t.server].tolist()
        self.order = order(s)
        self.brought = Brought(t, s)
        self.of_unit: defaultdict[int, Pages] = defaultdict(Pages)
        self.of_site: defaultdict[int, Pages] = defaultdict(Pages)
        unvisited = s.place(NO_PAGES)
        self.place_of_site: defaultdict[int, int] = defaultdict(lambda: unvisited)
        self.place_of_unit: dict[int, int] = {}
        self.level: defaultdict[int, int] = defaultdict(int)
        self.supporters: defaultdict[int, list[int]] = defaultdict(list)
        self.pending: dict[int, Pending] = {}
        self.visits: dict[int, None] = {}
        self.queue_sizes: list[int] = []
        self.discarded = 0
        self.seqs = count()
        self.link(None, t.seeds.tolist())
        for seed in t.seeds.tolist():
            self.offer(seed, SEED, PageLanguage.TARGET, 1)
        while waiting := [u for u in self.pending if t.fate[u] != Fate.NEVER]:
            self.visit(min(waiting, key=self.turn))

    def turn(self, url: int) -> tuple[tuple[float, int], int]:
        found = self.pending[url]
        return self.order.rank(found.cell), found.seq

    def place(self, url: int) -> int:
        unit = self.unit[url]
        return self.place_of_unit.setdefault(unit, self.place_of_site[self.site[url]])

    def offer(self, url: int, code: int, inherited: PageLanguage, level: int) -> None:
        cell = self.s.cell(code, self.place(url))
        if cell == DISCARD or url in self.visits:
            return
        old = self.pending.get(url)
        if old is None:
            self.pending[url] = Pending(cell, next(self.seqs), code, inherited, level)
            return
        level = min(level, old.level)
        self.pending[url] = old._replace(level=level)
        rank, old_rank = self.order.rank(cell), self.order.rank(old.cell)
        if better(rank, distance_of(code), old_rank, distance_of(old.code)):
            self.pending[url] = Pending(cell, old.seq, code, inherited, level)

    def visit(self, page: int) -> None:
        cell, _, code, inherited, level = self.pending.pop(page)
        self.visits[page] = None
        if self.t.fate[page] == Fate.REDIRECT:
            self.link(self.site[page], links(self.t, page))
            for url in links(self.t, page):
                self.offer(url, target_of_redirect(self.t, page, url, code), inherited, level)
        elif self.t.fate[page] == Fate.PAGE:
            language = PageLanguage(self.t.language[page])
            taken = effective(self.s, language, inherited)
            brought = self.brought.by(page)
            counted = taken == PageLanguage.TARGET if brought is None else brought
            self.order.learn(cell, counted)
            self.count(page, counted)
            of_page = status(*self.of_unit[self.unit[page]], self.s.tolerated)
            if not self.s.levels or level < self.s.levels:
                self.link(self.site[page], links(self.t, page))
                for url, link in list(offers(self.t, page, code, taken, of_page, self.oracle)):
                    self.offer(url, link, language, level + 1)
            self.queue_sizes.append(len(self.pending))
        elif self.s.learns:
            self.order.miss(cell)
            self.count(page, 0)

    def count(self, page: int, relevant: float) -> None:
        unit, site = self.unit[page], self.site[page]
        self.of_unit[unit] = one_more(self.of_unit[unit], relevant)
        self.of_site[site] = one_more(self.of_site[site], relevant)
        self.move(unit, self.s.place(self.of_unit[unit], self.of_site[site], self.support(site)))
        if not self.s.learns:
            return
        before = self.place_of_site[site]
        self.place_of_site[site] = self.s.place(NO_PAGES, self.of_site[site])
        if self.place_of_site[site] != before:
            for other in {self.unit[u] for u in range(self.t.urls) if self.site[u] == site}:
                pages = self.of_unit[other]
                self.move(other, self.s.place(pages, self.of_site[site]))

    def support(self, site: int) -> int:
        number = len(self.supporters[site])
        return support_of(self.level[site], number) if self.s.weighs_support else 0

    def link(self, by: int | None, urls: list[int]) -> None:
        """Count the links of a page of a site, or the seeds, for the sites that they lead to."""
        for site in dict.fromkeys(self.site[url] for url in urls):
            if site != by and self.level[site] < KNOWN:
                self.vouch(by, site)

    def vouch(self, by: int | None, site: int) -> None:
        before = self.support(site)
        if by is None:
            self.level[site] = OF_SEED
        elif self.level[by] != UNPROVEN and by not in self.supporters[site]:
            self.supporters[site].append(by)
            number = len(self.supporters[site])
            proves = number >= PROOF or self.level[by] == OF_SEED
            level = KNOWN if number >= SUPPORT else PROVEN if proves else UNPROVEN
            self.level[site] = max(self.level[site], level)
        elif self.level[site] == NEW:
            self.level[site] = UNPROVEN
        if self.support(site) == before or not self.s.weighs_support:
            return
        self.place_of_site[site] = self.s.place(NO_PAGES, support=self.support(site))
        for unit in {self.unit[u] for u in range(self.t.urls) if self.site[u] == site}:
            self.move(unit, self.s.place(self.of_unit[unit], support=self.support(site)))

    def move(self, unit: int, place: int) -> None:
        self.place_of_unit[unit] = place
        for url in [url for url in self.pending if self.unit[url] == unit]:
            cell = self.s.cell(self.pending[url].code, place)
            if cell == DISCARD:
                del self.pending[url]
                self.discarded += 1
            else:
                self.pending[url] = self.pending[url]._replace(cell=cell)


def one_more(pages: Pages, relevant: float) -> Pages:
    return Pages(pages.downloaded + 1, pages.relevant + relevant)
