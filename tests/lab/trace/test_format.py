"""Traces on disk: what is written is read, what is broken is refused."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lswc.errors import ConfigError
from lswc.lab.synthetic.synthesis import Synthetic, synthesize
from lswc.lab.trace.format import Trace, TraceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@cache
def web() -> Synthetic:
    return synthesize(0.0005)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    web().write(tmp_path / "trace")
    return tmp_path / "trace"


def change(folder: Path, table: str, column: str, values: Any) -> None:
    """Replace a column of a table; None takes it away."""
    path = folder / f"{table}.parquet"
    found = pq.read_table(path)
    found = found.drop_columns([column])
    if values is not None:
        found = found.append_column(column, values)
    pq.write_table(found, path)


def test_what_is_written_is_read(folder: Path) -> None:
    read = Trace.read(folder)
    for field in dataclasses.fields(Trace):
        assert np.array_equal(getattr(read, field.name), getattr(web().trace, field.name)), (
            field.name
        )


def test_extra_columns_are_ignored_and_strings_need_no_dictionary(folder: Path) -> None:
    table = pq.read_table(folder / "urls.parquet")
    words = table.column("language").cast(pa.string())
    change(folder, "urls", "language", words)
    table = pq.read_table(folder / "urls.parquet").append_column("extra", words)
    pq.write_table(table, folder / "urls.parquet")
    assert np.array_equal(Trace.read(folder).language, web().trace.language)


@pytest.mark.parametrize("name", ["directory", "tld"])
def test_optional_columns_may_be_missing(folder: Path, name: str) -> None:
    change(folder, "urls", name, None)
    assert getattr(Trace.read(folder), name) is None


def test_anchors_may_be_missing(folder: Path) -> None:
    change(folder, "links", "anchors", None)
    assert Trace.read(folder).anchors is None


@pytest.mark.parametrize("name", ["server", "site", "language", "status", "page", "distance"])
def test_a_missing_column_is_named(folder: Path, name: str) -> None:
    change(folder, "urls", name, None)
    with pytest.raises(TraceError, match=f"no column {name}"):
        Trace.read(folder)


def test_a_folder_without_a_trace(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is not a trace"):
        Trace.read(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "\udcff"])
def test_a_foreign_description(folder: Path, text: str) -> None:
    (folder / "trace.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(TraceError, match="not the description of a trace"):
        Trace.read(folder)


def test_another_format(folder: Path) -> None:
    about = json.loads((folder / "trace.json").read_text())
    (folder / "trace.json").write_text(json.dumps({**about, "format": 9}))
    with pytest.raises(TraceError, match="format 9"):
        Trace.read(folder)


@pytest.mark.parametrize("name", ["urls", "links", "seeds"])
@pytest.mark.parametrize("keep", [0, 4, 0.5, 0.99])
def test_a_torn_table(folder: Path, name: str, keep: float) -> None:
    path = folder / f"{name}.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[: keep if isinstance(keep, int) else int(len(whole) * keep)])
    with pytest.raises(TraceError, match="torn, or not a Parquet file"):
        Trace.read(folder)


@pytest.mark.parametrize("name", ["urls", "links", "seeds"])
def test_a_missing_table(folder: Path, name: str) -> None:
    (folder / f"{name}.parquet").unlink()
    with pytest.raises(TraceError, match="is missing"):
        Trace.read(folder)


def urls() -> int:
    return web().trace.urls


@pytest.mark.parametrize(
    ("table", "column", "values", "message"),
    [
        ("urls", "server", lambda n: np.full(n, n, np.int32), "server has ids outside"),
        ("urls", "site", lambda n: np.full(n, -1, np.int32), "site has ids outside"),
        ("urls", "server", lambda n: np.zeros(n, np.float64), "server is double, not int32"),
        ("urls", "page", lambda n: pa.nulls(n, pa.bool_()), "page has nulls"),
        ("urls", "page", lambda n: np.zeros(n, np.bool_), "no downloaded page"),
        ("seeds", "url", lambda _: pa.array([], pa.int32()), "no seeds"),
        ("seeds", "url", lambda n: pa.array([n], pa.int32()), "outside"),
        ("seeds", "url", lambda _: pa.array([None], pa.int32()), "nulls"),
        ("links", "targets", lambda n: pa.nulls(n, pa.list_(pa.int32())), "nulls"),
        (
            "links",
            "anchors",
            lambda n: pa.array([[]] * n, pa.list_(pa.int8())),
            "different lengths",
        ),
    ],
)
def test_wrong_values_are_named(
    folder: Path, table: str, column: str, values: Callable[[int], Any], message: str
) -> None:
    if table == "seeds":
        pq.write_table(pa.table({column: values(urls())}), folder / "seeds.parquet")
    else:
        change(folder, table, column, pa.array(values(urls())))
    with pytest.raises(TraceError, match=message):
        Trace.read(folder)


@pytest.mark.parametrize(
    ("targets", "anchors", "message"),
    [
        ([[10**6]], [[0]], "outside"),
        ([[-1]], [[0]], "outside"),
        ([[0]], [[3]], "anchor language"),
        ([[None]], [[0]], "nulls"),
    ],
)
def test_wrong_links_are_named(
    folder: Path, targets: list[list[int]], anchors: list[list[int]], message: str
) -> None:
    empty: list[list[int]] = [[]] * (urls() - 1)
    table = pa.table(
        {
            "targets": pa.array(targets + empty, pa.list_(pa.int32())),
            "anchors": pa.array(anchors + empty, pa.list_(pa.int8())),
        }
    )
    pq.write_table(table, folder / "links.parquet")
    with pytest.raises(TraceError, match=message):
        Trace.read(folder)


def test_tables_of_different_length(folder: Path) -> None:
    path = folder / "links.parquet"
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(TraceError, match=r"rows in urls\.parquet, but"):
        Trace.read(folder)


def test_links_of_what_is_no_page(folder: Path) -> None:
    change(folder, "urls", "page", pa.array(np.arange(urls()) == 0))
    with pytest.raises(TraceError, match="only pages have links"):
        Trace.read(folder)


def test_a_trace_is_not_overwritten(folder: Path) -> None:
    with pytest.raises(TraceError, match="holds a trace already"):
        web().write(folder)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="can't write"):
        web().write(tmp_path / "file")
