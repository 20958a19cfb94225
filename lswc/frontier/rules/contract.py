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

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Any

from lswc.errors import ConfigError
from lswc.frontier.exchange.status import ALONE, Elsewhere
from lswc.outcomes import Outcome
from lswc.strategy import DISCARD, Locality, Pages, Status, status
from lswc.strategy.facts import NO_PAGES
from lswc.strategy.families import AGAIN, BURST, DEBT, SMALL
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from lswc.frontier.rules.harvest import CellHarvest
    from lswc.frontier.rules.report import Family, Freshness, Reader
    from lswc.frontier.rules.visit import Lease, Offer, Visit
    from lswc.safety.server_limits import Taken
    from lswc.strategy import Experience, Order, Strategy

FAR = 0.1
"""A URL waits while others are pending of which ten times as much is expected."""

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


def may_discard(visit: Visit, strategy: Strategy) -> bool:
    """Tell whether a page can make a strategy discard URLs of its server or directory."""
    return visit.relevant is not None and strategy.discards


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
    reason to fetch what is hardly relevant. The price of a look at a server hardly known lets its
    own URLs come earlier, but nobody waits for it. Never in a fixed order, nor if of the best less
    than AWAITED is expected.
    """
    worth, most = order.worth(cell), order.expected(best)
    if worth is None or most is None:
        return False
    return most >= AWAITED and worth < FAR * most


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


def site_of(server: str) -> str:
    """Return the site of a server, which may be written with a port."""
    host, _, port = server.rpartition(":")
    return site(host if host and port.isdecimal() else server)


def locality(here: str, there: str) -> Locality:
    """Return how far apart two servers are, by their names."""
    if here == there:
        return Locality.SAME_SERVER
    return Locality.SAME_SITE if site_of(here) == site_of(there) else Locality.ELSEWHERE


FORMAT = 18
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
    unproven sites that wait. A new crawl begins with ``experience``. Each page that is held is
    visited again ``revisit`` times a day, on the mean, none at 0; a ``day`` has so many seconds of
    the ``clock``. While some are, URLs of cells worth less than ``least_worth`` wait, if that is
    known.
    """

    haste: float = 1.0
    patience: float = PATIENCE
    caps: Caps = NO_CAPS
    experience: Experience | None = None
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


class Stock(ABC):
    """What a frontier holds, for those who ask while they crawl."""

    strategy: Strategy

    @abstractmethod
    def reading(self) -> AbstractContextManager[Reader]:
        """Read the frontier as it is now, what isn't committed included. Raises LswcError."""

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        """Return the pages of servers, or directories if the strategy counts by them, once met."""
        with self.reading() as reader:
            return reader.pages(units)

    def pages_of(self, unit: str) -> Pages:
        """Return the pages of a server, or a directory if the strategy counts by them."""
        return self.pages({unit}).get(unit, NO_PAGES)

    def statuses(
        self, units: Collection[str], lease: Lease, counted: float | None
    ) -> dict[str, Status]:
        """Return the status of each unit as it is once the leased page is ``counted``.

        None if it doesn't count.
        """
        pages = self.pages(units)
        return statuses_after(pages, units, lease, counted, self.strategy.tolerated)

    def taken(self, server: str) -> tuple[Taken, Taken]:
        """Return what a server and its registered domain have brought, as leases say it."""
        with self.reading() as reader:
            return reader.taken(server)

    def server_names(self) -> Iterable[str]:
        """Return the names of all servers that URLs were offered of."""
        with self.reading() as reader:
            return reader.server_names()

    @abstractmethod
    def lengths(self) -> dict[str, int]:
        """Return the ``lengths`` of all commits, the latest of each file."""

    @property
    def unsaved(self) -> int:
        """Bytes that a power cut would lose, and a checkpoint saves; 0 if there are no such."""
        return 0

    def finished(self) -> Iterator[tuple[str, str]]:
        """Yield every finished URL and its outcome, that of a requisite after OF_REQUISITE."""
        with self.reading() as reader:
            return reader.finished()

    @property
    @abstractmethod
    def pending(self) -> int:
        """Number of URLs neither leased nor finished."""

    @property
    @abstractmethod
    def requisites(self) -> int:
        """Number of requisites that wait; those that this process leased may be among them."""

    @property
    @abstractmethod
    def later(self) -> int:
        """Number of the pending URLs that were postponed and aren't due yet."""

    @abstractmethod
    def next_due(self) -> float | None:
        """Return when the first URL that was postponed is due; None if there is none."""

    @property
    def servers(self) -> int:
        """Number of servers that URLs were offered of."""
        with self.reading() as reader:
            return reader.servers()

    @property
    def held(self) -> int:
        """Number of pages that are visited again and again: a crawl that has some doesn't end."""
        return 0

    @property
    @abstractmethod
    def unfinished(self) -> int:
        """Number of URLs pending or leased: where all workers have 0, the crawl ends."""

    def cells(self) -> tuple[CellHarvest, ...]:
        """Return the cells with URLs or pages, the best first: what they hold, and should bring.

        ``lswc.frontier.rules.harvest.forecast`` makes a forecast of them.
        """
        with self.reading() as reader:
            return reader.cells()

    def cells_everywhere(self) -> tuple[CellHarvest, ...]:
        """Return the cells of all workers of the crawl, as far as they told."""
        return self.cells()

    def freshness(self, now: float) -> Freshness | None:
        """Return how fresh the held pages are at a Unix time; None if none is visited again."""
        with self.reading() as reader:
            return reader.freshness(now)

    def family_of(self, server: str) -> tuple[str, ...]:
        """Return the sites by which a server's unproven one came: its family and branch.

        None of them if its site isn't unproven.
        """
        with self.reading() as reader:
            return reader.family_of(site_of(server))

    def families(self, top: int) -> list[Family]:
        """Return the families with most unproven sites, the largest first."""
        with self.reading() as reader:
            return reader.families(top)

    def counts(self) -> Counts:
        """Count everything, exactly."""
        with self.reading() as reader:
            return reader.counts()

    def tallies(self) -> Mapping[str, Mapping[str, int]]:
        """Return the tallies of ``counts``, at once: no URL is counted for it."""
        with self.reading() as reader:
            return reader.tallies()


