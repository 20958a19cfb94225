"""Shards of a corpus: its rows in files of a stated size, in each of the formats asked for."""

from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from html import escape
from typing import TYPE_CHECKING, Any, TypedDict

import pyarrow as pa
import pyarrow.parquet as pq

from lswc.corpus import markdown
from lswc.corpus.schema import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

ROWS = 1000
"""Rows that are written at once: those of a row group."""

SIZE = 1_000_000_000
"""Bytes of JSON Lines, before they are compressed, after which another shard begins."""

FORMATS = ("jsonl.zst", "parquet", "txt.zst", "prevert.zst", "md.jsonl.zst")
"""What files of each format end as. Plain text has a blank line after each document; prevertical,
for Sketch Engine's tools, an element for each document and paragraph. Markdown is the ``text`` of
lines of JSON, since it has blank lines itself. None of the three has duplicates."""

_ATTRIBUTES = ("id", "url", "title", "date", "language", "language_script", "licence")


class File(TypedDict):
    """A file of a corpus, as its manifest lists it."""

    name: str
    rows: int
    bytes: int
    sha256: str


def write_shards(
    rows: Iterable[dict[str, Any]],
    folder: Path,
    formats: Sequence[str] = FORMATS[:2],
    size: int = SIZE,
) -> list[File]:
    """Write rows into shards in a folder, each in all of these FORMATS; return the files.

    There is one at least: of no rows, it says what the columns are. Raises OSError.
    """
    found: list[File] = []
    waiting = iter(rows)
    number, is_full = 0, True
    while is_full:
        files = {form: folder / f"corpus-{number:05}.{form}" for form in formats}
        with ExitStack() as stack:
            writers = [_WRITERS[form](path, stack) for form, path in files.items()]
            written, is_full = _write_shard(waiting, writers, size)
            for writer in writers:
                writer.end()
        if number and not written:
            for path in files.values():
                path.unlink()
            break
        found += [
            _described(path, one.rows) for path, one in zip(files.values(), writers, strict=True)
        ]
        number += 1
    return found


def _write_shard(
    rows: Iterable[dict[str, Any]], writers: Sequence[_Writer], size: int
) -> tuple[int, bool]:
    """Write rows until a shard is full; return how many, and whether it is."""
    number = length = 0
    for row in rows:
        line = (json.dumps(row, ensure_ascii=False, default=_iso) + "\n").encode("utf-8", "replace")
        for writer in writers:
            writer.add(row, line)
        number += 1
        length += len(line)
        if length >= size:
            return number, True
    return number, False


class _Writer:
    """Writes rows into one file; here, a line of JSON for each. ``rows`` says how many."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.rows = 0
        self._file = stack.enter_context(pa.CompressedOutputStream(str(path), "zstd"))

    def add(self, row: dict[str, Any], line: bytes) -> None:
        self._write(line)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self.rows += 1

    def end(self) -> None:
        """Write what waits."""


class _Table(_Writer):
    """Writes rows as Parquet."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.rows = 0
        self._file = stack.enter_context(pq.ParquetWriter(path, SCHEMA, compression="zstd"))
        self._waiting: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any], line: bytes) -> None:
        self._waiting.append(row)
        self.rows += 1
        if len(self._waiting) >= ROWS:
            self.end()

    def end(self) -> None:
        if self._waiting or not self.rows:
            self._file.write_table(pa.Table.from_pylist(self._waiting, SCHEMA))
            self._waiting = []


class _Plain(_Writer):
    """Writes texts, each once."""

    def add(self, row: dict[str, Any], line: bytes) -> None:
        if not row["duplicate"]:
            self._write(f"{row['text']}\n\n".encode("utf-8", "replace"))


class _Prevertical(_Writer):
    """Writes texts, each once, with an element for each document and paragraph."""

    def add(self, row: dict[str, Any], line: bytes) -> None:
        if not row["duplicate"]:
            self._write("\n".join(_elements(row)).encode("utf-8", "replace"))


class _Markdown(_Writer):
    """Writes texts as Markdown, each once, in lines of JSON."""

    def add(self, row: dict[str, Any], line: bytes) -> None:
        if not row["duplicate"]:
            about = {name: row[name] for name in _ATTRIBUTES} | {"text": markdown.of(row)}
            said = json.dumps(about, ensure_ascii=False, default=_iso)
            self._write(f"{said}\n".encode("utf-8", "replace"))


def _elements(row: dict[str, Any]) -> Iterable[str]:
    said = ((name, row[name]) for name in _ATTRIBUTES)
    about = [(name, _iso(one) if name == "date" else one) for name, one in said if one]
    yield (
        "<doc" + "".join(f' {name}="{escape(" ".join(one.split()))}"' for name, one in about) + ">"
    )
    for one in row["segments"]:
        known = f' lang="{one["language"]}"' if one["language"] else ""
        heading = int(one["kind"] == "heading")
        yield f'<p heading="{heading}" kind="{one["kind"]}"{known}>'
        yield escape(row["text"][one["start"] : one["end"]], quote=False)
        yield "</p>"
    yield "</doc>\n"


_WRITERS: dict[str, type[_Writer]] = dict(
    zip(FORMATS, (_Writer, _Table, _Plain, _Prevertical, _Markdown), strict=True)
)


def _iso(value: datetime) -> str:
    return value.isoformat().replace("+00:00", "Z")


def _described(path: Path, rows: int) -> File:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "rows": rows, "bytes": path.stat().st_size, "sha256": digest}


def remove_others(folder: Path, files: Iterable[File]) -> None:
    """Remove the shards that an earlier corpus in a folder had, and this one hasn't."""
    own = {file["name"] for file in files}
    for form in FORMATS:
        for path in folder.glob(f"corpus-?????.{form}"):
            if path.name not in own:
                path.unlink()
