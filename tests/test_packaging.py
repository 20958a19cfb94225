"""What is installed is the whole project, and runs without its folder."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

from tests.project import PACKAGES, copy_project

if TYPE_CHECKING:
    from pathlib import Path


def files(folder: Path) -> set[Path]:
    """Return the files of the project's packages below a folder."""
    found = (path for name in PACKAGES for path in (folder / name).rglob("*") if path.is_file())
    return {path.relative_to(folder) for path in found if "__pycache__" not in path.parts}


def test_every_file_is_installed_and_the_spider_is_found_from_anywhere(tmp_path: Path) -> None:
    source, built, elsewhere = tmp_path / "source", tmp_path / "built", tmp_path / "elsewhere"
    elsewhere.mkdir()
    copy_project(source)
    build = [sys.executable, "setup.py", "-q", "build", "--build-lib", str(built)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    assert files(built) == files(source)

    path = {"PYTHONPATH": str(built), "SCRAPY_SETTINGS_MODULE": "lswc.settings"}
    listed = subprocess.run(
        [sys.executable, "-m", "scrapy", "list"], cwd=elsewhere, env={**os.environ, **path},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert listed.stdout.split() == ["lswc"]


def test_what_others_are_to_be_named_for_goes_with_every_package(tmp_path: Path) -> None:
    source = tmp_path / "source"
    copy_project(source)
    for kind in ("bdist_wheel", "bdist_egg"):  # scrapyd takes eggs
        build = [sys.executable, "setup.py", "-q", kind, "--dist-dir", str(tmp_path)]
        subprocess.run(build, cwd=source, check=True, capture_output=True)
    (wheel,), (egg,) = tmp_path.glob("*.whl"), tmp_path.glob("*.egg")
    notice = (source / "NOTICE").read_bytes()
    with zipfile.ZipFile(wheel) as built:
        (metadata,) = (name for name in built.namelist() if name.endswith("dist-info/METADATA"))
        named = built.read(metadata).decode().splitlines()
        assert {"License-File: LICENSE", "License-File: NOTICE"} <= set(named)
        assert built.read(metadata.replace("METADATA", "licenses/NOTICE")) == notice
    with zipfile.ZipFile(egg) as built:
        assert built.read("lswc/NOTICE") == notice
