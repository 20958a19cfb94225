"""Holdings by site: what a crawl's archive has of it in bytes and types, and what it lacks, why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.lab.analysis.ledger import Holding, Ledger

_TITLE = "What is archived, and what isn't"
_PURPOSE = (
    "For libraries: what the archive has of each site, and what it lacks. A site is a registered "
    "domain; each blog of a blog host is one. An address counts once, however often it was visited."
)
_HEADS = (
    "site", "bytes received", "bytes archived", "pages archived", "other files archived",
    "media types", "pages not archived", "forbidden by robots.txt", "not wanted",
    "pages not to be had",
)  # fmt: skip
_MOST = 3  # media types of a site that are named


def section(ledger: Ledger | None) -> Section:
    """Return the section of a crawl's ledger; None if there is no log."""
    if ledger is None:
        none = ("Not in this report: it needs the log of a crawl.",)
        return Section("holdings", _TITLE, _PURPOSE, none)
    rows = sorted(
        (_row(name, holding) for name, holding in ledger.sites.items()),
        key=lambda row: (-row[2], row[0]),
    )
    table = Table("holdings", "Sites, the largest first", _HEADS, rows)
    return Section("holdings", _TITLE, _PURPOSE, tuple(_said(ledger)), (table,))


def _row(name: str, one: Holding) -> tuple[Any, ...]:
    types = ", ".join(f"{kind} {number:,}" for kind, number in one.types.most_common(_MOST))
    return (
        name, one.received, one.archived, one.pages, one.files, types,
        one.not_archived, one.forbidden, one.not_wanted, one.not_had,
    )  # fmt: skip


def _said(ledger: Ledger) -> Iterator[str]:
    found = ledger.sites.values()
    pages, size = sum(one.pages for one in found), sum(one.archived for one in found)
    with_pages = sum(one.pages > 0 for one in found)
    met = sum(bool(name) for name in ledger.sites)
    types = sum((one.types for one in found), Counter[str]())
    named = ", ".join(f"{kind} {number:,}" for kind, number in types.most_common(10))
    are = "is" if pages == 1 else "are"
    yield (
        f"{numbered(pages, 'page')} of {numbered(with_pages, 'site')} {are} archived: "
        f"{size:,} bytes, with all files. The crawl met {numbered(met, 'site')}."
    )
    yield f"Media types: {named or 'none'}."
    yield (
        f"Not archived: {sum(one.not_archived for one in found):,} pages that were fetched; "
        f"{sum(one.forbidden for one in found):,} URLs that robots.txt forbids; "
        f"{sum(one.not_wanted for one in found):,} that limits or the strategy left out; "
        f"{sum(one.not_had for one in found):,} pages that couldn't be had."
    )
