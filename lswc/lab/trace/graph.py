"""Graph of a trace: breadth-first search on its links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from lswc.lab.compiled import kept

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.lab.trace.format import Trace

_SOURCE, _UNREACHED = -1, -2


@kept
@njit(nogil=True)
def breadth_first_tree(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], sources: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return each URL's first discoverer and the URLs in order of discovery.

    First in first out, links in document order. The parent of a source is -1, of a URL that
    isn't reached -2. Shapes (n,) and (number reached,).
    """
    n = len(offsets) - 1
    parent = np.full(n, _UNREACHED, np.int32)
    order = np.empty(n, np.int32)
    end = 0
    for source in sources:
        if parent[source] == _UNREACHED:
            parent[source] = _SOURCE
            order[end] = source
            end += 1
    begin = 0
    while begin < end:
        url = order[begin]
        begin += 1
        for link in range(offsets[url], offsets[url + 1]):
            target = targets[link]
            if parent[target] == _UNREACHED:
                parent[target] = url
                order[end] = target
                end += 1
    return parent, order[:end]


@kept
@njit(nogil=True)
def distances(
    offsets: NDArray[np.int64], targets: NDArray[np.int32], sources: NDArray[np.int32]
) -> NDArray[np.int16]:
    """Return the number of links on the shortest path from a source; -1 where there is none."""
    parent, order = breadth_first_tree(offsets, targets, sources)
    level = np.full(len(parent), -1, np.int16)
    for url in order:
        level[url] = 0 if parent[url] < 0 else min(level[parent[url]] + 1, 32767)
    return level


@kept
@njit(nogil=True)
def _mark_ancestors(
    parent: NDArray[np.int32], order: NDArray[np.int32], marked: NDArray[np.bool_]
) -> None:
    for i in range(len(order) - 1, -1, -1):
        url = order[i]
        if marked[url] and parent[url] >= 0:
            marked[parent[url]] = True


def oracle(trace: Trace) -> NDArray[np.bool_]:
    """Tell for each URL whether a crawler that knows the web follows links to it.

    It does if the URL is a relevant page or has a relevant descendant in the breadth-first
    tree of the trace (Tamura 2007 §5.1, Somboonviwat 2006 §6.1: links on the shortest paths to
    relevant pages).
    """
    parent, order = breadth_first_tree(trace.offsets, trace.targets, trace.seeds)
    marked = trace.relevant
    _mark_ancestors(parent, order, marked)
    return marked
