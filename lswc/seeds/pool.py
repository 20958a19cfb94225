"""Pool: the candidates of all files, ranked by their evidence, out of core."""

from __future__ import annotations

from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import pyarrow as pa

from lswc.seeds.candidates import URL_CHARACTERS, Candidate
from lswc.urls import parse, site, tld

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

MEMORY = "1GB"
"""What DuckDB may hold in memory before it goes to disk."""

_BATCH = 20_000
_COLUMNS = pa.schema(
    [
        ("name", pa.string()),
        ("url", pa.string()),
        ("server", pa.string()),
        ("site", pa.string()),
        ("draw", pa.uint64()),
        ("text", pa.string()),
        ("language", pa.string()),
        ("weight", pa.float64()),
        ("kind", pa.string()),
    ]
)
# Of twins, https is the greater.
_RANKED = """
WITH page AS (
    SELECT max(url) AS url, server, site, draw, language, max(text) AS text, max(kind) AS kind,
    sum(weight) AS weight
    FROM candidate GROUP BY name, server, site, draw, language),
of_server AS (
    SELECT *, sum(weight) OVER (PARTITION BY site, language) AS evidence,
    row_number() OVER (PARTITION BY server, language ORDER BY weight DESC, length(url), url) AS nth
    FROM page),
of_site AS (
    SELECT *, row_number() OVER (
        PARTITION BY site, language ORDER BY nth, weight DESC, length(url), url) AS place
    FROM of_server)
SELECT url, site, text, language, kind FROM of_site ORDER BY place, evidence DESC, draw, url
"""


class Place(NamedTuple):
    """A candidate in its place: ``url`` is canonical, ``site`` its registered domain."""

    url: str
    site: str
    text: str
    language: str | None
    kind: str = ""


@contextmanager
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a database that goes to disk above MEMORY, never to the network."""
    with TemporaryDirectory(prefix="lswc-") as folder:
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "temp_directory": folder,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        with duckdb.connect(config=config) as db:
            yield db


class Pool:
    """Candidates: of ``tlds`` alone if any are given; ``seed`` decides between equals."""

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        passed: Counter[str],
        seed: int = 1,
        tlds: frozenset[str] = frozenset(),
    ) -> None:
        self._db, self._passed, self._tlds = db, passed, tlds
        self._salt = seed.to_bytes(8, signed=True)
        db.register("batch", _COLUMNS.empty_table())
        db.execute("CREATE OR REPLACE TABLE candidate AS FROM batch")

    def add(self, candidates: Iterable[Candidate]) -> int:
        """Take candidates; return how many were usable."""
        rows = (row for candidate in candidates for row in self._row(candidate))
        taken = 0
        while batch := list(islice(rows, _BATCH)):
            columns = [pa.array(column, kind.type) for column, kind in
                       zip(zip(*batch, strict=True), _COLUMNS, strict=True)]  # fmt: skip
            self._db.register("batch", pa.table(columns, _COLUMNS))
            self._db.execute("INSERT INTO candidate FROM batch")
            taken += len(batch)
        self._db.unregister("batch")
        return taken

    def __len__(self) -> int:
        """Return the number of places in the ranking."""
        query = "SELECT count(*) FROM (SELECT DISTINCT name, language FROM candidate)"
        ((number,),) = self._db.execute(query).fetchall()
        return int(number)

    def ranked(self) -> Iterator[Place]:
        """Yield the URLs: first the best of every site, the best site first, then the second ones.

        A site's evidence is that of all its URLs; equals are in the order of a draw, which
        depends on the seed and the site alone. Within a site each server's best URL comes first:
        that with most evidence, or else the shortest.
        """
        with self._db.cursor() as cursor:  # of its own: it may be left half read
            result = cursor.execute(_RANKED)
            while rows := result.fetchmany(_BATCH):
                yield from map(Place._make, rows)

    def _row(self, candidate: Candidate) -> Iterator[tuple[object, ...]]:
        url = parse(candidate.url)
        if url is None:
            self._passed["not a URL"] += 1
        elif url.scheme not in ("http", "https"):
            self._passed["not http or https"] += 1
        elif len(url.href) > URL_CHARACTERS:
            self._passed["URL too long"] += 1
        elif self._tlds and tld(url.hostname) not in self._tlds:
            self._passed["another top-level domain"] += 1
        else:
            home, text = site(url.hostname), candidate.text.encode(errors="replace").decode()
            yield (
                url.href.partition("://")[2], url.href, url.server, home, self._draw(home),
                text, candidate.language, candidate.weight, candidate.kind,
            )  # fmt: skip

    def _draw(self, home: str) -> int:
        return int.from_bytes(blake2b(home.encode(), digest_size=8, key=self._salt).digest())