class Frontier(Stock):
    """What a crawl asks of its store. ``elsewhere`` is what other workers of the crawl have."""

    elsewhere: Elsewhere = ALONE
    is_shared = False
    """Whether other workers have sites of this crawl."""

    def hear(self, elsewhere: Elsewhere) -> None:
        """Take notice of what other workers have now."""
        self.elsewhere = elsewhere

    @abstractmethod
    def _pending_of(self, visit: Visit) -> Iterable[tuple[str, int]]:
        """Return the pending URLs of a leased URL's unit, and their kinds; none if it has ended."""

    def discarded_by(self, visit: Visit) -> list[str]:
        """Return the pending URLs that the visit's page makes the strategy discard, once committed.

        URLs that were postponed are only counted.
        """
        if not may_discard(visit, self.strategy):
            return []  # without asking
        status = new_status(self.pages({visit.lease.unit}), visit, self.strategy)
        if status is None:
            return []
        cell_of, place = self.strategy.cell_of, int(status)
        if self.strategy.weighs_support:
            with self.reading() as reader:
                place += len(Status) * reader.support(site_of(visit.lease.server))
        return [url for url, kind in self._pending_of(visit) if cell_of[kind][place] == DISCARD]

    @abstractmethod
    def offer(self, offers: Sequence[Offer]) -> None:
        """Add URLs that no page brought (seeds), in order: a kill may leave out the last."""

    @abstractmethod
    def lease(self, now: float) -> Lease | None:
        """Hand out the oldest URL of the best cell whose server is free and rested.

        ``now`` in seconds, on any clock that doesn't go back. None if there is none now.
        """

    @abstractmethod
    def restrict(self, cells: Collection[int] | None) -> None:
        """Let ``lease`` hand out URLs of these cells alone; None lifts that."""

    @abstractmethod
    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        """Hand out the best URL of the first of these servers that is free, rested and has one."""

    @abstractmethod
    def lease_requisite(self, now: float) -> Lease | None:
        """Hand out the oldest requisite whose server is free and rested; ``lease`` never does.

        ``now`` as there. None if there is none now.
        """

    @property
    @abstractmethod
    def holds_back(self) -> bool:
        """Whether the latest ``lease`` handed out nothing as what is free waits for better URLs."""

    @abstractmethod
    def next_ready(self) -> float | None:
        """Return when ``lease`` is worth another try though nothing is offered or finished here.

        That is when the next server is rested; None if none rests.
        """

    @abstractmethod
    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        """End a visit and its lease: in one transaction, count the page, ask again the URLs of
        its unit if the status changed, store what the page brought, and free the server.

        ``lengths`` are those in bytes of files that the crawl writes, by name, what this visit
        brought included: of all that changed since the last commit, or of more.
        False if the lease had ended. Raises FrontierError if the store can't be written; it
        then holds what it held before.
        """

    @abstractmethod
    def postpone(self, visit: Visit, due: float, lengths: Mapping[str, int] | None = None) -> bool:
        """End a lease whose URL couldn't be had for now, as ``visit.outcome`` says.

        The URL waits until ``due``, on the clock of ``lease``, then it is pending as before; at
        once if the crawl was stopped meanwhile. It is tallied as "postponed" until then. Only what
        ``lswc.outcomes.is_transient`` tells counts as one of its tries.
        ``lengths``, the result and errors are those of ``commit``.
        """

    @abstractmethod
    def give_back(self, visit: Visit) -> bool:
        """End a lease as if its URL hadn't been leased. False if it had ended."""

    @abstractmethod
    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        """Make the URLs due that finished so, or were postponed for it; return how many.

        Only outcomes that ``lswc.outcomes.may_return`` tells: of others a store may know no more.
        ``wanted`` tells by a URL and its depth which of them, None for all.
        """

    @abstractmethod
    def reopen(self, urls: Collection[str], lengths: Mapping[str, int]) -> int:
        """Let finished URLs wait again, whose pages were lost; return how many there are.

        ``lengths`` are those of all files, as they are now. Raises LswcError.
        """

    def hold(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Hold the pages that were ``records``-ed while no page was visited again, and listings.

        Also what later visits found, of which an older store doesn't know. Nothing if none is
        visited again, or all are held. Raises LswcError.
        """

    def prepare_checkpoint(self) -> bool:
        """Begin to make durable what was committed, beside the crawl; tell whether that is done.

        Then a ``checkpoint`` takes a moment. Raises LswcError. Done by default.
        """
        return True

    def checkpoint(self) -> None:
        """Make all that was committed outlast a power cut. What it refers to must do so before.

        Nothing by default, where the store saves by its own rules (docs/operations.md).
        """

    @abstractmethod
    def close(self, under_way: Iterable[Visit] = ()) -> None:
        """Close the store. Unfinished leases become pending.

        The servers of the visits ``under_way`` rest as these say; others are free at once.
        """


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
