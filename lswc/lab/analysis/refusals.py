"""Refusals: why addresses and links brought no page, in words for people who don't know crawls."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from lswc.outcomes import (
    OF_ELSEWHERE,
    OF_READERS,
    OF_REQUISITE,
    UNSHOWN,
    Outcome,
    is_left_out,
    is_miss,
    of_status,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

ASKED = "The site asks crawlers to stay away (robots.txt, or very long waits)"
OPTED_OUT = "The page asks not to be kept, or its links not to be followed"
BLOCKED = "We set it so: blocked, or outside the bounds of this crawl"
WALL = "Behind a wall: a login, cookies, a refusal, or scripts that weren't run"
GONE = "Nothing is there: no such page, or no such server"
BROKEN = "The server, or the way to it, failed"
UNSUITABLE = "Too large, or damaged"
UNLIKELY = "Unlikely to be in the language"
ENDLESS = "Endless or repeated content, or a limit of each site"
FAULT = "A fault of this software"
ORDER = (
    ASKED, OPTED_OUT, BLOCKED, WALL, GONE, BROKEN, UNSUITABLE, UNLIKELY, ENDLESS, FAULT
)  # fmt: skip
"""The reasons, in the order in which they are shown."""

ELSEWHERE = "Led to another address"
OTHER_KIND = "Neither a page nor a document (a video, a program ...)"
WAITS = "Waits, and is tried again"

_REASONS: dict[str, tuple[str, ...]] = {
    ASKED: (
        Outcome.ROBOTS, Outcome.ROBOTS_UNAVAILABLE, Outcome.CRAWL_DELAY_TOO_LONG,
        Outcome.RETRY_AFTER_TOO_LONG,
    ),
    OPTED_OUT: (Outcome.NOINDEX, Outcome.NOARCHIVE, Outcome.NOFOLLOW),
    BLOCKED: (
        Outcome.BLOCKED, Outcome.PAUSED, Outcome.GENERATED, Outcome.GENERATED_LAST,
        Outcome.NOT_TOLERATED, Outcome.DEPTH, Outcome.PORT,
        Outcome.DOMAIN_NOT_ALLOWED, Outcome.EXCLUDED, Outcome.NOT_INCLUDED, Outcome.SCHEME,
        Outcome.ADDRESS_NOT_PUBLIC, Outcome.DOCUMENT_LEFT, Outcome.IGNORED, Outcome.NO_RECORD,
    ),
    WALL: (
        Outcome.COOKIE_WALL, *UNSHOWN, Outcome.STILL_EMPTY,
        *map(of_status, (401, 402, 403, 407, 429, 451)),
    ),
    BROKEN: (Outcome.TIMEOUTS_ON_SITE, Outcome.TOO_MANY_WAIT),
    GONE: (Outcome.NAME_NOT_RESOLVED, of_status(404), of_status(410)),
    UNSUITABLE: (
        Outcome.TOO_LARGE, Outcome.DECOMPRESSED_TOO_LARGE, Outcome.HEADERS_TOO_LARGE,
        Outcome.TOO_MANY_ENCODINGS, Outcome.TOO_MANY_PIECES, Outcome.BROKEN_COMPRESSION,
        Outcome.RENDERED_TOO_LARGE, Outcome.INVALID_URL, Outcome.URL_TOO_LONG,
    ),
    UNLIKELY: (
        Outcome.STRATEGY, Outcome.IRRELEVANT_SERVER, Outcome.SERVER_BECAME_IRRELEVANT,
        Outcome.LISTING_NOT_WORTH, Outcome.TOO_MANY_UNPROVEN, Outcome.LANGUAGE_SWITCH,
    ),
    FAULT: (
        *OF_READERS, Outcome.BROWSER_DIED, Outcome.RENDERING_TOO_LONG, Outcome.ITEM_DROPPED,
        Outcome.LOST, Outcome.FAILED,
    ),
    ELSEWHERE: (
        Outcome.REDIRECT, Outcome.TWIN, Outcome.CANONICAL, Outcome.COPY, Outcome.LISTING,
        Outcome.REDIRECT_ELSEWHERE,
    ),
    OTHER_KIND: (Outcome.NOT_HTML, Outcome.REQUISITE),
    WAITS: (Outcome.POSTPONED,),
}  # fmt: skip
_OF_OUTCOME = {outcome: reason for reason, all_of in _REASONS.items() for outcome in all_of}


def reason(name: str) -> str:
    """Return one of ORDER, ELSEWHERE, OTHER_KIND and WAITS for the name of an outcome."""
    plain = name.removeprefix(OF_REQUISITE)
    if found := _OF_OUTCOME.get(plain):
        return found
    if plain.startswith(OF_ELSEWHERE):
        return ELSEWHERE
    if is_left_out(plain):
        return ENDLESS
    return BROKEN if is_miss(plain) else FAULT


class Refusals(NamedTuple):
    """Numbers by reason: addresses, and links that weren't followed (None if that isn't known)."""

    addresses: Counter[str]
    links: Counter[str] | None

    @property
    def rows(self) -> list[tuple[str, int, int | None]]:
        """Each of ORDER that has a number."""
        links = self.links
        found = [(why, self.addresses[why], None if links is None else links[why]) for why in ORDER]
        return [row for row in found if row[1] or row[2]]


def refusals(outcomes: Mapping[str, int], discarded: Mapping[str, int] | None) -> Refusals:
    """Return the reasons of outcomes of addresses and, if they are known, of discarded links."""
    return Refusals(_by_reason(outcomes), None if discarded is None else _by_reason(discarded))


def _by_reason(outcomes: Mapping[str, int]) -> Counter[str]:
    found = Counter[str]()
    for name, number in outcomes.items():
        found[reason(name)] += number
    return found
