"""Repetition: paragraphs that a site has on many of its pages, such as a notice of cookies."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

from lswc.reading.main_text.blocks import weight
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Iterable

LEAST_PAGES = 5
"""Pages of a site that have a paragraph before it counts as repeated."""
LEAST_SHARE = 0.1
"""Share of a site's pages until now that have it."""
LEAST_LETTERS = 15
"""Letters of a paragraph that is counted; shorter ones, such as "Example:", many texts have."""
PARAGRAPHS_COUNTED = 500_000
"""Paragraphs that are counted at once: about 65 MB."""


class Repetition:
    """Counts paragraphs by site, as pages come.

    So the first pages of a site keep what turns out to be repeated. At PARAGRAPHS_COUNTED those
    that were seen least are forgotten (lossy counting: Manku and Motwani 2002, §4.2), so a count
    is never more than there was.
    """

    def __init__(self, most: int = PARAGRAPHS_COUNTED) -> None:
        self._most = most
        self._pages = Counter[str]()
        self._seen: dict[int, int] = {}

    def of(self, hostname: str, paragraphs: Iterable[str]) -> set[str]:
        """Return those paragraphs of a page that are repeated on the site of its host."""
        home = site(hostname)
        least = max(LEAST_PAGES, LEAST_SHARE * self._pages[home])
        return {one for one in paragraphs if self._seen.get(_key(home, one), 0) >= least}

    def add(self, hostname: str, paragraphs: Iterable[str]) -> None:
        """Count a page's paragraphs, each once."""
        home = site(hostname)
        self._pages[home] += 1
        for one in set(paragraphs):
            if weight(one) >= LEAST_LETTERS:
                key = _key(home, one)
                self._seen[key] = self._seen.get(key, 0) + 1
        if len(self._seen) > self._most:
            self._forget()

    def _forget(self) -> None:
        """Forget the paragraphs seen least, until half of the room is free; and their sites."""
        least = 1
        while len(self._seen) > self._most // 2:
            self._seen = {key: number for key, number in self._seen.items() if number > least}
            least *= 2
        self._pages = Counter({home: n for home, n in self._pages.items() if n >= LEAST_PAGES})


def _key(home: str, paragraph: str) -> int:
    said = f"{home}\n{paragraph}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(said, digest_size=8).digest())
