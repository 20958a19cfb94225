"""Marks of people on pages and sites: good, broken or not wanted, in a file of the crawl's folder.

A mark changes nothing else. The file only grows; of a page's or site's marks the latest counts.
"""

from __future__ import annotations

import csv
import fcntl
import os
from datetime import UTC, datetime
from io import StringIO
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from lswc.archive.appended_files import json_line
from lswc.errors import ConfigError, StorageError, writing
from lswc.urls import parse, site

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FILE = "marks.jsonl"
"""Name of the file in the crawl's folder."""

GOOD, BROKEN, NOT_WANTED = "good", "broken", "not wanted"
KINDS = (GOOD, BROKEN, NOT_WANTED)

NOTE_CHARACTERS, NAME_CHARACTERS = 2_000, 100
"""Characters of a note and of a name at most."""

NAME_OF_HOST = 253
"""Characters of a host's name at most (RFC 1035 §2.3.4)."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Mark(Struct, frozen=True, kw_only=True):
    """A mark: when (UTC, ISO 8601) and by whom, of a URL or a site; ``kind`` "" takes it back."""

    time: str
    by: str
    place: str
    kind: str
    note: str = ""

    @property
    def is_page(self) -> bool:
        """Whether it is a page's."""
        return "://" in self.place

    @property
    def site(self) -> str:
        """The site that it is of."""
        url = parse(self.place) if self.is_page else None
        return site(url.hostname) if url is not None else self.place


def made(place: str, kind: str, note: str = "", by: str = "") -> Mark:
    """Return a mark of now. Raises ConfigError if ``place`` is neither a URL nor a site."""
    if kind not in (*KINDS, ""):
        raise ConfigError(f"{kind[:50]!r} is no mark: choose one of {', '.join(KINDS)}")
    if len(note) > NOTE_CHARACTERS or len(by) > NAME_CHARACTERS:
        raise ConfigError(
            f"a note has at most {NOTE_CHARACTERS} characters, a name {NAME_CHARACTERS}"
        )
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Mark(time=now, by=by.strip(), place=_known(place), kind=kind, note=note.strip())


def _known(place: str) -> str:
    """Return a place as marks know it."""
    written = place.strip()
    url = parse(written if "://" in written else f"http://{written}")
    is_host = url is not None and len(url.hostname) <= NAME_OF_HOST
    if url is None or not is_host or url.scheme not in ("http", "https"):
        raise ConfigError(f"{place[:100]!r} is neither a page's URL nor a site")
    return url.href if "://" in written else site(url.hostname)


def read(folders: Iterable[Path]) -> dict[str, Mark]:
    """Return the latest mark of each page and site, the latest first; those taken back are gone.

    A line that can't be read is left out. Raises StorageError if a file can't be.
    """
    found: list[Mark] = []
    for folder in folders:
        try:
            lines = (folder / FILE).read_bytes().splitlines()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StorageError(f"can't read {folder / FILE}: {error.strerror}") from error
        found += (mark for line in lines if (mark := _mark(line)) is not None)
    found.sort(key=lambda mark: mark.time)
    latest = {mark.place: mark for mark in found}
    ordered = sorted(latest.values(), key=lambda mark: mark.time, reverse=True)
    return {mark.place: mark for mark in ordered if mark.kind}


def _mark(line: bytes) -> Mark | None:
    try:
        mark = msgspec.json.decode(line, type=Mark)
    except (msgspec.MsgspecError, ValueError, RecursionError):  # torn, or written by hand
        return None
    return mark if mark.kind in (*KINDS, "") else None


def add(folder: Path, mark: Mark) -> None:
    """Add a mark to the file of a crawl's folder; of two at a time one waits. Raises LswcError."""
    path = folder / FILE
    with writing(path), path.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        torn = b"" if file.read(1) in (b"", b"\n") else b"\n"
        file.write(torn + json_line(mark))
        file.flush()
        os.fsync(file.fileno())


def as_csv(marks: Mapping[str, Mark]) -> bytes:
    """Return marks as CSV for a spreadsheet, UTF-8 with a mark of that; nothing is a formula."""
    text = StringIO()
    written = csv.writer(text)
    written.writerow(["place", "kind", "note", "by", "time"])
    for mark in marks.values():
        cells = (mark.place, mark.kind, mark.note, mark.by, mark.time)
        written.writerow(f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells)
    return text.getvalue().encode("utf-8-sig", errors="replace")
