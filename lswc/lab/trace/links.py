"""Compiled passes over a trace's links: census, nearest relevant pages, paths from the seeds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from lswc.lab.compiled import kept
from lswc.lab.trace.format import Fate
from lswc.strategy import Anchor, Locality

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.lab.trace.format import Trace

_SAME_SERVER, _SAME_SITE, _ELSEWHERE = (int(locality) for locality in Locality)
_NO_TEXT = int(Anchor.NONE)
_THREADS = 2
_ANCHORS, _FOUND = len(Anchor), 3


class End(IntEnum):
    """What a link begins at or leads to. A relevant server has at least one relevant page."""

    RELEVANT = 0
    """A relevant page."""
    ON_RELEVANT = 1
    """An irrelevant page on a relevant server."""
    ON_IRRELEVANT = 2
    """An irrelevant page on a server without a relevant one."""
    UNSEEN_ON_RELEVANT = 3
    """No page (never downloaded, failed, redirect, not HTML), on a relevant server."""
    UNSEEN_ON_IRRELEVANT = 4
    """No page, on a server that has pages, none of them relevant."""
    UNSEEN_ELSEWHERE = 5
    """No page, on a server without any."""


PAGES = (End.RELEVANT, End.ON_RELEVANT, End.ON_IRRELEVANT)
"""The ends that are downloaded pages; only pages have links."""

_LAST_PAGE = int(max(PAGES))
_SHAPE = (len(PAGES), len(End), len(Locality), len(Anchor))


def ends(trace: Trace) -> NDArray[np.int8]:
    """Return each URL's End; shape (n,)."""
    page, relevant = trace.fate == Fate.PAGE, trace.relevant
    servers = len(trace.site)
    has_page, has_relevant = np.zeros(servers, np.bool_), np.zeros(servers, np.bool_)
    has_page[trace.server[page]] = True
    has_relevant[trace.server[relevant]] = True
    of_page = np.where(has_relevant, End.ON_RELEVANT, End.ON_IRRELEVANT).astype(np.int8)
    unseen = np.where(has_page, End.UNSEEN_ON_IRRELEVANT, End.UNSEEN_ELSEWHERE).astype(np.int8)
    unseen[has_relevant] = End.UNSEEN_ON_RELEVANT
    found = np.where(page, of_page[trace.server], unseen[trace.server])
    found[relevant] = End.RELEVANT
    return found


class _Web(NamedTuple):
    """A trace's links, what they begin at and lead to, and where; ``anchors`` may be empty."""

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    anchors: NDArray[np.int8]
    end: NDArray[np.int8]
    server: NDArray[np.int32]
    site: NDArray[np.int32]


@kept
@njit(nogil=True)
def _counted(web: _Web, first: int, last: int) -> NDArray[np.int64]:
    offsets, targets, anchors, end, server, site = web
    counts = np.zeros(_SHAPE, np.int64)
    linked_by = np.full(len(end), -1, np.int32)
    for url in range(first, last):
        source = end[url]
        if source >= counts.shape[0]:
            continue  # a redirect
        home = server[url]
        for link in range(offsets[url], offsets[url + 1]):
            target = targets[link]
            if linked_by[target] == url or target == url:
                continue
            linked_by[target] = url
            if server[target] == home:
                locality = _SAME_SERVER
            elif site[server[target]] == site[home]:
                locality = _SAME_SITE
            else:
                locality = _ELSEWHERE
            anchor = anchors[link] if len(anchors) else _NO_TEXT
            counts[source, end[target], locality, anchor] += 1
    return counts


def census(trace: Trace) -> NDArray[np.int64]:
    """Count the links of pages by kind.

    Shape (3, 6, 3, 3): source (End), destination (End), Locality, Anchor. A page has one link to
    another, the first, and none to itself (Tamura 2007 §3.1). Without anchors in the trace, all
    links count as having no text.
    """
    anchors = np.empty(0, np.int8) if trace.anchors is None else trace.anchors
    # Cut where each part has the same number of links.
    inner = np.arange(1, _THREADS) * len(trace.targets) // _THREADS
    found = np.searchsorted(trace.offsets, inner)
    cuts = [0, *np.minimum(found, trace.urls).tolist(), trace.urls]
    web = _Web(trace.offsets, trace.targets, anchors, ends(trace), trace.server, trace.site)
    with ThreadPoolExecutor(_THREADS) as pool:
        parts = pool.map(lambda part: _counted(web, *part), pairwise(cuts))
        total: NDArray[np.int64] = np.sum(list(parts), axis=0)
    return total


