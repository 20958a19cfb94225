"""Which of the URLs that are offered a SQLite file knows, and how."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from lswc.outcomes import Outcome
from lswc.strategy import REQUISITE, SEED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

    from lswc.frontier.lease import Offer

KEPT = 20_000
"""URLs that are kept in memory at most, those found lately: some 5 MB."""


WAITS, ENDED, MOVED = range(3)
"""States of a URL: it waits or is leased; is finished; finished as http that only redirected."""


class Known(NamedTuple):
    """What the file knows of a URL. Its ``state`` is WAITS, ENDED or MOVED."""

    seq: int
    line: int
    code: int
    depth: int
    state: int


# A page names many, and this takes a third of the time that Known(...) does.
_known: Callable[[tuple[int, ...]], Known] = partial(tuple.__new__, Known)

_TWIN = {"http": "https", "https": "http"}
_FIND = (
    "SELECT fingerprint, seq, line, code, depth, CASE WHEN outcome IS NULL THEN 0"
    f" WHEN outcome = '{Outcome.REDIRECT}' AND url LIKE 'http:%' THEN 2 ELSE 1 END"
    " FROM json_each(?) CROSS JOIN url ON fingerprint = value"
)
_ENDED = -1  # instead of a code


class Seen:
    """Finds URLs again by their fingerprints.

    Most links of a page lead where others led. So it is kept of URLs that were found again what
    an offer must bring to change anything.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._kept: dict[str, tuple[int, int]] = {}

    def forget(self) -> None:
        """Keep nothing: any URL may be there no more, or wait again."""
        self._kept.clear()

    def changed(self, url: str) -> None:
        """Forget a URL, and its http or https twin: they are known by one fingerprint."""
        scheme, _, name = url.partition("://")
        for twin in (f"{scheme}://{name}", f"{_TWIN[scheme]}://{name}"):
            for code in (SEED, REQUISITE):
                self._kept.pop(_name(twin, code), None)

    def changing(self, offers: Iterable[Offer]) -> list[Offer]:
        """Return the offers that may change something: all but those that certainly don't."""
        kept = self._kept
        found = []
        for offer in offers:
            last = kept.get(_name(offer.url, offer.code))
            # A redirect may take its http twin's place.
            if last is None or offer.redirects or _changes(offer, *last):
                found.append(offer)
        return found

    def keep(self, offer: Offer, found: Known) -> None:
        """Keep what is known of the URL of an offer."""
        if found.state == MOVED or offer.code > REQUISITE:
            return
        if len(self._kept) >= KEPT:
            self.forget()
        code = _ENDED if found.state == ENDED else found.code
        self._kept[_name(offer.url, offer.code)] = code, found.depth

    def find(self, keys: Sequence[int]) -> dict[int, Known]:
        """Return what the file knows, by the keys of URLs."""
        rows = self._db.execute(_FIND, (msgspec.json.encode(keys).decode(),))
        return {row[0]: _known(row[1:]) for row in rows}


def _changes(offer: Offer, code: int, depth: int) -> bool:
    return code != _ENDED and (code != offer.code or depth > offer.depth)


def _name(url: str, code: int) -> str:
    return url if code < REQUISITE else f"{code} {url}"
