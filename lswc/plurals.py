"""Nouns that are counted, in English."""

from __future__ import annotations


def numbered(number: int, noun: str) -> str:
    """Return a number and its noun: "1 page", "2,048 pages"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
