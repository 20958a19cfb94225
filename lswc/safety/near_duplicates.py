"""Near-duplicates: pages that were seen before, or nearly, by simhash.

Charikar 2002; Manku, Jain & Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DISTANCE = 3
"""Bits by which the simhashes of near-duplicates differ at most (Manku et al. §3)."""

_RUN = 5  # characters: no language needs its words told apart for that
_UNCOUNTED = re.compile(r"[\d\s]")
_NO_LETTER = 0xFFFFFFFF
_BMP = 0x10000
_BYTE = 0xFF
_PADDING = np.zeros(_RUN, np.uint32)
_FACTORS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1], np.uint32)


def simhash(text: str) -> int:
    """Return the 64-bit simhash of a text's overlapping runs of five letters, each counted once.

    Case, digits and white space don't count: a date, a price or a counter makes no other text.
    """
    codes = _codes(text)
    if len(codes) < _RUN:
        codes = np.append(codes, _PADDING)
    size = len(codes) - _RUN + 1
    runs = codes[:size] * _FACTORS[0]
    for place in range(1, _RUN):
        runs += codes[place : place + size] * _FACTORS[place]
    runs.sort()
    runs = runs[np.concatenate(([True], runs[1:] != runs[:-1]))]
    return _majority(_mixed(runs.astype(np.uint64)))


def _codes(text: str) -> NDArray[np.uint32]:
    """Return the characters that count, in lower case."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    if len(units) == len(text) and "İ" not in text and "Σ" not in text:
        codes = _table().take(units, mode="wrap")
        counted: NDArray[np.uint32] = codes[codes != _NO_LETTER]
        return counted
    # Some are beyond the table, become two, or look at what is beside them.
    letters = _UNCOUNTED.sub("", text.lower())
    return np.frombuffer(letters.encode("utf-32-le", "replace"), np.uint32)


@cache
def _table() -> NDArray[np.uint32]:
    """Return what each character of the Basic Multilingual Plane counts as."""
    characters = (chr(code).lower()[0] for code in range(_BMP))
    letters = ("" if _UNCOUNTED.match(character) else character for character in characters)
    codes = [ord(letter) if letter else _NO_LETTER for letter in letters]
    codes[0xD800:0xE000] = [ord("?")] * 0x800  # surrogates
    return np.array(codes, np.uint32)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread values over 64 bits (the finaliser of SplitMix64)."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)


def _majority(hashes: NDArray[np.uint64]) -> int:
    """Return the 64 bits that most of the hashes have set."""
    # Each sum of a few fits into a byte, which is far faster to add than a number.
    padded = np.zeros(-(-len(hashes) // _BYTE) * _BYTE, np.uint64)
    padded[: len(hashes)] = hashes
    bits = np.unpackbits(padded.view(np.uint8)).reshape(_BYTE, -1)
    sums = np.add.reduce(bits, axis=0, dtype=np.uint8).reshape(-1, 64)
    ones = np.add.reduce(sums, axis=0, dtype=np.uint32)
    return int.from_bytes(np.packbits(ones > len(hashes) // 2).tobytes())


_QUARTER = 16
_VALUE = (1 << _QUARTER) - 1
_STEPS = range(100)  # in each quarter; 800 take as long as a look at 200,000 hashes


class Seen:
    """The simhashes of the latest pages, at most ``size`` of them: 24 bytes each, and 1 MB.

    Of the four quarters of two hashes within three bits one is the same (Manku, Jain & Das Sarma,
    WWW 2007, §3.1). So every page leads to the one before it with the same first quarter, second
    and so on. Where servers make so many that share one that this is a long way, all hashes are
    looked at. Pages are numbered from 1; there may be 2**32 - 1.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._added = 0
        self._hashes = _zeros(size, np.uint64)
        # By quarter: the latest page with a value, and the one before a page. What was forgotten
        # may still stand there, as numbers that are too low.
        self._chains = [
            (_zeros(1 << _QUARTER, np.uint32), _zeros(size, np.uint32)) for _ in range(4)
        ]

    def holds(self, simhash: int) -> bool:
        """Tell whether a text like this one was added."""
        hashes, size = self._hashes, self._size
        forgotten = self._added - size if self._added > size else 0
        rest = simhash
        for latest, before in self._chains:
            number = latest[rest & _VALUE]
            rest >>= _QUARTER
            for _ in _STEPS:
                if number <= forgotten:
                    break
                place = number % size
                if (hashes[place] ^ simhash).bit_count() <= DISTANCE:
                    return True
                number = before[place]
            else:
                return self._is_near_any(simhash)
        return False

    def _is_near_any(self, simhash: int) -> bool:
        hashes = np.asarray(self._hashes)
        if self._added < self._size:
            hashes = hashes[1 : self._added + 1]
        return bool((np.bitwise_count(hashes ^ np.uint64(simhash)) <= DISTANCE).any())

    def add(self, simhash: int) -> None:
        """Remember a text, in the place of the oldest."""
        self._added = number = self._added + 1
        place = number % self._size
        self._hashes[place] = rest = simhash
        for latest, before in self._chains:
            value = rest & _VALUE
            rest >>= _QUARTER
            before[place] = latest[value]
            latest[value] = number


def _zeros(size: int, kind: type[np.uint32 | np.uint64]) -> memoryview:
    """Return numbers that take memory as they are set, and are Python's when read: that is fast."""
    return np.zeros(size, kind).data
