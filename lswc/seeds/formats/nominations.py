"""Nominations of a crawl: the sites in the language that it found and no list of seeds had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.archive.crawl_log import NO_PAGES
from lswc.archive.log_tables import scan
from lswc.outcomes import RECORDED
from lswc.seeds.candidates import Candidate
from lswc.seeds.formats.earlier_crawl import target_of
from lswc.urls import parse, site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked

_COLUMNS = ("url", "kind", "outcome", "language", "variant", "source")
_RECORDED = frozenset(map(str, RECORDED))
_SEED = "seed"


@dataclass
class _Site:
    pages: int = 0
    best: str = ""

    def take(self, url: str) -> None:
        """Count a relevant page; the one nearest to the root stands for the site."""
        self.pages += 1
        if not self.best or _depth(url) < _depth(self.best):
            self.best = url


def read(folder: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield a page of each site with relevant pages that had no seed.

    Its evidence is how many relevant pages it brought. Raises SeedError for a crawl of another
    language, ArchiveError for a folder that holds none, or a damaged log.
    """
    asked.say("sites", 0, 0)
    target = target_of(folder, asked)
    found: dict[str, _Site] = {}
    seeded = set[str]()
    for rows in scan(folder, "attempts", _COLUMNS):
        for row in rows.to_pylist():
            url = parse(row["url"])
            home = site(url.hostname) if url else ""
            if row["source"] == _SEED:
                seeded.add(home)
            is_page = row["outcome"] in _RECORDED and row["kind"] not in NO_PAGES
            if is_page and target.tag in (row["language"], row["variant"]):
                found.setdefault(home, _Site()).take(row["url"])
    for home, its in found.items():
        if home in seeded:
            asked.passed["site of a seed"] += 1
        else:
            yield Candidate(its.best, language=target.tag, weight=float(its.pages))


def _depth(url: str) -> tuple[int, int, str]:
    return url.count("/"), len(url), url
