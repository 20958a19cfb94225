"""A copy of the project, to build it in a folder of its own."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.scenarios.site import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = ("lswc", "seeds", "settings_profiles")
FILES = (
    "setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE", "scrapy.cfg", "scrapyd.conf",
)  # fmt: skip


def copy_project(folder: Path) -> None:
    """Copy what a distribution is built from."""
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
