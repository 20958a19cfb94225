"""Sites that machines wrote, as a crawl finds them out, in ``generated-sites.json`` in its folder.

They are judged by the beginnings of the texts that the page index has, in that one's thread: a
crawl never waits for it. What a crawl that goes on knew stays, until more pages say otherwise.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from lswc.files import whole
from lswc.reading.generated_sites import (
    GENERATED,
    LEAST_PAGES,
    GeneratedSites,
    Page,
    prose_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lswc.archive.page_index import Row

FILE = "generated-sites.json"
"""Name of the file in the crawl folder."""

_DUE = frozenset(LEAST_PAGES * 2**step for step in range(6))  # pages at which a site is judged
_LEAST = 0.2  # score of a site that is named
_MOST = 10_000  # sites that are named

logger = logging.getLogger(__name__)


class Judged(msgspec.Struct, frozen=True):
    """A site: how likely machines wrote it, from 0 to 1, why, and by how many of its pages."""

    site: str
    score: float
    signs: tuple[str, ...]
    pages: int


_judged = msgspec.json.Decoder(list[Judged])


def judged_sites(folder: Path) -> list[Judged]:
    """Return the sites of a crawl's folder that may be written by machines, the likeliest first.

    None is returned of a crawl that has no page index, nor of a file that is damaged.
    """
    try:
        return _judged.decode((folder / FILE).read_bytes())
    except (OSError, msgspec.DecodeError):
        return []


def likeliest(judged: Iterable[Judged]) -> list[Judged]:
    """Return sites in order, those first that machines are most likely to have written."""
    return sorted(judged, key=lambda one: (-one.score, -one.pages, one.site))


class SiteJudge:
    """Judges the sites of a crawl that runs, as ``add`` has their pages."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._sites = GeneratedSites()
        self._known = {one.site: one for one in judged_sites(folder)}
        self._is_saved = True
        self.generated = self._marked()
        """The sites that machines wrote."""

    def _marked(self) -> frozenset[str]:
        return frozenset(name for name, one in self._known.items() if one.score >= GENERATED)

    def add(self, row: Row) -> None:
        """Take notice of a page."""
        before = self._sites.pages(row.site)
        number = self._sites.add(row.site, Page(row.text, prose_of(row.text.splitlines())))
        if number != before and number in _DUE:
            self._judge(row.site, number)

    def _judge(self, site: str, pages: int) -> None:
        found, known = self._sites.verdict(site), self._known.get(site)
        if found is None or (known is not None and known.pages > pages):
            return
        now = Judged(site, found.score, found.signs, pages)
        if now.score >= GENERATED and site not in self.generated:
            signs = ", ".join(now.signs)
            logger.debug("machines seem to have written %s: %s (%.2f)", site, signs, now.score)
        if now.score >= _LEAST:
            self._known[site] = now
        elif self._known.pop(site, None) is None:
            return
        self._is_saved, self.generated = False, self._marked()

    def save(self) -> None:
        """Write what was found out since the last time, if the disk lets."""
        if self._is_saved:
            return
        found = likeliest(self._known.values())[:_MOST]
        rows: list[dict[str, Any]] = [msgspec.structs.asdict(one) for one in found]
        with suppress(OSError), whole(self._path) as path:
            path.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")
            self._is_saved = True
