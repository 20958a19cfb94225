"""Format of a trace: a crawled web as arrays in memory and Parquet on disk (docs/lab/trace.md)."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lswc.errors import ConfigError, writing
from lswc.files import whole_folder
from lswc.strategy import Anchor, Named, PageLanguage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

FORMAT = 1
ROW_GROUP = 1 << 20

URLS = pa.schema(
    [
        ("url", pa.string()),
        ("server", pa.int32()),
        ("directory", pa.int32()),
        ("folder", pa.int32()),
        ("site", pa.int32()),
        ("tld", pa.dictionary(pa.int32(), pa.string())),
        ("language", pa.dictionary(pa.int32(), pa.string())),
        ("relevant", pa.bool_()),
        ("status", pa.int16()),
        ("page", pa.bool_()),
        ("distance", pa.int16()),
        ("encoding", pa.dictionary(pa.int32(), pa.string())),
    ]
)
ADDRESS = pa.field("address", pa.dictionary(pa.int32(), pa.string()))
"""The IP address that a URL's last answer came from: a column of URLs that a crawl has."""

TIME = pa.field("time", pa.int64())
"""When a URL was last asked for, in ms since 1970, UTC; null if never. A crawl's URLs have it."""

KIND = pa.field("kind", pa.dictionary(pa.int32(), pa.string()))
"""What a page is written in, such as html or pdf: a column of URLs that a crawl has."""

CRAWL_DELAY = pa.field("crawl_delay", pa.float32())
"""What the robots.txt of a URL's server asks for, in seconds, 0 if nothing: a column of URLs that a
trace of a frozen web has."""

LINKS = pa.schema(
    [
        ("targets", pa.list_(pa.int32())),
        ("anchors", pa.list_(pa.int8())),
        ("named", pa.list_(pa.int8())),
    ]
)
SEEDS = pa.schema([("url", pa.int32())])

TEXTS = pa.schema(
    [
        ("size", pa.int32()),
        ("text", pa.int32()),
        ("paragraphs", pa.list_(pa.int32())),
        ("letters", pa.list_(pa.int32())),
    ]
)
"""What each URL brings, if that is known: its bytes, those of its clean text, the numbers of its
paragraphs, which many pages may have, and how many letters each has."""

_OPTIONAL = {
    "url", "directory", "folder", "tld", "relevant", "encoding", "crawl_delay", "anchors", "named",
}  # fmt: skip


class TraceError(ConfigError):
    """A trace can't be read or written; the message says what is wrong with it."""


class EmptyTraceError(TraceError):
    """A trace has no page, or no seed, as that of a crawl that got nowhere."""


class Fate(IntEnum):
    """What became of a URL in the crawl that the trace records."""

    NEVER = 0
    """Never downloaded: stays in the queue."""
    FAILED = 1
    """Tried, but no page: an error, or not HTML."""
    REDIRECT = 2
    PAGE = 3


@dataclass(frozen=True)
class About:
    """What a trace is: target language, the TLDs that belong to it, and where it comes from."""

    language: str
    tlds: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Texts:
    """Clean text of a trace's URLs. n URLs, k paragraphs on them.

    Shapes: (n,) for ``size`` and ``text``, bytes of a page and of its clean text; (n + 1,) for
    ``offsets``; (k,) for ``paragraphs``, their numbers, and ``letters``.
    """

    size: NDArray[np.int32]
    text: NDArray[np.int32]
    offsets: NDArray[np.int64]
    paragraphs: NDArray[np.int32]
    letters: NDArray[np.int32]


@dataclass(frozen=True)
class Trace:
    """A trace as far as a simulation needs it. n URLs, m links, s servers.

    Shapes: (n,) for ``server``, ``directory``, ``folder``, ``language`` (PageLanguage), ``fate``
    (Fate) and ``distance`` (-1: no path from a seed); (s,) for ``site``, ``tld`` (does the server's
    TLD belong to the language) and ``crawl_delay`` (that of its robots.txt in seconds, 0 if there
    is none); (n + 1,) for ``offsets``; (m,) for ``targets``, ``anchors`` (Anchor) and ``named``
    (Named). ``directory``, ``folder``, ``tld``, ``crawl_delay``, ``anchors`` and ``named`` are None
    if the trace lacks them, and so are its ``texts``.
    """

    about: About
    server: NDArray[np.int32]
    directory: NDArray[np.int32] | None
    site: NDArray[np.int32]
    tld: NDArray[np.bool_] | None
    language: NDArray[np.int8]
    fate: NDArray[np.int8]
    distance: NDArray[np.int16]
    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    anchors: NDArray[np.int8] | None
    seeds: NDArray[np.int32]
    named: NDArray[np.int8] | None = None
    folder: NDArray[np.int32] | None = None
    texts: Texts | None = None
    crawl_delay: NDArray[np.float32] | None = None

    @property
    def urls(self) -> int:
        """Number of URLs, n."""
        return len(self.server)

    @property
    def pages(self) -> int:
        """Number of pages."""
        return int(np.count_nonzero(self.fate == Fate.PAGE))

    @property
    def relevant(self) -> NDArray[np.bool_]:
        """Which URLs are relevant pages, identified as such; shape (n,)."""
        pages: NDArray[np.bool_] = self.fate == Fate.PAGE
        pages &= self.language == PageLanguage.TARGET
        return pages

    @classmethod
    def read(cls, folder: Path | str) -> Trace:
        """Read and validate a trace.

        Raises TraceError for a folder that isn't one, a torn or foreign file, missing columns,
        ids outside their range, and a trace without pages or seeds.
        """
        folder = Path(folder)
        about = _about(folder / "trace.json")
        columns = _read_urls(folder / "urls.parquet", about)
        columns |= _read_links(folder / "links.parquet")
        seeds, texts = _read_seeds(folder / "seeds.parquet"), _read_texts(folder / "texts.parquet")
        trace = cls(about, **columns, seeds=seeds, texts=texts)
        _validate(trace)
        return trace


