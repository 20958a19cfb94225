"""Paragraphs seen: which ones a crawl's pages had before, in bounded memory.

A Bloom filter (Bloom 1970) of 2**29 bits, 64 MiB. With so many paragraphs as BITS / 10, some 53
million, it takes one in a hundred new ones for seen; with twice as many one in nine. It forgets
none.

Each worker has its own, of the pages of its sites. It survives a restart. What a page had is noted
before the page is committed: after a kill the pages that were under way bring nothing new.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from lswc.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

BITS = 2**29
HASHES = 5
FILE = "paragraphs-seen"
"""Name of the filter in the crawl folder."""


def places(paragraph: int) -> Iterator[int]:
    """Yield a paragraph's bits, by double hashing (Kirsch and Mitzenmacher 2006)."""
    name = paragraph % 2**64
    first, step = name >> 32, name % 2**32 | 1
    return ((first + step * number) % BITS for number in range(HASHES))


class SeenParagraphs:
    """Paragraphs by the 64 bits that stand for each; in the crawl's folder. Raises StorageError."""

    def __init__(self, folder: Path) -> None:
        try:
            with (folder / FILE).open("a+b") as file:
                # With its room: a full disk under a mapped file ends the process (SIGBUS).
                os.posix_fallocate(file.fileno(), 0, BITS // 8)
                self._bits = mmap.mmap(file.fileno(), BITS // 8)
        except OSError as error:
            raise StorageError(f"can't write {folder / FILE}: {error}") from error

    def add(self, paragraphs: Sequence[int]) -> list[bool]:
        """Take notice of paragraphs; tell of each whether it is new."""
        return [self._is_new(paragraph) for paragraph in paragraphs]

    def _is_new(self, paragraph: int) -> bool:
        bits, is_new = self._bits, False
        for place in places(paragraph):
            at, mask = place >> 3, 1 << (place & 7)
            if not bits[at] & mask:
                bits[at] |= mask
                is_new = True
        return is_new

    def close(self) -> None:
        """Keep what was noted."""
        with suppress(OSError):  # the next power cut may cost what wasn't written
            self._bits.flush()
        self._bits.close()
