"""The links of a synthetic web, compiled.

URLs are numbered by server, servers in an order of discovery: sites are runs of servers. A
tree makes every page reachable; on top of it come links drawn kind by kind until their numbers
are reached. Pages *apart* are not linked from Thai pages; Thai pages apart are left out here,
and attached afterwards at a chosen distance from the nearest Thai page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from lswc.strategy import Anchor
from lswc.synthetic.thai2004 import (
    ELSEWHERE,
    ON_OTHER_SERVER,
    ON_THAI_SERVER,
    SAME_SERVER,
    SAME_SITE,
    THAI,
)

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

PAGE_KINDS = 3
_TARGET, _OTHER, _NONE = (int(anchor) for anchor in Anchor)
_RETRIES = 8


class Servers(NamedTuple):
    """Servers in order of discovery; the ``seeds`` first ones have a seed as home page.

    ``first`` of shape (s + 1,): URLs of server i are ``first[i]:first[i + 1]``, its ``pages``
    first and its home page before all others. ``site_first`` and ``site_end``: the servers of
    its site.
    """

    first: NDArray[np.int64]
    pages: NDArray[np.int32]
    site_first: NDArray[np.int32]
    site_end: NDArray[np.int32]
    seeds: int


class Pages(NamedTuple):
    """URLs and pages by kind. ``kind`` (thai2004), ``directory``, ``apart`` of shape (n,).

    ``listed`` are the pages by kind, then id: those of kind k on server i are
    ``listed[start[k, i]:start[k, i + 1]]``. ``having`` are the servers by kind of page that
    they have, ``having_start`` of shape (4,).
    """

    kind: NDArray[np.int8]
    directory: NDArray[np.int32]
    apart: NDArray[np.bool_]
    listed: NDArray[np.int32]
    start: NDArray[np.int64]
    having: NDArray[np.int32]
    having_start: NDArray[np.int64]


@njit(nogil=True)
def _drawn(random: Generator, first: int, end: int, bias: float) -> int:
    """Return one of first .. end - 1, earlier ones more often the greater the bias."""
    return first + int((end - first) * random.random() ** bias)


@njit(nogil=True)
def _entry(random: Generator, s: Servers, p: Pages, server: int, kind: int) -> int:
    """Return a page of a kind on an earlier server that may link to this one; -1 if none."""
    start, end = p.start[kind, 0], p.start[kind, server]
    of_site = p.start[kind, s.site_first[server]]
    if of_site < end and random.random() < 0.6:
        return int(p.listed[_drawn(random, of_site, end, 1.5)])
    if start < end:
        return int(p.listed[_drawn(random, start, end, 1.5)])
    return -1


@njit(nogil=True)
def _any_entry(random: Generator, s: Servers, p: Pages, server: int, url: int) -> int:
    """Return a page on an earlier server that may link to a page of this one."""
    kind, chance = THAI, random.random()
    if p.kind[url] == ON_THAI_SERVER and (p.apart[url] or chance < 0.3):
        kind = ON_THAI_SERVER
    elif p.kind[url] == ON_OTHER_SERVER and chance < 0.85:
        kind = ON_OTHER_SERVER if chance < 0.75 else ON_THAI_SERVER
    parent = _entry(random, s, p, server, kind)
    if parent < 0:
        parent = _entry(random, s, p, server, THAI)
        p.apart[url] = False
    return parent


@njit(nogil=True)
def _inner(random: Generator, p: Pages, server: int, url: int, home: int, head: int) -> int:
    """Return an earlier page of the same server that may link to this one; -1 if none."""
    chance = random.random()
    if chance < 0.5 and head != url:
        parent = head
    else:
        parent = home if chance < 0.65 else _drawn(random, home, url, 2.0)
    needed = p.kind[url]
    if needed == THAI or (needed == ON_THAI_SERVER and p.apart[url]):
        if p.kind[parent] == needed:
            return parent
        first, end = p.start[needed, server], p.start[needed, server + 1]
        end = first + np.searchsorted(p.listed[first:end], url)
        return p.listed[_drawn(random, first, end, 2.0)] if first < end else -1
    return parent


@njit(nogil=True)
def tree(random: Generator, s: Servers, p: Pages, deep: float) -> NDArray[np.int32]:
    """Return the parent of each page; -1 for seeds, Thai pages apart, and what is no page.

    ``deep`` is the share of directories' first pages that other servers link to.
    """
    parent = np.full(len(p.kind), -1, np.int32)
    for server in range(len(s.pages)):
        home = s.first[server]
        head = home
        for url in range(home, home + s.pages[server]):
            if url > home and p.directory[url] != p.directory[url - 1]:
                head = url
            if (p.kind[url] == THAI and p.apart[url]) or (url == home and server < s.seeds):
                continue
            found = -1
            if url > home and not (url == head and random.random() < deep):
                found = _inner(random, p, server, url, home, head)
            if found < 0:
                found = _any_entry(random, s, p, server, url)
            parent[url] = home if found < 0 else found
    return parent


@njit(nogil=True)
def locality(s: Servers, source: int, target: int) -> int:
    """Return how far apart two servers are."""
    if source == target:
        return SAME_SERVER
    return SAME_SITE if s.site_first[source] == s.site_first[target] else ELSEWHERE


@njit(nogil=True)
def tree_counts(
    s: Servers, p: Pages, server: NDArray[np.int32], parent: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the number of a tree's links by kind of source, kind of target and locality."""
    counts = np.zeros((PAGE_KINDS, PAGE_KINDS, 3), np.int64)
    for url in range(len(parent)):
        if parent[url] >= 0:
            near = locality(s, server[parent[url]], server[url])
            counts[p.kind[parent[url]], p.kind[url], near] += 1
    return counts


