"""Calibration: a synthetic web's own tables beside the published ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lswc.lab.synthetic import thai2004
from lswc.lab.synthetic.thai2004 import (
    OF_OTHER_SERVER,
    OF_THAI_SERVER,
    ON_OTHER_SERVER,
    ON_THAI_SERVER,
    THAI,
)
from lswc.lab.trace.format import Fate
from lswc.lab.trace.links import census, ends
from lswc.strategy import Anchor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.lab.synthetic.synthesis import Synthetic


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


def compare(web: Synthetic, scale: float) -> list[Cell]:
    """Return the web's tables beside those of the Thai web of 2004, times ``scale``."""
    trace = web.trace
    counts = census(trace)
    links, words = counts.sum(axis=3), counts.sum(axis=2)
    return [
        *_sizes(web, ends(trace), links, scale),
        *_links(links, scale),
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
        ("links on pages", thai2004.LINKS, links.sum(), None),
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


_OF_PAGES = {
    "Thai page": [THAI],
    "non-Thai page, Thai server": [ON_THAI_SERVER],
    "non-Thai page, non-Thai server": [ON_OTHER_SERVER],
    "non-Thai page": [ON_THAI_SERVER, ON_OTHER_SERVER],
}
_FROM_SERVERS = {"Thai server": [THAI, ON_THAI_SERVER], "non-Thai server": [ON_OTHER_SERVER]}
_TO_SERVERS = {
    "Thai server": [THAI, ON_THAI_SERVER, OF_THAI_SERVER],
    "non-Thai server": [ON_OTHER_SERVER, OF_OTHER_SERVER],
}
_LINKS = (
    ("Tamura Table 4: links between pages", thai2004.PAGE_LINKS, _OF_PAGES, _OF_PAGES),
    ("Tamura Table 5: links between servers", thai2004.SERVER_LINKS, _FROM_SERVERS, _TO_SERVERS),
)
"""Tables of links: title, published numbers, and the kinds that their rows and columns mean."""


def _links(links: NDArray[np.int64], scale: float) -> list[Cell]:
    """Return a cell for all links, and one for those between servers, of each row and column."""
    cells = []
    for table, published, sources, targets in _LINKS:
        for (row, column), numbers in published.items():
            own = links[sources[row]][:, targets[column]].sum(axis=(0, 1))
            between = f"{column}, between servers"
            for name, number, found in zip(
                (column, between), numbers, (own.sum(), own[1:].sum()), strict=True
            ):
                cells.append(Cell(table, row, name, number * scale, int(found), 0.03))
    return cells


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
