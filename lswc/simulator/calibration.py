"""A web's own tables beside the published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from lswc.simulator import graph, thai2004
from lswc.simulator.thai2004 import (
    ELSEWHERE,
    OF_NO_SERVER,
    OF_OTHER_SERVER,
    OF_THAI_SERVER,
    ON_OTHER_SERVER,
    ON_THAI_SERVER,
    SAME_SERVER,
    SAME_SITE,
    THAI,
)
from lswc.simulator.trace import Fate
from lswc.strategy import Anchor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.simulator.synthetic import Synthetic
    from lswc.simulator.trace import Trace

_LINK_KINDS = 6


class Cell(NamedTuple):
    """One number of a table. ``limit`` is the relative error allowed, None if it is only shown."""

    table: str
    row: str
    column: str
    published: float
    own: float
    limit: float | None

    @property
    def error(self) -> float:
        """Relative error."""
        return self.own / self.published - 1 if self.published else 0.0


def kinds(trace: Trace) -> NDArray[np.int8]:
    """Return the kind of each URL (thai2004): page by language and server, or no page."""
    page = trace.fate == Fate.PAGE
    relevant = trace.relevant
    has_page, has_relevant = np.zeros((2, len(trace.site)), np.bool_)
    has_page[trace.server[page]] = True
    has_relevant[trace.server[relevant]] = True
    of = np.where(has_relevant, OF_THAI_SERVER, np.where(has_page, OF_OTHER_SERVER, OF_NO_SERVER))
    on = np.where(has_relevant, ON_THAI_SERVER, ON_OTHER_SERVER)
    kind = np.where(page, on[trace.server], of[trace.server]).astype(np.int8)
    kind[relevant] = THAI
    return kind


@njit(nogil=True)
def _count(
    kind: NDArray[np.int8],
    server: NDArray[np.int32],
    site: NDArray[np.int32],
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    anchors: NDArray[np.int8],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    links = np.zeros((_LINK_KINDS, _LINK_KINDS, 3), np.int64)
    words = np.zeros((_LINK_KINDS, _LINK_KINDS, 3), np.int64)
    for url in range(len(kind)):
        for link in range(offsets[url], offsets[url + 1]):
            to = targets[link]
            if server[to] == server[url]:
                near = SAME_SERVER
            else:
                near = SAME_SITE if site[server[to]] == site[server[url]] else ELSEWHERE
            links[kind[url], kind[to], near] += 1
            if len(anchors):
                words[kind[url], kind[to], anchors[link]] += 1
    return links, words


@njit(nogil=True)
def _nearest(
    relevant: NDArray[np.bool_],
    level: NDArray[np.int16],
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
) -> NDArray[np.int16]:
    nearest = np.full(len(relevant), -1, np.int16)
    for url in range(len(relevant)):
        for link in range(offsets[url], offsets[url + 1]):
            to = targets[link]
            if relevant[to] and level[url] >= 0:
                found = level[url] + 1
                if nearest[to] < 0 or found < nearest[to]:
                    nearest[to] = found
    return nearest


def nearest_relevant(trace: Trace) -> NDArray[np.int64]:
    """Return the number of relevant pages by distance from the nearest one (Tamura Fig. 2).

    The distance is that of the shortest path that starts on a relevant page.
    """
    relevant = trace.relevant
    sources = np.flatnonzero(relevant).astype(np.int32)
    level = graph.distances(trace.offsets, trace.targets, sources)
    nearest = _nearest(relevant, level, trace.offsets, trace.targets)[sources]
    return np.bincount(nearest[nearest > 0])


def compare(web: Synthetic, scale: float) -> list[Cell]:
    """Return the web's tables beside those of the Thai web of 2004, times ``scale``."""
    trace = web.trace
    kind = kinds(trace)
    anchors = np.empty(0, np.int8) if trace.anchors is None else trace.anchors
    links, words = _count(kind, trace.server, trace.site, trace.offsets, trace.targets, anchors)
    return [
        *_sizes(web, kind, links, scale),
        *_page_links(links, scale),
        *_server_links(links, scale),
        *_shares(links, words),
    ]