def _about(path: Path) -> About:
    try:
        found = json.loads(path.read_text("utf-8"))
        if found["format"] != FORMAT:
            raise TraceError(f"{path}: trace format {found['format']!r}, this is for {FORMAT}")
        return About(str(found["language"]), tuple(map(str, found["tlds"])), str(found["source"]))
    except OSError as error:
        raise TraceError(f"{path.parent} is not a trace: it has no readable trace.json") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TraceError(f"{path}: not the description of a trace ({error!r})") from error


@contextmanager
def _opened(path: Path, schema: pa.Schema) -> Iterator[tuple[pq.ParquetFile, list[str]]]:
    """Open a table and give the names of its columns that the schema knows."""
    try:
        present = _columns(path, pq.read_schema(path), schema)
        words = [name for name in present if pa.types.is_dictionary(schema.field(name).type)]
        with pq.ParquetFile(path, memory_map=True, read_dictionary=words) as file:
            yield file, present
    except FileNotFoundError as error:
        raise TraceError(f"{path} is missing") from error
    except (OSError, pa.ArrowException) as error:
        raise TraceError(f"{path}: torn, or not a Parquet file ({error})") from error


def _columns(path: Path, found: pa.Schema, wanted: pa.Schema) -> list[str]:
    missing = [f.name for f in wanted if f.name not in found.names and f.name not in _OPTIONAL]
    if missing:
        raise TraceError(f"{path}: no column {', '.join(missing)}")
    present = [f for f in wanted if f.name in found.names]
    for field in present:
        if _plain(found.field(field.name).type) != _plain(field.type):
            raise TraceError(
                f"{path}: column {field.name} is {found.field(field.name).type}, not {field.type}"
            )
    return [f.name for f in present]


def _plain(kind: pa.DataType) -> Any:
    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [kind.value_type]
    return pa.string() if pa.types.is_large_string(kind) else kind


