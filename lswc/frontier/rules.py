"""Rules that every store of the frontier keeps: pure functions, and numbers.

What must run inside Redis is in its script: it is given the numbers (``redis_script``), and
tests hold that its functions answer as these do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.outcomes import Outcome
from lswc.strategy import Pages, status
from lswc.strategy.status import NO_PAGES
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lswc.frontier.lease import Lease, Offer
    from lswc.frontier.visit import Visit
    from lswc.strategy import Order, Status, Strategy

PATIENCE = 0.1
"""A URL waits while others are pending that are ten times as likely to be relevant."""

SOON = 60.0
"""Seconds for which a URL is held back, at a time, because far better ones are pending."""

AT_ONCE = 100
"""Postponed URLs that come back at most at a time: a server may have many thousands."""

FULL = {"server": Outcome.SERVER_QUEUE_FULL, "site": Outcome.SITE_QUEUE_FULL}
"""Why a URL is discarded when a server, or a site, has too many."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caps:
    """The most URLs of a server, and of a registered domain, that are pending at once.

    Any number at 0. Beyond it the worst are discarded: those of the last cell by the order, of
    these the ones of the server that was met last, of these the newest. They are counted as dropped
    by ``FULL``, and forgotten. What is leased counts as pending, and stays. What was postponed
    counts again when it is due.
    """

    server: int = 0
    domain: int = 0


NO_CAPS = Caps()


def statuses_after(
    pages: Mapping[str, Pages],
    units: Collection[str],
    lease: Lease,
    relevant: bool | None,
    tolerated: int,
) -> dict[str, Status]:
    """Return the status of each unit, by its ``pages`` so far and the leased page.

    ``relevant`` is None if the leased page doesn't count.
    """
    counted = dict(pages)
    if relevant is not None and lease.unit in counted:
        downloaded, relevants = counted[lease.unit]
        counted[lease.unit] = Pages(downloaded + 1, relevants + relevant)
    return {unit: status(*counted.get(unit, NO_PAGES), tolerated) for unit in units}


def may_discard(visit: Visit, strategy: Strategy) -> bool:
    """Tell whether a page can make a strategy discard URLs of its server or directory."""
    return visit.relevant is not None and strategy.drops


def new_status(pages: Mapping[str, Pages], visit: Visit, strategy: Strategy) -> Status | None:
    """Return what a page makes of its server or directory, by the unit's ``pages`` before it.

    None if that stays what it was.
    """
    lease, units, tolerated = visit.lease, {visit.lease.unit}, strategy.tolerated
    before = statuses_after(pages, units, lease, None, tolerated)[lease.unit]
    after = statuses_after(pages, units, lease, visit.relevant, tolerated)[lease.unit]
    return None if before == after else after


def is_far_better(order: Order, best: int, cell: int, patience: float) -> bool:
    """Tell whether a cell brings less than ``patience`` times what the best one should bring.

    Then its URLs wait while the servers of the best are busy or rest: a free connection is no
    reason to fetch what is hardly relevant. Never in a fixed order.
    """
    expected, most = order.expected(cell), order.expected(best)
    return expected is not None and most is not None and expected < patience * most


def is_twin_of_redirect(offer: Offer) -> bool:
    """Tell whether an offer is taken though its http twin is finished, having redirected.

    It may lead back to its https twin, as in http://a, http://www.a, https://a: the one case in
    which a URL is fetched by both schemes.
    """
    return offer.redirects > 0 and offer.url.startswith("https:")


def changed_of(lengths: Mapping[str, int] | None, known: Mapping[str, int]) -> dict[str, int]:
    """Return the lengths of files that aren't known."""
    return {name: size for name, size in (lengths or {}).items() if known.get(name) != size}


def site_of(server: str) -> str:
    """Return the site of a server, which may be written with a port."""
    host, _, port = server.rpartition(":")
    return site(host if host and port.isdecimal() else server)
