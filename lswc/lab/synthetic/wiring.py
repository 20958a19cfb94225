"""Wiring: the links of a synthetic web, compiled.

URLs are numbered by server, servers in an order of discovery: sites are runs of servers. A
tree makes every page reachable; on top of it come links drawn kind by kind until their numbers
are reached. Pages *apart* are not linked from Thai pages; Thai pages apart are left out here,
and attached afterwards at a chosen distance from the nearest Thai page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from lswc.lab.compiled import kept
from lswc.lab.synthetic.thai2004 import (
    ELSEWHERE,
    ON_OTHER_SERVER,
    ON_THAI_SERVER,
    SAME_SERVER,
    SAME_SITE,
    THAI,
)
from lswc.strategy import Anchor

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from lswc.lab.synthetic.assumptions import Assumptions

PAGE_KINDS = 3
_TARGET, _OTHER, _NONE = (int(anchor) for anchor in Anchor)
_RETRIES = 8


class Servers(NamedTuple):
    """Servers in order of discovery; the ``seeds`` first ones have a seed as home page.

    ``first`` of shape (number of servers + 1,): URLs of server i are
    ``first[i]:first[i + 1]``, its ``pages`` first and its home page before all others.
    ``site_first`` and ``site_end``: the servers of its site.
    """

    first: NDArray[np.int64]
    pages: NDArray[np.int32]
    site_first: NDArray[np.int32]
    site_end: NDArray[np.int32]
    seeds: int


class ByKind(NamedTuple):
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


class Web(NamedTuple):
    """A web in the making: what all that draws needs. ``server`` of shape (n,): each URL's."""

    random: Generator
    scale: float
    assumed: Assumptions
    servers: Servers
    pages: ByKind
    server: NDArray[np.int32]


class Links(NamedTuple):
    """Links as compressed rows: those of URL i are ``targets[offsets[i]:offsets[i + 1]]``."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    anchors: NDArray[np.int8]


@njit(nogil=True)
def _drawn(random: Generator, first: int, end: int, bias: float) -> int:
    """Return one of first .. end - 1, earlier ones more often the greater the bias."""
    return first + int((end - first) * random.random() ** bias)


@njit(nogil=True)
def _entry(web: Web, server: int, kind: int) -> int:
    """Return a page of a kind on an earlier server that may link to this one; -1 if none."""
    random, servers, pages, assumed = web.random, web.servers, web.pages, web.assumed
    start, end = pages.start[kind, 0], pages.start[kind, server]
    of_site = pages.start[kind, servers.site_first[server]]
    if of_site < end and random.random() < assumed.entry_in_site:
        return int(pages.listed[_drawn(random, of_site, end, assumed.entry_bias)])
    if start < end:
        return int(pages.listed[_drawn(random, start, end, assumed.entry_bias)])
    return -1


@njit(nogil=True)
def _any_entry(web: Web, server: int, url: int) -> int:
    """Return a page on an earlier server that may link to a page of this one."""
    random, pages, assumed = web.random, web.pages, web.assumed
    kind, chance = THAI, random.random()
    if pages.kind[url] == ON_THAI_SERVER and (
        pages.apart[url] or chance < assumed.entry_from_non_thai
    ):
        kind = ON_THAI_SERVER
    elif pages.kind[url] == ON_OTHER_SERVER and chance < 1 - assumed.entry_other_from_thai:
        from_other = chance < assumed.entry_other_from_other
        kind = ON_OTHER_SERVER if from_other else ON_THAI_SERVER
    parent = _entry(web, server, kind)
    if parent < 0:
        parent = _entry(web, server, THAI)
        pages.apart[url] = False
    return parent


@njit(nogil=True)
def _inner(web: Web, server: int, url: int, home: int, head: int) -> int:
    """Return an earlier page of the same server that may link to this one; -1 if none."""
    random, pages, assumed = web.random, web.pages, web.assumed
    chance = random.random()
    if chance < assumed.parent_head and head != url:
        parent = head
    else:
        at_home = chance < assumed.parent_head + assumed.parent_home
        parent = home if at_home else _drawn(random, home, url, assumed.parent_bias)
    needed = pages.kind[url]
    if needed == THAI or (needed == ON_THAI_SERVER and pages.apart[url]):
        if pages.kind[parent] == needed:
            return parent
        first, end = pages.start[needed, server], pages.start[needed, server + 1]
        end = first + np.searchsorted(pages.listed[first:end], url)
        return pages.listed[_drawn(random, first, end, assumed.parent_bias)] if first < end else -1
    return parent


@kept
@njit(nogil=True)
def tree(web: Web) -> NDArray[np.int32]:
    """Return the parent of each page; -1 for seeds, Thai pages apart, and what is no page."""
    random, servers, pages, assumed = web.random, web.servers, web.pages, web.assumed
    parent = np.full(len(pages.kind), -1, np.int32)
    for server in range(len(servers.pages)):
        home = servers.first[server]
        head = home
        for url in range(home, home + servers.pages[server]):
            if url > home and pages.directory[url] != pages.directory[url - 1]:
                head = url
            if (pages.kind[url] == THAI and pages.apart[url]) or (
                url == home and server < servers.seeds
            ):
                continue
            chosen = -1
            if url > home and not (url == head and random.random() < assumed.deep):
                chosen = _inner(web, server, url, home, head)
            if chosen < 0:
                chosen = _any_entry(web, server, url)
            parent[url] = home if chosen < 0 else chosen
    return parent


@njit(nogil=True)
def locality(servers: Servers, source: int, target: int) -> int:
    """Return how far apart two servers are."""
    if source == target:
        return SAME_SERVER
    return SAME_SITE if servers.site_first[source] == servers.site_first[target] else ELSEWHERE


@kept
@njit(nogil=True)
def tree_counts(web: Web, parent: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of a tree's links by kind of source, kind of target and locality."""
    servers, pages, server = web.servers, web.pages, web.server
    counts = np.zeros((PAGE_KINDS, PAGE_KINDS, 3), np.int64)
    for url in range(len(parent)):
        if parent[url] >= 0:
            near = locality(servers, server[parent[url]], server[url])
            counts[pages.kind[parent[url]], pages.kind[url], near] += 1
    return counts


