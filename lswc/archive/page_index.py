"""Page index: the pages of a crawl in ``pages.db``, by their words, to be looked through.

It is derived: a crawl never waits for it, nor ends because of it. It has pages that are committed,
a few seconds late. What a kill or an error keeps out of it is in the record, and comes from there
when the crawl goes on: without its text.

Rows are numbered by the time when they came, in milliseconds, so the latest are the largest. The
words are those of ``lswc.archive.page_terms``, and so are the site, language and kind of a page:
one intersection of SQLite's FTS5 answers for all of them, in the order of time.
"""

from __future__ import annotations

import logging
import sqlite3
import zlib
from collections import Counter, deque
from contextlib import closing, suppress
from datetime import datetime
from itertools import islice
from math import inf
from threading import Event, Thread
from time import monotonic, time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lswc.archive import page_record
from lswc.archive.page_terms import own, terms
from lswc.errors import ConfigError
from lswc.urls import fingerprint, parse, site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from lswc.frontier.rules.visit import Record

FILE = "pages.db"
"""Name of the file in the crawl folder."""

FORMAT = 1
TEXT_CHARACTERS = 2_500
"""Characters of a page's text that are kept, and found by their words."""

WAITING = 1_000
"""Pages that wait to be written at most: of more, the text is left out."""

TURN = 3.0
"""Seconds between two transactions."""

_BUSY = 2.0  # seconds for which a file is waited for that another process writes
_PATIENCE = 30.0  # seconds in which the thread must end
_LAST = 5.0  # seconds for which it catches up with the record when the crawl closes
_BATCH = 200
_TITLE = 500
_SAYING = 3  # zlib's level: 5 % more bytes than at 6, and half of the time

SITE, LANGUAGE, KIND, JUDGED = "s", "l", "k", "j"
"""Kinds of terms beside a page's words: its registered domain and its host; its language; what it
is written in; one of JUDGEMENTS."""

UNKNOWN = "und"
"""The language of a page whose language can't be told, as BCP 47 has it."""

RELEVANT, GUESSED, LINKED, IRRELEVANT = JUDGEMENTS = "relevant", "guessed", "linked", "irrelevant"

