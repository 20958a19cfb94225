"""Holdings by site: what a crawl's archive has of it in bytes and types, and what it lacks, why."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lswc.archive.crawl_log import NO_PAGES, NO_VISIT, RETRY
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table
from lswc.outcomes import RECORDED, Outcome, is_left_out
from lswc.urls import parse, site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

_TITLE = "What is archived, and what isn't"
_PURPOSE = (
    "For libraries: what the archive has of each site, and what it lacks. A site is a registered "
    "domain; each blog of a blog host is one."
)
_HEADS = (
    "site", "bytes received", "bytes archived", "pages archived", "other files archived",
    "media types", "pages not archived", "forbidden by robots.txt", "not wanted",
    "pages not to be had",
)  # fmt: skip
_MOST = 3  # media types of a site that are named
_COLUMNS = ("url", "kind", "outcome", "bytes", "mime", "archived")


@dataclass
class _Holding:
    """What a crawl has of one site, and what not."""

    received: int = 0
    archived: int = 0
    pages: int = 0
    files: int = 0
    types: Counter[str] = field(default_factory=Counter)
    not_archived: int = 0
    forbidden: int = 0
    not_wanted: int = 0
    not_had: int = 0

    def take(self, row: dict[str, Any]) -> None:
        """Count a row of the crawl log."""
        size, outcome = row["bytes"] or 0, row["outcome"]
        self.received += size
        if row["archived"]:
            self.archived += size
        if outcome in (RETRY, *NO_VISIT):
            return
        if outcome in _KEPT:
            if row["archived"]:
                self.types[row["mime"] or "unknown"] += 1
            is_page = outcome != Outcome.REQUISITE
            self.pages += is_page and row["archived"]
            self.files += not is_page and row["archived"]
            self.not_archived += is_page and not row["archived"]
        elif outcome == Outcome.ROBOTS:
            self.forbidden += 1
        elif is_left_out(outcome):
            self.not_wanted += 1
        elif row["kind"] not in NO_PAGES and outcome not in _HAD:  # files may be mere guesses
            self.not_had += 1

    def row(self, name: str) -> tuple[Any, ...]:
        """Return the row of the site of that name."""
        types = ", ".join(f"{kind} {number:,}" for kind, number in self.types.most_common(_MOST))
        return (
            name, self.received, self.archived, self.pages, self.files, types,
            self.not_archived, self.forbidden, self.not_wanted, self.not_had,
        )  # fmt: skip


_KEPT = (*RECORDED, Outcome.REQUISITE)
_HAD = (Outcome.REDIRECT, Outcome.LISTING, Outcome.NOT_HTML)


def section(attempts: pa.Table | None) -> Section:
    """Return the section of a crawl log's attempts; None if there is no log."""
    if attempts is None:
        none = ("Not in this report: it needs the log of a crawl.",)
        return Section("holdings", _TITLE, _PURPOSE, none)
    holdings = defaultdict[str, _Holding](_Holding)
    for row in _rows(attempts):
        holdings[_site_of(row["url"])].take(row)
    rows = sorted(
        (holding.row(name) for name, holding in holdings.items()), key=lambda row: (-row[2], row[0])
    )
    table = Table("holdings", "Sites, the largest first", _HEADS, rows)
    return Section("holdings", _TITLE, _PURPOSE, tuple(_said(holdings.values())), (table,))


def _rows(attempts: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in attempts.select(_COLUMNS).to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


@lru_cache(maxsize=100_000)
def _site_of(url: str) -> str:
    parsed = parse(url)
    return site(parsed.hostname) if parsed else ""


def _said(holdings: Iterable[_Holding]) -> Iterator[str]:
    found = list(holdings)
    pages, size = sum(one.pages for one in found), sum(one.archived for one in found)
    types = sum((one.types for one in found), Counter[str]())
    named = ", ".join(f"{kind} {number:,}" for kind, number in types.most_common(10))
    yield f"{pages:,} pages of {len(found):,} sites are archived: {size:,} bytes, with all files."
    yield f"Media types: {named or 'none'}."
    yield (
        f"Not archived: {sum(one.not_archived for one in found):,} pages that were fetched; "
        f"{sum(one.forbidden for one in found):,} URLs that robots.txt forbids; "
        f"{sum(one.not_wanted for one in found):,} that limits or the strategy left out; "
        f"{sum(one.not_had for one in found):,} pages that couldn't be had."
    )