@njit(nogil=True)
def _limit(web: Web, server: int, target: int, near: int) -> float:
    """Return how many links of a kind a page of a server can have."""
    servers, pages, assumed = web.servers, web.pages, web.assumed
    if near == ELSEWHERE:
        return float(assumed.most_links)
    own = pages.start[target, server + 1] - pages.start[target, server]
    if near == SAME_SERVER:
        return float(max(0.0, assumed.most_of_server * (own - 1)))
    there = (
        pages.start[target, servers.site_end[server]]
        - pages.start[target, servers.site_first[server]]
    )
    return float(min(assumed.most_of_server * (there - own), assumed.most_links))


@kept
@njit(nogil=True)
def rate(web: Web, weight: NDArray[np.float32], kind: tuple[int, int, int], number: float) -> float:
    """Return r so that pages with min(r * weight, limit) links of a kind have ``number`` in all."""
    servers, pages, server = web.servers, web.pages, web.server
    source, target, near = kind
    urls = pages.listed[pages.start[source, 0] : pages.start[source, len(servers.pages)]]
    low, high = 0.0, 1e6
    for _ in range(30):
        per_weight = np.sqrt(low * high) if low > 0 else high / 1e6
        total, last, limit = 0.0, -1, 0.0
        for url in urls:
            if server[url] != last:
                last = server[url]
                limit = _limit(web, last, target, near)
            total += min(per_weight * weight[url], limit)
        if total < number:
            low = per_weight
        else:
            high = per_weight
    return high


@njit(nogil=True)
def _within(web: Web, server: int, url: int, target: int) -> int:
    """Return a page of a kind on a page's own server: navigation, near it, or any."""
    random, pages, assumed = web.random, web.pages, web.assumed
    first, end = pages.start[target, server], pages.start[target, server + 1]
    chance = random.random()
    if chance < assumed.navigation:
        return int(pages.listed[_drawn(random, first, end, assumed.popularity)])
    if chance < assumed.navigation + assumed.nearby:
        here = first + np.searchsorted(pages.listed[first:end], url)
        start, stop = max(first, here - assumed.nearby_pages), min(end, here + assumed.nearby_pages)
        return int(pages.listed[_drawn(random, start, stop, 1.0)])
    return int(pages.listed[_drawn(random, first, end, 1.0)])


