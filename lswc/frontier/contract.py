"""What a frontier holds and promises: URLs and server counters, which change together.

Verbs: ``offer`` links to URLs, ``lease`` the next one, ``commit`` its visit; or ``put_off`` a URL
that couldn't be had, or ``give_back`` one that wasn't asked for. A URL is pending, leased or
finished; what a strategy discards, or what is too much of a server (``Caps``), is counted and
forgotten, so another page may offer it again. A URL is known by its ``fingerprint``, so http and
https twins are one.
Requisites of pages (code REQUISITE) wait and end like pages, but by their own name and in
a queue of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lswc.errors import ConfigError
from lswc.strategy import Pages, status
from lswc.strategy.status import NO_PAGES
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from lswc.frontier.harvest import CellHarvest
    from lswc.frontier.lease import Lease, Offer
    from lswc.frontier.visit import Visit
    from lswc.safety.quotas import Taken
    from lswc.strategy import Order, Status, Strategy


Wanted = Callable[[str, int], bool]
"""Tells by a URL and its depth whether it is wanted."""


class FrontierError(ConfigError):
    """A frontier isn't this crawl's, or is in use; the message says what to do."""


def check_identity(
    found: Mapping[str, object], identity: Mapping[str, str], otherwise: str
) -> None:
    """Raise FrontierError unless the crawl that was found is this one.

    ``otherwise`` says what to do instead of going on with that crawl.
    """
    for key in ("format", "cells"):
        if found.get(key) != identity.get(key) and found.get("strategy") == identity.get(
            "strategy"
        ):
            raise FrontierError(
                "this crawl was begun with another version of lswc: finish it with that one, or "
                + otherwise
            )
    for key, value in identity.items():
        if found.get(key) != value:
            raise FrontierError(
                f"this crawl has {key} {found.get(key)!r}, not {value!r}: "
                f"go on with that, or {otherwise}"
            )


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


def new_status(pages: Mapping[str, Pages], visit: Visit, strategy: Strategy) -> Status | None:
    """Return what a page makes of its server or directory, by the unit's ``pages`` before it.

    None if that stays what it was, or doesn't matter to the strategy: nothing is dropped then.
    """
    lease, units, tolerated = visit.lease, {visit.lease.unit}, strategy.tolerated
    if visit.relevant is None or "target_server" not in strategy.facts:
        return None
    before = statuses_after(pages, units, lease, None, tolerated)[lease.unit]
    after = statuses_after(pages, units, lease, visit.relevant, tolerated)[lease.unit]
    return None if before == after else after


def site_of(server: str) -> str:
    """Return the site of a server, which may be written with a port."""
    host, _, port = server.rpartition(":")
    return site(host if host and port.isdecimal() else server)


SOON = 60.0
"""Seconds for which a URL is held back, at a time, because far better ones wait."""


def changed_of(lengths: Mapping[str, int] | None, known: Mapping[str, int]) -> dict[str, int]:
    """Return the lengths of files that aren't known."""
    return {name: size for name, size in (lengths or {}).items() if known.get(name) != size}


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


