"""Duplicates: texts of a corpus that were there before, exactly or nearly."""

from __future__ import annotations

from array import array
from hashlib import blake2b

from lswc.safety.near_duplicates import DISTANCE, simhash


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
