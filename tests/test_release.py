"""Version of a release: all that names it agrees; ``python tests/test_release.py 0.2.0`` tells."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def named() -> dict[str, str]:
    """Return the version that each file names."""
    found = {
        "lswc/__init__.py": r'^__version__ = "([^"]+)"',
        "CITATION.cff": r"^version: (\S+)",
        "CHANGELOG.md": r"^## ([\d.]*\d)",
    }
    return {
        name: re.findall(pattern, (ROOT / name).read_text("utf-8"), re.MULTILINE)[0]
        for name, pattern in found.items()
    }


def test_all_files_name_the_same_version() -> None:
    assert len({*named().values()}) == 1, named()


def test_what_is_locked_is_what_is_asked_for() -> None:
    from packaging.requirements import Requirement

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    for group in re.findall(r"[a-z]+", extras["all"][0].partition("[")[2]):
        wanted += extras[group]
    lines = (ROOT / "requirements.lock").read_text("utf-8").splitlines()
    locked: dict[str, list[str]] = {}
    for line in lines:
        name, _, version = line.partition(";")[0].strip().partition("==")
        locked.setdefault(name, []).append(version)
    for requirement in map(Requirement, wanted):
        name = requirement.name.lower().replace("_", "-")
        assert any(requirement.specifier.contains(v) for v in locked.get(name, [])), requirement


if __name__ == "__main__":
    told = named()
    if {*told.values()} != {sys.argv[1]}:
        sys.exit(f"the tag says {sys.argv[1]}, and the files say {told}")
