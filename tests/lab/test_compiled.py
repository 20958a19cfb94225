"""Compiled functions outlive their process, and never the sources that they were made from."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from numba import njit

from lswc.lab import compiled

if TYPE_CHECKING:
    from pathlib import Path


def double(number: int) -> int:
    return number * 2


def dispatcher() -> Any:
    return compiled.kept(njit(double))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled, "_folder", compiled._folder.__wrapped__)
    return tmp_path / "cache"


def test_what_is_compiled_is_compiled_once(folder: Path) -> None:
    first, second = dispatcher(), dispatcher()
    assert first(21) == second(21) == 42
    assert [sum(d.stats.cache_hits.values()) for d in (first, second)] == [0, 1]
    (version,) = folder.iterdir()
    assert version.name == f"compiled-{compiled.sources_hash()}"


def test_old_versions_go(folder: Path) -> None:
    for age in range(9):
        (folder / f"compiled-{age}").mkdir(parents=True)
        os.utime(folder / f"compiled-{age}", (1000 - age, 1000 - age))
    dispatcher()
    assert sorted(path.name for path in folder.iterdir())[:4] == [f"compiled-{n}" for n in range(4)]
    assert len(list(folder.iterdir())) == 5


def test_where_nothing_can_be_written_each_process_compiles(folder: Path) -> None:
    folder.write_text("not a folder")
    assert dispatcher()(21) == 42


def test_a_version_is_what_is_in_its_sources(tmp_path: Path) -> None:
    for name in ("lab", "strategy"):
        shutil.copytree(compiled.PACKAGE / name, tmp_path / name)
    (source,) = tmp_path.rglob("kernel.py")
    assert compiled.sources_hash(tmp_path) == compiled.sources_hash()
    source.write_bytes(source.read_bytes() + b"#")
    assert compiled.sources_hash(tmp_path) != compiled.sources_hash()
