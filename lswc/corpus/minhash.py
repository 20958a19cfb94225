"""Clusters of texts that are the same, or nearly, found by MinHash.

Broder 1997; the signature is that of FineWeb (Penedo et al. 2024, appendix E.1): 14 bands of 8
hashes, so texts with three quarters of their runs in common fall together. A run is five words;
where scripts have no blanks it is so many letters, and no list of words is needed.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BANDS, ROWS = 14, 8

CHUNK = 100_000
"""Texts whose bands are read at once."""

_ONCE = 512  # runs that are hashed at once: they stay in the processor's cache
_DIGESTS = 2
_COLUMNS = _DIGESTS + BANDS
_FACTORS = np.random.default_rng(1997).integers(1, 2**63, (BANDS * ROWS, 1), np.uint64) * np.uint64(
    2
) + np.uint64(1)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


def bands(found: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a number for each band of the signature of runs: two texts alike share one or more."""
    least = np.full(BANDS * ROWS, np.iinfo(np.uint64).max, np.uint64)
    for begin in range(0, len(found), _ONCE):
        hashes = found[begin : begin + _ONCE] * _FACTORS
        np.minimum(least, hashes.min(axis=1), out=least)
    rows = least.reshape(BANDS, ROWS)
    keys = np.zeros(BANDS, np.uint64)
    for row in range(ROWS):
        keys = (keys ^ rows[:, row]) * _MIX
        keys ^= keys >> np.uint64(32)
    return keys


class Found(NamedTuple):
    """By the number of a text: the first of its cluster, and whether it is exactly an earlier one.

    ``sizes`` are those of clusters, by the first of each.
    """

    first: NDArray[np.int64]
    is_exact: NDArray[np.bool_]
    sizes: NDArray[np.int64]


class Clusters:
    """Texts, by numbers from 0 on: 128 bytes of each in ``file``, a temporary one."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._copies: list[tuple[int, int]] = []
        self.number = 0

    def add(self, text: str, found: NDArray[np.uint64], whole: str = "") -> int:
        """Take a text with its runs; return its number.

        ``whole`` is the text with what its site repeats: of two pages that are the same, the later
        one may have less of it.
        """
        self._file.write(_digest(text) + _digest(whole or text) + bands(found).tobytes())
        self.number += 1
        return self.number - 1

    def add_copy(self, of: int) -> int:
        """Take a copy of a text, by that one's number; return its own."""
        self._copies.append((self.number, of))
        # No other text has such bands.
        self._file.write(blake2b(b"%d" % self.number, digest_size=8).digest() * _COLUMNS)
        self.number += 1
        return self.number - 1

    def find(self) -> Found:
        """Return the clusters: texts that share a band, and those that share one with them."""
        first = np.arange(self.number).data
        for here, of in self._copies:
            _join(first, of, here)
        is_exact = np.zeros(self.number, bool)
        for column in range(_COLUMNS):
            for one, other in _pairs(self._column(column)):
                _join(first, one, other)
                if column < _DIGESTS:
                    is_exact[other] = True
        for number in range(self.number):
            first[number] = first[first[number]]
        whole = np.asarray(first)
        for here, _ in self._copies:
            is_exact[here] = True
        return Found(whole, is_exact, np.bincount(whole, minlength=self.number))

    def _column(self, column: int) -> NDArray[np.uint64]:
        self._file.flush()
        self._file.seek(0)
        found = np.empty(self.number, np.uint64)
        for begin in range(0, self.number, CHUNK):
            data = np.frombuffer(self._file.read(CHUNK * _COLUMNS * 8), np.uint64)
            texts = data.reshape(-1, _COLUMNS)
            found[begin : begin + len(texts)] = texts[:, column]
        self._file.seek(0, 2)
        return found


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


def _pairs(keys: NDArray[np.uint64]) -> list[tuple[int, int]]:
    """Return the texts that share a key with one before them, and that one."""
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    return list(zip(order[same].tolist(), order[same + 1].tolist(), strict=True))


def _root(first: memoryview[int], number: int) -> int:
    while first[number] != number:
        first[number] = first[first[number]]
        number = first[number]
    return number


def _join(first: memoryview[int], one: int, other: int) -> None:
    """Make two clusters one, by the earlier of their first texts."""
    one, other = _root(first, one), _root(first, other)
    if one != other:
        first[max(one, other)] = min(one, other)
