"""Page search: the pages of crawls, the latest first, by words and by what they are."""

from __future__ import annotations

import sqlite3
from contextlib import ExitStack, closing, contextmanager
from heapq import merge
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.page_index import (
    FILE,
    FORMAT,
    JUDGED,
    KIND,
    LANGUAGE,
    SITE,
    Row,
    check_fts5,
    how_to_make,
)
from lswc.archive.page_terms import Words, own
from lswc.errors import ConfigError, DamageError, StorageError
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

COUNTED = 10_000
"""Pages that are counted at most."""

COMPARED = 1_000
"""Pages whose text is compared with a phrase, until a search says how far it came."""

SEARCH_SECONDS = 10.0
"""Seconds that a search may take."""

_STEPS = 100_000  # of SQLite's machine between two looks at the clock
_ROW = ", ".join(f"page.{name}" for name in (*Row._fields[:-1], "text"))
_MOST_ID = 2**62


class Asked(NamedTuple):
    """What is looked for: words, and what a page is. What is empty says nothing.

    ``site`` is a registered domain or a host, ``judged`` one of JUDGEMENTS. Pages that came from
    ``since`` on and before ``until``, in milliseconds since 1970.
    """

    words: Words
    site: str = ""
    language: str = ""
    kind: str = ""
    judged: str = ""
    since: int = 0
    until: int = _MOST_ID

    def match(self) -> str:
        """Return what FTS5 is asked, "" if nothing is."""
        own_terms = [
            own(kind, value)
            for kind, value in ((SITE, self.site), (LANGUAGE, self.language), (KIND, self.kind),
                                (JUDGED, self.judged))
            if value
        ]  # fmt: skip
        # No term has a quote in it.
        return " AND ".join(f'"{term}"' for term in (*own_terms, *self.words.terms))


class Found(NamedTuple):
    """Pages that were found, the latest first; whether there are later ones, and earlier ones.

    ``reached`` is the number of the row at which the search ended before its time, None if it
    didn't.
    """

    pages: list[Row]
    has_newer: bool
    has_older: bool
    reached: int | None


class PageSearch:
    """Looks through the indexes of crawls that were ``opened``. Methods raise LswcError."""

    def __init__(self, dbs: Sequence[sqlite3.Connection]) -> None:
        self._dbs = dbs

    def tallies(self) -> dict[tuple[str, str], int]:
        """Return how many pages there are of each language, kind and judgement."""
        found: dict[tuple[str, str], int] = {}
        for db in self._dbs:
            for kind, value, pages in db.execute("SELECT kind, value, pages FROM tally"):
                found[kind, value] = found.get((kind, value), 0) + pages
        return {name: pages for name, pages in found.items() if pages > 0}

    def page(self, url: str) -> Row | None:
        """Return the latest visit of a page by its canonical URL; None if there is none."""
        select = f"SELECT {_ROW} FROM page WHERE key = ?"  # noqa: S608
        rows = (db.execute(select, (fingerprint(url),)).fetchone() for db in self._dbs)
        return max((Row(*row) for row in rows if row is not None), default=None)

    def count(self, asked: Asked) -> int | None:
        """Return how many pages there are, at most COUNTED + 1; None if only a look would tell."""
        if asked.words.patterns:
            return None
        left = COUNTED + 1
        for db in self._dbs:
            sql, values = _select("1", asked, asked.since, asked.until, "DESC")
            counted = f"SELECT count(*) FROM ({sql} LIMIT ?)"  # noqa: S608
            left -= db.execute(counted, (*values, left)).fetchone()[0]
        return COUNTED + 1 - left

    def find(self, asked: Asked, most: int, *, before: int = 0, after: int = 0) -> Found:
        """Return the latest pages whose number is less than ``before``; or the first ``after``."""
        begin = max(asked.since, after + 1) if after else asked.since
        end = min(asked.until, before) if before else asked.until
        is_up = bool(after)
        looked = _Looked(asked.words)
        found = list(islice(self._in_order(asked, begin, end, looked, is_up=is_up), most + 1))
        pages, has_more = found[:most], len(found) > most or looked.reached is not None
        if is_up:
            return Found(pages[::-1], has_more, True, looked.reached)
        return Found(pages, before > 0, has_more, looked.reached)

    def _in_order(
        self, asked: Asked, begin: int, end: int, looked: _Looked, *, is_up: bool
    ) -> Iterator[Row]:
        sql, values = _select(_ROW, asked, begin, end, "ASC" if is_up else "DESC")
        rows = (map(Row._make, db.execute(sql, values)) for db in self._dbs)
        return looked.kept(merge(*rows, key=lambda row: row.id, reverse=not is_up))