PATIENCE = 0.1
"""A URL waits while others are pending that are ten times as likely to be relevant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Caps:
    """The most URLs of a server, and of a registered domain, that are pending at once.

    Any number at 0. Beyond it the worst, by the order of cells, are let go: they are dropped
    as ``Outcome.SERVER_QUEUE_FULL`` or ``SITE_QUEUE_FULL``, and forgotten. What is leased counts
    as waiting, and stays. What was put off counts again when it is due.
    """

    server: int = 0
    domain: int = 0


NO_CAPS = Caps()


@dataclass(frozen=True)
class Counts:
    """What a frontier holds.

    ``pending`` by cell, ``requisites`` those that wait or are leased; ``servers`` (or directories,
    if the strategy counts by them) by status; ``tally`` by kind and name: "finished" URLs by
    outcome, "dropped" links and URLs by reason, and whatever the pages' leases counted.
    """

    pending: Mapping[int, int]
    leased: int
    servers: Mapping[str, int]
    tally: Mapping[str, Mapping[str, int]]
    requisites: int = 0


class Frontier(Protocol):
    """One contract for every store."""

    def statuses(
        self, units: Collection[str], lease: Lease, relevant: bool | None
    ) -> dict[str, Status]:
        """Return the status of each unit as it is after counting the leased page.

        ``relevant`` is None if the page doesn't count.
        """

    def pages_of(self, unit: str) -> Pages:
        """Return the pages of a server, or a directory if the strategy counts by them."""

    def taken(self, server: str) -> tuple[Taken, Taken]:
        """Return what a server and its registered domain have brought, as leases say it."""

    def dropped_by(self, visit: Visit) -> list[str]:
        """Return the waiting URLs that the visit's page makes the strategy drop, once committed.

        What other workers find meanwhile is only counted, and so are URLs that were put off.
        """

    def offer(self, offers: Sequence[Offer]) -> None:
        """Add URLs that no page brought (seeds), in one transaction."""

    def lease(self, now: float) -> Lease | None:
        """Hand out the oldest URL of the best cell whose server is free and rested.

        ``now`` in seconds, on any clock that doesn't go back. None if there is none now.
        """

    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        """Hand out the best URL of the first of these servers that is free, rested and has one."""

    def server_names(self) -> Iterable[str]:
        """Return the names of all servers that URLs were offered of."""

    def lease_requisite(self, now: float) -> Lease | None:
        """Hand out the oldest requisite whose server is free and rested; ``lease`` never does.

        ``now`` as there. None if there is none now. Of requisites that were put off some stores
        only know by ``lease`` that they are due.
        """

    def next_ready(self) -> float | None:
        """Return when ``lease`` is worth another try though nothing is offered or finished here.

        That is when the next resting server is rested, or when it's time to see what other
        workers did; None if neither will be.
        """

    def renew(self, now: float) -> Collection[int]:
        """Say that this worker lives, so that its leases don't expire. Ask every few seconds.

        Returns the numbers of its URLs whose leases had expired: they are no longer its own.
        """

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        """End a visit and its lease: in one transaction, count the page, ask again the URLs of
        its unit if the status changed, store what the page brought, and free the server.

        ``lengths`` are those in bytes of files that the crawl writes, by name, what this visit
        brought included: of all that changed since the last commit, or of more.
        False if the lease had ended. Raises FrontierError if the store can't be written; it
        then holds what it held before.
        """

    def put_off(self, visit: Visit, due: float, lengths: Mapping[str, int] | None = None) -> bool:
        """End a lease whose URL couldn't be had for now, as ``visit.outcome`` says.

        The URL waits until ``due``, on the clock of ``lease``, then it is pending as before; at
        once if the crawl was stopped meanwhile. It is tallied as "put off" until then. Only what
        ``lswc.outcomes.is_transient`` tells counts as one of its tries.
        ``lengths``, the result and errors are those of ``commit``.
        """

    def give_back(self, visit: Visit) -> bool:
        """End a lease as if its URL hadn't been leased. False if it had ended."""

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        """Make the URLs due that finished so, or were put off for it; return how many.

        Only outcomes that ``lswc.outcomes.may_return`` tells: of others a store may know no more.
        ``wanted`` tells by a URL and its depth which of them, None for all.
        """

    def lengths(self) -> dict[str, int]:
        """Return the ``lengths`` of all commits, the latest of each file."""

    def checkpoint(self) -> None:
        """Make all that was committed outlast a power cut. What it refers to must do so before."""

    @property
    def unsaved(self) -> int:
        """Bytes that a power cut would lose, and a checkpoint saves; 0 if there are no such."""

    def finished(self) -> Iterator[tuple[str, str]] | None:
        """Yield every finished URL and its outcome; None if the store doesn't keep them.

        That of a requisite begins with OF_REQUISITE.
        """

    def reopen(
        self,
        urls: Collection[str],
        lengths: Mapping[str, int],
        requisites: Collection[str] = (),
    ) -> int:
        """Let finished URLs wait again, whose pages were lost; return how many there are.

        ``requisites`` are those of them that weren't asked for as pages. ``lengths`` are those of
        all files, as they are now. Raises LswcError.
        """

    def fed_seeds(self) -> AbstractContextManager[list[str]]:
        """Give addresses that users feed to the running crawl as further seeds.

        They are taken off the feed when the block ends without an error, so none is lost.
        """

    @property
    def pending(self) -> int:
        """Number of URLs neither leased nor finished."""

    @property
    def requisites(self) -> int:
        """Number of requisites that wait; those that this process leased may be among them."""

    @property
    def later(self) -> int:
        """Number of the pending URLs that were put off and aren't due yet."""

    def next_due(self) -> float | None:
        """Return when the first URL that was put off is due; None if there is none."""

    @property
    def servers(self) -> int:
        """Number of servers that URLs were offered of."""

    @property
    def unfinished(self) -> int:
        """Number of URLs pending, or leased by this worker or another: 0 ends the crawl."""

    def cells(self) -> tuple[CellHarvest, ...]:
        """Return the cells with URLs or pages, the best first: what they hold, and should bring.

        ``lswc.frontier.harvest.forecast`` makes a forecast of them.
        """

    def counts(self) -> Counts:
        """Count everything, exactly."""

    def tallies(self) -> Mapping[str, Mapping[str, int]]:
        """Return the tallies of ``counts``, at once: no URL is counted for it."""

    def tell(self, now: str, point: str, seconds: float) -> None:
        """Keep what this worker does ``now``, for those who watch and can't see its folder.

        Also a ``point`` of the crawl's course, if that isn't empty, and no other worker told one
        within ``seconds``.
        """

    def close(self) -> None:
        """Close the store. Unfinished leases become pending."""