_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS page (
    id INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE, url TEXT NOT NULL, host TEXT NOT NULL,
    site TEXT NOT NULL, title TEXT NOT NULL, language TEXT NOT NULL, kind TEXT NOT NULL,
    judged TEXT NOT NULL, reason TEXT NOT NULL, time INTEGER NOT NULL, size INTEGER,
    status INTEGER, near_duplicate INTEGER NOT NULL, archived INTEGER, visit INTEGER NOT NULL,
    change TEXT NOT NULL, text BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS tally (
    kind TEXT, value TEXT, pages INTEGER NOT NULL, PRIMARY KEY (kind, value)) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS word USING fts5(
    terms, content = '', detail = none, columnsize = 0, tokenize = 'ascii');
INSERT OR IGNORE INTO about VALUES ('format', 1);
COMMIT;
"""
# The format is FORMAT.
_PUT = "INSERT INTO page VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DELETE = "INSERT INTO word(word, rowid, terms) VALUES ('delete', ?, ?)"
_TALLY = """INSERT INTO tally VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET pages = pages + excluded.pages"""

logger = logging.getLogger(__name__)


class Collected(NamedTuple):
    """A page that was collected: its record and text, the bytes of its answer, if it is archived.

    ``until`` is the length of the crawl's record with it, in bytes. What isn't known is None.
    """

    record: Record | Mapping[str, Any]
    text: str = ""
    size: int | None = None
    archived: bool | None = None
    until: int = 0


class Row(NamedTuple):
    """A row of the table ``page``, as it has it."""

    id: int
    key: int
    url: str
    host: str
    site: str
    title: str
    language: str
    kind: str
    judged: str
    reason: str
    time: int
    size: int | None
    status: int | None
    near_duplicate: bool
    archived: bool | None
    visit: int
    change: str
    packed: bytes

    @property
    def text(self) -> str:
        """The first TEXT_CHARACTERS of what the page says; "" if they aren't known."""
        try:
            return zlib.decompress(self.packed).decode("utf-8", "replace") if self.packed else ""
        except zlib.error:  # the file is damaged
            return ""

    def own(self) -> set[str]:
        """Return the terms that aren't of its words."""
        named = (SITE, self.site), (SITE, self.host), (LANGUAGE, self.language)
        return {own(*name) for name in (*named, (KIND, self.kind), (JUDGED, self.judged))}

    def terms(self) -> str:
        """Return all that the page is found by."""
        return " ".join((terms(f"{self.title}\n{self.text}"), *self.own()))


def _clean(text: str, most: int) -> str:
    return text[:most].encode("utf-8", "replace").decode()


def row(page: Collected) -> Row:
    """Return the row of a page, without a number."""
    record = page.record
    get = record.get if not hasattr(record, "url") else lambda name: getattr(record, name)
    url, text = str(get("url")), _clean(page.text.strip(), TEXT_CHARACTERS)
    parsed = parse(url)
    host = parsed.hostname if parsed is not None else ""
    judged = next((name for name in JUDGEMENTS[:2] if get(name)), IRRELEVANT)
    return Row(
        id=0,
        key=fingerprint(url),
        url=_clean(url, len(url)),
        host=host,
        site=site(host),
        title=_clean(str(get("title") or ""), _TITLE),
        language=str(get("variant") or get("language") or UNKNOWN),
        kind=str(get("kind") or ""),
        judged=LINKED if get("reason") else judged,
        reason=str(get("reason") or ""),
        time=int(datetime.fromisoformat(str(get("time"))).timestamp() * 1000),
        size=page.size,
        status=get("status"),
        near_duplicate=bool(get("near_duplicate")),
        archived=page.archived,
        visit=int(get("visit") or 1),
        change=str(get("change") or ""),
        packed=zlib.compress(text.encode(), _SAYING) if text else b"",
    )


class Writer:
    """Writes an index, in transactions. Methods raise sqlite3.Error; ``path`` is made if missing.

    Raises ConfigError if Python's SQLite has no FTS5, or the index is another version's.
    """

    def __init__(self, path: Path) -> None:
        check_fts5()
        self._db = sqlite3.connect(path, timeout=_BUSY, isolation_level=None)
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)
            if self._about("format", FORMAT) != FORMAT:
                raise ConfigError(f"{path} is of another version of lswc: {how_to_make(path)}")
            latest = self._db.execute("SELECT max(id) FROM page").fetchone()[0]
        except BaseException:
            self._db.close()
            raise
        self._latest: int = latest or 0

    def _about(self, name: str, default: int) -> int:
        found = self._db.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return int(found[0]) if found else default

    @property
    def until(self) -> int:
        """Bytes of the crawl's record that are in the index."""
        return self._about("until", 0)

    @property
    def pages(self) -> int:
        """How many pages are in the index."""
        found: tuple[int] = self._db.execute("SELECT count(*) FROM page").fetchone()
        return found[0]

    def put(self, rows: Iterable[Row], until: int | None, *, at: float | None = None) -> None:
        """Write pages, all or none, and how far the record is written then, unless it is None.

        A page takes the place of an earlier visit of it. ``at`` is the time when they came; without
        it that is their own, and none takes the place of a row that is there.
        """
        tally = Counter[tuple[str, str]]()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for one in rows:
                self._put(one, at, tally)
            counted = [(*name, number) for name, number in tally.items() if number]
            self._db.executemany(_TALLY, counted)
            if until is not None:
                self._db.execute("INSERT OR REPLACE INTO about VALUES ('until', ?)", (until,))
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _put(self, new: Row, at: float | None, tally: Counter[tuple[str, str]]) -> None:
        found = self._db.execute("SELECT * FROM page WHERE key = ?", (new.key,)).fetchone()
        if found is not None:
            old = Row(*found)
            if at is None and old.visit >= new.visit:
                return
            self._db.execute("DELETE FROM page WHERE id = ?", (old.id,))
            self._db.execute(_DELETE, (old.id, old.terms()))
            _count(tally, old, -1)
        number = self._number(new.time if at is None else int(1000 * at), at is None)
        self._db.execute(_PUT, new._replace(id=number))
        self._db.execute("INSERT INTO word(rowid, terms) VALUES (?, ?)", (number, new.terms()))
        _count(tally, new, 1)

    def _number(self, time: int, is_late: bool) -> int:
        """Return the number of a row that came at a time, or after the others."""
        if not is_late:
            self._latest = max(self._latest + 1, time)
            return self._latest
        taken = "SELECT 1 FROM page WHERE id = ?"
        while self._db.execute(taken, (time,)).fetchone():
            time += 1
        self._latest = max(self._latest, time)
        return time

    def merge(self) -> None:
        """Make the index as small and quick as it can be."""
        self._db.execute("INSERT INTO word(word) VALUES ('optimize')")

    def close(self) -> None:
        """Close the file: whoever may read it needs no other file then."""
        with closing(self._db), suppress(sqlite3.OperationalError):  # somebody may read it
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("PRAGMA journal_mode = DELETE")


def _count(tally: Counter[tuple[str, str]], page: Row, number: int) -> None:
    for kind, value in ((LANGUAGE, page.language), (KIND, page.kind), (JUDGED, page.judged)):
        tally[kind, value] += number


