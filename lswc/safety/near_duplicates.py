"""Pages that were seen before, or nearly."""

from __future__ import annotations

import numpy as np

from lswc.simhash import DISTANCE


class Seen:
    """The simhashes of the latest pages, at most ``size`` of them, 8 bytes each."""

    def __init__(self, size: int) -> None:
        self._hashes = np.zeros(size, np.uint64)
        self._added = 0

    def holds(self, simhash: int) -> bool:
        """Tell whether a text like this one was added."""
        held = self._hashes[: min(self._added, len(self._hashes))]
        return bool((np.bitwise_count(held ^ np.uint64(simhash)) <= DISTANCE).any())

    def add(self, simhash: int) -> None:
        """Remember a text, in the place of the oldest."""
        self._hashes[self._added % len(self._hashes)] = simhash
        self._added += 1