class _Looked:
    """Compares pages with what is looked for; ``reached`` is the latest once it was too many."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self.reached: int | None = None

    def kept(self, rows: Iterator[Row]) -> Iterator[Row]:
        in_vain = 0
        for row in rows:
            if not self._words.patterns or self._words.are_in(row.title, row.text):
                yield row
                continue
            in_vain += 1
            if in_vain == COMPARED:
                self.reached = row.id
                return


def _select(
    columns: str, asked: Asked, begin: int, end: int, order: str
) -> tuple[str, tuple[object, ...]]:
    """Return a query, and its values: of numbers from ``begin`` on and before ``end``."""
    match = asked.match()
    if not match:
        where = f"FROM page WHERE page.id >= ? AND page.id < ? ORDER BY page.id {order}"
        return f"SELECT {columns} {where}", (begin, end)
    # CROSS: the index of words leads, and the rows come in its order.
    join = "FROM word CROSS JOIN page ON page.id = word.rowid WHERE word MATCH ?"
    within = f"AND word.rowid >= ? AND word.rowid < ? ORDER BY word.rowid {order}"
    return f"SELECT {columns} {join} {within}", (match, begin, end)


def lacking(crawls: Sequence[Path]) -> list[Path]:
    """Return those crawls that have no index."""
    return [crawl for crawl in crawls if not (crawl / FILE).exists()]


@contextmanager
def opened(crawls: Sequence[Path]) -> Iterator[PageSearch]:
    """Open the indexes of crawls, of those that have one, to be read.

    Raises LswcError, also within the block if one is damaged or a search takes too long.
    """
    check_fts5()
    paths = [crawl / FILE for crawl in crawls if (crawl / FILE).exists()]
    path = crawls[0] / FILE
    end = monotonic() + SEARCH_SECONDS
    try:
        with ExitStack() as stack:
            dbs = []
            for path in paths:
                db = stack.enter_context(closing(_connected(path)))
                db.set_progress_handler(lambda: monotonic() > end, _STEPS)
                dbs.append(db)
            yield PageSearch(dbs)
    except sqlite3.OperationalError as error:
        if str(error) == "interrupted":
            raise ConfigError(
                f"this search takes more than {SEARCH_SECONDS:.0f} seconds: look for rarer words"
            ) from error
        raise StorageError(f"can't read {path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise DamageError(f"{path} is damaged ({error}): {how_to_make(path)}") from error


def _connected(path: Path) -> sqlite3.Connection:
    """Open an index to be read, by whoever may read the file. Raises ConfigError, sqlite3.Error."""
    for how in ("mode=ro", "mode=ro&immutable=1"):  # nobody writes it if there is no log beside it
        db = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=2.0)
        try:
            found = db.execute("SELECT value FROM about WHERE name = 'format'").fetchone()
        except sqlite3.OperationalError:
            db.close()
            if "immutable" in how:
                raise
            continue
        except BaseException:
            db.close()
            raise
        if found is not None and found[0] == FORMAT:
            return db
        db.close()
        break
    raise ConfigError(f"{path} is of another version of lswc: {how_to_make(path)}")
