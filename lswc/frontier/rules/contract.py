"""Contract of the frontier: URLs and server counters, which change together.

Verbs: ``offer`` links to URLs, ``lease`` the next one, ``commit`` its visit; or ``postpone`` a URL
that couldn't be had, or ``give_back`` one that wasn't asked for. A URL is pending, leased or
finished; what a strategy discards, or what is too much of a server (``Caps``), is counted and
forgotten, so another page may offer it again. A URL is known by its ``fingerprint``, so http and
https twins are one.
Requisites of pages (code REQUISITE) wait and end like pages, but by their own name and in
a queue of their own.

The rules that a store keeps are pure functions here, and numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.outcomes import Outcome
from lswc.strategy import Pages, Status, status
from lswc.strategy.facts import NO_PAGES
from lswc.strategy.families import AGAIN, BURST, DEBT, SMALL

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lswc.frontier.rules.visit import Lease, Offer, Visit
    from lswc.strategy import Experience, Order, Strategy

FAR = 0.1
"""A URL waits while others are pending of which ten times as much is expected."""

FIRST_PAGES = 1_000
"""Pages of a crawl that no URL is asked for in haste in: there is no choice of good ones yet."""

FAR_AT_FIRST = 0.4
"""What FAR is at a crawl's start; it falls to that with its FIRST_PAGES."""

AWAITED = 0.003
"""Nobody waits for URLs of which less than this is expected: most aren't relevant, either way, and
what is expected of them is too uncertain to tell which should come first."""

PATIENCE = 3.0
"""Usual rests of a server for which a URL waits after the latest lease that was none in haste.

Far better URLs come one by one, as their servers have rested. How long ago the latest came tells
how long the next one takes, as the mean of a queue's departures does. Where that is longer than a
few rests these servers are few, or slow. Then an idle second costs what a free connection could
bring, and saves nothing: a server that rests needs no connection.
"""

LEAST_REST = 1.0
"""Seconds that a server is taken to rest at least, as its answer takes time, too."""

BURST_OF_HASTE = 100.0
"""The most requests in haste in a row."""

AT_ONCE = 100
"""Postponed URLs that come back at most at a time: a server may have many thousands."""

FULL = {"server": Outcome.SERVER_QUEUE_FULL, "site": Outcome.SITE_QUEUE_FULL}
"""Why a URL is discarded when a server, or a site, has too many."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caps:
    """The most URLs of a server, and of a registered domain, that are pending at once.

    Any number at 0. Beyond it the worst are discarded: those of the last cell by the order, of
    these the ones of the server that was met last, of these the newest. They are counted by
    ``FULL``, and forgotten. What is leased counts as pending, and stays. What was postponed
    counts again when it is due.

    ``sites`` is the most unproven sites that have pending URLs (``lswc.strategy.families``); of one
    family a tenth. Beyond it what a page offers of sites that weren't met is discarded. If it isn't
    0, an unproven site may have 1,000 URLs (``URLS`` there) and no more.
    """

    server: int = 0
    domain: int = 0
    sites: int = 0


NO_CAPS = Caps()


def statuses_after(
    pages: Mapping[str, Pages],
    units: Collection[str],
    lease: Lease,
    counted: float | None,
    tolerated: int,
) -> dict[str, Status]:
    """Return the status of each unit, by its ``pages`` so far and what the leased page counts.

    ``counted`` is None if that doesn't count; a page that is visited again was counted.
    """
    after = dict(pages)
    if counted is not None and not lease.visits and lease.unit in after:
        downloaded, relevant = after[lease.unit]
        after[lease.unit] = Pages(downloaded + 1, relevant + counted)
    return {unit: status(*after.get(unit, NO_PAGES), tolerated) for unit in units}


def new_status(pages: Mapping[str, Pages], visit: Visit, strategy: Strategy) -> Status | None:
    """Return what a page makes of its server or directory, by the unit's ``pages`` before it.

    None if that stays what it was.
    """
    lease, units, tolerated = visit.lease, {visit.lease.unit}, strategy.tolerated
    before = statuses_after(pages, units, lease, None, tolerated)[lease.unit]
    after = statuses_after(pages, units, lease, visit.counted, tolerated)[lease.unit]
    return None if before == after else after


def discarded_as(strategy: Strategy) -> Outcome:
    """Return why a frontier discards a link, or a pending URL, that the strategy has asked it to.

    It asked about a status before; of support the frontier alone can tell.
    """
    return Outcome.STRATEGY if strategy.weighs_support else Outcome.SERVER_BECAME_IRRELEVANT


def is_far_better(order: Order, best: int, cell: int) -> bool:
    """Tell whether a cell is worth less than FAR times what is expected of the best one.

    Then its URLs wait for the servers of the best (``Terms.patience``): a free connection is no
    reason to fetch what is hardly relevant. At a crawl's start the share is larger: few servers are
    known then, and most connections are free. The price of a look at a server hardly known lets its
    own URLs come earlier, but nobody waits for it. Never in a fixed order, nor if of the best less
    than AWAITED is expected.
    """
    worth, most = order.worth(cell), order.expected(best)
    if worth is None or most is None:
        return False
    left = max(0.0, 1 - order.pages / FIRST_PAGES) if FIRST_PAGES else 0.0
    return most >= AWAITED and worth < (FAR + (FAR_AT_FIRST - FAR) * left) * most


def patience_of(delay: float) -> float:
    """Return the ``Terms.patience`` of a crawl whose servers rest for ``delay`` seconds."""
    return PATIENCE * max(delay, LEAST_REST)


def is_twin_of_redirect(offer: Offer) -> bool:
    """Tell whether an offer is taken though its http twin is finished, having redirected.

    It may lead back to its https twin, as in http://a, http://www.a, https://a: the one case in
    which a URL is fetched by both schemes.
    """
    return offer.redirects > 0 and offer.url.startswith("https:")


class Share:
    """Requests that unproven sites may have while proven ones wait: a ``share`` of all.

    Each request to a proven site adds to the ``credit``, each to an unproven one takes from it:
    three times as much if its family had the one before, too. So a family that is alone gets some
    two fifths of the share. ``turn`` is the number of the family that had the last. Small families
    are as proven; the site that introduced a family is of it, but never has to wait.
    """

    def __init__(self, share: float) -> None:
        self.share = share
        self.credit = 0.0
        self.turn = 0

    def may(self, family: int) -> bool:
        """Tell whether there is credit for a request to a site of a family."""
        return self.credit >= self._cost(family)

    def _cost(self, family: int) -> float:
        return (1 - self.share) * (AGAIN if family == self.turn else 1)

    def leased(self, family: int, others_wait: bool) -> None:
        """Count a request to a site of a family, or to a proven one (0).

        One to an unproven site is free of charge while no proven one waits or is under way.
        """
        if not family:
            self.credit = min(self.credit + self.share, BURST * (1 - self.share))
            return
        if others_wait:
            self.credit = max(self.credit - self._cost(family), -DEBT * (1 - self.share))
        self.turn = family


def changed_of(lengths: Mapping[str, int] | None, known: Mapping[str, int]) -> dict[str, int]:
    """Return the lengths of files that aren't known."""
    return {name: size for name, size in (lengths or {}).items() if known.get(name) != size}


