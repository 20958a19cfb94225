"""Runs of a text: hashes of so many words or letters in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from lswc.safety.near_duplicates import counted_characters

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = 5
"""Words of a run."""
LETTERS, IDEOGRAPHS = 16, 8
"""Letters of a run where scripts have no blanks: powers of two, about as long as five words."""

_DENSE = frozenset({"Hani", "Jpan", "Hans", "Hant"})
_UNSPACED = _DENSE | {"Thai", "Laoo", "Khmr", "Mymr", "Tibt", "Java", "Bali", "Lana", "Talu"}
_STEP, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def has_blanks(script: str | None) -> bool:
    """Tell whether a script (ISO 15924) has blanks between words."""
    return script not in _UNSPACED


def runs(text: str, script: str | None) -> NDArray[np.uint64]:
    """Return the hashes of a text's overlapping runs, one at least. Case and digits don't count."""
    if has_blanks(script):
        words = [crc32(word.encode("utf-8", "replace")) for word in text.lower().split()]
        units = np.array([word for word in words if word] or [0], np.uint64)
        return windows(units, WORDS)
    letters = counted_characters(text).astype(np.uint64)
    return windows(letters, IDEOGRAPHS if script in _DENSE else LETTERS)


def windows(units: NDArray[np.uint64], length: int) -> NDArray[np.uint64]:
    """Return a hash of each so many units in a row, one at least."""
    if len(units) < length:
        units = np.append(units, np.zeros(length - len(units), np.uint64))
    found = np.zeros(len(units) - length + 1, np.uint64)
    mixed = units * _STEP
    mixed ^= mixed >> np.uint64(29)
    for place in range(length):
        found *= _MIX
        found += mixed[place : place + len(found)]
    found ^= found >> np.uint64(32)
    found *= _MIX
    return found ^ (found >> np.uint64(29))
