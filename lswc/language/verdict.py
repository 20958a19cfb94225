"""Verdict: what a method says of a page."""

from __future__ import annotations

from typing import NamedTuple

Shares = tuple[tuple[str, float], ...]
"""Languages, or their variants, and how much of a text is in each."""


class Finding(NamedTuple):
    """A language, how sure, by what evidence, and the languages' shares of the text.

    ``variants`` are the shares of their variants, by BCP 47 tag.
    """

    language: str | None
    confidence: float
    how: str
    shares: Shares = ()
    variants: Shares = ()


NOTHING = Finding(None, 0.0, "nothing")
"""The answer where nothing tells a language."""
