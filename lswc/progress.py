"""Progress: what long work says of itself while it goes on."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str, float, float], None]
"""Hears what is done: its name, how much of it, and of how much (0: not known)."""


def silent(what: str, done: float, total: float) -> None:
    """Say nothing."""
