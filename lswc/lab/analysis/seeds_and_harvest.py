"""Course of a crawl: its seeds, and its harvest rate page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from lswc.lab.analysis import figures
from lswc.lab.analysis.census import by_tld, domains_figure
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table, share
from lswc.plurals import numbered

if TYPE_CHECKING:
    from lswc.lab.analysis.collection import Collection

_HOUR = 3_600_000


def seeds(collection: Collection) -> Section:
    """Seeds by top-level domain and kind of language."""
    purpose = (
        "Where the crawl began, and how many of its seeds are in the language "
        "(Chan & Yamana 2010 Table 1 and Fig. 2)."
    )
    section = ("seeds", "Seeds", purpose)
    if collection.trace is None or "tld" not in collection.columns:
        return Section(*section, ("Not in this report: it needs a trace with a column tld.",))
    collection.db.register("chosen", pa.table({"id": collection.trace.seeds.astype("int64")}))
    found = collection.rows(
        "SELECT CASE WHEN page THEN language END, tld, count(*) FROM urls"
        " SEMI JOIN chosen USING (id) GROUP BY ALL"
    )
    pages = collection.rows("SELECT count(*) FROM urls SEMI JOIN chosen USING (id) WHERE page")
    collection.db.unregister("chosen")
    number = len(collection.trace.seeds)
    finding = (
        f"{numbered(number, 'seed')}, {pages[0][0]:,} of them pages; the others count as unknown."
    )
    table = by_tld(collection, found, "seeds_by_tld", "Seeds by top-level domain and language")
    title = f"{numbered(number, 'seed')} by top-level domain and language"
    figure = domains_figure(collection, found, "seeds", title) if len(found) > 1 else None
    return Section(*section, (finding,), (table,), figure)


def harvest(collection: Collection) -> Section:
    """Harvest rate over the pages of a live crawl, in the order in which they came."""
    purpose = (
        "Whether the crawl still finds the language, or has found what there is "
        "(Mon 2010 Fig. 2). Harvest rate: relevant pages of all pages so far."
    )
    section = ("harvest", "Harvest rate over the crawl", purpose)
    if not collection.rows("SELECT count(time) FROM urls WHERE page")[0][0]:
        return Section(*section, ("Not in this report: the data doesn't say when pages came.",))
    rows = collection.rows(
        "WITH ordered AS (SELECT time - min(time) OVER () AS passed,"
        " row_number() OVER latest AS pages, count(*) OVER () AS total,"
        " count(*) FILTER (language = $target) OVER latest AS relevant"
        " FROM urls WHERE page AND time IS NOT NULL"
        " WINDOW latest AS (ORDER BY time, id ROWS UNBOUNDED PRECEDING))"
        " SELECT pages, relevant, passed FROM ordered"
        # Some 200 points are enough for a line.
        " WHERE pages % greatest(total // 200, 1) = 0 OR pages = total ORDER BY pages"
    )
    table = Table(
        "harvest_over_crawl",
        "Harvest rate by pages so far",
        ("pages", "relevant", "share relevant so far", "hours"),
        [(pages, good, share(good, pages), passed / _HOUR) for pages, good, passed in rows],
        shown=12,
    )
    pages, good, passed = rows[-1]
    finding = (
        f"{good:,} of {pages:,} pages in {passed / _HOUR:,.1f} hours are in {collection.language}."
    )
    title = f"Of {pages:,} pages so far, {good / pages:.0%} are in {collection.language}"
    rates = [row[2] for row in table.rows]
    figure = figures.over_pages([row[0] for row in rows], rates, title) if len(rows) > 1 else None
    return Section(*section, (finding,), (table,), figure)
