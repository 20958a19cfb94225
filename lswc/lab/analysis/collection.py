"""Collections to analyse: a trace, or the folder of a crawl, whose links aren't known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from lswc.archive import page_record
from lswc.archive.page_record import records
from lswc.errors import ConfigError
from lswc.lab.trace.format import About, Trace
from lswc.language.registry import LanguageError, language
from lswc.urls import parse, site, tld

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MEMORY = "3GB"
"""What DuckDB may hold in memory before it goes to disk."""

_BATCH = 100_000
_COLUMNS = pa.schema(
    [
        ("id", pa.int64()),
        ("url", pa.string()),
        ("server", pa.int32()),
        ("site", pa.int32()),
        ("tld", pa.string()),
        ("language", pa.string()),
        ("status", pa.int16()),
        ("page", pa.bool_()),
        ("distance", pa.int16()),
        ("encoding", pa.string()),
        ("kind", pa.string()),
        ("source", pa.string()),
        ("time", pa.int64()),
    ]
)


_OPTIONAL = {
    "url": "VARCHAR",
    "tld": "VARCHAR",
    "encoding": "VARCHAR",
    "kind": "VARCHAR",
    "source": "VARCHAR",
    "address": "VARCHAR",
    "time": "BIGINT",
}


class AnalysisError(ConfigError):
    """The data can't be analysed as asked; the message says what is missing or wrong."""


@dataclass(frozen=True)
class Collection:
    """What a crawl collected: a view ``urls`` in ``db``, with one row per URL.

    Its columns are those of a trace's ``urls.parquet`` (docs/lab/trace.md) and ``id``, a number
    that grows; of a page that was visited again the latest visit counts. ``columns`` names those
    that are there, the others are null. ``trace`` has the links; it is None for a crawl folder,
    where ``distance`` is the number of links that the crawl walked to the page.
    """

    name: str
    about: About
    db: duckdb.DuckDBPyConnection
    columns: frozenset[str]
    trace: Trace | None

    @classmethod
    def read(cls, folder: Path, lang: str = "") -> Self:
        """Read a trace, or a crawl folder of the language ``lang`` ("": its summary says).

        Raises AnalysisError, or TraceError for a trace that is torn, incomplete or empty.
        """
        if (folder / "trace.json").exists():
            return cls._of_trace(folder)
        if page_record.files(folder):
            return cls._of_crawl(folder, lang)
        raise AnalysisError(
            f"{folder} is neither a trace (no trace.json) "
            f"nor a crawl folder (no {page_record.PAGES})"
        )

    @classmethod
    def _of_trace(cls, folder: Path) -> Self:
        trace = Trace.read(folder)
        path = folder / "urls.parquet"
        db = connect()
        present = frozenset(pq.read_schema(path).names)
        lacking = [f"NULL::{k} AS {name}" for name, k in _OPTIONAL.items() if name not in present]
        urls = db.read_parquet(str(path), file_row_number=True)
        urls.project(", ".join(["*", "file_row_number AS id", *lacking])).create_view("urls")
        return cls(folder.name, trace.about, db, present, trace)

    @classmethod
    def _of_crawl(cls, folder: Path, lang: str) -> Self:
        target = _target(folder, lang)
        db = connect()
        db.register("batch", _COLUMNS.empty_table())
        db.execute("CREATE TEMP TABLE urls AS SELECT *, NULL::VARCHAR AS address FROM batch")
        try:
            for batch in _batches(folder, target.language):
                db.register("batch", batch)
                db.execute("INSERT INTO urls BY NAME FROM batch")
        except OSError as error:
            raise AnalysisError(f"can't read the record in {folder}: {error.strerror}") from error
        db.unregister("batch")
        db.execute("DELETE FROM urls WHERE id NOT IN (SELECT max(id) FROM urls GROUP BY url)")
        return cls(folder.name, target, db, frozenset(_COLUMNS.names), None)

    @property
    def language(self) -> str:
        """The target language's English name."""
        try:
            return language(self.about.language).name
        except LanguageError:
            return self.about.language

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, in which ``$target`` is the target language's code."""
        parameters = {"target": self.about.language} if "$target" in query else {}
        return self.db.execute(query, parameters).fetchall()


def connect() -> duckdb.DuckDBPyConnection:
    """Return a database in memory that goes to disk above MEMORY and never to the network."""
    db = duckdb.connect(config={"memory_limit": MEMORY, "autoinstall_known_extensions": "false"})
    db.execute("SET preserve_insertion_order = false")
    return db


def _target(folder: Path, lang: str) -> About:
    if not lang:
        try:
            lang = str(json.loads((folder / "summary.json").read_text("utf-8"))["language"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AnalysisError(
                f"{folder} has no readable summary.json to say its language: give --lang"
            ) from error
    if "," in lang:
        raise AnalysisError(f"{folder} is a crawl of {lang}: say of which language, --lang")
    known = language(lang)
    return About(known.tag, known.tlds, f"crawl {folder.name}")


def _batches(folder: Path, tag: str) -> Iterator[pa.Table]:
    """Yield the records of a crawl as tables of _COLUMNS; what is no record is left out."""
    servers: dict[str, int] = {}
    sites: dict[str, int] = {}
    rows = (row for record in records(folder) for row in _row(record, servers, sites, tag))
    numbered = ({"id": number, **row} for number, row in enumerate(rows))
    while batch := list(islice(numbered, _BATCH)):
        yield pa.Table.from_pylist(batch, _COLUMNS)


def _row(
    record: dict[str, Any], servers: dict[str, int], sites: dict[str, int], tag: str
) -> Iterable[dict[str, Any]]:
    try:
        url = parse(record["url"])
        if url is None:
            return ()
        status, depth = int(record.get("status", 200)), int(record.get("depth", -1))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ()  # not a record of a crawl's
    return (
        {
            "url": url.href,
            "server": servers.setdefault(url.server, len(servers)),
            "site": sites.setdefault(site(url.hostname), len(sites)),
            "tld": tld(url.hostname),
            "language": _language(record, tag),
            "status": min(max(status, 0), 999),
            "page": True,
            "distance": min(max(depth, -1), 32767),
            "encoding": _text(record.get("encoding")),
            "kind": _text(record.get("kind")),
            "source": _text(record.get("source")),
            "time": _milliseconds(record.get("time")),
        },
    )


def _milliseconds(value: object) -> int | None:
    try:
        return round(datetime.fromisoformat(str(value)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _language(record: dict[str, Any], tag: str) -> str | None:
    """Return a page's language; its variant, if it is one of a variant's crawl."""
    variant = _text(record.get("variant")) if "-" in tag else None
    return variant or _text(record.get("language"))


def _text(value: object) -> str | None:
    # A lone surrogate in a hostile line has no UTF-8 form.
    return value.encode(errors="replace").decode() if isinstance(value, str) else None
