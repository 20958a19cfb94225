"""Near-duplicates: pages that were seen before, or nearly."""

from __future__ import annotations

import numpy as np

from lswc.safety.simhash import DISTANCE

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
