"""Page index made anew: of a crawl's record, and of what its archived pages say."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

from lswc.archive import page_record
from lswc.archive.page_index import FILE, TEXT_CHARACTERS, Collected, Row, Writer, recorded, row
from lswc.archive.run_settings import settings_of
from lswc.errors import StorageError, writing
from lswc.frontier.store.lock import lock
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.archive.wacz_pages import Texts
    from lswc.progress import Say

_BATCH = 500


def remake(crawl: Path, texts: Texts, say: Say) -> int:
    """Put a new index of a crawl in the place of the one that it has; return how many pages it has.

    ``texts`` yields the URL of each archived page, the number of its visit, and what it says. Of
    other pages there is no text. How many bytes an answer had isn't known any more. Raises
    LswcError, also if the crawl runs.
    """
    settings_of(crawl)
    new = crawl / f"{FILE}.new"
    with lock(crawl), writing(new):
        _remove(new)
        try:
            number = _make(crawl, new, texts, say)
        except sqlite3.Error as error:
            _remove(new)
            raise StorageError(f"can't write {new}: {error}") from error
        _remove(crawl / FILE)
        new.rename(crawl / FILE)
    return number


def _remove(index: Path) -> None:
    """Remove an index, and before it the log that SQLite would add to another of its name."""
    for path in (*(index.with_name(f"{index.name}-{end}") for end in ("wal", "shm")), index):
        path.unlink(missing_ok=True)


def _make(crawl: Path, new: Path, texts: Texts, say: Say) -> int:
    end = sum(page_record.lengths(crawl).values())
    with closing(sqlite3.connect("", isolation_level=None)) as db, closing(Writer(new)) as writer:
        db.execute("CREATE TABLE said (key INTEGER, visit INTEGER, text TEXT, UNIQUE (key, visit))")
        db.execute("BEGIN")
        for done, (url, visit, text) in enumerate(texts(crawl), 1):
            said = text[:TEXT_CHARACTERS].encode("utf-8", "replace").decode()
            put = "INSERT OR REPLACE INTO said VALUES (?, ?, ?)"
            db.execute(put, (fingerprint(url), visit, said))
            say("texts of archived pages", done, 0)
        found = recorded(crawl, 0, end)
        while batch := list(islice(found, _BATCH)):
            records = [record for record, _ in batch if record is not None]
            writer.put([_row(db, Collected(record)) for record in records], batch[-1][1])
            say("pages of the record", batch[-1][1], end)
        writer.merge()
        return writer.pages


def _row(db: sqlite3.Connection, page: Collected) -> Row:
    without = row(page)
    asked = "SELECT text FROM said WHERE key = ? AND visit = ?"
    found = db.execute(asked, (without.key, without.visit)).fetchone()
    return without if found is None else row(page._replace(text=found[0], archived=True))
