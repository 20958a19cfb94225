"""The whole project is in a distribution, and runs without its folder: here as an egg."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from tests.project import PACKAGES, copy_project

if TYPE_CHECKING:
    from pathlib import Path

FOUND = """
from importlib.metadata import distribution, entry_points
from lswc.language.methods import names
print(distribution("lswc").locate_file(""), *names())
print(*entry_points(group="scrapy.commands").names)
"""


def files(folder: Path) -> set[str]:
    """Return the files of the project's packages below a folder."""
    found = (path for name in PACKAGES for path in (folder / name).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in found}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project, and a wheel and an egg of it: scrapyd takes eggs."""
    folder = tmp_path_factory.mktemp("built")
    copy_project(folder / "source")
    kinds = ("bdist_wheel", "bdist_egg")
    build = [part for kind in kinds for part in (kind, "--dist-dir", str(folder))]
    command = [sys.executable, "setup.py", "-q", *build]
    subprocess.run(command, cwd=folder / "source", check=True, capture_output=True)
    return folder


def test_every_file_is_installed_and_all_is_found_from_anywhere(
    built: Path, tmp_path: Path
) -> None:
    (egg,) = built.glob("*.egg")
    with ZipFile(egg) as archive:
        found = {name for name in archive.namelist() if not name.endswith((".pyc", "/"))}
    ours = {name for name in found if not name.startswith("EGG-INFO/")}
    assert ours == files(built / "source") | {"lswc/NOTICE"}

    def said(*arguments: str) -> list[str]:
        path = {"PYTHONPATH": str(egg), "SCRAPY_SETTINGS_MODULE": "lswc.settings"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env={**os.environ, **path}, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        return done.stdout.split()

    assert said("-m", "scrapy", "list") == ["lswc"]
    where, *names = said("-c", FOUND)
    assert where.startswith(str(egg))
    assert {"auto", "tamura2007", "cld2", "simulate", "identify"} <= {*names}


def test_what_others_are_to_be_named_for_goes_with_every_package(built: Path) -> None:
    (wheel,), (egg,) = built.glob("*.whl"), built.glob("*.egg")
    notice = (built / "source" / "NOTICE").read_bytes()
    with ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("dist-info/METADATA"))
        named = archive.read(metadata).decode().splitlines()
        assert {"License-File: LICENSE", "License-File: NOTICE"} <= set(named)
        assert archive.read(metadata.replace("METADATA", "licenses/NOTICE")) == notice
    with ZipFile(egg) as archive:
        assert archive.read("lswc/NOTICE") == notice
