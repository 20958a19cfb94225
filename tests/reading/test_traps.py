from __future__ import annotations

import pytest

from lswc.reading.scope import TrapShape

SHAPE = TrapShape(segments=5, repeats=2, parameters=3)


@pytest.mark.parametrize(
    ("path", "query", "trap"),
    [
        ("/", "", None),
        ("/a/b/c/d/e", "", None),
        ("/a/b/c/d/e/", "", "deep path"),
        ("/a/x/a/", "", None),
        ("/a/x/a/y/a", "", "repeated path segment"),
        ("/a/b/a/b/a", "", "repeated path segment"),
        ("////", "", "repeated path segment"),
        ("/", "a=1&b=2&c=3", None),
        ("/", "a=1&b=2&c=3&d=4", "faceted query"),
        ("/", "a=1&a=2", None),
        ("/", "a=1&a=2&b=3", None),
        ("/", "a=1&a=2&a=3", "faceted query"),
    ],
)
def test_trap(path: str, query: str, trap: str | None) -> None:
    assert SHAPE.trap(path, query) == trap


def test_off_at_zero() -> None:
    assert TrapShape().trap("/a" * 1000, "a&" * 1000) is None
