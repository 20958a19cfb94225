"""The crawl log: a journal of attempts and links, and the Parquet tables that are made from it.

A row is appended to ``log/<n>.jsonl`` before its URL counts as finished. A long journal becomes
``log/attempts-<n>.parquet`` and ``log/links-<n>.parquet``, and so does the last one when the
crawl closes or is resumed. Where pyarrow isn't installed, as on a machine that only crawls, the
journals stay as they are: whatever reads the log reads both.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from subprocess import Popen
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.archive.files import Appended, ArchiveError, lines, replace
from lswc.errors import writing
from lswc.groups import is_installed, require
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path
    from types import ModuleType

    from lswc.archive.files import Aside

LIMIT = 32_000_000
"""Bytes of a journal from which on the next row begins a new one."""

ATTEMPTS = {
    "time": "milliseconds",
    "url": "string",
    "status": "int16",
    "bytes": "int64",
    "mime": "word",
    "outcome": "word",
    "error": "word",
    "address": "word",
    "title": "string",
    "language": "word",
    "variant": "word",
    "encoding": "word",
    "decided_by": "word",
    "shares": "word",
    "content_language": "word",
    "vary": "word",
    "opt_outs": "strings",
    "relevant": "bool",
    "guessed": "bool",
    "server_status": "word",
    "tier": "int16",
    "expected": "float32",
    "distance": "int16",
    "depth": "int32",
    "referrer": "string",
    "archived": "bool",
}
"""Columns and their types: one row per attempt to fetch a URL, or per URL that ended without one.

A *word* is one of few strings. The types are those of the tables (``lswc.archive.tables``).
"""

LISTS = {
    "targets": "string", "anchors": "int8", "named": "int8", "tiers": "int16", "dropped": "string",
}  # fmt: skip
"""What a row has of its page's links: lists as long as each other."""

RETRY = "retry"
NO_VISIT = ("robots.txt file", "tdmrep.json file", "file", Outcome.SERVER_BECAME_IRRELEVANT)
"""Outcomes of the rows that aren't the end of a visit."""

_COLUMNS = frozenset({*ATTEMPTS, *LISTS})


class Log:
    """Writes the crawl log in ``log/`` of a crawl folder.

    A journal that is long enough becomes tables in a process of its own: it takes seconds, and
    memory that a crawl would keep. If that fails, the journal stays until the crawl closes.

    ``committed`` has the lengths of the journals at the last commit, by their paths in the crawl
    folder; nothing may lie beyond. Raises LswcError.
    """

    def __init__(self, folder: Path, committed: Iterable[str]) -> None:
        self._folder = folder / "log"
        self._journal: Appended | None = None
        self._converting: list[Popen[bytes]] = []
        convert(folder)
        self._number = max(_numbers(folder, committed), default=0)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows: columns of ATTEMPTS and LISTS."""
        if self._journal is not None and self._journal.end >= LIMIT:
            self._hand_over()  # now, because what it holds is committed
        if self._journal is None:
            self._number += 1
            self._journal = Appended(self._folder / f"{self._number:05}.jsonl")
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        # A lone surrogate of a hostile title has no UTF-8 form.
        self._journal.append(lines.encode(errors="replace"))

    @property
    def opened(self) -> list[Appended]:
        """The files that are open."""
        return [self._journal] if self._journal else []

    def _hand_over(self) -> None:
        if self._journal is None:
            return
        self._journal.close()
        if has_tables():
            self._converting = [process for process in self._converting if process.poll() is None]
            self._converting.append(_converter(self._journal.path))
        self._journal = None

    def close(self, *, whole: bool = True) -> None:
        """Turn the journals into tables, if all that was written is committed: if it is whole.

        Raises LswcError; a journal that can't become tables stays as it is.
        """
        for process in self._converting:
            process.wait()
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if whole:
            convert(self._folder.parent)


def has_tables() -> bool:
    """Tell whether the library that writes tables is installed."""
    return is_installed("pyarrow")


def _converter(journal: Path) -> Popen[bytes]:
    command = [sys.executable, "-m", "lswc.archive.tables", str(journal), str(os.getpid())]
    # scrapyd has the project in an egg that only its own process knows.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return Popen(command, env=environment)


def journals(folder: Path) -> list[Path]:
    """Return the journals in a log folder, oldest first."""
    return sorted(folder.glob("[0-9]*.jsonl"))


def attempt_tables(crawl: Path) -> list[Path]:
    """Return the tables of attempts of a crawl, oldest first."""
    return sorted((crawl / "log").glob("attempts-[0-9]*.parquet"))


def _numbers(crawl: Path, committed: Iterable[str]) -> Iterator[int]:
    names = [name for name in committed if name.startswith("log/")]
    names += [f"log/{path.name}" for path in journals(crawl / "log")]
    yield from (int(name.partition("/")[2].partition(".")[0]) for name in names)
    yield from (int(path.stem.rpartition("-")[2]) for path in attempt_tables(crawl))


def convert(crawl: Path) -> None:
    """Turn all journals of a crawl into tables, if pyarrow is installed. Raises LswcError."""
    if has_tables() and (crawl / "log").exists():
        _tables().convert(crawl)


def _tables() -> ModuleType:
    """Return what reads and writes tables. Raises ConfigError if its library isn't installed."""
    require("analysis", "pyarrow")
    return import_module("lswc.archive.tables")