@njit(nogil=True)
def _in_site(web: Web, server: int, target: int) -> int:
    """Return a page of a kind on another server of the site; -1 if there is none."""
    random, servers, pages, assumed = web.random, web.servers, web.pages, web.assumed
    first, end = (
        pages.start[target, servers.site_first[server]],
        pages.start[target, servers.site_end[server]],
    )
    own, own_end = pages.start[target, server], pages.start[target, server + 1]
    others = end - first - (own_end - own)
    if others <= 0:
        return -1
    chosen = _drawn(random, first, first + others, assumed.site_bias)
    return int(pages.listed[chosen if chosen < own else chosen + own_end - own])


@njit(nogil=True)
def _popular(web: Web, server: int, target: int) -> int:
    """Return a page of a kind on a server of another site; -1 if the draw was of the same site."""
    random, servers, pages, assumed = web.random, web.servers, web.pages, web.assumed
    start, stop = pages.having_start[target], pages.having_start[target + 1]
    there = pages.having[_drawn(random, start, stop, assumed.popularity)]
    if servers.site_first[there] == servers.site_first[server]:
        return -1
    first, end = pages.start[target, there], pages.start[target, there + 1]
    at_first = random.random() < assumed.to_first_page
    return int(
        pages.listed[first if at_first else _drawn(random, first, end, assumed.page_popularity)]
    )


@njit(nogil=True)
def drawn_page(web: Web, server: int, url: int, target: int, near: int) -> int:
    """Return the target of a link of a kind; -1 if the draw failed."""
    if near == SAME_SERVER:
        return _within(web, server, url, target)
    if near == SAME_SITE:
        return _in_site(web, server, target)
    return _popular(web, server, target)


@njit(nogil=True)
def _outside_url(web: Web, server: int, having: int) -> int:
    """Return a URL that is no page, of another server with such pages; -1 if the draw failed."""
    random, servers, pages, assumed = web.random, web.servers, web.pages, web.assumed
    start, stop = pages.having_start[having], pages.having_start[having + 1]
    there = pages.having[_drawn(random, start, stop, assumed.popularity)]
    first, end = servers.first[there] + servers.pages[there], servers.first[there + 1]
    if there == server or first == end:
        return -1
    return _drawn(random, first, end, 1.0)


@njit(nogil=True)
def _anchor(
    random: Generator, assumed: Assumptions, chance: NDArray[np.float64], source: int, target: int
) -> int:
    if random.random() < chance[min(source, 1), min(target, 1)]:
        return _TARGET
    return _NONE if random.random() < assumed.no_anchor else _OTHER


@njit(nogil=True)
def _shuffle(random: Generator, values: NDArray[np.int32]) -> None:
    for i in range(len(values) - 1, 0, -1):
        j = _drawn(random, 0, i + 1, 1.0)
        values[i], values[j] = values[j], values[i]


