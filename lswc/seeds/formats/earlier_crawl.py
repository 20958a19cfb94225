"""An earlier crawl: the pages that lead to most other servers in the language, by its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from lswc.archive.crawl_log import NO_PAGES, journals
from lswc.archive.log_tables import tables
from lswc.archive.run_settings import language_of, wanted_of
from lswc.outcomes import RECORDED
from lswc.seeds.candidates import Candidate, SeedError
from lswc.seeds.pool import database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.language.registry import Language
    from lswc.seeds.candidates import Asked

_SERVER = "regexp_extract({}, '^[a-z]+://([^/]*)', 1)"
# Both may lack rows: of a crawl in which nothing was fetched, or had a link.
_TABLES = """
CREATE TABLE page (url VARCHAR, server VARCHAR);
CREATE TABLE link (source VARCHAR, there VARCHAR)
"""
_PAGES = f"""
INSERT INTO page SELECT url, {_SERVER.format("url")} FROM attempt
WHERE outcome IN $recorded AND status BETWEEN 200 AND 299 AND coalesce(kind NOT IN $others, true)
AND $tag IN (language, variant)
"""  # noqa: S608
_LINKS = f"INSERT INTO link SELECT source, {_SERVER.format('target')} FROM found"  # noqa: S608
_HUBS = """
WITH step AS (
    SELECT url, server, there FROM link JOIN (SELECT DISTINCT * FROM page) ON source = url
    WHERE there <> server AND there IN (SELECT server FROM page)),
of_server AS (
    SELECT server, count(DISTINCT there) AS reached, count(*) AS links FROM step GROUP BY server),
of_page AS (
    SELECT url, server, row_number() OVER (
        PARTITION BY server ORDER BY count(*) DESC, url) AS place FROM step GROUP BY url, server)
SELECT url FROM of_page JOIN of_server USING (server) WHERE place = 1
ORDER BY reached DESC, links DESC, server
"""


def read(folder: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the best hub of each relevant server, the best server first.

    Servers are ranked by the number of other relevant servers that their pages link to, then by
    the number of those links: a server that points the way to many others is a good place to
    begin. A server's hub is its relevant page with the most such links. Servers without such
    links are left out. Raises SeedError for a crawl of another language, ArchiveError for a folder
    that holds none, or a damaged log.
    """
    asked.say("links", 0, 0)
    target = target_of(folder, asked)
    with database() as db:
        db.execute(_TABLES)
        try:
            _read_log(db, folder / "log", target)
            hubs = db.execute(_HUBS).fetchall()
        except (OSError, pa.ArrowException, duckdb.Error) as error:
            raise SeedError(f"can't read the log of {folder}: {error}") from error
    for rank, (url,) in enumerate(hubs, 1):
        yield Candidate(url, language=target.tag, weight=1 / rank)


def target_of(folder: Path, asked: Asked) -> Language:
    """Return which language of a crawl is asked for. Raises SeedError if none is."""
    tags = wanted_of(folder).tags
    found = next((code for code in asked.codes if code in tags), None)
    if found is None:
        raise SeedError(f"{folder} is a crawl of {wanted_of(folder).tag}")
    return language_of(folder, found)


def _read_log(db: duckdb.DuckDBPyConnection, log: Path, target: Language) -> None:
    given = {"recorded": list(map(str, RECORDED)), "others": list(NO_PAGES), "tag": target.tag}
    for attempts in sorted(log.glob("attempts-*.parquet")):
        links = attempts.with_name(attempts.name.replace("attempts", "links"))
        db.read_parquet(str(attempts)).create_view("attempt", replace=True)
        db.read_parquet(str(links)).create_view("found", replace=True)
        db.execute(_PAGES, given)
        db.execute(_LINKS)
    for journal in journals(log):
        for name, table in zip(("attempt", "found"), tables(journal), strict=True):
            db.execute(f"DROP VIEW IF EXISTS {name}")
            db.register(name, table)
        db.execute(_PAGES, given)
        db.execute(_LINKS)
        db.unregister("attempt")
        db.unregister("found")
