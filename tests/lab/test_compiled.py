"""Compiled functions outlive their process, and never the sources that they were made from."""

from __future__ import annotations

import ast
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
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_folder", compiled._folder.__wrapped__)
    return tmp_path / "compiled"


def test_what_is_compiled_is_compiled_once(folder: Path) -> None:
    first, second = dispatcher(), dispatcher()
    assert first(21) == second(21) == 42
    assert [sum(d.stats.cache_hits.values()) for d in (first, second)] == [0, 1]
    (version,) = folder.iterdir()
    assert version.name == f"lab-{compiled.sources_hash('lab')}"


def test_old_versions_go(folder: Path) -> None:
    for age in range(20):
        (folder / f"trace-{age:02}").mkdir(parents=True)
        os.utime(folder / f"trace-{age:02}", (1000 - age, 1000 - age))
    dispatcher()
    assert sorted(folder.iterdir())[1:] == [folder / f"trace-{age:02}" for age in range(11)]


def test_where_nothing_can_be_written_each_process_compiles(folder: Path) -> None:
    folder.write_text("not a folder")
    assert dispatcher()(21) == 42


def test_what_cannot_be_kept_runs_all_the_same(folder: Path) -> None:
    made = dispatcher()
    shutil.rmtree(folder)
    folder.write_text("not a folder")
    assert made(21) == 42


def test_a_version_is_what_is_in_its_sources(tmp_path: Path) -> None:
    for name in ("lab", "strategy"):
        shutil.copytree(compiled.PACKAGE / name, tmp_path / name)
    rooms = ("lab/simulator", "lab/synthetic")
    kernels, wiring = (compiled.sources_hash(room) for room in rooms)
    assert kernels != wiring
    assert [compiled.sources_hash(room, tmp_path) for room in rooms] == [kernels, wiring]
    kernel = tmp_path / "lab" / "simulator" / "kernel.py"
    kernel.write_bytes(kernel.read_bytes() + b"#")
    assert compiled.sources_hash(rooms[0], tmp_path) != kernels
    assert compiled.sources_hash(rooms[1], tmp_path) == wiring


def test_compiled_code_uses_only_what_its_version_is_made_from() -> None:
    checked = 0
    for path in (compiled.PACKAGE / "lab").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        modules = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
        if "numba" in modules:
            own = path.parent.relative_to(compiled.PACKAGE).as_posix()
            rooms = {room.replace("/", ".") for room in (own, *compiled.SHARED)}
            others = {
                "lswc.lab.compiled",
                "lswc.errors",
                "lswc.files",
                "lswc.progress",
                "lswc.lab.trace",
            }
            used = {m for m in modules if m.startswith("lswc") and m not in others}
            assert {m for m in used if not any(m.startswith(f"lswc.{r}") for r in rooms)} == set()
            checked += 1
    assert checked == 5
