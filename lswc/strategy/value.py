"""Value of a page: what it adds to the counts by which servers and cells are judged.

Each is a multiple of 1/16384, so a sum of them is exact, in any order.
"""

from __future__ import annotations

from enum import IntEnum


class Value(IntEnum):
    """What counts.

    PAGES: a relevant page counts 1. TEXT: a page counts its ``share_of_text``. YIELD: its
    ``yield_rate``.
    """

    PAGES = 0
    TEXT = 1
    YIELD = 2


FULL = 16_384
"""Clean letters in new paragraphs from which on a page counts 1: six pages in print. So one long
document doesn't outweigh a server of many pages. A power of two, for exact sums."""

_PARTS = 4096


def share_of_text(letters: int) -> float:
    """Return what a page counts by its clean letters in paragraphs that no page had before."""
    return min(letters, FULL) / FULL


def yield_rate(text: int, size: int) -> float:
    """Return the share of a page's bytes that are clean text (Suchomel & Pomikálek 2012).

    Both in bytes, the text in UTF-8. Rounded down to a multiple of 1/4096.
    """
    return min(text * _PARTS // max(size, 1), _PARTS) / _PARTS
