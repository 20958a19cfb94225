"""URLs on their way into the frontier and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from lswc.safety.server_limits import NOTHING_TAKEN, Taken
from lswc.strategy import LISTING, REQUISITE, SUBLISTING, PageLanguage, source_of
from lswc.urls import fingerprint, fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

LISTINGS = (LISTING, SUBLISTING)
_MARKS = {REQUISITE: 0x5245_5155_4953_4954, **dict.fromkeys(LISTINGS, 0x4C49_5354_494E_4753)}


def key(url: str, code: int) -> int:
    """Return the 64-bit key by which a frontier knows a URL again: ``fingerprint``'s.

    A requisite, or a listing, has another: what a page shows may be a page itself, which a strategy
    decides on.
    """
    return fingerprint(url) ^ _MARKS.get(code, 0)


def keys(offers: Sequence[Offer]) -> list[int]:
    """Return the key of each offer's URL."""
    found = fingerprints([offer.url for offer in offers])
    return [name ^ _MARKS.get(offer.code, 0) for name, offer in zip(found, offers, strict=True)]


class Offer(NamedTuple):
    """A URL offered to the frontier.

    ``code`` holds the frozen facts of its link (``lswc.strategy.encode``), or is SEED or REQUISITE.
    ``inherited`` is the language that the page takes if its own can't be told.
    ``unit`` names what the strategy counts by: the server or the directory.
    """

    url: str
    server: str
    unit: str
    code: int
    inherited: PageLanguage
    depth: int
    redirects: int = 0

    @property
    def key(self) -> int:
        """The key by which a frontier knows the URL again."""
        return key(self.url, self.code)


class Lease(Struct, frozen=True):
    """A URL handed out: what the frontier knew of it. Its server is busy until the visit ends.

    ``cell`` is the one that it was handed out of, ``expected`` the share of relevant pages that
    this was expected to bring, None if the order isn't learned; ``referrer`` is the URL of the
    page whose link brought it, None for a seed. ``id`` is the URL's number, ``token`` that of this
    lease, which no other of this process has; ``tries`` how often the URL was put off before.
    Of a requisite ``depth`` counts the steps from its page. ``of_server`` and ``of_domain`` are
    what its server and registered domain have brought so far.
    """

    id: int
    url: str
    server: str
    unit: str
    code: int
    cell: int
    expected: float | None
    inherited: PageLanguage
    depth: int
    redirects: int
    referrer: str | None
    token: int = 0
    tries: int = 0
    of_server: Taken = NOTHING_TAKEN
    of_domain: Taken = NOTHING_TAKEN

    @property
    def tier(self) -> int | None:
        """The tier that it was handed out of; None in a learned order, and of a requisite."""
        return self.cell if self.expected is None and self.is_page else None

    @property
    def source(self) -> str:
        """What named it: ``seed``, ``link``, ``sitemap`` or ``feed``."""
        return source_of(self.code)

    @property
    def is_page(self) -> bool:
        """Whether it is asked for as a page, which a strategy decided on."""
        return self.code not in _MARKS

    @property
    def is_listing(self) -> bool:
        """Whether it is asked for as a sitemap or feed."""
        return self.code in LISTINGS

    @property
    def is_requisite(self) -> bool:
        """Whether it isn't asked for as a page, but as what an archived page needs."""
        return self.code == REQUISITE

    @property
    def key(self) -> int:
        """The key by which a frontier knows the URL again."""
        return key(self.url, self.code)