@kept
@njit(nogil=True)
def _by_domain(
    web: _Web, domain: NDArray[np.int32], domains: int, relevant: NDArray[np.bool_]
) -> NDArray[np.int64]:
    counts = np.zeros((domains, _ANCHORS, _FOUND), np.int64)
    linked_by = np.full(len(web.end), -1, np.int32)
    for url in range(len(web.end)):
        if web.end[url] > _LAST_PAGE:
            continue  # a redirect
        for link in range(web.offsets[url], web.offsets[url + 1]):
            target = web.targets[link]
            if linked_by[target] == url or target == url:
                continue
            linked_by[target] = url
            anchor = web.anchors[link] if len(web.anchors) else _NO_TEXT
            is_page = web.end[target] <= _LAST_PAGE
            found = (2 if relevant[target] else 1) if is_page else 0
            counts[domain[web.server[target]], anchor, found] += 1
    return counts


def by_domain(trace: Trace, domain: NDArray[np.int32], domains: int) -> NDArray[np.int64]:
    """Count the links of pages by the top-level domain of their targets (Chan & Yamana 2010 §3).

    ``domain`` has the number of each server's, below ``domains``. Shape (domains, 3, 3): domain,
    Anchor, and what the target is: no page, another page, a relevant one. Links count as in
    ``census``.
    """
    anchors = np.empty(0, np.int8) if trace.anchors is None else trace.anchors
    web = _Web(trace.offsets, trace.targets, anchors, ends(trace), trace.server, trace.site)
    found: NDArray[np.int64] = _by_domain(web, domain, domains, trace.relevant)
    return found


@kept
@njit(nogil=True)
def _nearest(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], relevant: NDArray[np.bool_]
) -> NDArray[np.int16]:
    n = len(relevant)
    first, second = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    queue, distance = np.empty(2 * n, np.uint32), np.zeros(n, np.int16)
    end = 0
    for url in range(n):
        if relevant[url]:
            first[url] = url
            queue[end] = 2 * url
            end += 1
    begin, level = 0, 0
    while begin < end:
        level = min(level + 1, 32767)
        until = end
        for i in range(begin, until):
            url = queue[i] >> 1
            origin = second[url] if queue[i] & 1 else first[url]
            for link in range(offsets[url], offsets[url + 1]):
                target = targets[link]
                if first[target] < 0:
                    first[target] = origin
                    queue[end] = 2 * target
                    end += 1
                elif first[target] != origin and second[target] < 0:
                    second[target] = origin
                    if relevant[target]:
                        distance[target] = level
                    else:
                        queue[end] = 2 * target + 1
                        end += 1
        begin = until
    return distance


def nearest_relevant(trace: Trace) -> NDArray[np.int64]:
    """Count relevant pages by the shortest path from another relevant page.

    Returns counts of shape (longest + 1,): entry k is the number of relevant pages whose nearest
    other relevant page is k links away, so with k - 1 irrelevant URLs between (Tamura 2007
    Fig. 2); entry 0 counts those that no other relevant page leads to.

    One breadth-first search from all relevant pages at once, in which every URL remembers the
    two nearest: the second nearest of a relevant page, whose nearest is itself, is the answer.
    """
    relevant = trace.relevant
    distance = _nearest(trace.offsets, trace.targets, relevant)
    return np.bincount(distance[relevant], minlength=1)


class Step(IntEnum):
    """What a URL on a path is; 0 stands for no step."""

    TARGET = 1
    ENGLISH = 2
    OTHER = 3
    UNKNOWN = 4
    NO_PAGE = 5
    """A redirect: the only URL with a link that isn't a page."""


_BASE = len(Step) + 1
_TURNS = _BASE**23
"""Shapes below this have room for another step in 64 bits."""


def steps(trace: Trace) -> NDArray[np.int8]:
    """Return each URL's Step; shape (n,)."""
    found = np.where(trace.fate == Fate.PAGE, trace.language + 1, Step.NO_PAGE)
    return found.astype(np.int8)


@kept
@njit(nogil=True)
def walk(
    parent: NDArray[np.int32], order: NDArray[np.int32], step: NDArray[np.int8]
) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """Follow a breadth-first tree and sum up the path from a source to each URL.

    Returns the path's shape, its steps from the source to the URL itself with equal neighbours
    taken as one (see ``unfold``), and the most irrelevant URLs in a row on it. Shapes (n,).
    """
    n = len(parent)
    shape, run, longest = np.zeros(n, np.int64), np.zeros(n, np.int16), np.zeros(n, np.int16)
    for url in order:
        above = parent[url]
        before, seen, most = 0, 0, 0
        if above >= 0:
            before, seen, most = shape[above], run[above], longest[above]
        turns = before % _BASE != step[url] and before < _TURNS
        shape[url] = before * _BASE + step[url] if turns else before
        run[url] = 0 if step[url] == 1 else min(seen + 1, 32767)
        longest[url] = max(most, run[url])
    return shape, longest


def unfold(shape: int) -> list[Step]:
    """Return the steps of a path's shape; of a very long one, the first 24."""
    found = []
    while shape:
        shape, step = divmod(shape, _BASE)
        found.append(Step(step))
    return found[::-1]