@njit(nogil=True)
def _limit(s: Servers, p: Pages, server: int, target: int, near: int) -> float:
    """Return how many links of a kind a page of a server can have."""
    if near == ELSEWHERE:
        return 1000.0
    own = p.start[target, server + 1] - p.start[target, server]
    if near == SAME_SERVER:
        return float(max(0.0, 0.6 * (own - 1)))
    there = p.start[target, s.site_end[server]] - p.start[target, s.site_first[server]]
    return float(min(0.6 * (there - own), 1000.0))


@njit(nogil=True)
def rate(
    s: Servers,
    p: Pages,
    server: NDArray[np.int32],
    weight: NDArray[np.float32],
    kind: tuple[int, int, int],
    number: float,
) -> float:
    """Return r so that pages with min(r * weight, limit) links of a kind have ``number`` in all."""
    source, target, near = kind
    pages = p.listed[p.start[source, 0] : p.start[source, len(s.pages)]]
    low, high = 0.0, 1e6
    for _ in range(30):
        r = np.sqrt(low * high) if low > 0 else high / 1e6
        total, last, limit = 0.0, -1, 0.0
        for url in pages:
            if server[url] != last:
                last = server[url]
                limit = _limit(s, p, last, target, near)
            total += min(r * weight[url], limit)
        if total < number:
            low = r
        else:
            high = r
    return high


@njit(nogil=True)
def _within(random: Generator, p: Pages, server: int, url: int, target: int) -> int:
    """Return a page of a kind on a page's own server: navigation, near it, or any."""
    first, end = p.start[target, server], p.start[target, server + 1]
    chance = random.random()
    if chance < 0.3:
        return int(p.listed[_drawn(random, first, end, 3.0)])
    if chance < 0.7:
        here = first + np.searchsorted(p.listed[first:end], url)
        return int(p.listed[_drawn(random, max(first, here - 25), min(end, here + 25), 1.0)])
    return int(p.listed[_drawn(random, first, end, 1.0)])


@njit(nogil=True)
def _in_site(random: Generator, s: Servers, p: Pages, server: int, target: int) -> int:
    """Return a page of a kind on another server of the site; -1 if there is none."""
    first, end = p.start[target, s.site_first[server]], p.start[target, s.site_end[server]]
    own, own_end = p.start[target, server], p.start[target, server + 1]
    others = end - first - (own_end - own)
    if others <= 0:
        return -1
    chosen = _drawn(random, first, first + others, 1.2)
    return int(p.listed[chosen if chosen < own else chosen + own_end - own])


