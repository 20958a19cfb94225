"""Ledger of a crawl: what became of each address that it asked for or turned down, by its log."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.compute as pc

from lswc.archive.crawl_log import NO_PAGES, NO_VISIT, RETRY
from lswc.archive.log_tables import ATTEMPTS, conform, scan
from lswc.lab.analysis.collection import connect
from lswc.outcomes import RECORDED, Outcome, is_left_out
from lswc.urls import parse, site, tld

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import duckdb
    import pyarrow as pa

STEPS = 60
"""Steps of the growth."""

_COLUMNS = (
    "time", "url", "kind", "bytes", "mime", "outcome", "language", "variant", "opt_outs", "archived"
)  # fmt: skip
_KEPT = (*RECORDED, Outcome.REQUISITE)
_HAD = (Outcome.REDIRECT, Outcome.LISTING, Outcome.NOT_HTML)
_NO_END = (RETRY, *(name for name in NO_VISIT if name != Outcome.SERVER_BECAME_IRRELEVANT))
_BATCH = 10_000


class Address(NamedTuple):
    """One address, by all visits to it. A page and a file that a page needs are two.

    ``outcome`` is that of the latest visit, None if none ended. It ``is_kept`` if a visit recorded
    it; ``mime``, ``language`` and ``is_document`` are of the latest such. Bytes are of bodies.
    """

    url: str
    is_page: bool
    outcome: str | None
    received: int
    archived: int
    is_kept: bool
    is_archived: bool
    mime: str | None
    language: str | None
    is_document: bool
    opts_out: bool


@dataclass
class Holding:
    """What a crawl has of one site, and what not, in addresses and bytes."""

    received: int = 0
    archived: int = 0
    pages: int = 0
    files: int = 0
    types: Counter[str] = field(default_factory=Counter)
    not_archived: int = 0
    forbidden: int = 0
    not_wanted: int = 0
    not_had: int = 0

    def take(self, one: Address) -> None:
        """Count an address of the site."""
        self.received += one.received
        self.archived += one.archived
        if one.is_kept:
            if one.is_archived:
                self.types[one.mime or "unknown"] += 1
            self.pages += one.is_page and one.is_archived
            self.files += not one.is_page and one.is_archived
            self.not_archived += one.is_page and not one.is_archived
        elif one.outcome is None:
            return
        elif one.outcome == Outcome.ROBOTS:
            self.forbidden += 1
        elif is_left_out(one.outcome):
            self.not_wanted += 1
        elif one.is_page and one.outcome not in _HAD:  # files may be mere guesses
            self.not_had += 1


@dataclass
class Ledger:
    """A crawl's addresses in numbers.

    ``pages`` were collected, by language (None if it isn't known) and top-level domain (None for an
    address that has none); so are the ``documents`` among the archived ones, which are a number.
    ``outcomes`` are those of addresses of pages that weren't collected. ``growth`` has, for each
    step of the time, its end (seconds since 1970), and the pages found in it: all, and those in the
    language. ``began`` and ``ended`` are the first and last time of the log, None if it is empty.
    """

    sites: defaultdict[str, Holding] = field(default_factory=lambda: defaultdict(Holding))
    pages: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    documents: int = 0
    opted_out: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    growth: list[tuple[float, int, int]] = field(default_factory=list)
    began: float | None = None
    ended: float | None = None

    def take(self, one: Address) -> None:
        """Count an address."""
        name, domain = _place(one.url)
        self.sites[name].take(one)
        if not one.is_page:
            return
        if one.is_kept:
            self.pages[one.language, domain] += 1
            self.documents += one.is_document and one.is_archived
            self.opted_out += one.opts_out
        elif one.outcome is not None:
            self.outcomes[one.outcome] += 1


def read(folders: Sequence[Path], language: str) -> Ledger:
    """Return the ledger of a crawl in the folders of its workers; ``language`` is a tag.

    It needs memory for the numbers of sites, and for a part of the log. Raises ArchiveError.
    """
    db = connect()
    try:
        _load(db, folders, language)
        ledger = Ledger()
        for one in _addresses(db):
            ledger.take(one)
        ledger.began, ledger.ended = _seconds(db)
        ledger.growth = _growth(db, language)
    finally:
        db.close()
    return ledger


def _load(db: duckdb.DuckDBPyConnection, folders: Sequence[Path], language: str) -> None:
    """Put the rows of the log into the table ``attempts``, in the order ``n``."""
    db.register("batch", _plain(ATTEMPTS.empty_table()))
    db.execute(
        "CREATE TEMP TABLE attempts AS SELECT 0::BIGINT AS n, *, false AS is_page, false AS is_kept"
        " FROM batch"
    )
    number = 0
    for folder in folders:
        for rows in scan(folder, "attempts"):
            db.register("batch", _plain(conform(rows, ATTEMPTS)))
            db.execute(
                "INSERT INTO attempts SELECT $number + row_number() OVER (), batch.*,"
                " NOT coalesce(list_contains($no_pages, kind), false),"
                " list_contains($kept, outcome) FROM batch",
                {"number": number, "no_pages": list(NO_PAGES), "kept": list(map(str, _KEPT))},
            )
            number += len(rows)
    db.unregister("batch")
    if len(folders) > 1:  # a page may have been one worker's, then another's
        db.execute("UPDATE attempts SET n = epoch_ms(time)")
    if "-" in language:
        db.execute("UPDATE attempts SET language = coalesce(nullif(variant, ''), language)")


def _plain(rows: pa.Table) -> pa.Table:
    rows = rows.select(_COLUMNS)
    words = [
        name for name in _COLUMNS if name in ("kind", "mime", "outcome", "language", "variant")
    ]
    for name in words:
        place = rows.column_names.index(name)
        rows = rows.set_column(place, name, pc.cast(rows[name], "string"))
    return rows


def _addresses(db: duckdb.DuckDBPyConnection) -> Iterator[Address]:
    found = db.execute(
        "SELECT url, is_page,"
        " arg_max(outcome, n) FILTER (NOT list_contains($no_end, outcome)),"
        " coalesce(sum(bytes), 0)::BIGINT, coalesce(sum(bytes) FILTER (archived), 0)::BIGINT,"
        " bool_or(is_kept), bool_or(is_kept AND coalesce(archived, false)),"
        " arg_max(mime, n) FILTER (is_kept), arg_max(language, n) FILTER (is_kept),"
        " coalesce(arg_max(outcome, n) FILTER (is_kept) = $document, false),"
        " coalesce(arg_max(len(opt_outs) > 0, n) FILTER (is_kept), false)"
        " FROM attempts GROUP BY url, is_page",
        {"no_end": list(map(str, _NO_END)), "document": str(Outcome.DOCUMENT)},
    )
    while rows := found.fetchmany(_BATCH):
        yield from map(Address._make, rows)


def _seconds(db: duckdb.DuckDBPyConnection) -> tuple[float | None, float | None]:
    first, last = db.execute("SELECT epoch(min(time)), epoch(max(time)) FROM attempts").fetchall()[
        0
    ]
    return first, last


def _growth(db: duckdb.DuckDBPyConnection, language: str) -> list[tuple[float, int, int]]:
    """Return what was found in each of STEPS equal parts of the time; nothing if that is none."""
    rows = db.execute(
        "WITH pages AS (SELECT epoch(min(time)) AS first,"
        " coalesce(arg_max(language, n) = $language, false) AS wanted"
        " FROM attempts WHERE is_page AND is_kept GROUP BY url),"
        " bounds AS (SELECT min(first) AS began, max(first) - min(first) AS length FROM pages)"
        " SELECT least($steps - 1, floor($steps * (first - began) / length))::INT AS step,"
        " any_value(began + (length / $steps) * (step + 1)), count(*), count(*) FILTER (wanted)"
        " FROM pages, bounds WHERE length > 0 GROUP BY step ORDER BY step",
        {"language": language, "steps": STEPS},
    ).fetchall()
    return [(end, pages, wanted) for _, end, pages, wanted in rows]


@lru_cache(maxsize=100_000)
def _of_host(host: str) -> tuple[str, str | None]:
    return site(host), tld(host)


def _place(url: str) -> tuple[str, str | None]:
    """Return the site and the top-level domain of a URL, "" and None if it is none."""
    parsed = parse(url)
    return _of_host(parsed.hostname) if parsed else ("", None)
