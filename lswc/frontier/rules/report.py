"""Report: what is told of a frontier, whatever store it is in; also while a crawl runs on it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from heapq import nsmallest
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.rules.contract import FULL, Counts, site_of
from lswc.frontier.rules.harvest import harvest
from lswc.frontier.rules.held import BELIEVED, DISBELIEVED, SAID, Became
from lswc.strategy import (
    GUESSES,
    REQUISITES,
    LearnedOrder,
    adaptive,
    order,
    status,
    strategy,
    with_requisites,
)
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lswc.frontier.rules.harvest import CellHarvest
    from lswc.frontier.rules.held import Held
    from lswc.safety.server_limits import Taken
    from lswc.strategy import Experience, Order, Pages, Strategy

SAMPLE = 1_000
"""Held pages that tell how fresh all are."""


@dataclass(frozen=True)
class Queue:
    """A server's queue: pending URLs, and its counters Na and Nr."""

    server: str
    pending: int
    downloaded: int
    relevant: float


class Family(NamedTuple):
    """Unproven sites, by the proven site that introduced them (``lswc.strategy.families``).

    How many sites were met, and the pages that they brought. Most of them, ``of_branch``, came by
    the unproven site ``branch``, or it alone did.
    """

    name: str
    sites: int
    pages: int
    branch: str
    of_branch: int


@dataclass(frozen=True)
class Report:
    """A frontier as its last commit left it; ``identity`` says what crawl it is of.

    ``queues`` are the longest, ``largest`` those of the servers with most pages. ``cells`` are
    those with URLs or pages, the best first.
    """

    identity: Mapping[str, str]
    counts: Counts
    queues: tuple[Queue, ...]
    largest: tuple[Queue, ...]
    cells: tuple[CellHarvest, ...]


@dataclass(frozen=True)
class Server:
    """A server as the frontier knows it.

    ``queue`` is its queue, ``status`` that of its pages (a server's, also if the strategy counts by
    directory), ``waiting`` the number of its URLs by cell, and ``next`` the URLs that come first
    of it, with their cells. ``strategy`` is the crawl's, which knows what cells are.
    """

    strategy: str
    queue: Queue
    status: str
    waiting: dict[int, int]
    next: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Freshness:
    """Pages that are visited again.

    There are ``held`` ones, sitemaps and feeds among them. Of the pages the share ``fresh`` should
    be as they are held, by what is believed of their changes; None if there is none. ``due`` may
    be asked for now, the next one at ``next_due``, in seconds since 1970. ``budget`` are the visits
    a day; of these the share ``used`` was made since the process began (of several: since the first
    of them did), None if it isn't known.
    ``changed``, ``unchanged`` and ``gone`` count visits so far, ``finds`` the new relevant pages
    that came by them. Of changes that sitemaps and feeds told, so many were ``believed``, or
    ``disbelieved``.
    """

    held: int
    fresh: float | None
    due: int
    next_due: float | None
    budget: float
    used: float | None
    changed: int
    unchanged: int
    gone: int
    finds: int
    believed: int = 0
    disbelieved: int = 0


@dataclass(frozen=True)
class HeldPage:
    """What is known of a page that is visited again. Times are seconds since 1970.

    It had ``visits``, the latest at ``visited``. It should change ``changes`` times a day, and lead
    to so many new relevant pages (``finds``). It wasn't had for ``misses`` visits; ``is_gone`` says
    that it wasn't there once.
    """

    visits: int
    visited: float
    changes: float
    finds: float
    due: float
    misses: int
    is_gone: bool


def held_page(page: Held, usual: tuple[float, float], day: float) -> HeldPage:
    """Return what is told of a held page, whose times are in days of so many seconds.

    ``usual`` are changes and new pages a day of its kind and site.
    """
    shape, days = page.belief(usual[0])
    return HeldPage(
        visits=page.visits,
        visited=page.visited * day,
        changes=shape / days,
        finds=page.finds(usual[1]),
        due=page.due * day,
        misses=page.misses,
        is_gone=page.is_gone,
    )


