"""How alike two texts are: simhash (Charikar 2002; Manku, Jain & Das Sarma, WWW 2007)."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DISTANCE = 3
"""Bits by which the simhashes of near-duplicates differ at most (Manku et al. §3)."""

_RUN = 5  # characters: no language needs its words told apart for that
_PADDING = np.zeros(_RUN, np.uint32)
_FACTORS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1], np.uint32)


def simhash(text: str) -> int:
    """Return the 64-bit simhash of a text's overlapping runs of five letters, each counted once.

    Case, digits and white space don't count: a date, a price or a counter makes no other text.
    """
    codes = np.frombuffer(text.lower().encode("utf-32-le", "replace"), np.uint32)
    codes = codes[_counts()[codes]]
    if len(codes) < _RUN:
        codes = np.append(codes, _PADDING)
    size = len(codes) - _RUN + 1
    runs = codes[:size] * _FACTORS[0]
    for place in range(1, _RUN):
        runs += codes[place : place + size] * _FACTORS[place]
    runs.sort()
    runs = runs[np.concatenate(([True], runs[1:] != runs[:-1]))]
    return _majority(_mixed(runs.astype(np.uint64)))


@cache
def _counts() -> NDArray[np.bool_]:
    """Return for each code point whether it counts."""
    codes = np.arange(sys.maxunicode + 1, dtype="<u4")
    characters = codes.tobytes().decode("utf-32-le", "surrogatepass")
    counts = np.ones(len(codes), np.bool_)
    counts[[match.start() for match in re.finditer(r"[\d\s]", characters)]] = False
    return counts


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread values over 64 bits (the finaliser of SplitMix64)."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)


def _majority(hashes: NDArray[np.uint64]) -> int:
    """Return the 64 bits that most of the hashes have set."""
    bits = np.unpackbits(hashes.view(np.uint8)).reshape(-1, 64)
    ones = np.add.reduce(bits, axis=0, dtype=np.uint32)
    return int.from_bytes(np.packbits(ones > len(hashes) // 2).tobytes())
