"""Headings of a list of links: what kind of sites stands below, and what are no sites at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lswc.seeds.kinds import of_heading

if TYPE_CHECKING:
    from lswc.urls import Url

LABEL = 7
"""Level of a line such as "News:", below all six levels of headings."""

_LONGEST = 200  # characters of a heading that are read
_NO_SITES = (
    ("informative links", r"informative|\bin english\b|^english$|further reading|^references?$"),
    ("additional information", r"^additional (?:information|names)|^scripts?\b|^orthograph"),
    ("thanks", r"^thank|acknowledg|^credits|contributors|^authors?$"),
    ("instructions", r"^instructions|contribut|what kind of web|^(?:table of )?contents$"),
    ("a licence", r"licen[cs]e|^copyright"),
)
_LEFT_OUT = tuple((name, re.compile(words)) for name, words in _NO_SITES)

_OWN = {
    "the project's own": ("commoncrawl.org", "commoncrawl.github.io", "github.com/commoncrawl"),
    "a licence": ("creativecommons.org", "opensource.org", "spdx.org", "choosealicense.com"),
    "informative links": (
        "en.wikipedia.org", "iso639-3.sil.org", "ethnologue.com", "glottolog.org",
    ),
}  # fmt: skip


class Headings:
    """The headings above a place of a document, each with its level.

    ``kind`` is that of the sites there, by the nearest heading that names one; ``left_out`` says
    why links there are no sites, "" if they may be.
    """

    def __init__(self) -> None:
        self._above: list[tuple[int, str, str]] = []
        self.kind = self.left_out = ""

    def begin(self, level: int, text: str) -> None:
        """Begin what stands below a heading; a deeper one leaves it as it is."""
        text = text[:_LONGEST].strip(" \t*_:#")
        self._end(level)
        self._above.append((level, of_heading(text), no_sites(text)))
        self._tell()

    def end(self, level: int) -> None:
        """End what stands below the headings of a level, and of deeper ones."""
        self._end(level)
        self._tell()

    def _end(self, level: int) -> None:
        while self._above and self._above[-1][0] >= level:
            self._above.pop()

    def _tell(self) -> None:
        self.kind = next((kind for _, kind, _ in reversed(self._above) if kind), "")
        self.left_out = next((why for _, _, why in self._above if why), "")


def no_sites(text: str) -> str:
    """Return what a heading says that stands below instead of sites; "" for sites."""
    lower = text.strip().lower()
    return next((name for name, words in _LEFT_OUT if words.search(lower)), "")


def is_about(url: Url, codes: tuple[str, ...]) -> str:
    """Return why a link is no site of a language wherever it stands; "" if it may be one.

    Links to the Web Languages Project and to licences, and to what is written about languages in
    English, unless that is asked for.
    """
    host, path = url.hostname.removeprefix("www."), url.path.lower()
    for reason, places in _OWN.items():
        if reason == "informative links" and "en" in codes:
            continue
        for place in places:
            name, _, below = place.partition("/")
            if (host == name or host.endswith(f".{name}")) and path.startswith(f"/{below}"):
                return reason
    return ""