@njit(nogil=True)
def popular(random: Generator, s: Servers, p: Pages, server: int, target: int) -> int:
    """Return a page of a kind on a server of another site; -1 if the draw was of the same site."""
    there = p.having[_drawn(random, p.having_start[target], p.having_start[target + 1], 3.0)]
    if s.site_first[there] == s.site_first[server]:
        return -1
    first, end = p.start[target, there], p.start[target, there + 1]
    return int(p.listed[first if random.random() < 0.5 else _drawn(random, first, end, 2.0)])


@njit(nogil=True)
def drawn_page(
    random: Generator, s: Servers, p: Pages, server: int, url: int, target: int, near: int
) -> int:
    """Return the target of a link of a kind; -1 if the draw failed."""
    if near == SAME_SERVER:
        return _within(random, p, server, url, target)
    if near == SAME_SITE:
        return _in_site(random, s, p, server, target)
    return popular(random, s, p, server, target)


@njit(nogil=True)
def _stranger(random: Generator, s: Servers, p: Pages, server: int, having: int) -> int:
    """Return a URL that is no page, of another server with such pages; -1 if the draw failed."""
    there = p.having[_drawn(random, p.having_start[having], p.having_start[having + 1], 3.0)]
    first, end = s.first[there] + s.pages[there], s.first[there + 1]
    if there == server or first == end:
        return -1
    return _drawn(random, first, end, 1.0)


@njit(nogil=True)
def _anchor(random: Generator, chance: NDArray[np.float64], source: int, target: int) -> int:
    if random.random() < chance[min(source, 1), min(target, 1)]:
        return _TARGET
    return _NONE if random.random() < 0.15 else _OTHER


@njit(nogil=True)
def _shuffle(random: Generator, values: NDArray[np.int32]) -> None:
    for i in range(len(values) - 1, 0, -1):
        j = _drawn(random, 0, i + 1, 1.0)
        values[i], values[j] = values[j], values[i]


class Task(NamedTuple):
    """What ``weave`` draws. ``children`` and ``child_start``: the tree, by parent.

    ``own`` of shape (n,): links of a page to URLs of its server that are no pages. ``kinds`` of
    shape (k, 3): source, target, locality of links between pages, and their ``rates`` per weight.
    ``outside`` of shape (3, 3): per kind of page, rate of links to URLs that are no pages, of
    other servers with Thai pages, with other pages, and without pages. ``unknown``: number of
    URLs of the latter and of links to them. ``anchor`` of shape (2, 2): chance of a Thai anchor by
    source and target (Thai page or not). ``redirect``: chance that a URL that is no page is a
    redirect. ``room``: at most so many links.
    """

    weight: NDArray[np.float32]
    children: NDArray[np.int32]
    child_start: NDArray[np.int64]
    own: NDArray[np.int32]
    kinds: NDArray[np.int64]
    rates: NDArray[np.float64]
    outside: NDArray[np.float64]
    unknown: tuple[int, int]
    anchor: NDArray[np.float64]
    redirect: float
    room: int


class Loom(NamedTuple):
    """Links so far: ``at`` holds their number and that of the unknown URLs and links used.

    ``mark`` of shape (n,) is the last page that linked to a URL. ``owed`` and ``owed_outside``
    carry what pages couldn't take, and fractions, to the next page.
    """

    targets: NDArray[np.int32]
    mark: NDArray[np.int32]
    at: NDArray[np.int64]
    owed: NDArray[np.float64]
    owed_outside: NDArray[np.float64]


_END, _FRESH, _DRAWN = range(3)


@njit(nogil=True)
def _put(loom: Loom, url: int, target: int) -> bool:
    """Add a link, unless there is no target or the page has that link."""
    if target < 0 or loom.mark[target] == url:
        return False
    loom.mark[target] = url
    loom.targets[loom.at[_END]] = target
    loom.at[_END] += 1
    return True


@njit(nogil=True)
def _add_own(
    random: Generator, t: Task, loom: Loom, url: int, first: int, used: int, end: int, left: int
) -> int:
    """Link to URLs of the same server that are no pages; return the first that no page links to.

    Each of them gets a link: ``left`` links remain for ``end - used`` such URLs.
    """
    for _ in range(t.own[url]):
        for _ in range(_RETRIES):
            if random.random() * left < end - used:
                _put(loom, url, used)
                used += 1
                break
            if _put(loom, url, _drawn(random, first, used, 1.0)):
                break
        left -= 1
    return used