def visits_so_far(tallies: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return what Freshness counts of visits, by all tallies."""
    again, said = tallies.get("visited again", {}), tallies.get(SAID, {})
    return {
        "changed": again.get(Became.CHANGED, 0),
        "unchanged": again.get(Became.UNCHANGED, 0),
        "gone": tallies.get("no longer held", {}).get("gone", 0),
        "believed": said.get(BELIEVED, 0),
        "disbelieved": said.get(DISBELIEVED, 0),
    }


class Standing(NamedTuple):
    """Where one URL stands. ``outcome`` is None while it is pending or leased, and "" if only the
    log knows it.

    Of a URL that isn't there it is why the frontier discarded others of its server, if it did.
    ``code`` holds the facts of the link that brought it (``lswc.strategy.decode``), if the
    frontier still has them. ``family`` has the site that introduced its own, if that is unproven.
    ``worker`` is the one that finished it, if many share the frontier:
    host:folder.
    """

    outcome: str | None
    code: int | None = None
    worker: str = ""
    family: tuple[str, ...] = ()

    @property
    def is_discarded(self) -> bool:
        """Whether the URL isn't there, as too many of its server or domain were pending."""
        return self.outcome in FULL.values()


@dataclass(frozen=True)
class Completion:
    """Servers that ended, by how; names are those of the first ones.

    ``complete`` is the number of servers with pages whose URLs all ended. ``cut`` has those of
    which URLs were left out: (server, reason, URLs), ``cut_number`` how many there are. ``failed``
    has those without a page whose URLs all ended: (server, an outcome of theirs or ""),
    ``failed_number`` how many there are.
    """

    complete: int
    cut: tuple[tuple[str, str, int], ...]
    cut_number: int
    failed: tuple[tuple[str, str], ...]
    failed_number: int


class Ended(NamedTuple):
    """Servers whose URLs all ended, and of which none was left out.

    How many have pages, how many have none, and the first of these by name, with an outcome.
    """

    complete: int
    failed_number: int
    failed: Sequence[tuple[str, str]]


class Reader(ABC):
    """A frontier that is only read. A store answers what is abstract; the rest is made of that.

    Methods raise LswcError, within the block in which the store was opened.
    """

    @abstractmethod
    def identity(self) -> dict[str, str]:
        """Return what crawl it is, and of which version."""

    @abstractmethod
    def tallies(self) -> dict[str, dict[str, int]]:
        """Return the tallies by kind and name, at once: no URL is counted for it."""

    @abstractmethod
    def pending(self) -> dict[int, int]:
        """Count the pending URLs by cell. Leased ones are among them if ``leased`` is 0."""

    @abstractmethod
    def leased(self) -> int:
        """Return the number of leased URLs, where the store knows of leases."""

    @abstractmethod
    def statuses(self) -> dict[str, int]:
        """Count servers, or directories if the strategy counts by them, by status."""

    @abstractmethod
    def servers(self) -> int:
        """Return the number of servers that URLs were offered of."""

    @abstractmethod
    def server_names(self) -> list[str]:
        """Return the names of all these servers."""

    @abstractmethod
    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        """Return the pages of servers, or directories if the strategy counts by them, once met."""

    @abstractmethod
    def taken(self, server: str) -> tuple[Taken, Taken]:
        """Return what a server and its registered domain have brought."""

    @abstractmethod
    def pages_by_cell(self) -> dict[int, Pages]:
        """Return the crawl's pages by the cell that they were leased from."""

    @abstractmethod
    def experience(self) -> tuple[Experience, Experience]:
        """Return what is known of cells now, and was when all cells were last scored."""

    @abstractmethod
    def longest(self, top: int) -> tuple[tuple[Queue, ...], tuple[Queue, ...]]:
        """Return the longest queues, and those of the servers with most pages."""

    @abstractmethod
    def families(self, top: int) -> list[Family]:
        """Return the families with most unproven sites, the largest first."""

    @abstractmethod
    def support(self, site: str) -> int:
        """Return the support of a site, as far as anything counts it."""

    @abstractmethod
    def family_of(self, site: str) -> tuple[str, ...]:
        """Return the family and the branch of an unproven site; nothing of another."""

    @abstractmethod
    def queue(self, server: str) -> Queue | None:
        """Return a server's queue, None if it was never met."""

    @abstractmethod
    def waiting_of(self, server: str) -> dict[int, int]:
        """Count the URLs of a server by cell."""

    @abstractmethod
    def next_of(self, server: str, cell: int, most: int) -> list[str]:
        """Return the oldest URLs of a server in a cell."""

    @abstractmethod
    def servers_like(self, text: str, most: int) -> list[str]:
        """Return names of servers that contain a text."""

    @abstractmethod
    def find(self, url: str) -> Standing | None:
        """Return how a URL stands, None if it isn't there."""

    def freshness(self, now: float) -> Freshness | None:
        """Return how fresh the held pages are at a Unix time; None if none is visited again."""
        return None

    def held(self, url: str) -> HeldPage | None:
        """Return what is known of a page that is visited again; None of another."""
        return None

    @abstractmethod
    def finished(self) -> Iterator[tuple[str, str]]:
        """Yield every finished URL and its outcome, that of a requisite after OF_REQUISITE."""

    @abstractmethod
    def finished_elsewhere(self) -> Iterable[str] | None:
        """Return the URLs that other workers finished first; None if there are no others."""

    @abstractmethod
    def left_out(self, server: str | None = None) -> Iterable[tuple[str, str, int]]:
        """Return server, reason and number of URLs that were left out, of all or of one."""

    @abstractmethod
    def ended(self, top: int) -> Ended:
        """Return the servers that ended; of those without a page the first ones."""

    @cached_property
    def strategy(self) -> Strategy:
        """The crawl's strategy."""
        return with_requisites(strategy(self.identity()["strategy"]))

    def order(self) -> Order:
        """Return the order of cells as it is now."""
        if not self.strategy.learns:
            return order(self.strategy)
        known = LearnedOrder(*self.experience())
        now, scored = known.experience.crawl, known.scored.crawl
        if adaptive.is_due(now.downloaded, scored.downloaded):
            known.score_all()
        return known

    def cells(self) -> tuple[CellHarvest, ...]:
        """Return the cells with URLs or pages, the best first."""
        return self.harvest(self.pending(), self.pages_by_cell())

    def harvest(
        self, pending: dict[int, int], pages: Mapping[int, Pages]
    ) -> tuple[CellHarvest, ...]:
        """Return the cells of these pending URLs and pages, the best first."""
        for cell in (REQUISITES, GUESSES):
            pending.pop(cell, None)
        return harvest(self.order(), pending, pages)

    def counts(self) -> Counts:
        """Count everything, exactly."""
        pending = self.pending()
        requisites = pending.pop(REQUISITES, 0) + pending.pop(GUESSES, 0)
        return Counts(pending, self.leased(), self.statuses(), self.tallies(), requisites)

    def report(self, top: int = 10) -> Report:
        """Return what the frontier holds, with its ``top`` longest queues."""
        counts = self.counts()
        cells = self.harvest(dict(counts.pending), self.pages_by_cell())
        return Report(self.identity(), counts, *self.longest(top), cells)

    def server(self, name: str, top: int = 10) -> Server | None:
        """Return what is known of a server, and its next ``top`` URLs; None if nothing."""
        queue = self.queue(name)
        if queue is None:
            return None
        waiting, rank = self.waiting_of(name), self.order().rank
        following: list[tuple[str, int]] = []
        for cell in sorted(waiting, key=rank):
            if len(following) < top:
                urls = self.next_of(name, cell, top - len(following))
                following += [(url, cell) for url in urls]
        pages = status(queue.downloaded, queue.relevant, self.strategy.tolerated)
        return Server(self.strategy.name, queue, pages.name.lower(), waiting, tuple(following))

    def standing(self, url: str) -> Standing | None:
        """Return where a URL stands, None if the frontier doesn't know it."""
        found, parsed = self.find(url), parse(url)
        if found is not None and parsed is not None:
            return found._replace(family=self.family_of(site_of(parsed.server))[:1])
        if found is not None or parsed is None:
            return found
        reasons = {reason for _, reason, _ in self.left_out(parsed.server)}
        return next((Standing(reason) for reason in FULL.values() if reason in reasons), None)


def completion(reader: Reader, top: int = 10) -> Completion:
    """Return how servers ended."""
    left_out = list(reader.left_out())
    cut = nsmallest(top, left_out, key=lambda row: (-row[2], row[:2]))
    complete, number, failed = reader.ended(top)
    names = {server for server, *_ in left_out}
    return Completion(complete, tuple(cut), len(names), tuple(failed), number)


def by_kind(rows: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    """Return tallies (kind, name, number) by kind; in each the largest come first."""
    tallies: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for kind, name, number in sorted(rows, key=lambda row: (-row[2], row[1])):
        if number:
            tallies[kind][name] = number
    return dict(tallies)