class LinkPlan(NamedTuple):
    """What ``draw_links`` draws. ``children`` and ``child_start``: the tree, by parent.

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


class Drawn(NamedTuple):
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
def _put(drawn: Drawn, url: int, target: int) -> bool:
    """Add a link, unless there is no target or the page has that link."""
    if target < 0 or drawn.mark[target] == url:
        return False
    drawn.mark[target] = url
    drawn.targets[drawn.at[_END]] = target
    drawn.at[_END] += 1
    return True


@njit(nogil=True)
def _add_own(web: Web, plan: LinkPlan, drawn: Drawn, url: int, used: int, left: int) -> int:
    """Link to URLs of the same server that are no pages; return the first that no page links to.

    Each of them gets a link: ``left`` links remain for ``end - used`` such URLs.
    """
    random, servers, server = web.random, web.servers, web.server[url]
    first, end = servers.first[server] + servers.pages[server], servers.first[server + 1]
    for _ in range(plan.own[url]):
        for _ in range(_RETRIES):
            if random.random() * left < end - used:
                _put(drawn, url, used)
                used += 1
                break
            if _put(drawn, url, _drawn(random, first, used, 1.0)):
                break
        left -= 1
    return used


@njit(nogil=True)
def _add_pages(web: Web, plan: LinkPlan, drawn: Drawn, server: int, url: int) -> None:
    """Link to pages, kind by kind."""
    pages = web.pages
    for k in range(len(plan.kinds)):
        if plan.kinds[k, 0] != pages.kind[url]:
            continue
        to, near = plan.kinds[k, 1], plan.kinds[k, 2]
        limit = _limit(web, server, to, near)
        drawn.owed[k] += min(plan.rates[k] * plan.weight[url], limit)
        for _ in range(min(int(drawn.owed[k]), int(limit))):
            for _ in range(_RETRIES):
                target = drawn_page(web, server, url, to, near)
                allowed = target >= 0 and not (pages.kind[url] == THAI and pages.apart[target])
                if allowed and _put(drawn, url, target):
                    drawn.owed[k] -= 1
                    break


@njit(nogil=True)
def _add_outside(web: Web, plan: LinkPlan, drawn: Drawn, server: int, url: int) -> None:
    """Link to URLs of other servers that are no pages."""
    random, pages = web.random, web.pages
    kind = pages.kind[url]
    for where in range(3):
        drawn.owed_outside[kind, where] += plan.outside[kind, where] * plan.weight[url]
        while drawn.owed_outside[kind, where] >= 1:
            drawn.owed_outside[kind, where] -= 1
            for _ in range(4 * _RETRIES):
                if where == 2:
                    target = _unknown(random, plan, drawn)
                else:
                    having = THAI if where == 0 else ON_OTHER_SERVER
                    target = _outside_url(web, server, having)
                if _put(drawn, url, target):
                    break


@njit(nogil=True)
def _unknown(random: Generator, plan: LinkPlan, drawn: Drawn) -> int:
    """Return a URL of a server without pages: a new one, or one that has a link."""
    known = len(drawn.mark) - plan.unknown[0]
    left, new = plan.unknown[1] - drawn.at[_DRAWN], plan.unknown[0] - drawn.at[_FRESH]
    drawn.at[_DRAWN] += 1
    if drawn.at[_FRESH] == 0 or (new > 0 and random.random() * left < new):
        drawn.at[_FRESH] += 1
        return int(known + drawn.at[_FRESH] - 1)
    return _drawn(random, known, known + drawn.at[_FRESH], 1.0)


@njit(nogil=True)
def _redirect(web: Web, plan: LinkPlan, home: int, end: int) -> int:
    """Return where a URL that is no page redirects to; -1 if it doesn't."""
    random, pages, assumed = web.random, web.pages, web.assumed
    if random.random() < plan.redirect:
        for _ in range(_RETRIES):
            to_home = random.random() < assumed.redirect_home
            target = home if to_home else _drawn(random, home, end, 1.0)
            if not pages.apart[target]:
                return target
    return -1


