"""Report: what is told of a frontier, whatever store it is in; also while a crawl runs on it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.rules.contract import FULL, Counts
from lswc.frontier.rules.revisited import BELIEVED, CLAIMS, DISBELIEVED, Became

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lswc.frontier.rules.harvest import CellHarvest
    from lswc.frontier.rules.revisited import Revisited

SAMPLE = 1_000
"""Pages by which it is estimated how fresh all are."""


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


class SiteOrder(StrEnum):
    """What sites are sorted by."""

    NAME = "name"
    PAGES = "pages"
    RELEVANT = "relevant"
    PENDING = "pending"
    LEFT_OUT = "left_out"
    MISSED = "missed"
    BYTES = "bytes"


class SiteTotals(NamedTuple):
    """A site (registered domain): its servers, and what became of their URLs.

    ``missed`` were asked for in vain; ``left_out`` were discarded, or ended by a quota.
    """

    name: str
    servers: int
    pages: int
    relevant: float
    missed: int
    left_out: int
    pending: int
    bytes: int


class SiteList(NamedTuple):
    """The first of ``number`` sites."""

    number: int
    sites: list[SiteTotals]


class SiteServer(NamedTuple):
    """A server of a site."""

    name: str
    pages: int
    relevant: float
    missed: int
    bytes: int
    pending: int


class OfSite(NamedTuple):
    """A site in full: its largest servers, and its URLs by outcome or reason.

    Of all URLs of the frontier the share ``looked_at`` was, the latest: there was no more time.
    ``family`` is that of an unproven site (``Lookup.family_of``), "" of another.
    """

    totals: SiteTotals
    servers: list[SiteServer]
    outcomes: dict[str, int]
    looked_at: float
    family: str = ""


@dataclass(frozen=True)
class Freshness:
    """Pages that are visited again.

    There are ``pages``, sitemaps and feeds among them. Of the pages the share ``fresh`` should be
    as they were at their latest visit, by what is believed of their changes; None if there is none.
    ``due`` may be asked for now, the next one at ``next_due``, in seconds since 1970. ``budget``
    are the visits a day; of these the share ``used`` was made since the process began (of several:
    since the first of them did), None if it isn't known.
    ``changed``, ``unchanged`` and ``gone`` count visits so far, ``finds`` the new relevant pages
    that came by them. Of changes that sitemaps and feeds claimed, so many were ``believed``, or
    ``disbelieved``.
    """

    pages: int
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
class RevisitedPage:
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


def revisited_page(page: Revisited, usual: tuple[float, float], day: float) -> RevisitedPage:
    """Return what is shown of a page, whose times are in days of so many seconds.

    ``usual`` are changes and new pages a day of its kind and site.
    """
    shape, days = page.belief(usual[0])
    return RevisitedPage(
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
    again, claims = tallies.get("visited again", {}), tallies.get(CLAIMS, {})
    return {
        "changed": again.get(Became.CHANGED, 0),
        "unchanged": again.get(Became.UNCHANGED, 0),
        "gone": tallies.get("no longer visited", {}).get("gone", 0),
        "believed": claims.get(BELIEVED, 0),
        "disbelieved": claims.get(DISBELIEVED, 0),
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


def by_kind(rows: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    """Return tallies (kind, name, number) by kind; in each the largest come first."""
    tallies: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for kind, name, number in sorted(rows, key=lambda row: (-row[2], row[1])):
        if number:
            tallies[kind][name] = number
    return dict(tallies)
