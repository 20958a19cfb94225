"""Pages that were seen before, or nearly: a 64-bit similarity hash of their text."""

from __future__ import annotations

import re

import numpy as np

EXAMINED = 20_000
"""Characters of a text that its hash is made of."""
DISTANCE = 3
"""Bits in which the hashes of near-duplicates differ at most (Manku et al., WWW 2007, §3)."""

_CHANGING = re.compile(r"[\d\s]+")  # dates, prices and counters don't make a page another
_SHINGLE = 5
_PRIMES = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93,
     0xFF51AFD7ED558CCD], dtype=np.uint64,
)  # fmt: skip


def similarity_hash(text: str) -> int:
    """Return the simhash of a text's characters, five by five, but digits and spaces.

    Charikar 2002; as characters, because Thai or Chinese text shows no words.
    """
    letters = _CHANGING.sub("", text[:EXAMINED]).lower().ljust(_SHINGLE)
    codes = np.frombuffer(letters.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    shingles = np.lib.stride_tricks.sliding_window_view(codes, _SHINGLE)
    hashes = np.bitwise_xor.reduce((shingles + np.uint64(1)) * _PRIMES, axis=1)
    hashes = np.unique((hashes ^ hashes >> np.uint64(29)) * _PRIMES[4])
    hashes ^= hashes >> np.uint64(32)
    bits = np.unpackbits(hashes.view(np.uint8)).reshape(len(hashes), 64)
    return int.from_bytes(np.packbits(bits.sum(axis=0) * 2 > len(hashes)).tobytes())


class Seen:
    """The hashes of the latest pages, at most ``size`` of them, 8 bytes each."""

    def __init__(self, size: int) -> None:
        self._hashes = np.zeros(size, np.uint64)
        self._added = 0

    def add(self, text: str) -> bool:
        """Remember a text; tell whether one like it was there."""
        key = np.uint64(similarity_hash(text))
        size = len(self._hashes)
        held = self._hashes[: min(self._added, size)]
        found = bool((np.bitwise_count(held ^ key) <= DISTANCE).any())
        self._hashes[self._added % size] = key
        self._added += 1
        return found
