"""Near duplicates by simhash (Charikar 2002; Manku, Jain & Das Sarma 2007)."""

from __future__ import annotations

from array import array
from hashlib import blake2b
from zlib import crc32

import numpy as np

DISTANCE = 3
"""Bits of 64 by which two texts may differ and still be near duplicates (Manku et al. §3)."""

_SHINGLE = 5  # characters: no language needs its words told apart for that
_MIX = np.uint64(0x9E3779B97F4A7C15)


def simhash(text: str) -> int:
    """Return the 64-bit simhash of a text's overlapping runs of five characters."""
    points = np.frombuffer("".join(text.split()).encode("utf-32-le", "replace"), np.uint32)
    points = points.astype(np.uint64)
    if len(points) < _SHINGLE:
        return crc32(points.tobytes())
    size = len(points) - _SHINGLE + 1
    hashes = np.zeros(size, np.uint64)
    for offset in range(_SHINGLE):
        hashes = (hashes ^ points[offset : offset + size]) * _MIX
        hashes ^= hashes >> np.uint64(29)
    hashes = np.unique(hashes)  # each run once: what repeats says no more
    ones = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0, dtype=np.int64)
    return int.from_bytes(np.packbits(ones * 2 > len(hashes)).tobytes())


class Duplicates:
    """Finds the first text that is the same, or within DISTANCE bits of it.

    Four blocks of 16 bits: one must be equal. A text takes about 250 bytes.
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._values = array("Q")
        self._exact: dict[bytes, int] = {}
        self._blocks: dict[int, array[int]] = {}

    def find(self, text: str, name: str) -> tuple[str, str] | None:
        """Return "exact" or "near" and the name of the earlier text; None remembers this one."""
        digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
        if (number := self._exact.get(digest)) is not None:
            return "exact", self._names[number]
        value = simhash(text)
        keys = [block << 16 | (value >> 16 * block & 0xFFFF) for block in range(DISTANCE + 1)]
        for key in keys:
            for number in self._blocks.get(key, ()):
                if (value ^ self._values[number]).bit_count() <= DISTANCE:
                    return "near", self._names[number]
        self._exact[digest] = len(self._names)
        for key in keys:
            self._blocks.setdefault(key, array("L")).append(len(self._names))
        self._values.append(value)
        self._names.append(name)
        return None