def row_of(line: bytes) -> dict[str, Any] | None:
    """Return the row that a line of a journal is; None if it is torn or damaged."""
    try:
        found = json.loads(line) if line.endswith(b"}\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.keys() <= _COLUMNS else None


def _rows(journal: Path, until: int | None = None) -> Iterator[dict[str, Any] | None]:
    """Yield the rows of a journal before ``until``, None for a torn line. Raises ArchiveError."""
    try:
        yield from map(row_of, lines(journal, until))
    except OSError as error:
        raise ArchiveError(f"can't read {journal}: {error.strerror or error}") from error


def damaged(journal: Path) -> int:
    """Return how many lines of a journal are torn or damaged. Raises ArchiveError."""
    return sum(row is None for row in _rows(journal))


class Row(NamedTuple):
    """A row of the log, as far as it says what must be in other files."""

    url: str
    outcome: str
    archived: bool | None


def rows(crawl: Path, committed: Mapping[str, int] | None = None) -> Iterator[Row | None]:
    """Yield the rows of a crawl's log; None for each file and line of it that is damaged.

    Of journals only what is ``committed``, if that isn't None. Raises LswcError.
    """
    for path in attempt_tables(crawl):
        for values in _tables().values(path, Row._fields):
            yield None if values is None else Row(*values)
    for journal in journals(crawl / "log"):
        until = None if committed is None else committed.get(f"log/{journal.name}", 0)
        for row in _rows(journal, until):
            if row is None:
                yield None
            else:
                yield Row(row.get("url", ""), row.get("outcome", ""), row.get("archived"))


def lengths(crawl: Path) -> dict[str, int]:
    """Return the bytes of each journal, also of those that have become tables."""
    found = {}
    for path in attempt_tables(crawl):
        length = _tables().length_of_journal(path)
        if length is not None:
            found[f"log/{path.stem.rpartition('-')[2]}.jsonl"] = length
    return found | {f"log/{path.name}": path.stat().st_size for path in journals(crawl / "log")}


def ended_beyond(crawl: Path, committed: Mapping[str, int]) -> int:
    """Return how many visits ended in the log beyond ``committed``, at least."""
    beyond = 0
    for name, length in lengths(crawl).items():
        known = committed.get(name, 0)
        if length <= known:
            continue
        journal = crawl / name
        if journal.exists():
            beyond += _ended(journal, known)
        else:
            beyond += 2  # it was closed, so there were many
    return beyond


def _ended(journal: Path, after: int) -> int:
    with journal.open("rb") as file:
        file.seek(after)
        found = [row for row in map(row_of, file) if row is not None]
    return sum(row.get("outcome") not in (*NO_VISIT, RETRY) for row in found)


def take_out(crawl: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep the rows about URLs, and all that is damaged, aside. Raises LswcError."""
    for path in attempt_tables(crawl):
        _tables().take_out(path, urls, aside)
    for journal in journals(crawl / "log"):
        _take_out(journal, urls, aside)


def _take_out(journal: Path, urls: Collection[str], aside: Aside) -> None:
    kept: list[bytes] = []
    out: list[bytes] = []
    with writing(journal):
        for line in lines(journal):
            row = row_of(line)
            (out if row is None or row.get("url") in urls else kept).append(line)
        if not out:
            return
        aside.keep(journal.name, b"".join(out))
        new = journal.with_suffix(".new")
        new.write_bytes(b"".join(kept))
        replace(journal, new)
