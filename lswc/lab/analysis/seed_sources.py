"""Sources of seeds: how much of a crawl each of them brought."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.archive.crawl_log import NO_PAGES
from lswc.archive.log_tables import scan
from lswc.archive.run_settings import settings_of, wanted_of
from lswc.crawl.seed_files import list_of
from lswc.errors import LswcError
from lswc.lab.analysis import figures
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table, share
from lswc.outcomes import RECORDED
from lswc.plurals import numbered
from lswc.seeds.listing import sources_of
from lswc.seeds.pool import database
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

OTHER = "seeds of no list"
"""Source of pages that lead back to no seed of the list: of URLs that were pushed, or named."""

_TITLE = "Sources of seeds"
_PURPOSE = (
    "What each source of seeds brought: the pages that were found from its seeds, link by link. A "
    "page counts for the seed from which it was reached first."
)
_NOT = "Not in this report: {}."
_HEADS = ("source", "seeds", "pages", "relevant pages", "share relevant", "share of relevant pages")
_COLUMNS = ("url", "kind", "outcome", "relevant", "referrer")
_SHOWN = 12
_TABLES = """
CREATE TABLE step (page VARCHAR, came VARCHAR, is_page BOOLEAN, relevant BOOLEAN);
CREATE TABLE root (page VARCHAR, seed VARCHAR)
"""
_NAME = "regexp_replace({}, '^https?:', '')"  # twins are one page
_TAKE = f"""
INSERT INTO step SELECT {_NAME.format("url")}, {_NAME.format("referrer")},
outcome IN $recorded AND coalesce(kind NOT IN $others, true), coalesce(relevant, false) FROM rows
"""  # noqa: S608
_FIRST = """
INSERT INTO root SELECT page, page FROM step GROUP BY page HAVING bool_and(came IS NULL)
"""
_NEXT = """
INSERT INTO root SELECT step.page, any_value(root.seed) FROM step JOIN root ON came = root.page
WHERE step.page NOT IN (SELECT page FROM root) GROUP BY step.page RETURNING 1
"""
_PAGES = """
SELECT seed, count(*), count(*) FILTER (relevant) FROM (
    SELECT page, bool_or(relevant) AS relevant FROM step WHERE is_page GROUP BY page)
LEFT JOIN root USING (page) GROUP BY seed
"""


def section(crawls: Sequence[Path]) -> Section:
    """Return what each source brought to a crawl, by its log and its list of seeds."""
    head = ("seed_sources", _TITLE, _PURPOSE)
    if not crawls:
        return Section(*head, (_NOT.format("it needs the folder of a crawl"),))
    try:
        sources = _sources(crawls[0])
    except (LswcError, OSError, UnicodeDecodeError) as error:
        return Section(*head, (_NOT.format(f"its seeds can't be read: {error}"),))
    if not sources:
        return Section(*head, (_NOT.format("its seeds are of no list"),))
    with database() as db:
        counts = _counts(db, crawls, sources)
    seeds = defaultdict[str, int](int)
    for source in sources.values():
        seeds[source] += 1
    total = sum(relevant for _, relevant in counts.values())
    rows = [
        (source, seeds[source], pages, good, share(good, pages), share(good, total))
        for source, (pages, good) in sorted(counts.items(), key=lambda one: (-one[1][1], one[0]))
    ]
    if not rows:
        return Section(*head, (_NOT.format("no page was fetched"),))
    table = Table("seed_sources", "Pages by the source of the seed", _HEADS, rows, shown=_SHOWN)
    first, _, _, good, *_ = rows[0]
    finding = f"Of {numbered(total, 'relevant page')} {good:,} came from seeds of: {first}."
    names = [figures.label(row[0]) for row in rows[:_SHOWN]]
    parts = {
        "relevant": [float(row[3]) for row in rows[:_SHOWN]],
        "others": [float(row[2] - row[3]) for row in rows[:_SHOWN]],
    }
    title = f"{numbered(len(rows), 'source')} of seeds, and the pages that came from them"
    return Section(*head, (finding,), (table,), figures.stacked(names, parts, title, "pages"))


def _sources(crawl: Path) -> dict[str, str]:
    """Return the source of each seed, by its URL without a scheme. Raises LswcError, OSError."""
    given = str(settings_of(crawl).get("seeds") or "")
    if "://" in given:
        return {}
    folder = Path(given) if given else None
    if folder is not None and not folder.is_dir():
        lists = [folder]
    else:
        found = (list_of(language, folder) for language in wanted_of(crawl).languages)
        lists = [Path(str(path)) for path in found if path is not None]
    sources: dict[str, str] = {}
    for path in lists:
        for url, source in sources_of(path.read_text("utf-8"), path.name).items():
            parsed = parse(url)
            if parsed is not None:
                sources.setdefault(parsed.href.partition(":")[2], source)
    return sources


def _counts(
    db: duckdb.DuckDBPyConnection, crawls: Sequence[Path], sources: dict[str, str]
) -> dict[str, tuple[int, int]]:
    """Return pages and relevant pages by source."""
    db.execute(_TABLES)
    given = {"recorded": list(map(str, RECORDED)), "others": list(NO_PAGES)}
    for crawl in crawls:
        for rows in scan(crawl, "attempts", _COLUMNS):
            db.register("rows", rows)
            db.execute(_TAKE, given)
            db.unregister("rows")
    db.execute(_FIRST)
    while db.execute(_NEXT).fetchone():
        pass
    found: dict[str, tuple[int, int]] = {}
    for seed, pages, relevant in db.execute(_PAGES).fetchall():
        source = sources.get(seed or "", OTHER)
        before = found.get(source, (0, 0))
        found[source] = (before[0] + pages, before[1] + relevant)
    return found