def check_fts5() -> None:
    """Raise ConfigError if Python's SQLite can't index words."""
    with closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("CREATE VIRTUAL TABLE word USING fts5(terms)")
        except sqlite3.Error as error:
            raise ConfigError(
                "pages can't be indexed: Python's SQLite has no FTS5; LSWC_PAGE_INDEX=0 does "
                "without"
            ) from error


def how_to_make(path: Path) -> str:
    """Return how an index is made anew, as messages say it."""
    return f"`lswc index {path.parent}` makes it anew"


def recorded(crawl: Path, begin: int, end: int) -> Iterator[tuple[dict[str, Any] | None, int]]:
    """Yield the records of a crawl from a byte of all of them to another, and where each ends.

    None for a line that is torn. Raises OSError.
    """
    at = 0
    for line in page_record.lines(crawl) if begin < end else ():
        at += len(line)
        if at > end:
            return
        if at > begin:
            yield page_record.parsed(line), at


class Judge(Protocol):
    """What looks at the rows of the index."""

    def add(self, row: Row) -> None:
        """Take notice of a row."""

    def save(self) -> None:
        """Keep what was found out."""


class PageIndex:
    """Writes the index of a crawl that runs, in a thread of its own.

    The crawl appends to ``waiting``, unless WAITING do, and counts what is ``left_out``. ``count``
    gets that when the crawl closes. ``judge`` gets each row that comes, and is saved after each
    turn. Whatever fails is logged, once.
    """

    def __init__(
        self, crawl: Path, count: Callable[[str, int], None], judge: Judge | None = None
    ) -> None:
        self._judge = judge
        self.waiting: deque[Collected] = deque()
        self.left_out = 0
        self._crawl, self._count = crawl, count
        self._path = crawl / FILE
        self._end = sum(page_record.lengths(crawl).values())
        self._writer: Writer | None = None
        self._behind: Iterator[tuple[dict[str, Any] | None, int]] | None = None
        self._warned = self._given_up = False
        self._ends, self._closes = Event(), inf
        self._thread = Thread(target=self._run, name="page index", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what waits, and close the file. What can't be written is counted."""
        self._closes = monotonic() + _LAST
        self._ends.set()
        self._thread.join(_PATIENCE)
        if missing := self.left_out + len(self.waiting):
            self._count("lswc/page index/left out", missing)
            logger.warning(
                "%d pages aren't in %s: %s", missing, self._path, how_to_make(self._path)
            )

    def _run(self) -> None:
        self._turn()
        while not self._ends.wait(TURN):
            self._turn()
        self._turn()
        if self._writer is not None:
            try:
                self._writer.close()
            except sqlite3.Error as error:
                self._failed(error)

    def _turn(self) -> None:
        try:
            if self._given_up:
                self.left_out += len(self.waiting)
                self.waiting.clear()
                return
            if self._writer is None:
                self._writer = Writer(self._path)
                self._behind = recorded(self._crawl, self._writer.until, self._end)
            while self._take(self._writer) | self._catch_up(self._writer):
                pass
        except (sqlite3.OperationalError, OSError) as error:  # there may be room later
            self._failed(error)
        except Exception as error:
            self._given_up = True
            self._failed(error)

    def _take(self, writer: Writer) -> bool:
        """Write pages that wait; tell whether there may be more."""
        batch = [self.waiting.popleft() for _ in range(min(len(self.waiting), _BATCH))]
        if not batch:
            return False
        # What comes after a gap is read again, from the record: so is the gap.
        until = None if self._behind is not None or self.left_out else batch[-1].until
        rows = list(self._rows(batch))
        try:
            writer.put(rows, until, at=time())
        except BaseException:
            self.waiting.extendleft(reversed(batch))
            raise
        if self._judge is not None:
            for one in rows:
                self._judge.add(one)
            self._judge.save()
        return True

    def _catch_up(self, writer: Writer) -> bool:
        """Write some of what the record has, and the index lacks; tell whether there is more."""
        if self._behind is None or monotonic() > self._closes:
            return False
        found = list(islice(self._behind, _BATCH))
        if not found:
            self._behind = None
            return False
        try:
            pages = [Collected(record) for record, _ in found if record is not None]
            writer.put(self._rows(pages), found[-1][1])
        except BaseException:
            self._behind = recorded(self._crawl, writer.until, self._end)
            raise
        return True

    def _rows(self, pages: list[Collected]) -> Iterator[Row]:
        """Yield the rows of pages; one that has none is left out, and no other."""
        for page in pages:
            try:
                yield row(page)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                self.left_out += 1
                logger.warning("a page can't be indexed: %r", error)

    def _failed(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            logger.warning(
                "the pages aren't indexed for now, the crawl goes on: %s: %s", self._path, error
            )