@njit(nogil=True)
def _add_pages(
    random: Generator, s: Servers, p: Pages, t: Task, loom: Loom, server: int, url: int
) -> None:
    """Link to pages, kind by kind."""
    for k in range(len(t.kinds)):
        if t.kinds[k, 0] != p.kind[url]:
            continue
        to, near = t.kinds[k, 1], t.kinds[k, 2]
        limit = _limit(s, p, server, to, near)
        loom.owed[k] += min(t.rates[k] * t.weight[url], limit)
        for _ in range(min(int(loom.owed[k]), int(limit))):
            for _ in range(_RETRIES):
                target = drawn_page(random, s, p, server, url, to, near)
                allowed = target >= 0 and not (p.kind[url] == THAI and p.apart[target])
                if allowed and _put(loom, url, target):
                    loom.owed[k] -= 1
                    break


@njit(nogil=True)
def _add_outside(
    random: Generator, s: Servers, p: Pages, t: Task, loom: Loom, server: int, url: int
) -> None:
    """Link to URLs of other servers that are no pages."""
    kind = p.kind[url]
    for where in range(3):
        loom.owed_outside[kind, where] += t.outside[kind, where] * t.weight[url]
        while loom.owed_outside[kind, where] >= 1:
            loom.owed_outside[kind, where] -= 1
            for _ in range(4 * _RETRIES):
                if where == 2:
                    target = _unknown(random, t, loom)
                else:
                    having = THAI if where == 0 else ON_OTHER_SERVER
                    target = _stranger(random, s, p, server, having)
                if _put(loom, url, target):
                    break


@njit(nogil=True)
def _unknown(random: Generator, t: Task, loom: Loom) -> int:
    """Return a URL of a server without pages: a new one, or one that has a link."""
    known = len(loom.mark) - t.unknown[0]
    left, new = t.unknown[1] - loom.at[_DRAWN], t.unknown[0] - loom.at[_FRESH]
    loom.at[_DRAWN] += 1
    if loom.at[_FRESH] == 0 or (new > 0 and random.random() * left < new):
        loom.at[_FRESH] += 1
        return int(known + loom.at[_FRESH] - 1)
    return _drawn(random, known, known + loom.at[_FRESH], 1.0)


@njit(nogil=True)
def _redirect(random: Generator, p: Pages, t: Task, home: int, end: int) -> int:
    """Return where a URL that is no page redirects to; -1 if it doesn't."""
    if random.random() < t.redirect:
        for _ in range(_RETRIES):
            target = home if random.random() < 0.5 else _drawn(random, home, end, 1.0)
            if not p.apart[target]:
                return target
    return -1


@njit(nogil=True)
def weave(
    random: Generator, s: Servers, p: Pages, t: Task
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int8], NDArray[np.bool_]]:
    """Return offsets, targets and anchors of the links, and which URLs are redirects.

    Behind the URLs of known servers come the unknown ones.
    """
    n = len(p.kind)
    offsets = np.zeros(n + t.unknown[0] + 1, np.int64)
    anchors = np.empty(t.room, np.int8)
    redirects = np.zeros(n + t.unknown[0], np.bool_)
    loom = Loom(
        np.empty(t.room, np.int32),
        np.full(n + t.unknown[0], -1, np.int32),
        np.zeros(3, np.int64),
        np.zeros(len(t.kinds)),
        np.zeros((PAGE_KINDS, 3)),
    )
    for server in range(len(s.pages)):
        home = s.first[server]
        others, others_end = home + s.pages[server], s.first[server + 1]
        used, own_left = others, t.own[home:others].sum()
        for url in range(home, others):
            begin = loom.at[_END]
            loom.mark[url] = url
            for child in t.children[t.child_start[url] : t.child_start[url + 1]]:
                _put(loom, url, child)
            used = _add_own(random, t, loom, url, others, used, others_end, own_left)
            own_left -= t.own[url]
            _add_pages(random, s, p, t, loom, server, url)
            _add_outside(random, s, p, t, loom, server, url)
            _shuffle(random, loom.targets[begin : loom.at[_END]])
            for i in range(begin, loom.at[_END]):
                target = loom.targets[i]
                kind = p.kind[target] if target < n else ON_OTHER_SERVER
                anchors[i] = _anchor(random, t.anchor, p.kind[url], kind)
            offsets[url + 1] = loom.at[_END]
        for url in range(others, others_end):
            if _put(loom, url, _redirect(random, p, t, home, others)):
                redirects[url] = True
                anchors[loom.at[_END] - 1] = _NONE
            offsets[url + 1] = loom.at[_END]
    end, fresh = loom.at[_END], loom.at[_FRESH]
    offsets[n + 1 :] = end
    return offsets[: n + fresh + 1], loom.targets[:end], anchors[:end], redirects[: n + fresh]


