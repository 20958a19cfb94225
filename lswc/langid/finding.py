"""What a method says of a page."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """A language, how sure, by what evidence, and the languages' shares of the text."""

    language: str | None
    confidence: float
    how: str
    shares: tuple[tuple[str, float], ...] = ()


NOTHING = Finding(None, 0.0, "nothing")
"""The answer where nothing tells a language."""
