"""Synthesis of a web like the Thai one of 2004, from what the papers publish about it.

Sites hold servers, servers hold directories, directories hold pages of mostly one kind. What
no paper says is an assumption (``assumptions.toml``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit

from lswc.errors import ConfigError
from lswc.lab.compiled import kept
from lswc.lab.synthetic import thai2004, wiring
from lswc.lab.synthetic.assumptions import ASSUMED
from lswc.lab.synthetic.thai2004 import (
    ELSEWHERE,
    OF_NO_SERVER,
    OF_OTHER_SERVER,
    OF_THAI_SERVER,
    ON_OTHER_SERVER,
    ON_THAI_SERVER,
    SAME_SERVER,
    SAME_SITE,
    THAI,
    Kind,
)
from lswc.lab.synthetic.wiring import ByKind, LinkPlan, Links, Servers, Web
from lswc.lab.trace import graph
from lswc.lab.trace.format import ROW_GROUP, About, Fate, Trace, compressed_rows, write
from lswc.strategy import PageLanguage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray

    from lswc.lab.synthetic.assumptions import Assumptions

SCALES = 0.0005, 4.0
SEEDS = 3

_PAGES = (THAI, ON_THAI_SERVER, ON_OTHER_SERVER)
_LATE = [
    (ON_THAI_SERVER, THAI, SAME_SERVER),
    (ON_THAI_SERVER, THAI, SAME_SITE),
    (ON_THAI_SERVER, THAI, ELSEWHERE),
    (ON_OTHER_SERVER, THAI, ELSEWHERE),
]


LANGUAGES = ("th", "en", "other")
TLDS = (*thai2004.TLDS, "other")
_SHARES = [*thai2004.TLDS.items(), ("other", 1 - sum(thai2004.TLDS.values()))]
_TH = TLDS.index("th")
_NO_PAGES = (OF_THAI_SERVER, OF_OTHER_SERVER)


def _anchors() -> NDArray[np.float64]:
    """Return the chance of a Thai anchor by source (row) and target: a Thai page or another.

    Shares of links with Thai anchors, and of those to Thai pages, as in Somboonviwat 2006, Table 5.
    """
    to_thai = _shares_to_thai()
    chances = []
    for row, source in enumerate(("Thai page", "non-Thai page")):
        share = thai2004.THAI_ANCHORS[source]
        hit = thai2004.ANCHOR_SHARES[source, "Thai anchor"]
        chances.append((share * hit / to_thai[row], share * (1 - hit) / (1 - to_thai[row])))
    return np.array(chances)


def _shares_to_thai() -> tuple[float, float]:
    """Return the share of the links between pages that lead to Thai ones, from Thai and others."""
    counts = np.zeros((2, 2))
    for (source, target), (number, _) in thai2004.PAGE_LINKS.items():
        counts[int(source != "Thai page"), int(target != "Thai page")] += number
    return float(counts[0, 0] / counts[0].sum()), float(counts[1, 0] / counts[1].sum())


@dataclass(frozen=True)
class Synthetic:
    """A synthetic web: a trace, and the names behind its categories.

    ``tld`` of shape (servers,) indexes TLDS, ``language`` of shape (n,) LANGUAGES; -1 for what
    is no page.
    """

    trace: Trace
    tld: NDArray[np.int8]
    language: NDArray[np.int8]

    def write(self, folder: Path | str) -> None:
        """Write the trace. Raises TraceError."""
        t = self.trace
        links = compressed_rows(t.offsets, t.targets, t.anchors)
        write(folder, t.about, t.seeds, self._tables(), links)

    def _tables(self) -> Iterator[pa.Table]:
        for first in range(0, self.trace.urls, ROW_GROUP):
            yield self._rows(slice(first, first + ROW_GROUP))

    def _rows(self, rows: slice) -> pa.Table:
        t = self.trace
        server, language = t.server[rows], self.language[rows].astype(np.int32)
        columns = {
            "server": server,
            "site": t.site[server],
            "tld": _words(pa.array(self.tld[server].astype(np.int32)), TLDS),
            "language": _words(pa.array(language, mask=language < 0), LANGUAGES),
            "status": np.array([0, 200, 302, 200], np.int16)[t.fate[rows]],
            "page": t.fate[rows] == Fate.PAGE,
            "distance": t.distance[rows],
        }
        if t.directory is not None:
            columns["directory"] = columns["folder"] = t.directory[rows]
        return pa.table(columns)


def _words(indices: pa.Array, words: tuple[str, ...]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(indices, pa.array(words))


@dataclass(frozen=True)
class _Servers:
    """Servers in order of discovery."""

    tld: NDArray[np.int8]
    site: NDArray[np.int32]
    thai_pages: NDArray[np.int64]
    other_pages: NDArray[np.int64]


def synthesize(scale: float = 1.0, seed: int = 1, assumed: Assumptions = ASSUMED) -> Synthetic:
    """Make a web of ``scale`` times the size of the one of 2004.

    The same arguments give the same web. Raises ConfigError for a scale out of range.
    """
    if not SCALES[0] <= scale <= SCALES[1]:
        raise ConfigError(f"scale must lie between {SCALES[0]} and {SCALES[1]}, not {scale}")
    random = np.random.default_rng(seed)
    discovered = _servers(random, scale, assumed)
    return _web(random, scale, discovered, assumed)


def _cluster(random: Generator, count: int, exponent: float, largest: int) -> NDArray[np.int64]:
    """Return the site of each of ``count`` servers; sizes of sites follow a power law."""
    sizes = np.minimum(random.random(count) ** (-1 / exponent), largest).astype(np.int64)
    return np.repeat(np.arange(count), sizes)[:count]


def _heavy(
    random: Generator, base: NDArray[Any], total: int, sigma: float, largest: int
) -> NDArray[np.int64]:
    """Return numbers up to ``largest`` that sum to ``total``: ``base`` times log-normal factors.

    All are 0 if ``total`` is less: a small web has more servers than pages for them.
    """
    if not len(base):
        return np.empty(0, np.int64)
    total = max(0, total)
    weight = base * random.lognormal(0.0, sigma, len(base))
    low, high = 0.0, 1e9
    for _ in range(100):  # the limit makes the factor a fixed point
        middle = (low + high) / 2
        if np.minimum(weight * middle, largest).sum() < total:
            low = middle
        else:
            high = middle
    ends = np.round(np.cumsum(np.minimum(weight * high, largest)))
    ends[-1] = total
    return np.diff(np.minimum(ends, total), prepend=0).astype(np.int64)


def _servers(random: Generator, scale: float, assumed: Assumptions) -> _Servers:
    total = max(20, round(thai2004.SERVERS * scale))
    thai = max(2 * SEEDS, round(thai2004.THAI_SERVERS * scale))
    in_th = max(SEEDS + 1, round(thai * assumed.thai_in_th)) - SEEDS
    elsewhere = thai - SEEDS - in_th
    siblings = [round(n * assumed.siblings) for n in (in_th, elsewhere)]
    quiet = round(assumed.other_th_servers * scale)
    groups = [
        (SEEDS, 0, True, -1.0, -1.0),
        (in_th, siblings[0], True, 0.0, assumed.early),
        (elsewhere, siblings[1], False, 0.0, assumed.early),
        (0, quiet, True, 0.0, 1.0),
        (0, total - thai - sum(siblings) - quiet, False, 0.0, 1.0),
    ]
    columns = [_group(random, assumed, _Group(*group)) for group in groups]
    starts = np.cumsum([0, *(site[-1] + 1 if len(site) else 0 for site, *_ in columns)])
    site = np.concatenate([c[0] + start for c, start in zip(columns, starts, strict=False)])
    is_thai, tld, key = (np.concatenate([c[i] for c in columns]) for i in (1, 2, 3))
    order = np.lexsort((site, key))
    site, is_thai, tld = site[order], is_thai[order], tld[order]
    changes = np.diff(site, prepend=site[0]) != 0
    thai_pages, other_pages = _page_numbers(random, scale, is_thai, tld == _TH, assumed)
    return _Servers(tld, np.cumsum(changes).astype(np.int32), thai_pages, other_pages)


class _Group(NamedTuple):
    """Numbers of servers; whether they are under .th; the first and last key of discovery."""

    thai: int
    others: int
    th: bool
    low: float
    high: float


def _group(
    random: Generator, assumed: Assumptions, group: _Group
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int8], NDArray[np.float64]]:
    """Return site, Thai or not, TLD and key of discovery of each server of a group."""
    thai, others, th, low, high = group
    count = thai + others
    exponent = np.inf if low < 0 else assumed.site_exponent
    site = _cluster(random, count, exponent, max(1, count // 40))
    first = np.diff(site, prepend=-1) != 0
    is_thai = np.zeros(count, np.bool_)
    is_thai[np.lexsort((random.random(count), ~first))[:thai]] = True  # the first of each site
    tld = np.full(count, _TH)
    if not th:
        shares = [
            share * (assumed.com_factor if thai and name == "com" else 1.0)
            for name, share in _SHARES
        ]
        tld = random.choice(len(shares), count, p=np.array(shares) / sum(shares))[site]
    key = random.uniform(low, high, count)[site]
    return site, is_thai, tld.astype(np.int8), key


def _page_numbers(
    random: Generator,
    scale: float,
    is_thai: NDArray[np.bool_],
    th: NDArray[np.bool_],
    assumed: Assumptions,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the Thai and the other pages of each server. Seeds are home pages of large servers."""
    thai, other = np.zeros((2, len(is_thai)), np.int64)
    domains = (True, ".th", assumed.non_thai_on_th), (False, "others", assumed.non_thai_elsewhere)
    for under_th, tld, on_thai in domains:
        mine = np.flatnonzero(is_thai & (th == under_th))
        theirs = np.flatnonzero(~is_thai & (th == under_th))
        number = round(thai2004.PAGES["thai", tld] * scale)
        non_thai = round(scale * sum(thai2004.PAGES[k, tld] for k in ("english", "other")))
        on_mine = round(on_thai * scale)
        largest = min(assumed.largest, max(100, non_thai // 20))
        thai[mine] = 1 + _heavy(
            random, np.ones(len(mine)), number - len(mine), assumed.size_sigma, largest
        )
        if under_th:
            for seed in range(SEEDS):
                biggest = seed + int(np.argmax(thai[mine][seed:]))
                thai[mine[[seed, biggest]]] = thai[mine[[biggest, seed]]]
        other[mine] = _heavy(
            random,
            thai[mine] ** assumed.non_thai_exponent,
            on_mine,
            assumed.non_thai_sigma,
            largest,
        )
        rest = non_thai - on_mine - len(theirs)
        other[theirs] = 1 + _heavy(random, np.ones(len(theirs)), rest, assumed.size_sigma, largest)
    return thai, other


@kept
@njit(nogil=True)
def _layout(
    random: Generator,
    thai: NDArray[np.int64],
    other: NDArray[np.int64],
    assumed: Assumptions,
    seeds: int,
) -> tuple[NDArray[np.int8], NDArray[np.int32], NDArray[np.bool_]]:
    """Return kind and directory of each page, server by server, and whether it is a head.

    A head is the first page of its directory. Pages of a directory are mostly of one kind.
    """
    n = thai.sum() + other.sum()
    kind = np.empty(n, np.int8)
    directory = np.empty(n, np.int32)
    head = np.zeros(n, np.bool_)
    page, here = 0, -1
    for server in range(len(thai)):
        left = np.array([thai[server], other[server]])
        non_thai = ON_THAI_SERVER if left[0] else ON_OTHER_SERVER
        which = 0 if server < seeds or (left[0] and random.random() < assumed.thai_home) else 1
        first = page
        while left[0] + left[1] > 0:
            if page == first or random.random() < 1 / assumed.directory:
                head[page] = True
                here += 1
            if page > first and (head[page] or random.random() < assumed.mixing):
                which = 0 if random.random() * (left[0] + left[1]) < left[0] else 1
            if left[which] == 0:
                which = 1 - which
            left[which] -= 1
            kind[page] = THAI if which == 0 else non_thai
            directory[page] = here
            page += 1
    return kind, directory, head


def _shared_out(weight: NDArray[np.float32], number: float) -> NDArray[np.int32]:
    """Return whole numbers in proportion to the weights that sum to ``number``."""
    ends = np.floor(np.cumsum(weight, dtype=np.float64) * (number / max(weight.sum(), 1e-9)))
    shares: NDArray[np.int32] = np.diff(ends, prepend=0).astype(np.int32)
    return shares


def _pages(
    random: Generator, scale: float, discovered: _Servers, assumed: Assumptions
) -> tuple[Web, NDArray[np.float32], NDArray[np.int32], int]:
    """Return servers and pages; weight, and links to own other URLs; number of unknown URLs."""
    kinds = {kind: number * scale for kind, number in thai2004.links(assumed).items()}
    thai, other = discovered.thai_pages, discovered.other_pages
    kind, directory, head = _layout(random, thai, other, assumed, SEEDS)
    count = thai + other
    ends = np.cumsum(count)
    weight = random.lognormal(0.0, assumed.degree_sigma, len(kind)).astype(np.float32)
    weight[head] *= assumed.index_factor
    weight[ends - count] *= assumed.index_factor
    own = np.zeros(len(kind), np.int32)
    for k in _PAGES:
        to = OF_OTHER_SERVER if k == ON_OTHER_SERVER else OF_THAI_SERVER
        own[kind == k] = _shared_out(weight[kind == k], kinds[Kind(k, to, SAME_SERVER)])
    # URLs that are no pages, in proportion to the links to them.
    server = np.repeat(np.arange(len(count)), count)
    own_links = np.bincount(server, own, len(count))
    nowhere = sum(number for kind_, number in kinds.items() if kind_.target == OF_NO_SERVER)
    somewhere = sum(n for kind_, n in kinds.items() if kind_.target in _NO_PAGES)
    others = thai2004.URLS * scale - len(kind)
    unknown = others * nowhere / (nowhere + somewhere)
    share = (others - unknown) / own_links.sum()
    extra = np.floor(own_links * share + random.random(len(count)))
    extra = np.clip(extra, own_links > 0, own_links)
    first = np.concatenate([[0], np.cumsum(count + extra.astype(np.int64))])
    url = np.arange(len(kind)) + np.repeat(first[:-1] - (ends - count), count)
    every = np.repeat(np.arange(len(count), dtype=np.int32), np.diff(first))
    kinds_of_all = np.where(thai[every] > 0, OF_THAI_SERVER, OF_OTHER_SERVER).astype(np.int8)
    kinds_of_all[url] = kind
    # A URL that is no page belongs to a random directory of its server.
    random_page = (ends - count)[every] + (random.random(len(every)) * count[every]).astype(
        np.int64
    )
    directories = directory[random_page]
    directories[url] = directory
    placed = _placed(random, first, kinds_of_all, directories, assumed)
    n = int(first[-1])
    weights, owns = np.zeros(n, np.float32), np.zeros(n, np.int32)
    weights[url], owns[url] = weight, own
    bounds = np.flatnonzero(np.diff(discovered.site, prepend=-1, append=discovered.site[-1] + 1))
    site_first, site_end = bounds[discovered.site], bounds[discovered.site + 1]
    servers = Servers(
        first, count.astype(np.int32), site_first.astype(np.int32), site_end.astype(np.int32), SEEDS
    )
    web = Web(random, scale, assumed, servers, placed, every)
    return web, weights, owns, round(unknown)


def _placed(
    random: Generator,
    first: NDArray[np.int64],
    kind: NDArray[np.int8],
    directory: NDArray[np.int32],
    assumed: Assumptions,
) -> ByKind:
    n = len(kind)
    apart = np.zeros(n, np.bool_)
    draw = random.random(n)
    apart[(kind == THAI) & (draw < assumed.apart)] = True
    apart[(kind == ON_THAI_SERVER) & (draw < assumed.far)] = True
    apart[first[:SEEDS]] = False
    listed = [np.flatnonzero(kind == k).astype(np.int32) for k in _PAGES]
    begins = np.cumsum([0, *map(len, listed)])
    parts = zip(begins, listed, strict=False)
    start = np.array([begin + np.searchsorted(pages, first) for begin, pages in parts])
    having = [np.flatnonzero(np.diff(starts)).astype(np.int32) for starts in start]
    having_start = np.cumsum([0, *map(len, having)])
    return ByKind(
        kind, directory, apart, np.concatenate(listed), start, np.concatenate(having), having_start
    )


def _grouped(keys: NDArray[np.int32], n: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the indices of non-negative keys, by key, and where each key's begin."""
    start = np.zeros(n + 1, np.int64)
    used = np.flatnonzero(keys >= 0).astype(np.int32)
    np.cumsum(np.bincount(keys[used], minlength=n), out=start[1:])
    return used[np.argsort(keys[used], kind="stable")], start


def _plan(
    web: Web, weight: NDArray[np.float32], own: NDArray[np.int32], unknown: int
) -> tuple[LinkPlan, NDArray[np.int64]]:
    """Return what is to be drawn, beside the tree, and the tree's numbers of links."""
    pages, scale = web.pages, web.scale
    numbers = {kind: number * scale for kind, number in thai2004.links(web.assumed).items()}
    parent = wiring.tree(web)
    children, child_start = _grouped(parent, len(parent))
    done = wiring.tree_counts(web, parent)
    kinds, rates = [], []
    outside = np.zeros((3, 3))
    for kind, number in numbers.items():
        total_weight = float(weight[pages.kind == kind.source].sum(dtype=np.float64))
        if kind.target in _PAGES and kind not in _LATE:
            kinds.append(kind)
            left = max(0.0, number - int(done[kind]))
            rates.append(wiring.rate(web, weight, (kind[0], kind[1], kind[2]), left))
        elif kind.target == OF_NO_SERVER:
            outside[kind.source, 2] = number / total_weight
        elif kind.locality == ELSEWHERE and kind.target in _NO_PAGES:
            outside[kind.source, _NO_PAGES.index(kind.target)] = number / total_weight
    plan = LinkPlan(
        weight,
        children,
        child_start,
        own,
        np.array(kinds),
        np.array(rates),
        outside,
        (unknown, round(sum(n for k, n in numbers.items() if k.target == OF_NO_SERVER))),
        _anchors(),
        thai2004.REDIRECTS * scale / np.count_nonzero(pages.kind >= OF_THAI_SERVER),
        round(sum(numbers.values()) * 1.02 + thai2004.REDIRECTS * scale + 1000),
    )
    return plan, done


def _web(random: Generator, scale: float, discovered: _Servers, assumed: Assumptions) -> Synthetic:
    web, weight, own, unknown = _pages(random, scale, discovered, assumed)
    plan, done = _plan(web, weight, own, unknown)
    links, redirects = wiring.draw_links(web, plan)
    del plan, weight, own
    late = _late_links(web, links, done)
    links = wiring.merge(random, links, late[0], late[1], _anchors()[1, 0])
    return _finished(web, discovered, links, redirects)


def _late_links(
    web: Web, links: Links, done: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the links from non-Thai to Thai pages, as compressed rows.

    Thai pages apart are put at an exponentially distributed distance from the nearest Thai page.
    """
    random, scale, assumed, servers, pages, server = web
    offsets, targets, _ = links
    n = len(pages.kind)
    reached = graph.distances(offsets, targets, servers.first[:SEEDS].astype(np.int32))[:n] >= 0
    thai = pages.listed[: pages.start[THAI, -1]]
    level = graph.distances(offsets, targets, thai)[:n]
    level[~reached | (pages.kind > ON_OTHER_SERVER)] = -1
    apart = thai[pages.apart[thai]]
    drawn = 1 + random.geometric(1 - assumed.apart, len(apart))
    planned = np.minimum(drawn, assumed.farthest).astype(np.int8)
    keys = np.full(n, -1, np.int32)
    usable = (level > 0) & (level < assumed.farthest) & ((pages.kind == 1) | (pages.kind == 2))
    keys[usable] = (pages.kind[usable] - 1) * (assumed.farthest + 1) + level[usable]
    candidates, start = _grouped(keys, 2 * (assumed.farthest + 1))
    starts = np.array([start[: assumed.farthest + 2], start[assumed.farthest + 1 :]])
    sources, made = wiring.attach(web, apart, planned, level, candidates, starts)
    nearest = np.zeros(n, np.int8)
    nearest[apart] = made
    pairs = [sources.astype(np.int64) * n + apart]
    near = np.where(server[sources] == server[apart], SAME_SERVER, ELSEWHERE)
    site = servers.site_first
    near[(near == ELSEWHERE) & (site[server[sources]] == site[server[apart]])] = SAME_SITE
    for kind in _LATE:
        attached = np.count_nonzero((pages.kind[sources] == kind[0]) & (near == kind[2]))
        wanted = round(thai2004.links(assumed)[Kind(*kind)] * scale - done[kind] - attached)
        pairs.append(_late_pairs(web, kind, wanted, level, nearest))
    together = np.unique(np.concatenate(pairs))
    extra = np.zeros(len(offsets), np.int64)
    np.cumsum(np.bincount(together // n, minlength=len(offsets) - 1), out=extra[1:])
    return extra, (together % n).astype(np.int32)


def _late_pairs(
    web: Web,
    kind: tuple[int, int, int],
    wanted: int,
    level: NDArray[np.int16],
    nearest: NDArray[np.int8],
) -> NDArray[np.int64]:
    """Return links as source * n + target, without duplicates."""
    pairs = np.empty(0, np.int64)
    for _ in range(4):
        missing = wanted - len(pairs)
        if missing <= 0:
            break
        number = missing + missing // 20
        sources, targets = wiring.more_to_thai(web, kind, number, level, nearest)
        found = sources.astype(np.int64) * len(web.pages.kind) + targets
        pairs = np.unique(np.concatenate([pairs, found]))
    return web.random.permutation(pairs)[: max(0, wanted)]


def _finished(
    web: Web, discovered: _Servers, links: Links, redirects: NDArray[np.bool_]
) -> Synthetic:
    random, scale, assumed, servers, pages, server = web
    offsets, targets, anchors = links
    n, known = len(offsets) - 1, len(servers.pages)
    unknown = n - len(pages.kind)
    strangers = known + np.arange(unknown) // round(assumed.unknown_per_server)
    foreign = int(strangers[-1]) + 1 - known if unknown else 0
    kind = np.concatenate([pages.kind, np.full(unknown, OF_NO_SERVER, np.int8)])
    n_other = int(np.count_nonzero(pages.kind >= OF_THAI_SERVER) - np.count_nonzero(redirects))
    tried = random.random(n) < thai2004.NON_HTML * scale / max(n_other, 1)
    fate = np.select(
        [kind < OF_THAI_SERVER, redirects, tried & (kind < OF_NO_SERVER)],
        [Fate.PAGE, Fate.REDIRECT, Fate.FAILED],
        Fate.NEVER,
    ).astype(np.int8)
    shares = [share for _, share in _SHARES]
    tld = np.concatenate(
        [discovered.tld, random.choice(len(shares), foreign, p=shares).astype(np.int8)]
    )
    site = np.concatenate([discovered.site, discovered.site[-1] + 1 + np.arange(foreign)]).astype(
        np.int32
    )
    server = np.concatenate([server, strangers]).astype(np.int32)
    directory = np.concatenate(
        [pages.directory, pages.directory.max() + 1 + strangers - known]
    ).astype(np.int32)
    language = _languages(web, kind, server, tld)
    codes = np.array(
        [PageLanguage.TARGET, PageLanguage.ENGLISH, PageLanguage.OTHER, PageLanguage.UNKNOWN]
    )
    seeds = servers.first[:SEEDS].astype(np.int32)
    trace = Trace(
        About("th", ("th",), f"synthetic, like thai2004, scale {scale}{_changed(assumed)}"),
        server,
        directory,
        site,
        tld == _TH,
        codes[language].astype(np.int8),
        fate,
        graph.distances(offsets, targets, seeds),
        offsets,
        targets,
        anchors,
        seeds,
        folder=directory,
    )
    return Synthetic(trace, tld, language)


def _changed(assumed: Assumptions) -> str:
    """Say which assumptions have another value than usual."""
    pairs = zip(assumed._fields, assumed, ASSUMED, strict=True)
    return "".join(f", {name} {value}" for name, value, usual in pairs if value != usual)


def _languages(
    web: Web, kind: NDArray[np.int8], server: NDArray[np.int32], tld: NDArray[np.int8]
) -> NDArray[np.int8]:
    """Return the language of each URL: pages of a server have mostly one, as many as published."""
    random, assumed, scale = web.random, web.assumed, web.scale
    language = np.full(len(kind), -1, np.int8)
    language[kind == THAI] = 0
    likely = np.full(len(TLDS), assumed.english_other)
    likely[[TLDS.index("com"), TLDS.index("org")]] = assumed.english_com
    likely[[TLDS.index("de"), TLDS.index("jp")]] = assumed.english_abroad
    likely[TLDS.index("net")] = assumed.english_net
    likely[_TH] = assumed.english_th
    english = random.random(len(tld)) < likely[tld]
    share = np.where(english, assumed.english_purity, 1 - assumed.english_purity)
    for under_th in (True, False):
        pages = np.flatnonzero(
            ((kind == ON_THAI_SERVER) | (kind == ON_OTHER_SERVER))
            & ((tld[server] == _TH) == under_th)
        )
        number = round(thai2004.PAGES["english", ".th" if under_th else "others"] * scale)
        odds = share[server[pages]]
        # The most English first, by a random order that favours servers in English.
        order = np.argsort(-np.log(odds / (1 - odds)) - random.logistic(size=len(pages)))
        language[pages] = 2
        language[pages[order[:number]]] = 1
    return language
