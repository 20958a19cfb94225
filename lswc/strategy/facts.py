"""The facts of a link: everything a strategy may see, as small finite values.

A link's facts are frozen when it is found, except the status of the server it
leads to, which is asked again whenever that status changes. So the frozen facts
are kept with a queued URL as one small integer, its *code*.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DISTANCE = 12
"""Distances from the latest relevant referrer are clipped to 1 .. MAX_DISTANCE."""


class PageLanguage(IntEnum):
    """Language of a page, as far as a strategy tells languages apart."""

    TARGET = 0
    ENGLISH = 1
    OTHER = 2
    UNKNOWN = 3


class Status(IntEnum):
    """Status of a server or directory (Tamura 2007 §4.1; Somboonviwat 2006 §5)."""

    UNVISITED = 0
    UNDECIDED = 1
    RELEVANT = 2
    IRRELEVANT = 3


class Locality(IntEnum):
    """Where a link leads: to the page's own server, its registered domain, or elsewhere."""

    SAME_SERVER = 0
    SAME_SITE = 1
    ELSEWHERE = 2


class Anchor(IntEnum):
    """Language of a link's anchor text (Chan & Yamana 2010 §3); NONE without text."""

    TARGET = 0
    OTHER = 1
    NONE = 2


class Facts(NamedTuple):
    """The facts of one link.

    ``referrer_server`` and ``target_server`` are taken after the referring page was
    counted (Tamura 2007 Fig. 3). ``in_site`` says that the referring page was a seed
    or came from the site queue (Mon 2010, Algorithm 1). ``oracle`` is known in
    simulations only.
    """

    referrer: PageLanguage
    distance: int
    referrer_server: Status
    target_server: Status
    locality: Locality
    tld: bool
    anchor: Anchor
    in_site: bool
    oracle: bool = False


_LANGUAGES, _LOCALITIES, _ANCHORS = len(PageLanguage), len(Locality), len(Anchor)

SEED = _LANGUAGES * MAX_DISTANCE * 3 * _LOCALITIES * 2 * _ANCHORS * 2 * 2
"""Code of a seed. A seed has no referrer, so no strategy is asked: it is always fetched."""

_DISTANCE = SEED // (_LANGUAGES * MAX_DISTANCE)  # what a code counts distances in

CODES = SEED + 1
"""Number of codes, the seed's among them."""


def encode(facts: Facts) -> int:
    """Return the code of the frozen facts: all of them but ``target_server``.

    The page's own server has just been visited, so ``referrer_server`` is never UNVISITED.
    """
    code = int(facts.referrer)
    code = code * MAX_DISTANCE + facts.distance - 1
    code = code * 3 + facts.referrer_server - 1
    code = code * _LOCALITIES + facts.locality
    code = code * 2 + facts.tld
    code = code * _ANCHORS + facts.anchor
    code = code * 2 + facts.in_site
    return code * 2 + facts.oracle


def decode(code: int, target_server: Status) -> Facts:
    """Return the facts of a code, with the target's status as it is now.

    Raises ValueError for the seed's code, which stands for no link.
    """
    if not 0 <= code < SEED:
        raise ValueError(f"{code} is not the code of a link: 0 .. {SEED - 1}")
    code, oracle = divmod(code, 2)
    code, in_site = divmod(code, 2)
    code, anchor = divmod(code, _ANCHORS)
    code, tld = divmod(code, 2)
    code, locality = divmod(code, _LOCALITIES)
    code, referrer_server = divmod(code, 3)
    referrer, distance = divmod(code, MAX_DISTANCE)
    return Facts(
        PageLanguage(referrer),
        distance + 1,
        Status(referrer_server + 1),
        target_server,
        Locality(locality),
        bool(tld),
        Anchor(anchor),
        bool(in_site),
        bool(oracle),
    )


def all_facts() -> Iterator[Facts]:
    """Yield every combination of facts, about 41,000."""
    for values in product(
        PageLanguage,
        range(1, MAX_DISTANCE + 1),
        (Status.UNDECIDED, Status.RELEVANT, Status.IRRELEVANT),
        Status,
        Locality,
        (False, True),
        Anchor,
        (False, True),
        (False, True),
    ):
        yield Facts(*values)


def distance_of(code: int) -> int:
    """Return the distance from the latest relevant referrer; a seed's is 1."""
    return 1 if code == SEED else code // _DISTANCE % MAX_DISTANCE + 1


def next_distance(relevant: bool, distance: int) -> int:
    """Return the distance of the links of a page that has the given distance itself.

    A link on a relevant page has 1, a link on an irrelevant one the page's own plus 1
    (Kumar & Sharma §III), clipped to MAX_DISTANCE.
    """
    return 1 if relevant else min(distance + 1, MAX_DISTANCE)


def from_site_queue(code: int) -> bool:
    """Tell whether a page with this code came from the site queue (Mon 2010, Algorithm 1).

    Seeds did, and same-site links found inside a site or on its relevant entry page.
    """
    if code == SEED:
        return True
    facts = decode(code, Status.UNVISITED)
    return facts.locality != Locality.ELSEWHERE and (
        facts.in_site or facts.referrer == PageLanguage.TARGET
    )


def effective_language(identified: PageLanguage, inherited: PageLanguage) -> PageLanguage:
    """Return the language that decides for a page (Somboonviwat 2006 §4.1).

    A page whose language can't be told takes ``inherited``: its referrer's identified
    language, and TARGET for a seed. A guess isn't passed on, so a second unknown page in
    a row stays unknown.
    """
    return inherited if identified == PageLanguage.UNKNOWN else identified
