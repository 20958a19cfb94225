"""The crawl log: Parquet tables of attempts and links, and the journal they are made from.

A row is appended to ``log/<n>.jsonl`` before its URL counts as finished. A long journal becomes
``log/attempts-<n>.parquet`` and ``log/links-<n>.parquet``, and so does the last one when the
crawl closes or is resumed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq

from lswc.archive.files import Appended, ArchiveError, cut
from lswc.errors import writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

LIMIT = 32_000_000
"""Bytes of a journal from which on the next row begins a new one."""

_WORD = pa.dictionary(pa.int32(), pa.string())

ATTEMPTS = pa.schema(
    [
        ("time", pa.timestamp("ms", "UTC")),
        ("url", pa.string()),
        ("status", pa.int16()),
        ("bytes", pa.int64()),
        ("mime", _WORD),
        ("outcome", _WORD),
        ("error", _WORD),
        ("address", _WORD),
        ("title", pa.string()),
        ("language", _WORD),
        ("variant", _WORD),
        ("encoding", _WORD),
        ("decided_by", _WORD),
        ("shares", _WORD),
        ("content_language", _WORD),
        ("vary", _WORD),
        ("opt_outs", pa.list_(pa.string())),
        ("relevant", pa.bool_()),
        ("guessed", pa.bool_()),
        ("server_status", _WORD),
        ("tier", pa.int16()),
        ("expected", pa.float32()),
        ("distance", pa.int16()),
        ("depth", pa.int32()),
        ("referrer", pa.string()),
    ]
)
"""One row per attempt to fetch a URL, or per URL that ended without one."""

LINKS = pa.schema(
    [
        ("source", pa.string()),
        ("target", pa.string()),
        ("anchor", pa.int8()),
        ("named", pa.int8()),
        ("tier", pa.int16()),
        ("dropped", _WORD),
    ]
)
"""One row per link: of a kept one the tier, if there are tiers, of another why it was dropped."""

_LISTS = {
    "targets": pa.string(), "anchors": pa.int8(), "named": pa.int8(), "tiers": pa.int16(),
    "dropped": pa.string(),
}  # fmt: skip


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.int64() if pa.types.is_timestamp(kind) else kind


_ROW = pa.schema(
    [(field.name, _plain(field.type)) for field in ATTEMPTS]
    + [(name, pa.list_(kind)) for name, kind in _LISTS.items()]
)


class Log:
    """Writes the crawl log in ``log/`` of a crawl folder.

    ``committed`` has the length of the journal at the last commit, by its path in the crawl
    folder. What lies beyond is cut. Raises LswcError.
    """

    def __init__(self, folder: Path, committed: Mapping[str, int]) -> None:
        self._folder = folder / "log"
        self._journal: Appended | None = None
        known = [name for name in committed if name.startswith("log/")]
        last = max((int((folder / name).stem) for name in known), default=0)
        for name in known:
            cut(folder / name, committed[name])
        for path in journals(self._folder):
            if int(path.stem) > last:
                path.unlink()
            else:
                _convert(path)
        self._number = last

    def write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Append rows: the columns of ATTEMPTS, and lists with those of LINKS."""
        if self._journal is not None and self._journal.end >= LIMIT:
            self.close()  # now, because what it holds is committed
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

    def close(self) -> None:
        """Turn the journal into tables. All that was written must be committed."""
        if self._journal is not None:
            self._journal.close()
            _convert(self._journal.path)
            self._journal = None


def journals(folder: Path) -> list[Path]:
    """Return the journals in a log folder, oldest first."""
    return sorted(folder.glob("[0-9]*.jsonl"))


def _convert(journal: Path) -> None:
    """Turn a journal into two tables and remove it; done again from the start if killed."""
    try:
        attempts, links = tables(journal)
    except OSError as error:
        raise ArchiveError(f"can't read {journal}: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise ArchiveError(f"{journal} is damaged: {error}") from error
    with writing(journal.parent):
        for name, table in (("links", links), ("attempts", attempts)):
            path = journal.with_name(f"{name}-{journal.stem}.parquet")
            new = path.with_suffix(".new")
            pq.write_table(table, new, compression="zstd")
            new.replace(path)
        journal.unlink()


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns of a schema; those that an older log lacks are null."""
    columns = [
        table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.table(columns, schema.names).cast(schema)


def tables(journal: Path) -> tuple[pa.Table, pa.Table]:
    """Return the attempts and links of a journal; a torn last row is left out."""
    data = journal.read_bytes()
    data = data[: data.rfind(b"\n") + 1]
    if not data:
        return ATTEMPTS.empty_table(), LINKS.empty_table()
    table = pa.json.read_json(
        pa.BufferReader(data),
        pa.json.ReadOptions(block_size=len(data)),
        pa.json.ParseOptions(explicit_schema=_ROW, unexpected_field_behavior="error"),
    )
    return table.select(ATTEMPTS.names).cast(ATTEMPTS), _links(table)


def _links(table: pa.Table) -> pa.Table:
    lists = {name: table[name].combine_chunks() for name in _LISTS}
    targets, named = lists["targets"], lists["named"]
    if named.null_count > targets.null_count:  # of an earlier version
        unknown = pa.nulls(len(targets.values), pa.int8())
        lists["named"] = pa.ListArray.from_arrays(targets.offsets, unknown)
    columns = [
        pc.take(table["url"], pc.list_parent_indices(lists["targets"])),
        *(pc.list_flatten(column) for column in lists.values()),
    ]
    return pa.table(columns, [f.name for f in LINKS]).cast(LINKS)