def _groups(file: pq.ParquetFile, columns: list[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the table in batches, each with the number of its first row."""
    start = 0
    for batch in file.iter_batches(batch_size=ROW_GROUP, columns=columns):
        yield start, batch
        start += batch.num_rows


def _numbers(path: Path, batch: pa.RecordBatch, name: str) -> Any:
    column = batch.column(name)
    if column.null_count:
        raise TraceError(f"{path}: column {name} has nulls")
    return column.to_numpy(zero_copy_only=False)


def _read_urls(path: Path, about: About) -> dict[str, Any]:
    schema = URLS.append(CRAWL_DELAY)
    with _opened(path, schema) as (file, present):
        n = file.metadata.num_rows
        if n >= 2**31:
            raise TraceError(f"{path}: {n} URLs, more than fit 32 bits")
        numbers = ("server", "directory", "folder", "site", "distance", "crawl_delay")
        ids = [c for c in numbers if c in present]
        read: dict[str, Any] = {c: np.empty(n, schema.field(c).type.to_pandas_dtype()) for c in ids}
        language, fate = np.empty(n, np.int8), np.empty(n, np.int8)
        tld = np.empty(n, np.bool_) if "tld" in present else None
        names = {about.language: PageLanguage.TARGET}
        names = {"en": PageLanguage.ENGLISH} | names
        facts = [name for name in ("tld", "relevant") if name in present]
        wanted = [*ids, "language", "status", "page", *facts]
        for start, batch in _groups(file, wanted):
            rows = slice(start, start + batch.num_rows)
            for column in ids:
                read[column][rows] = _numbers(path, batch, column)
            language[rows] = _coded(
                batch.column("language"), names, PageLanguage.OTHER, PageLanguage.UNKNOWN
            )
            if "relevant" in facts:
                language[rows][_numbers(path, batch, "relevant")] = PageLanguage.TARGET
            fate[rows] = _fate(_numbers(path, batch, "status"), _numbers(path, batch, "page"))
            if tld is not None:
                belongs = dict.fromkeys(about.tlds, 1)
                tld[rows] = _coded(batch.column("tld"), belongs, 0, 0) == 1
    _within(path, read, ("server", "directory", "folder", "site"), n)
    delay = read.get("crawl_delay")
    if delay is not None and not np.all(np.isfinite(delay) & (delay >= 0)):
        raise TraceError(f"{path}: column crawl_delay has what is no number of seconds")
    return {
        "server": read["server"],
        "directory": read.get("directory"),
        "folder": read.get("folder"),
        "site": _per_server(read["server"], read["site"]),
        "tld": None if tld is None else _per_server(read["server"], tld),
        "language": language,
        "fate": fate,
        "distance": read["distance"],
        "crawl_delay": None if delay is None else _per_server(read["server"], delay),
    }


def _within(path: Path, read: dict[str, Any], names: Sequence[str], n: int) -> None:
    for name in names:
        if name in read and not _inside(read[name], n):
            raise TraceError(f"{path}: column {name} has ids outside 0 .. {n - 1}")


def _inside(values: NDArray[Any], end: int) -> bool:
    return not len(values) or 0 <= int(values.min()) <= int(values.max()) < end


def _per_server(server: NDArray[np.int32], values: NDArray[Any]) -> NDArray[Any]:
    known = np.zeros(server.max() + 1 if len(server) else 0, values.dtype)
    known[server] = values
    return known


def _coded(column: pa.Array, codes: dict[str, Any], other: int, null: int) -> NDArray[np.int8]:
    """Return a small number for each string of a column."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    words = [null if w is None else codes.get(w, other) for w in column.dictionary.to_pylist()]
    indices = column.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    coded: NDArray[np.int8] = np.array([*words, null], np.int8)[indices]
    return coded


def _fate(status: NDArray[np.int16], page: NDArray[np.bool_]) -> NDArray[np.int8]:
    tried = np.where((status >= 300) & (status < 400), Fate.REDIRECT, Fate.FAILED)
    return np.where(page, Fate.PAGE, np.where(status == 0, Fate.NEVER, tried)).astype(np.int8)


def _read_links(path: Path) -> dict[str, Any]:
    with _opened(path, LINKS) as (file, present):
        leaf = file.schema.names.index("element") if "element" in file.schema.names else 0
        counts = (file.metadata.row_group(g) for g in range(file.num_row_groups))
        # Counts empty lists as one each: an upper limit, cut down at the end.
        most = sum(group.column(leaf).num_values for group in counts)
        offsets = np.zeros(file.metadata.num_rows + 1, np.int64)
        targets = np.empty(most, np.int32)
        facts = {c: np.empty(most, np.int8) for c in ("anchors", "named") if c in present}
        end = 0
        for start, batch in _groups(file, present):
            lists = batch.column("targets")
            ends = lists.offsets.to_numpy().astype(np.int64)
            values = _values(path, lists, "targets")
            offsets[start + 1 : start + 1 + len(lists)] = end + (ends[1:] - ends[0])
            targets[end : end + len(values)] = values
            for name, column in facts.items():
                _fill(path, batch, name, ends, column[end : end + len(values)])
            end += len(values)
    read = {"offsets": offsets, "targets": targets[:end], "anchors": None}
    return read | {name: column[:end] for name, column in facts.items()}


def _values(path: Path, lists: pa.ListArray, name: str) -> NDArray[Any]:
    if lists.null_count or lists.values.null_count:
        raise TraceError(f"{path}: column {name} has nulls")
    values: NDArray[Any] = lists.flatten().to_numpy()
    return values


def _fill(
    path: Path, batch: pa.RecordBatch, name: str, ends: NDArray[np.int64], out: NDArray[Any]
) -> None:
    lists = batch.column(name)
    own = lists.offsets.to_numpy()
    if not np.array_equal(own - own[0], ends - ends[0]):
        raise TraceError(f"{path}: columns targets and {name} have lists of different lengths")
    out[:] = _values(path, lists, name)


def _read_seeds(path: Path) -> NDArray[np.int32]:
    with _opened(path, SEEDS) as (file, present):
        column = file.read(columns=present).column("url")
        if column.null_count:
            raise TraceError(f"{path}: column url has nulls")
        # A copy: Arrow's own memory is read-only, for which the kernels are compiled once more.
        seeds: NDArray[np.int32] = np.array(column.to_numpy(), np.int32)
        return seeds


def _read_texts(path: Path) -> Texts | None:
    if not path.exists():
        return None
    with _opened(path, TEXTS) as (file, present):
        batch = file.read(columns=present).combine_chunks().to_batches()[0]
    # Copies: Arrow's own memory is read-only, for which the kernels are compiled once more.
    size, text = (np.array(_numbers(path, batch, name), np.int32) for name in ("size", "text"))
    lists = batch.column("paragraphs")
    offsets, numbers = lists.offsets.to_numpy().astype(np.int64), _values(path, lists, "paragraphs")
    letters = np.empty(len(numbers), np.int32)
    _fill(path, batch, "letters", offsets, letters)
    return Texts(size, text, offsets, np.array(numbers, np.int32), letters)


def _validate(trace: Trace) -> None:
    n = trace.urls
    texts = trace.texts
    if texts is not None and len(texts.size) != n:
        raise TraceError(f"{n} rows in urls.parquet, but {len(texts.size)} in texts.parquet")
    if texts is not None and not _inside(texts.paragraphs, len(texts.paragraphs)):
        raise TraceError("a paragraph has a number beyond those that there are")
    if len(trace.offsets) != n + 1:
        raise TraceError(f"{n} rows in urls.parquet, but {len(trace.offsets) - 1} in links.parquet")
    if not len(trace.seeds):
        raise EmptyTraceError("the trace has no seeds")
    if not np.any(trace.fate == Fate.PAGE):
        raise EmptyTraceError("the trace is empty: it has no downloaded page")
    if not (_inside(trace.seeds, n) and _inside(trace.targets, n)):
        raise TraceError(f"a seed or a link leads to a URL outside 0 .. {n - 1}")
    if trace.anchors is not None and not _inside(trace.anchors, len(Anchor)):
        raise TraceError(f"an anchor language is outside 0 .. {len(Anchor) - 1}")
    if trace.named is not None and not _inside(trace.named, len(Named)):
        raise TraceError(f"a language named by a link is outside 0 .. {len(Named) - 1}")
    degree = np.diff(trace.offsets)
    if np.any(degree[trace.fate < Fate.REDIRECT]) or np.any(
        degree[trace.fate == Fate.REDIRECT] > 1
    ):
        raise TraceError("only pages have links, and a redirect one: its target")


def write(
    folder: Path | str,
    about: About,
    seeds: Sequence[int] | NDArray[np.int32],
    urls: Iterable[pa.Table],
    links: Iterable[pa.Table],
    texts: Iterable[pa.Table] = (),
) -> None:
    """Write a trace from tables with the columns of URLS and LINKS, and TEXTS, in streams.

    Creates the folder; the files are there when all of them are whole.
    Raises TraceError if it holds a trace already, LswcError if it can't be
    written.
    """
    folder = Path(folder)
    if (folder / "trace.json").exists():
        raise TraceError(f"{folder} holds a trace already: choose another folder")
    with writing(folder), whole_folder(folder) as beside:
        _write_table(beside / "urls.parquet", urls)
        _write_table(beside / "links.parquet", links)
        _write_table(beside / "texts.parquet", texts)
        table = pa.table({"url": pa.array(np.asarray(seeds, np.int32))}, SEEDS)
        pq.write_table(table, beside / "seeds.parquet")
        described = {"format": FORMAT, "language": about.language, "tlds": list(about.tlds)}
        described["source"] = about.source
        (beside / "trace.json").write_text(json.dumps(described, ensure_ascii=False), "utf-8")


def _write_table(path: Path, tables: Iterable[pa.Table]) -> None:
    writer = None
    try:
        for table in tables:
            if writer is None:
                words = [f.name for f in table.schema if pa.types.is_dictionary(f.type)]
                writer = pq.ParquetWriter(
                    path,
                    table.schema,
                    compression="zstd",
                    compression_level=1,
                    use_dictionary=words,
                )
            writer.write_table(table, row_group_size=ROW_GROUP)
    finally:
        if writer is not None:
            writer.close()


def compressed_rows(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    anchors: NDArray[np.int8] | None,
    named: NDArray[np.int8] | None = None,
) -> Iterator[pa.Table]:
    """Yield the links of all URLs as tables for ``write``, a row group at a time."""
    columns = dict(zip(LINKS.names, (targets, anchors, named), strict=True))
    present = {name: values for name, values in columns.items() if values is not None}
    bounds = [*range(0, len(offsets) - 1, ROW_GROUP), len(offsets) - 1]
    for first, last in pairwise(bounds):
        begin, end = offsets[first], offsets[last]
        ends = pa.array((offsets[first : last + 1] - begin).astype(np.int32))
        yield pa.table(
            {
                name: pa.ListArray.from_arrays(ends, pa.array(values[begin:end]))
                for name, values in present.items()
            }
        )
