"""Imports point one way: towards the strategy, and away from Scrapy."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "lswc"

ROOT = {
    "errors",
    "logins",
    "mishaps",
    "outcomes",
    "urls",
    "settings",
    "plurals",
    "progress",
    "files",
    "extras",
    "html_templates",
    "processes",
    "standard_files",
    "__version__",
}
"""Single modules that any room may use; they use each other at most."""

MAY_IMPORT: dict[str, set[str]] = {
    "strategy": set(),
    "safety": set(),
    "language": {"safety", "strategy"},
    "frontier": {"safety", "strategy"},
    "archive": {"frontier", "language", "strategy"},
    "reading": {"language", "safety", "strategy"},
    "corpus": {"archive", "language", "reading", "safety"},
    "guest": {"archive", "frontier", "reading", "safety", "strategy"},
    "crawl": {
        "archive", "frontier", "guest", "language", "reading", "safety", "strategy",
    },
    "monitor": {"archive", "crawl", "frontier", "guest", "safety", "strategy"},
    "workbench": {
        "archive", "crawl", "frontier", "guest", "language", "monitor", "safety", "seeds",
        "strategy",
    },
    "seeds": {"archive", "crawl", "frontier", "language", "reading", "safety", "strategy"},
    "cli": {
        "archive", "corpus", "crawl", "frontier", "guest", "language", "monitor", "reading",
        "seeds", "strategy", "workbench",
    },
    "lab": {
        "archive", "cli", "crawl", "frontier", "guest", "language", "monitor", "reading", "safety",
        "seeds", "strategy",
    },
}  # fmt: skip
"""What of lswc each room may import besides ROOT: never one that imports it."""

WITHOUT_SCRAPY = {
    "strategy", "language", "safety", "reading", "frontier", "archive", "corpus", "guest",
}  # fmt: skip


def imported(folder: str) -> set[str]:
    """Return the dotted names that the modules of a folder import."""
    names: set[str] = set()
    for path in (PACKAGE / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
    return names


def rooms() -> list[str]:
    """Return the folders of the package."""
    return sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))


def test_every_room_has_a_rule() -> None:
    assert set(rooms()) == set(MAY_IMPORT)
    assert {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"} <= ROOT


def test_no_two_rooms_import_each_other() -> None:
    assert list(TopologicalSorter(MAY_IMPORT).static_order())


@pytest.mark.parametrize("room", rooms())
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    ours = {name.split(".")[1] for name in imported(room) if name.startswith("lswc.")}
    assert ours - ROOT <= MAY_IMPORT[room] | {room}


@pytest.mark.parametrize("room", sorted(WITHOUT_SCRAPY))
def test_core_never_imports_scrapy(room: str) -> None:
    assert not {name for name in imported(room) if name.split(".")[0] == "scrapy"}


def test_strategy_core_imports_only_the_standard_library() -> None:
    outside = {name.split(".")[0] for name in imported("strategy")} - {"lswc"}
    assert outside <= {"__future__", "collections", "dataclasses", "enum", "functools",
                       "importlib", "itertools", "math", "operator", "re", "tomllib",
                       "typing"}  # fmt: skip
