"""A page on its way from the spider's callback to its record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lswc.strategy import DISCARD, Anchor, Locality, PageLanguage, Status

if TYPE_CHECKING:
    from lswc.frontier.contract import Lease
    from lswc.langid import Identification
    from lswc.urls import Url


@dataclass(slots=True)
class Link:
    """A link in scope; the middlewares fill in what they know of it."""

    url: Url
    unit: str
    locality: Locality
    anchor: Anchor
    tld: bool = False
    target_server: Status = Status.UNVISITED
    tier: int = DISCARD


@dataclass(slots=True)
class Page:
    """A downloaded page and its links.

    ``language`` is the one that decides, a guess included; ``relevant`` says that it is the
    target. ``link_distance`` is the distance of the page's links from the latest relevant
    referrer. ``simhash`` is that of its text, ``near_duplicate`` says that one like it came before.
    ``unwanted`` is the word by which it asks not to be kept: noindex or noarchive, or empty.
    """

    lease: Lease
    status: int
    identification: Identification
    identified: PageLanguage
    language: PageLanguage
    title: str
    simhash: int
    near_duplicate: bool
    unwanted: str = ""
    links: list[Link] = field(default_factory=list)
    server_status: Status = Status.UNDECIDED
    link_distance: int = 1

    @property
    def relevant(self) -> bool:
        """Whether the page counts as written in the target language."""
        return self.language == PageLanguage.TARGET
