"""Imports point one way: towards the strategy, and away from Scrapy."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "lswc"

MAY_IMPORT = {
    "strategy": {"strategy", "errors"},
    "languages": {"languages", "errors"},
    "langid": {"langid", "languages", "strategy", "errors"},
    "safety": {"safety", "urls", "errors", "simhash"},
    "visit": {"visit", "strategy", "reading"},
    "frontier": {"frontier", "strategy", "urls", "visit", "errors"},
    "demo": {"demo", "errors"},
    "web": {"web", "demo", "safety", "urls", "errors"},
    "trace": {"trace", "strategy", "languages", "langid", "urls", "web", "errors", "archive"},
    "simulator": {"simulator", "trace", "strategy", "errors"},
    "synthetic": {"synthetic", "trace", "strategy", "errors"},
    "analysis": {"analysis", "simulator", "trace", "strategy", "languages", "urls", "errors"},
}
"""What of lswc each folder may import."""

WITHOUT_SCRAPY = (
    "strategy", "languages", "langid", "safety", "visit", "frontier", "trace", "simulator",
    "synthetic", "analysis",
)  # fmt: skip


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


def parts() -> list[str]:
    """Return the folders that exist and have a rule."""
    return [name for name in MAY_IMPORT if (PACKAGE / name).is_dir()]


@pytest.mark.parametrize("folder", parts())
def test_folder_imports_only_what_lies_below_it(folder: str) -> None:
    ours = {name.split(".")[1] for name in imported(folder) if name.startswith("lswc.")}
    assert ours <= MAY_IMPORT[folder]


@pytest.mark.parametrize("folder", [name for name in parts() if name in WITHOUT_SCRAPY])
def test_core_never_imports_scrapy(folder: str) -> None:
    assert not {name for name in imported(folder) if name.split(".")[0] == "scrapy"}


def test_strategy_core_imports_only_the_standard_library() -> None:
    outside = {name.split(".")[0] for name in imported("strategy")} - {"lswc"}
    assert outside <= {"__future__", "collections", "dataclasses", "enum", "functools",
                       "importlib", "itertools", "math", "operator", "re", "typing"}  # fmt: skip
