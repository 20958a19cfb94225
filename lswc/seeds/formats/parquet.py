"""Parquet: Common Crawl's index, or any table with a column of URLs.

The index (https://index.commoncrawl.org, ``cc-index-table``) has a row per page: ``url``,
``url_host_name``, ``fetch_status``, and ``content_languages``, the languages that CLD2 saw, as ISO
639-3 codes, the main one first. A server has as much evidence as pages whose main language is the
one wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lswc.language.registry import code_of
from lswc.seeds.candidates import Candidate, SeedError
from lswc.seeds.formats.texts import candidates, columns_of
from lswc.seeds.pool import database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked

_INDEX = {"url", "fetch_status", "content_languages"}
_MAIN = "split_part(content_languages, ',', 1)"
_REASONS = f"""
SELECT CASE WHEN fetch_status <> 200 THEN 'status ' || fetch_status
            WHEN coalesce(content_languages, '') = '' THEN 'language unknown'
            ELSE 'another language' END AS reason, count(*)
FROM page WHERE NOT coalesce(fetch_status = 200 AND {_MAIN} IN $wanted, false) GROUP BY reason
"""  # noqa: S608
_PAGES = f"""
SELECT {_MAIN} AS main, arg_min(url, length(url)), count(*)
FROM page WHERE fetch_status = 200 AND {_MAIN} IN $wanted
GROUP BY main, regexp_extract(url, '^[a-z]+://[^/?#]*')
"""  # noqa: S608


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the servers of an index, or the URLs of a table. Raises SeedError."""
    try:
        names = pq.read_schema(path).names
        if {*names} >= _INDEX:
            yield from _servers(path, asked)
        else:
            yield from _table(path, names, asked)
    except (OSError, pa.ArrowException, duckdb.Error) as error:
        raise SeedError(f"can't read {path}: {error}") from error


def _servers(path: Path, asked: Asked) -> Iterator[Candidate]:
    asked.say(path.name, 0, 0)
    with database() as db:
        db.read_parquet(str(path)).create_view("page")
        rows = db.execute(f"SELECT DISTINCT {_MAIN} FROM page").fetchall()  # noqa: S608
        wanted = {tag: code_of(tag) for (tag,) in rows if tag and code_of(tag) in asked.codes}
        given = {"wanted": list(wanted)}
        asked.passed.update(dict(db.execute(_REASONS, given).fetchall()))
        for tag, url, pages in db.execute(_PAGES, given).fetchall():
            yield Candidate(url, language=wanted[tag], weight=float(pages))


def _table(path: Path, names: list[str], asked: Asked) -> Iterator[Candidate]:
    columns = columns_of([names])
    if columns is None:
        raise SeedError(f"{path} has no column of URLs, only {', '.join(names)}"[:300])
    file = pq.ParquetFile(path)
    at = (columns.url, columns.rank, columns.count, columns.language, *columns.texts)
    wanted = [names[i] for i in dict.fromkeys(at) if i is not None]

    def rows() -> Iterator[list[str]]:
        yield wanted
        done, total = 0, file.metadata.num_rows
        for batch in file.iter_batches(10_000, columns=wanted):
            done += len(batch)
            asked.say(path.name, done, total)
            for row in zip(*(batch.column(name).to_pylist() for name in wanted), strict=True):
                yield list(map(_cell, row))

    yield from candidates(path, rows(), asked)


def _cell(value: Any) -> str:
    return "" if value is None else str(value)
