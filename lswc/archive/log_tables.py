"""Tables of the crawl log: attempts and links in Parquet, made from its journals."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq

from lswc.archive.appended_files import ArchiveError, Aside, lines, replace, sync_folder
from lswc.archive.crawl_log import journals, row_of
from lswc.errors import writing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

BATCH = 2_000_000
"""Bytes of a journal that become one row group: what a crawl holds in memory of it."""

_WORD = pa.dictionary(pa.int32(), pa.string())

ATTEMPTS = pa.schema(
    [
        ("time", pa.timestamp("ms", "UTC")),
        ("url", pa.string()),
        ("kind", _WORD),
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
        ("rendered", pa.bool_()),
        ("relevant", pa.bool_()),
        ("guessed", pa.bool_()),
        ("server_status", _WORD),
        ("tier", pa.int16()),
        ("expected", pa.float32()),
        ("distance", pa.int16()),
        ("depth", pa.int32()),
        ("source", _WORD),
        ("referrer", pa.string()),
        ("archived", pa.bool_()),
        ("requisites", pa.list_(pa.string())),
        ("visit", pa.int32()),
        ("change", _WORD),
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
        ("visit", pa.int32()),
    ]
)
"""One row per link: of a kept one the tier, if there are tiers, of another why it was discarded."""

_LISTS = {
    "targets": pa.string(), "anchors": pa.int8(), "named": pa.int8(), "tiers": pa.int16(),
    "dropped": pa.string(),
}  # fmt: skip


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.int64() if pa.types.is_timestamp(kind) else kind


_LENGTH = b"journal"  # in a table's metadata: the bytes of the journal that it was made from

logger = logging.getLogger(__name__)

_ROW = pa.schema(
    [(field.name, _plain(field.type)) for field in ATTEMPTS]
    + [(name, pa.list_(kind)) for name, kind in _LISTS.items()]
)


def _links_of(attempts: Path) -> Path:
    return attempts.with_name(attempts.name.replace("attempts", "links"))


def convert(crawl: Path) -> None:
    """Turn all journals of a crawl into tables. Raises LswcError."""
    for path in (crawl / "log").glob("*-*.[0-9]*[0-9]"):
        path.unlink()  # half a table that a kill left; its journal is there
    for path in journals(crawl / "log"):
        _convert(path)


def _convert(journal: Path, parent: int | None = None) -> None:
    """Turn a journal into two tables and remove it; done again from the start if killed.

    Lines that are torn or damaged are kept aside. If the process ``parent`` was asked to do it
    and is gone, nothing is: another crawl may do it by now.
    """
    damaged: list[bytes] = []
    paths = [journal.with_name(f"{name}-{journal.stem}.parquet") for name in ("links", "attempts")]
    news = [path.with_suffix(f".{os.getpid()}") for path in paths]
    with writing(journal.parent):
        about = {_LENGTH: str(journal.stat().st_size).encode()}
        with (
            pq.ParquetWriter(news[0], LINKS.with_metadata(about), compression="zstd") as links,
            pq.ParquetWriter(news[1], ATTEMPTS.with_metadata(about), compression="zstd") as tried,
        ):
            for batch in _batches(journal, damaged=damaged):
                tried.write_table(_attempts(batch))
                links.write_table(_links(batch))
        if parent is not None and parent != os.getppid():
            return
        if damaged:
            aside = Aside(journal.parents[1])
            aside.keep(journal.name, b"".join(damaged))
            logger.warning("%s: %d torn lines, now in %s", journal, len(damaged), aside.folder)
        for path, new in zip(paths, news, strict=True):
            replace(path, new)
        journal.unlink(missing_ok=True)
        sync_folder(journal.parent)


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns of a schema; those that an older log lacks are null."""
    columns = [
        table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)
        for field in schema
    ]
    return pa.table(columns, schema.names).cast(schema)


def tables(journal: Path) -> tuple[pa.Table, pa.Table]:
    """Return the attempts and links of a journal; rows that are torn or damaged are left out."""
    batches = list(_batches(journal))
    attempts = [ATTEMPTS.empty_table(), *map(_attempts, batches)]
    links = [LINKS.empty_table(), *map(_links, batches)]
    return pa.concat_tables(attempts).unify_dictionaries(), pa.concat_tables(
        links
    ).unify_dictionaries()


def pairs(crawl: Path) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield the attempts and the links of a crawl, oldest first: a pair for each file of the log.

    Raises ArchiveError.
    """
    folder = crawl / "log"
    try:
        for path in sorted(folder.glob("attempts-*.parquet")):
            yield pq.read_table(path), pq.read_table(_links_of(path))
        for path in journals(folder):
            yield tables(path)
    except (OSError, pa.ArrowException) as error:
        raise ArchiveError(f"{folder} is damaged: {error}") from error


def scan(crawl: Path, kind: str, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Yield the "attempts" or "links" of a crawl, oldest first: a log is larger than memory.

    ``columns`` are some of theirs. Raises ArchiveError if the log is damaged.
    """
    folder, wanted = crawl / "log", None if columns is None else list(columns)
    try:
        for path in sorted(folder.glob(f"{kind}-*.parquet")):
            file = pq.ParquetFile(path)
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, columns=wanted)
        for journal in journals(folder):
            for batch in _batches(journal):
                rows = _attempts(batch) if kind == "attempts" else _links(batch)
                yield rows if wanted is None else rows.select(wanted)
    except (OSError, pa.ArrowException) as error:
        raise ArchiveError(f"{folder} is damaged: {error}") from error


