"""Paragraphs seen: which ones a crawl's pages had before, in bounded memory.

A Bloom filter (Bloom 1970) of 2**29 bits, 64 MiB. With so many paragraphs as BITS / 10, some 53
million, it takes one in a hundred new ones for seen; with twice as many one in nine. It forgets
none.

The workers of a crawl share one, in their Redis: any worker may get any page of a server, and the
twin of a page on another worker would count as new. It survives a restart. What a page had is noted
before the page is committed: after a kill the pages that were under way bring nothing new.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from lswc.errors import StorageError
from lswc.frontier.shards import SHARDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from lswc.frontier.redis_script import Connection
    from lswc.frontier.sharded import ShardedFrontier

BITS = 2**29
HASHES = 5
FILE = "paragraphs-seen"
"""Name of the filter in the crawl folder."""

_AT_ONCE = 200  # paragraphs of one call to Redis


class SeenParagraphs(Protocol):
    """Paragraphs by the 64 bits that stand for each."""

    def add(self, paragraphs: Sequence[int]) -> list[bool]:
        """Take notice of paragraphs; tell of each whether it is new. Raises LswcError."""

    def close(self) -> None:
        """Keep what was noted."""


def places(paragraph: int) -> Iterator[int]:
    """Yield a paragraph's bits, by double hashing (Kirsch and Mitzenmacher 2006)."""
    name = paragraph % 2**64
    first, step = name >> 32, name % 2**32 | 1
    return ((first + step * number) % BITS for number in range(HASHES))


class InFile:
    """Those of a crawl with one worker, in its folder. Raises StorageError."""

    def __init__(self, folder: Path) -> None:
        try:
            with (folder / FILE).open("a+b") as file:
                # With its room: a full disk under a mapped file ends the process (SIGBUS).
                os.posix_fallocate(file.fileno(), 0, BITS // 8)
                self._bits = mmap.mmap(file.fileno(), BITS // 8)
        except OSError as error:
            raise StorageError(f"can't write {folder / FILE}: {error}") from error

    def add(self, paragraphs: Sequence[int]) -> list[bool]:
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
        with suppress(OSError):  # the next power cut may cost what wasn't written
            self._bits.flush()
        self._bits.close()


class InRedis:
    """Those of all workers of a crawl."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, paragraphs: Sequence[int]) -> list[bool]:
        found: list[bool] = []
        left: Iterable[int] = iter(paragraphs)
        while some := list(islice(left, _AT_ONCE)):
            set_all = [
                part
                for paragraph in some
                for place in places(paragraph)
                for part in ("SET", "u1", place, 1)
            ]
            (before,) = self._connection.ask(("BITFIELD", "paragraphs", set_all))
            bits = iter(before)
            found += [not all(list(islice(bits, HASHES))) for _ in some]
        return found

    def close(self) -> None:
        """Nothing is left to keep."""


class OnShards:
    """Those of a crawl on several Redis servers: each has a filter, for its part of them.

    While a server is away, its part counts as new.
    """

    def __init__(self, frontier: ShardedFrontier) -> None:
        self._frontier = frontier
        self._filters = [InRedis(part.connection) for part in frontier.parts]

    def add(self, paragraphs: Sequence[int]) -> list[bool]:
        is_new: dict[int, bool] = {}
        servers = self._frontier.layout.servers
        for part, seen in zip(self._frontier.parts, self._filters, strict=True):
            own = [one for one in dict.fromkeys(paragraphs) if servers[one % SHARDS] == part.index]
            if own:
                found = self._frontier.ask(part, partial(seen.add, own), [True] * len(own))
                is_new.update(zip(own, found, strict=True))
        # The second of two in one page isn't new.
        return [is_new.pop(paragraph, False) for paragraph in paragraphs]

    def close(self) -> None:
        """Nothing is left to keep."""