@kept
@njit(nogil=True)
def draw_links(web: Web, plan: LinkPlan) -> tuple[Links, NDArray[np.bool_]]:
    """Return the links, and which URLs are redirects.

    Behind the URLs of known servers come the unknown ones.
    """
    random, servers, pages, assumed = web.random, web.servers, web.pages, web.assumed
    n = len(pages.kind)
    offsets = np.zeros(n + plan.unknown[0] + 1, np.int64)
    anchors = np.empty(plan.room, np.int8)
    redirects = np.zeros(n + plan.unknown[0], np.bool_)
    drawn = Drawn(
        np.empty(plan.room, np.int32),
        np.full(n + plan.unknown[0], -1, np.int32),
        np.zeros(3, np.int64),
        np.zeros(len(plan.kinds)),
        np.zeros((PAGE_KINDS, 3)),
    )
    for server in range(len(servers.pages)):
        home = servers.first[server]
        others, others_end = home + servers.pages[server], servers.first[server + 1]
        used, own_left = others, plan.own[home:others].sum()
        for url in range(home, others):
            begin = drawn.at[_END]
            drawn.mark[url] = url
            for child in plan.children[plan.child_start[url] : plan.child_start[url + 1]]:
                _put(drawn, url, child)
            used = _add_own(web, plan, drawn, url, used, own_left)
            own_left -= plan.own[url]
            _add_pages(web, plan, drawn, server, url)
            _add_outside(web, plan, drawn, server, url)
            _shuffle(random, drawn.targets[begin : drawn.at[_END]])
            for i in range(begin, drawn.at[_END]):
                target = drawn.targets[i]
                kind = pages.kind[target] if target < n else ON_OTHER_SERVER
                anchors[i] = _anchor(random, assumed, plan.anchor, pages.kind[url], kind)
            offsets[url + 1] = drawn.at[_END]
        for url in range(others, others_end):
            if _put(drawn, url, _redirect(web, plan, home, others)):
                redirects[url] = True
                anchors[drawn.at[_END] - 1] = _NONE
            offsets[url + 1] = drawn.at[_END]
    end, fresh = drawn.at[_END], drawn.at[_FRESH]
    offsets[n + 1 :] = end
    links = Links(offsets[: n + fresh + 1], drawn.targets[:end], anchors[:end])
    return links, redirects[: n + fresh]


@kept
@njit(nogil=True)
def attach(
    web: Web,
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
    random, pages, assumed, server = web.random, web.pages, web.assumed, web.server
    sources = np.full(len(apart), -1, np.int32)
    made = np.zeros(len(apart), np.int8)
    for i in range(len(apart)):
        url = apart[i]
        here = server[url]
        first, end = pages.start[ON_THAI_SERVER, here], pages.start[ON_THAI_SERVER, here + 1]
        if random.random() < assumed.apart_on_server and first < end:
            for _ in range(2 * _RETRIES):
                source = pages.listed[_drawn(random, first, end, assumed.entry_bias)]
                if level[source] == planned[i] - 1:
                    sources[i] = source
                    break
        wanted = planned[i] - 1
        while sources[i] < 0 and wanted > 0:
            kind = 1 if wanted > 2 and random.random() < assumed.apart_from_other_servers else 0
            for k in (kind, 1 - kind):
                first, end = start[k, wanted], start[k, wanted + 1]
                if first < end:
                    sources[i] = candidates[_drawn(random, first, end, 1.0)]
                    break
            wanted -= 1
        if sources[i] >= 0:
            made[i] = level[sources[i]] + 1
    return sources, made


@kept
@njit(nogil=True)
def more_to_thai(
    web: Web,
    kind: tuple[int, int, int],
    number: int,
    level: NDArray[np.int16],
    nearest: NDArray[np.int8],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return sources and targets of links from non-Thai to Thai pages.

    None of them shortens the way to a page apart from the nearest Thai page, ``nearest``.
    """
    random, servers, pages, server = web.random, web.servers, web.pages, web.server
    source, target, near = kind
    sources, targets = np.empty(number, np.int32), np.empty(number, np.int32)
    first, last = pages.start[source, 0], pages.start[source, len(servers.pages)]
    end = 0
    for _ in range(20 * number):
        if end == number:
            break
        url = pages.listed[_drawn(random, first, last, 1.0)]
        to = drawn_page(web, server[url], url, target, near)
        if to >= 0 and (not pages.apart[to] or level[url] >= nearest[to] - 1 > 0):
            sources[end], targets[end] = url, to
            end += 1
    return sources[:end], targets[:end]


@kept
@njit(nogil=True)
def merge(
    random: Generator,
    links: Links,
    extra_offsets: NDArray[np.int64],
    extra_targets: NDArray[np.int32],
    chance: float,
) -> Links:
    """Return the links with more compressed rows put in, each at a random place of its page.

    ``chance`` is that of a Thai anchor on the new links.
    """
    offsets, targets, anchors = links
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
    return Links(merged, to, words)
