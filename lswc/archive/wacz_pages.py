"""Pages of a WACZ file: what a reader may begin with, by title; and what they say, to be searched.

<https://specs.webrecorder.net/wacz/1.1.1/#pages>
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urljoin

from lswc.archive import page_record
from lswc.outcomes import UNCHANGED
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.archive.collection import Indexes

Texts = Callable[[Path], Iterator[tuple[str, int, str]]]
"""What yields of a crawl the URL of each page, the number of its visit, and what it says."""

TEXT_CHARACTERS = 100_000
"""Characters of a page's text: what a browser can search through, of many pages."""

_ICON = "/favicon.ico"
_WANTED = ("relevant", "guessed", "reason")


class Pages:
    """The archived pages of crawls that are in their language, or taken for it.

    Only those of one crawl are looked for at a time. They wait in a temporary file of SQLite's to
    be in order. Use it as a context.
    """

    def __init__(self, crawls: Sequence[Path], indexes: Indexes, texts: Texts | None) -> None:
        self._has_text, self._indexes = texts is not None, indexes
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("CREATE TABLE page (title TEXT, url TEXT, line BLOB)")
        self._db.execute("CREATE TABLE text (key INTEGER PRIMARY KEY, text TEXT)")
        self.number = 0
        self._db.execute("BEGIN")
        for number, crawl in enumerate(crawls):
            if texts is not None:
                self._keep_texts(texts(crawl))
            self._add(crawl, f"{number}-" if number else "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def _keep_texts(self, found: Iterator[tuple[str, int, str]]) -> None:
        self._db.execute("DELETE FROM text")
        rows = ((_key(url, visit), text[:TEXT_CHARACTERS]) for url, visit, text in found)
        self._db.executemany("INSERT OR REPLACE INTO text VALUES (?, ?)", rows)

    def _add(self, crawl: Path, prefix: str) -> None:
        """Add the pages of a crawl; ``prefix`` sets their numbers apart from those of others."""
        archived: set[int] = set()
        icons: set[int] = set()
        for warc in self._indexes.names:
            for _, entry in self._indexes.entries(warc) if warc.parent.parent == crawl else ():
                archived.add(name := fingerprint(url := entry["url"]))
                if url.endswith(_ICON) and entry.get("status") == "200":
                    icons.add(name)
        rows = (
            self._row(record, prefix, icons)
            for record in page_record.records(crawl)
            if _is_wanted(record) and fingerprint(record["url"]) in archived
        )
        self._db.executemany("INSERT INTO page VALUES (?, ?, ?)", rows)

    def _row(self, record: dict[str, Any], prefix: str, icons: set[int]) -> tuple[str, str, bytes]:
        url, title, visit = record["url"], record["title"] or "", record.get("visit", 1)
        number = str(record["id"]) if visit == 1 else f"{record['id']}-{visit}"
        page = {
            "id": prefix + number,
            "url": url,
            "ts": str(record["time"]).replace("+00:00", "Z"),
            "title": record["title"],
        }
        icon = urljoin(url, _ICON)
        if fingerprint(icon) in icons:
            page["favIconUrl"] = icon
        if self._has_text:
            page["text"] = self._text(url, visit)
        self.number += 1
        line = json.dumps(page, ensure_ascii=False).encode(errors="replace") + b"\n"
        return title.casefold().encode(errors="replace").decode(), url, line

    def _text(self, url: str, visit: int) -> str:
        found = self._db.execute("SELECT text FROM text WHERE key = ?", (_key(url, visit),))
        row: tuple[str] | None = found.fetchone()
        return row[0] if row else ""

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of ``pages.jsonl``, by title; pages without one come last."""
        head = {"format": "json-pages-1.0", "id": "pages", "title": "Pages",
                "hasText": self._has_text}  # fmt: skip
        yield json.dumps(head).encode() + b"\n"
        ordered = "SELECT line FROM page ORDER BY title = '', title, url, rowid"
        for (line,) in self._db.execute(ordered):
            yield line


def _is_wanted(record: dict[str, Any]) -> bool:
    return any(record.get(name) for name in _WANTED) and record.get("change") != UNCHANGED


def _key(url: str, visit: int) -> int:
    return (fingerprint(url) ^ (visit * 0x9E37_79B9_7F4A_7C15)) & 0x7FFF_FFFF_FFFF_FFFF