def scan_back(crawl: Path, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield columns of the attempts of a crawl, the latest first; rows are in order in each table.

    Raises ArchiveError if the log is damaged.
    """
    folder, wanted = crawl / "log", list(columns)
    try:
        for journal in reversed(journals(folder)):
            batches = [_attempts(batch).select(wanted) for batch in _batches(journal)]
            yield from reversed(batches)
        for path in sorted(folder.glob("attempts-*.parquet"), reverse=True):
            file = pq.ParquetFile(path)
            for group in reversed(range(file.num_row_groups)):
                yield file.read_row_group(group, columns=wanted)
    except (OSError, pa.ArrowException) as error:
        raise ArchiveError(f"{folder} is damaged: {error}") from error


def _batches(journal: Path, damaged: list[bytes] | None = None) -> Iterator[pa.Table]:
    """Yield the rows of a journal. Raises ArchiveError if it can't be read.

    Lines that are torn or damaged are put into ``damaged``.
    """
    try:
        for batch in _portions(lines(journal)):
            found = [line for line in batch if line.startswith(b"{") and line.endswith(b"}\n")]
            try:
                table = _read(found)
            except pa.ArrowInvalid:
                found = [line for line in found if _is_row(line)]
                table = _read(found)
            if damaged is not None and len(found) < len(batch):
                damaged += set(batch) - set(found)
            yield table
    except OSError as error:
        raise ArchiveError(f"can't read {journal}: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise ArchiveError(f"{journal} is damaged: {error}") from error


def _portions(rows: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield lists of lines, of about BATCH bytes each."""
    portion, size = [], 0
    for row in rows:
        portion.append(row)
        size += len(row)
        if size >= BATCH:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _read(rows: list[bytes]) -> pa.Table:
    if not rows:
        return _ROW.empty_table()
    data = b"".join(rows)
    return pa.json.read_json(
        pa.BufferReader(data),
        pa.json.ReadOptions(block_size=len(data)),
        pa.json.ParseOptions(explicit_schema=_ROW, unexpected_field_behavior="error"),
    )


def _is_row(line: bytes) -> bool:
    found = row_of(line)
    return found is not None and found.keys() <= set(_ROW.names)


def _attempts(batch: pa.Table) -> pa.Table:
    return batch.select(ATTEMPTS.names).cast(ATTEMPTS)


def _links(batch: pa.Table) -> pa.Table:
    lists = {name: batch[name].combine_chunks() for name in _LISTS}
    targets, named = lists["targets"], lists["named"]
    parents = pc.list_parent_indices(targets)
    if named.null_count > targets.null_count:  # of an earlier version
        unknown = pa.nulls(len(targets.values), pa.int8())
        lists["named"] = pa.ListArray.from_arrays(targets.offsets, unknown)
    columns = [
        pc.take(batch["url"], parents),
        *(pc.list_flatten(column) for column in lists.values()),
        pc.take(batch["visit"], parents),
    ]
    return pa.table(columns, [f.name for f in LINKS]).cast(LINKS)


def values(table: Path, columns: Sequence[str]) -> Iterator[tuple[Any, ...] | None]:
    """Yield columns of a table of attempts, row by row; None if it or its links are damaged."""
    try:
        pq.ParquetFile(_links_of(table)).read(["source"])
    except (OSError, pa.ArrowException):
        yield None
    else:
        yield from attempts(table, columns)


def attempts(table: Path, columns: Sequence[str]) -> Iterator[tuple[Any, ...] | None]:
    """Yield columns of a table of attempts, row by row; None if it is damaged."""
    try:
        file = pq.ParquetFile(table)
        for group in range(file.num_row_groups):
            rows = conform(file.read_row_group(group), ATTEMPTS)
            yield from zip(*(rows[name].to_pylist() for name in columns), strict=True)
    except (OSError, pa.ArrowException):
        yield None


def made_from(table: Path) -> int | None:
    """Return the bytes of the journal that a table was made from; None if that can't be read."""
    try:
        about = pq.read_schema(table).metadata or {}
    except (OSError, pa.ArrowException):
        return None
    return int(about.get(_LENGTH, 0))


def take_out(table: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep the rows about URLs aside, of a table of attempts and of its links; damaged ones whole.

    Raises LswcError.
    """
    wanted = pa.array(list(urls), pa.string())
    pair = (_links_of(table), table)
    try:
        found = [pq.ParquetFile(part) for part in pair]
        for file, part, column in zip(found, pair, ("source", "url"), strict=True):
            _filter(file, part, column, wanted, aside)
    except (OSError, pa.ArrowException):
        for part in pair:
            if part.exists():
                aside.move(part)


def _filter(file: pq.ParquetFile, path: Path, column: str, urls: pa.Array, aside: Aside) -> None:
    """Keep the rows of a table aside whose column is one of ``urls``."""
    groups = [file.read_row_group(group) for group in range(file.num_row_groups)]
    inside = [pc.is_in(group[column], urls) for group in groups]
    if not any(pc.any(mask).as_py() for mask in inside):
        return
    new = path.with_suffix(".new")
    with (
        writing(path),
        pq.ParquetWriter(new, file.schema_arrow, compression="zstd") as kept,
        pq.ParquetWriter(aside.new(path.name), file.schema_arrow, compression="zstd") as out,
    ):
        for group, mask in zip(groups, inside, strict=True):
            kept.write_table(group.filter(pc.invert(mask)))
            out.write_table(group.filter(mask))
    with writing(path):
        replace(path, new)


if __name__ == "__main__":
    os.nice(10)  # the crawl goes first
    _convert(Path(sys.argv[1]), int(sys.argv[2]))
