"""Crawl log: a line per attempt in journals, appended before its URL counts as finished.

They are ``log/<n>.jsonl``. A long one becomes ``log/attempts-<n>.parquet`` and
``log/links-<n>.parquet``, and so does the last one when the crawl closes or is resumed:
``lswc.archive.log_tables`` does it. A crawl mustn't hold Arrow in its memory for that (50 MB), so
it is only imported once there is a journal to turn into tables. Where it isn't installed, as on a
machine that only crawls, the journals stay as they are: whatever reads the log reads both.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from subprocess import Popen
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.archive.appended_files import ArchiveError, json_line, lines, replace
from lswc.errors import writing
from lswc.extras import is_installed, require
from lswc.outcomes import Outcome
from lswc.processes import environment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path
    from types import ModuleType

    from lswc.archive.appended_files import Appended, Aside, OpenFiles

LIMIT = 32_000_000
"""Bytes of a journal from which on the next row begins a new one."""

RETRY = "retry"
REQUISITE_KIND, LISTING_KIND = "requisite", "listing"
"""The ``kind`` of what wasn't asked for as a page, but as what an archived page needs, or as a
sitemap or feed. A page's is what it is written in."""

NO_PAGES = (REQUISITE_KIND, LISTING_KIND)
"""The kinds of what isn't a page."""

RENDERING = "rendering file"
"""The outcome of what a page in the browser asked for."""

STEP = "step"
"""The outcome of another URL that a visit asked for on its way, behind a wall or a doorway."""

NO_VISIT = (
    "robots.txt file",
    "tdmrep.json file",
    RENDERING,
    STEP,
    "file",
    Outcome.SERVER_BECAME_IRRELEVANT,
)
"""Outcomes of the rows that aren't the end of a visit."""


class Log:
    """Writes the crawl log in ``log/``, among the files of a crawl.

    A journal becomes tables in a process of its own, once it is long enough or the crawl closes:
    it takes seconds, and memory that a crawl would keep. If that fails, the crawl itself does it
    when it closes.

    ``committed`` has the lengths of the journals at the last commit, by their paths in the crawl
    folder; nothing may lie beyond. Raises LswcError.
    """

    def __init__(self, files: OpenFiles, committed: Iterable[str]) -> None:
        self._files = files
        self._journal: Appended | None = None
        self._converting: list[Popen[bytes]] = []
        _convert(files.crawl)
        self._number = max(_numbers(files.crawl, committed), default=0)

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows: the columns of the log's ATTEMPTS, and lists with those of its LINKS."""
        if self._journal is not None and self._journal.end >= LIMIT:
            self._hand_over()  # now, because what it holds is committed
        if self._journal is None:
            self._number += 1
            self._journal = self._files.open(self._name)
        self._journal.append(b"".join(map(json_line, rows)))

    @property
    def _name(self) -> str:
        return f"log/{self._number:05}.jsonl"

    def _hand_over(self) -> None:
        if self._journal is None:
            return
        self._files.close(self._name)
        if _has_arrow():
            self._converting = [process for process in self._converting if process.poll() is None]
            self._converting.append(_converter(self._journal.path))
        self._journal = None

    def close(self, *, whole: bool = True) -> None:
        """Turn the journals into tables, if all that was written is committed: if it is whole.

        Raises LswcError; a journal that can't become tables stays as it is.
        """
        if whole and "pyarrow" not in sys.modules:
            self._hand_over()
        for process in self._converting:
            process.wait()
        if self._journal is not None:
            self._files.close(self._name)
            self._journal = None
        if whole:
            _convert(self._files.crawl)


def _has_arrow() -> bool:
    return is_installed("pyarrow")


def _converter(journal: Path) -> Popen[bytes]:
    command = [sys.executable, "-m", "lswc.archive.log_tables", str(journal), str(os.getpid())]
    return Popen(command, env=environment())


def _convert(crawl: Path) -> None:
    if _has_arrow() and journals(crawl / "log"):
        _tables().convert(crawl)


def _tables() -> ModuleType:
    """Return what reads and writes tables. Raises ConfigError without Arrow."""
    require("parquet")
    return import_module("lswc.archive.log_tables")


def journals(folder: Path) -> list[Path]:
    """Return the journals in a log folder, oldest first."""
    return sorted(folder.glob("[0-9]*.jsonl"))


def row_of(line: bytes) -> dict[str, Any] | None:
    """Return the row that a line of a journal holds; None if it is torn or damaged."""
    try:
        found = json.loads(line) if line.endswith(b"}\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and "url" in found else None


def converted(crawl: Path) -> list[Path]:
    """Return the tables of attempts that journals of a crawl have become, oldest first."""
    return sorted((crawl / "log").glob("attempts-[0-9]*.parquet"))


def _number(table: Path) -> str:
    return table.stem.rpartition("-")[2]


def _numbers(crawl: Path, committed: Iterable[str]) -> Iterator[int]:
    names = [name for name in committed if name.startswith("log/")]
    names += [f"log/{path.name}" for path in journals(crawl / "log")]
    yield from (int(name.partition("/")[2].partition(".")[0]) for name in names)
    yield from (int(_number(table)) for table in converted(crawl))


def lengths(crawl: Path) -> dict[str, int]:
    """Return the bytes of each journal, also of those that have become tables."""
    found = {f"log/{path.name}": path.stat().st_size for path in journals(crawl / "log")}
    if became := converted(crawl):
        made_from = _tables().made_from
        known = {f"log/{_number(table)}.jsonl": made_from(table) for table in became}
        found = {name: length for name, length in known.items() if length is not None} | found
    return found


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


def _rows(
    journal: Path, until: int | None = None, after: int = 0
) -> Iterator[dict[str, Any] | None]:
    """Yield the rows of a journal from ``after`` on and before ``until``, None for a torn line.

    Raises ArchiveError.
    """
    try:
        yield from map(row_of, lines(journal, until, after))
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
    kind: str | None
    visit: int | None


def rows(crawl: Path, committed: Mapping[str, int] | None = None) -> Iterator[Row | None]:
    """Yield the rows of a crawl's log; None for each file and line of it that is damaged.

    Of journals only what is ``committed``, if that isn't None. Raises LswcError.
    """
    for table in converted(crawl):
        for values in _tables().values(table, Row._fields):
            yield None if values is None else Row(*values)
    for journal in journals(crawl / "log"):
        until = None if committed is None else committed.get(f"log/{journal.name}", 0)
        for row in _rows(journal, until):
            if row is None:
                yield None
            else:
                yield _short(row)


def _short(row: Mapping[str, Any]) -> Row:
    outcome, archived = row.get("outcome", ""), row.get("archived")
    return Row(row["url"], outcome, archived, row.get("kind"), row.get("visit"))


def take_out(crawl: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep the rows about URLs, and all that is damaged, aside. Raises LswcError."""
    for table in converted(crawl):
        _tables().take_out(table, urls, aside)
    for journal in journals(crawl / "log"):
        _take_out(journal, urls, aside)


def _take_out(journal: Path, urls: Collection[str], aside: Aside) -> None:
    kept: list[bytes] = []
    out: list[bytes] = []
    with writing(journal):
        for line in lines(journal):
            row = row_of(line)
            (out if row is None or row["url"] in urls else kept).append(line)
        if not out:
            return
        aside.keep(journal.name, b"".join(out))
        new = journal.with_suffix(".new")
        new.write_bytes(b"".join(kept))
        replace(journal, new)