FORMAT = 21
"""Version of what a store keeps: a crawl of another one is refused."""

Wanted = Callable[[str, int], bool]
"""Tells by a URL and its depth whether it is wanted."""


class FrontierError(ConfigError):
    """A frontier isn't this crawl's, or is in use; the message says what to do."""


class VersionError(FrontierError):
    """A frontier is of another version of lswc; nothing of it is read or changed."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a crawl sets for its frontier.

    ``haste`` is the share of the requests for URLs that would wait, while connections are free, for
    far better ones of busy servers: at 1 none waits. A URL waits for these only in the first
    ``patience`` seconds after the latest lease that was none in haste. ``caps`` bound what is
    pending, ``unproven_share`` is that of ``Share``, for families of more than ``small_family``
    unproven sites that wait. A new crawl begins with the ``experience`` of an earlier one; without,
    with a ``prior``, that of ``lswc.strategy.prior`` if this is None, too. Pages are visited again
    ``revisit`` times a day each, on the mean, none at 0; a ``day`` has so many seconds
    of the ``clock``. While some are, URLs of cells worth less than ``least_worth`` wait, if that is
    known.
    """

    haste: float = 1.0
    patience: float = PATIENCE
    caps: Caps = NO_CAPS
    experience: Experience | None = None
    prior: Experience | None = None
    unproven_share: float = 1.0
    small_family: int = SMALL
    revisit: float = 0.0
    least_worth: float = 0.0
    day: float = 86_400.0
    clock: Callable[[], float] = time

    @property
    def waits(self) -> bool:
        """Whether a URL may wait for far better ones."""
        return self.haste < 1

    @property
    def spare(self) -> float:
        """The requests in haste that each other one earns."""
        return self.haste / (1 - self.haste) if self.waits else 0.0


DEFAULTS = Terms()


@dataclass(frozen=True)
class Counts:
    """What a frontier holds.

    ``pending`` by cell, ``requisites`` those that wait or are leased; ``servers`` (or directories,
    if the strategy counts by them) by status; ``tally`` by kind and name: "finished" URLs by
    outcome, "discarded" links and URLs by reason, and whatever the pages' leases counted.
    """

    pending: Mapping[int, int]
    leased: int
    servers: Mapping[str, int]
    tally: Mapping[str, Mapping[str, int]]
    requisites: int


def check_format(found: Mapping[str, object], otherwise: str = "") -> None:
    """Raise VersionError unless what was found of a crawl says that it is of this version.

    ``otherwise`` says what to do instead of going on with that crawl.
    """
    given = str(found.get("format"))
    if given != str(FORMAT):
        is_later = given.isdecimal() and int(given) > FORMAT
        name = "a later version of lswc" if is_later else "lswc 0.1"
        raise VersionError(f"this crawl was begun with {name}: finish it with that one{otherwise}")


def check_identity(
    found: Mapping[str, object], identity: Mapping[str, str], otherwise: str
) -> None:
    """Raise FrontierError unless the crawl that was found is this one.

    ``otherwise`` says what to do instead of going on with that crawl.
    """
    check_format(found, f", or {otherwise}")
    for key, value in identity.items():
        if found.get(key) == value:
            continue
        if key == "cells" and found.get("strategy") == identity["strategy"]:
            raise FrontierError(
                "this crawl was begun with another version of the strategy: finish it with the "
                f"lswc that began it, or {otherwise}"
            )
        raise FrontierError(
            f"this crawl has {key} {found.get(key)!r}, not {value!r}: "
            f"go on with that, or {otherwise}"
        )