def _sizes(
    web: Synthetic, kind: NDArray[np.int8], links: NDArray[np.int64], scale: float
) -> list[Cell]:
    trace = web.trace
    page = kind <= ON_OTHER_SERVER
    th = trace.tld[trace.server] if trace.tld is not None else page
    cells = []
    for (language, tld), published in thai2004.PAGES.items():
        code = ("thai", "english", "other").index(language)
        own = int(np.count_nonzero((web.language == code) & (th == (tld == ".th"))))
        cells.append(Cell("Tamura Table 1: pages", language, tld, published * scale, own, 0.03))
    servers = len(np.unique(trace.server[page]))
    thai = len(np.unique(trace.server[kind == THAI]))
    sizes = (
        ("servers with a page", thai2004.SERVERS, servers, 0.03),
        ("servers with a Thai page", thai2004.THAI_SERVERS, thai, 0.03),
        ("URLs", thai2004.URLS, trace.urls, None),
        ("links on pages", thai2004.LINKS, links[: ON_OTHER_SERVER + 1].sum(), None),
        ("redirects", thai2004.REDIRECTS, np.count_nonzero(trace.fate == Fate.REDIRECT), None),
        ("non-HTML", thai2004.NON_HTML, np.count_nonzero(trace.fate == Fate.FAILED), None),
    )
    for name, published, measured, limit in sizes:
        cells.append(Cell("Tamura §2: sizes", name, "", published * scale, float(measured), limit))
    pages = np.bincount(web.tld[trace.server[page]], minlength=len(thai2004.TLDS))
    for i, (tld, share) in enumerate(thai2004.TLDS.items()):
        found = float(pages[i] / pages.sum())
        cells.append(Cell("Tamura §2: share of pages by TLD", f".{tld}", "", share, found, None))
    return cells


def _page_links(links: NDArray[np.int64], scale: float) -> list[Cell]:
    sources = ("Thai page", "non-Thai page, Thai server", "non-Thai page, non-Thai server")
    cells = []
    for (row, column), published in thai2004.PAGE_LINKS.items():
        to = slice(THAI, THAI + 1) if column == "Thai page" else slice(1, ON_OTHER_SERVER + 1)
        own = links[sources.index(row), to].sum(axis=0)
        cells += _both("Tamura Table 4: links between pages", row, column, published, own, scale)
    return cells


def _server_links(links: NDArray[np.int64], scale: float) -> list[Cell]:
    sources = {"Thai server": [THAI, ON_THAI_SERVER], "non-Thai server": [ON_OTHER_SERVER]}
    targets = {
        "Thai server": [THAI, ON_THAI_SERVER, OF_THAI_SERVER],
        "non-Thai server": [ON_OTHER_SERVER, OF_OTHER_SERVER],
    }
    cells = []
    for (row, column), published in thai2004.SERVER_LINKS.items():
        own = links[sources[row]][:, targets[column]].sum(axis=(0, 1))
        cells += _both("Tamura Table 5: links between servers", row, column, published, own, scale)
    return cells


def _both(
    table: str,
    row: str,
    column: str,
    published: tuple[int, int],
    own: NDArray[np.int64],
    scale: float,
) -> list[Cell]:
    """Return a cell for all links and one for those between servers."""
    return [
        Cell(table, row, column, published[0] * scale, int(own.sum()), 0.03),
        Cell(
            table, row, f"{column}, between servers", published[1] * scale, int(own[1:].sum()), 0.03
        ),
    ]


def _shares(links: NDArray[np.int64], words: NDArray[np.int64]) -> list[Cell]:
    rows = {"Thai page": slice(0, 1), "non-Thai page": slice(1, 3)}
    near = {"same domain": slice(0, 2), "other domain": slice(2, 3)}
    anchor = {
        "Thai anchor": slice(Anchor.TARGET, Anchor.TARGET + 1),
        "other anchor": slice(Anchor.OTHER, Anchor.NONE + 1),
    }
    cells = []
    for table, published, counts, columns in (
        ("Somboonviwat Table 4: links to Thai pages", thai2004.SITE_SHARES, links, near),
        ("Somboonviwat Table 5: links to Thai pages", thai2004.ANCHOR_SHARES, words, anchor),
    ):
        for (row, column), share in published.items():
            found = counts[rows[row], :3, columns[column]].sum(axis=(0, 2))
            cells.append(Cell(table, row, column, share, float(found[0] / found.sum()), 0.10))
    for row, share in thai2004.THAI_ANCHORS.items():
        found = words[rows[row], :3].sum(axis=(0, 1))
        own = float(found[Anchor.TARGET] / found.sum())
        cells.append(Cell("Somboonviwat Table 5: Thai anchors", row, "", share, own, None))
    return cells
