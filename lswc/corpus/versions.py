"""Versions: the texts that a page had at its visits, and which of them a corpus takes."""

from __future__ import annotations

import json
import sqlite3
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from lswc.archive.page_record import lines
from lswc.outcomes import NEW, UNCHANGED
from lswc.reading.opt_outs import forbids_mining

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from lswc.corpus.extraction import Extracted
    from lswc.corpus.stored_pages import Stored

VERSIONS = LATEST, ALL, DIFF = "latest", "all", "diff"
"""The newest text of each URL; each that was another than the one before; of later ones only the
paragraphs that the one before hadn't."""

OLDER, NOTHING_NEW = "older version", "nothing new"
"""Why a version has no row, besides that its text is ``unchanged``."""

_NEW = b'"change":"%s"' % NEW.encode()  # no text holds it: there a quote has a backslash
_SIZE = 8  # bytes of a paragraph's hash


class Versions:
    """Tells which versions of pages a corpus takes, by one of VERSIONS.

    Only of pages that were visited again anything is kept, in a temporary file of SQLite's. Until
    all later versions are added, nothing may be asked.
    """

    def __init__(self, choice: str = LATEST) -> None:
        self.choice = choice
        self._is_empty = True
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute(
            "CREATE TABLE version (url INTEGER, visit INTEGER, has_text INTEGER, forbids INTEGER,"
            " paragraphs BLOB, PRIMARY KEY (url, visit)) WITHOUT ROWID"
        )

    @classmethod
    def told(cls, crawls: Sequence[Path], choice: str) -> Versions:
        """Return what the records of crawls tell, without paragraphs. Raises OSError."""
        found = cls(choice)
        for crawl in crawls:
            for line in lines(crawl):
                if _NEW not in line:  # most are new
                    found._add_record(line)
        return found

    def _add_record(self, line: bytes) -> None:
        try:
            one = json.loads(line)
        except ValueError:  # a kill tore it
            return
        if one.get("visit", 1) > 1:  # one of an older crawl has none
            forbids = forbids_mining(tuple(one.get("opt_outs") or ()))
            self._add(one["url"], one["visit"], one["change"] != UNCHANGED, forbids)

    def close(self) -> None:
        """Let the temporary file go."""
        self._db.close()

    def add(self, found: Extracted) -> None:
        """Take notice of a version, the later ones before the first ones."""
        page = found.page
        if page.visit > 1 or (self.choice != LATEST and self._knows(page.url)):
            hashes = b"".join(_hash(one.text) for one in found.paragraphs)
            forbids = forbids_mining(page.opt_outs)
            self._add(page.url, page.visit, page.change != UNCHANGED, forbids, hashes)

    def _add(
        self, url: str, visit: int, has_text: bool, forbids: bool, paragraphs: bytes = b""
    ) -> None:
        self._is_empty = False
        row = (hash(url), visit, has_text, forbids, paragraphs)
        self._db.execute("INSERT OR REPLACE INTO version VALUES (?, ?, ?, ?, ?)", row)

    def _knows(self, url: str) -> bool:
        query = "SELECT 1 FROM version WHERE url = ?"
        return not self._is_empty and self._db.execute(query, (hash(url),)).fetchone() is not None

    def may_follow(self, page: Stored) -> bool:
        """Tell whether an earlier version of a page may be taken, too."""
        return self.choice != LATEST and page.visit > 1

    def forbids(self, url: str) -> bool:
        """Tell whether a page said at its latest visit that its text must not be mined."""
        if self._is_empty:
            return False
        row = self._db.execute(
            "SELECT forbids FROM version WHERE url = ? ORDER BY visit DESC LIMIT 1", (hash(url),)
        ).fetchone()
        return row is not None and bool(row[0])

    def taken(self, found: Extracted) -> Extracted | str:
        """Return what a corpus takes of a version, or why nothing."""
        page = found.page
        if page.change == UNCHANGED:
            return UNCHANGED
        if self._is_empty:
            return found
        if self.choice == LATEST:
            query = "SELECT 1 FROM version WHERE url = ? AND visit > ? AND has_text"
            later = self._db.execute(query, (hash(page.url), page.visit)).fetchone()
            return found if later is None else OLDER
        if self.choice == ALL:
            return found
        return self._new(found)

    def _new(self, found: Extracted) -> Extracted | str:
        """Return a version with the paragraphs that the one before it hadn't."""
        row = self._db.execute(
            "SELECT paragraphs FROM version WHERE url = ? AND visit < ? AND has_text"
            " ORDER BY visit DESC LIMIT 1",
            (hash(found.page.url), found.page.visit),
        ).fetchone()
        if row is None:
            return found
        had = {row[0][at : at + _SIZE] for at in range(0, len(row[0]), _SIZE)}
        new = [one for one in found.paragraphs if _hash(one.text) not in had]
        return msgspec.structs.replace(found, paragraphs=new) if new else NOTHING_NEW


def learned(every: Iterable[Extracted], first: Iterable[Extracted], choice: str) -> Versions:
    """Return what the pages of a corpus tell, which are gone through twice."""
    found = Versions(choice)
    for one in every:
        if one.page.visit > 1:
            found.add(one)
    for one in first if choice != LATEST else ():
        if one.page.visit == 1:
            found.add(one)
    return found


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=_SIZE).digest()