@njit(nogil=True)
def attach(
    random: Generator,
    s: Servers,
    p: Pages,
    server: NDArray[np.int32],
    apart: NDArray[np.int32],
    planned: NDArray[np.int8],
    level: NDArray[np.int16],
    candidates: NDArray[np.int32],
    start: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """Return the page that links to each Thai page apart, and the distance that this makes.

    ``level`` is a page's distance from the nearest Thai page, -1 for pages that can't be used.
    ``candidates[start[k, d]:start[k, d + 1]]`` are the pages of kind k + 1 at level d.
    """
    sources = np.full(len(apart), -1, np.int32)
    made = np.zeros(len(apart), np.int8)
    for i in range(len(apart)):
        url = apart[i]
        here = server[url]
        first, end = p.start[ON_THAI_SERVER, here], p.start[ON_THAI_SERVER, here + 1]
        if random.random() < 0.7 and first < end:
            for _ in range(2 * _RETRIES):
                source = p.listed[_drawn(random, first, end, 1.5)]
                if level[source] == planned[i] - 1:
                    sources[i] = source
                    break
        wanted = planned[i] - 1
        while sources[i] < 0 and wanted > 0:
            kind = 1 if wanted > 2 and random.random() < 0.7 else 0
            for k in (kind, 1 - kind):
                first, end = start[k, wanted], start[k, wanted + 1]
                if first < end:
                    sources[i] = candidates[_drawn(random, first, end, 1.0)]
                    break
            wanted -= 1
        if sources[i] >= 0:
            made[i] = level[sources[i]] + 1
    return sources, made


@njit(nogil=True)
def more_to_thai(
    random: Generator,
    s: Servers,
    p: Pages,
    server: NDArray[np.int32],
    kind: tuple[int, int, int],
    number: int,
    level: NDArray[np.int16],
    nearest: NDArray[np.int8],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return sources and targets of links from non-Thai to Thai pages.

    None of them shortens the way to a page apart from the nearest Thai page, ``nearest``.
    """
    source, target, near = kind
    sources, targets = np.empty(number, np.int32), np.empty(number, np.int32)
    first, last = p.start[source, 0], p.start[source, len(s.pages)]
    end = 0
    for _ in range(20 * number):
        if end == number:
            break
        url = p.listed[_drawn(random, first, last, 1.0)]
        to = drawn_page(random, s, p, server[url], url, target, near)
        if to >= 0 and (not p.apart[to] or level[url] >= nearest[to] - 1 > 0):
            sources[end], targets[end] = url, to
            end += 1
    return sources[:end], targets[:end]


@njit(nogil=True)
def merge(
    random: Generator,
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    anchors: NDArray[np.int8],
    extra_offsets: NDArray[np.int64],
    extra_targets: NDArray[np.int32],
    chance: float,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int8]]:
    """Return the links with more compressed rows put in, each at a random place of its page.

    ``chance`` is that of a Thai anchor on the new links.
    """
    n = len(offsets) - 1
    merged = offsets + extra_offsets
    to = np.empty(merged[n], np.int32)
    words = np.empty(merged[n], np.int8)
    for url in range(n):
        old, end = offsets[url + 1] - offsets[url], merged[url + 1]
        begin = merged[url]
        to[begin : begin + old] = targets[offsets[url] : offsets[url + 1]]
        words[begin : begin + old] = anchors[offsets[url] : offsets[url + 1]]
        for i in range(end - begin - old):
            at, place = begin + old + i, _drawn(random, begin, begin + old + i + 1, 1.0)
            to[at], words[at] = to[place], words[place]
            to[place] = extra_targets[extra_offsets[url] + i]
            words[place] = _TARGET if random.random() < chance else _OTHER
    return merged, to, words
