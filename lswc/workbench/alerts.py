"""Alerts: what somebody should do about a crawl now, with the cause and the next step."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct

from lswc.monitor.snapshot import OFFLINE, SILENT
from lswc.monitor.story import explained
from lswc.outcomes import Outcome, is_left_out
from lswc.plurals import numbered
from lswc.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lswc.monitor.snapshot import Snapshot, Worker

URGENT, SOON, NOTE = "urgent", "soon", "note"
"""Levels: the crawl stands still or loses; it will, or misses much; it is worth knowing."""

SETTLED_SECONDS = 600.0
"""Seconds of a run after which its rate tells when the disk is full."""

DISK_SECONDS = {URGENT: 3 * 3600.0, SOON: 24 * 3600.0}
"""Seconds until the disk is full at which somebody should know."""

LITTLE_DISK = 0.03
"""Share of the disk that is free, below which there is little room in any case."""

SHARE, LEAST = 0.1, 50
"""Share of the URLs that ended in one way, and the number of them, that are many."""

FAULTS_SHARE, FAULTS = 0.01, 20
"""The same of those that ended by a fault of this program."""

LINKED = 20
"""URLs of a server without a page to which relevant pages link: as many make it a hub."""

WALLS = 3
"""Servers behind walls that are worth a setting."""

SHELLS = 20
"""Pages that need their scripts, and weren't shown."""

TRAP_PENDING, TRAP_PAGES = 1_000, 100
"""Pending URLs and pages of a server, none relevant, that make it a trap."""

FAMILY_SITES = 1_000
"""Unproven sites that one site introduced, fewer pages than sites, that make it a farm."""

LITTLE_LEFT, BEGUN_PAGES = 0.01, 1_000
"""Share of relevant pages expected among the next that is little; pages before it is trusted."""

NAMED = 3
"""Servers that get an alert of one kind."""

_REFUSED = (f"{Outcome.STATUS} 401", f"{Outcome.STATUS} 403", f"{Outcome.STATUS} 429")
_WALLS = (Outcome.COOKIE_WALL, f"{Outcome.STATUS} 401")
_SHELLS = (Outcome.NOT_RENDERED, Outcome.RENDERED_ENOUGH)
_UNSEEN = (Outcome.NAME_LOOKUP_FAILED, Outcome.TIMEOUT, Outcome.DOWNLOAD_FAILED)
_FAULTS = (
    Outcome.SPIDER_ERROR, Outcome.READER_DIED, Outcome.READING_TOO_LONG, Outcome.BROWSER_DIED,
    Outcome.LOST, Outcome.FAILED,
)  # fmt: skip
_NEXT: dict[str, str] = {
    Outcome.ROBOTS: "Its owner doesn't want it: ask them, or leave it.",
    Outcome.COOKIE_WALL: "It shows pages to visitors with cookies only: ask its owner.",
    Outcome.NOT_RENDERED: "Crawl with -s LSWC_BROWSER=auto, which runs its scripts.",
    Outcome.RENDERED_ENOUGH: "Raise LSWC_BROWSER_SHARE, so that the browser shows more of it.",
    Outcome.REDIRECT_ELSEWHERE: "See where it leads, and add that site to the seeds.",
}


class Alert(Struct, frozen=True):
    """What is so, in a sentence, and what to do, in another; ``link`` is a page, or ""."""

    level: str
    cause: str
    step: str
    link: str = ""


def alerts(snapshot: Snapshot, *, wrong: str = "", gap: str = "") -> list[Alert]:
    """Return what should be done about a crawl, the most urgent first.

    ``wrong`` says why its instructions can't be understood, ``gap`` why its frontier can't be
    counted; "" if they can.
    """
    found = chain(
        _files(wrong, gap),
        chain.from_iterable(_worker(worker, snapshot) for worker in snapshot.workers),
        _disk(snapshot),
        _network(snapshot),
        _refusals(snapshot),
        _faults(snapshot),
        _hubs(snapshot),
        _walls(snapshot),
        _traps(snapshot),
        _families(snapshot),
        _little_left(snapshot),
    )
    return sorted(found, key=lambda alert: (URGENT, SOON, NOTE).index(alert.level))


def link_to(server: str) -> str:
    """Return the address of the page about a server's site."""
    return f"site?name={quote(site_of(server), safe='')}"


def _files(wrong: str, gap: str) -> Iterator[Alert]:
    if wrong:
        yield Alert(
            URGENT, f"The instructions can't be understood: {wrong}.",
            "Correct the file; those before are in force meanwhile.",
        )  # fmt: skip
    if gap:
        yield Alert(SOON, gap, "Until then the numbers below may not be all.")


def _worker(worker: Worker, snapshot: Snapshot) -> Iterator[Alert]:
    name = f"Worker {worker.host}:{worker.folder}" if len(snapshot.workers) > 1 else "The crawl"
    if worker.state == SILENT:
        yield Alert(
            URGENT, f"{name} reports nothing any more.",
            "See whether its process and its machine live, and give its command again.",
        )  # fmt: skip
    elif worker.is_live and worker.is_stuck:
        yield Alert(
            URGENT, f"{name} does nothing, though URLs are due.",
            "Read its log. If it doesn't end by itself, end it and give its command again.",
        )  # fmt: skip
    if worker.is_live and worker.away:
        yield Alert(
            URGENT, f"{name} can't reach Redis: {worker.away}.",
            "Start Redis again, with its data. Links to others' sites wait meanwhile.",
        )  # fmt: skip


def _disk(snapshot: Snapshot) -> Iterator[Alert]:
    disk = snapshot.disk
    if disk is None or not snapshot.is_live:
        return
    if "LSWC_MIN_DISK" in snapshot.reason:
        yield Alert(URGENT, f"The disk is full: {snapshot.reason}.", "Make room; it goes on then.")
        return
    live = [one for one in snapshot.workers if one.is_live and one.seconds >= SETTLED_SECONDS]
    rate = sum(one.received / one.seconds for one in live)
    left = disk.free / rate if rate else float("inf")
    level = next((level for level, seconds in DISK_SECONDS.items() if left < seconds), "")
    if level:
        yield Alert(
            level, f"At this rate the disk is full in {left / 3600:,.0f} hours, or somewhat later.",
            "Make room, or let the crawl archive less (LSWC_ARCHIVE).",
        )  # fmt: skip
    elif disk.free < LITTLE_DISK * disk.total:
        yield Alert(
            SOON, f"Only {100 * disk.free / disk.total:.1f} % of the disk is free.",
            "Make room: the crawl waits when less than LSWC_MIN_DISK is free.",
        )  # fmt: skip


def _network(snapshot: Snapshot) -> Iterator[Alert]:
    if snapshot.state == OFFLINE:
        reason = f": {snapshot.reason}" if snapshot.reason else ""
        yield Alert(
            URGENT, f"The network is away{reason}.",
            "Nothing is lost. It goes on by itself; after LSWC_MAX_OFFLINE seconds it ends.",
        )  # fmt: skip
    elif (many := _many(snapshot, _UNSEEN, SHARE * 3, LEAST)) is not None:
        yield Alert(
            SOON, f"{many} couldn't be reached.",
            "See whether the machine's name server and network can bear so many requests.",
        )  # fmt: skip


def _refusals(snapshot: Snapshot) -> Iterator[Alert]:
    if (many := _many(snapshot, _REFUSED, SHARE, LEAST)) is not None:
        yield Alert(
            SOON, f"{many} were refused by their servers (401, 403 or 429).",
            "Raise DOWNLOAD_DELAY, and see that LSWC_CONTACT leads to a page about the crawl.",
            "sites?show=without",
        )  # fmt: skip


def _faults(snapshot: Snapshot) -> Iterator[Alert]:
    if (many := _many(snapshot, _FAULTS, FAULTS_SHARE, FAULTS)) is not None:
        yield Alert(
            SOON, f"{many} ended by a fault of this program.",
            "Read the crawl's log for errors, and report them.",
        )  # fmt: skip


def _many(snapshot: Snapshot, outcomes: tuple[str, ...], share: float, least: int) -> str | None:
    """Return how many URLs ended so, in words; None if these are few."""
    ended = snapshot.tallies.finished
    number = sum(ended.get(outcome, 0) for outcome in outcomes)
    asked = sum(count for name, count in ended.items() if not is_left_out(name))
    if number < least or number < share * asked:
        return None
    return f"{number:,} of {asked:,} URLs"


def _hubs(snapshot: Snapshot) -> Iterator[Alert]:
    hubs = [one for one in snapshot.without_page.first if one.linked >= LINKED]
    for hub in sorted(hubs, key=lambda one: -one.linked)[:NAMED]:
        reason = _commonest(hub.reasons)
        yield Alert(
            SOON,
            f"Relevant pages link to {numbered(hub.linked, 'URL')} of {hub.name}, "
            f"which gave no page: {reason}.",
            _NEXT.get(reason, explained(reason)),
            link_to(hub.name),
        )


def _commonest(reasons: Mapping[str, int]) -> str:
    return max(reasons, key=reasons.__getitem__, default=str(Outcome.FAILED))


def _walls(snapshot: Snapshot) -> Iterator[Alert]:
    by_reason, ended = snapshot.without_page.reasons, snapshot.tallies.finished
    walls = sum(by_reason.get(reason, 0) for reason in _WALLS)
    if walls >= WALLS:
        yield Alert(
            NOTE, f"{walls} servers show nothing without a login or the cookies of a visitor.",
            "See whether they matter, and ask their owners.", "sites?show=without",
        )  # fmt: skip
    servers = sum(by_reason.get(reason, 0) for reason in _SHELLS)
    pages = sum(ended.get(reason, 0) for reason in _SHELLS)
    if servers >= WALLS or pages >= SHELLS:
        yield Alert(
            SOON, f"Pages that need their scripts weren't shown: {pages:,}.",
            "Go on with -s LSWC_BROWSER=auto, or raise LSWC_BROWSER_SHARE.",
        )  # fmt: skip


def _traps(snapshot: Snapshot) -> Iterator[Alert]:
    traps = [
        queue
        for queue in snapshot.longest or ()
        if queue.pending >= TRAP_PENDING and queue.downloaded >= TRAP_PAGES and not queue.relevant
    ]
    for queue in traps[:NAMED]:
        yield Alert(
            SOON,
            f"{queue.server} gave {queue.downloaded:,} pages, none relevant, and "
            f"{queue.pending:,} of its URLs are pending.",
            "Look at its pages. Block it, or allow it a number of pages.",
            link_to(queue.server),
        )


def _families(snapshot: Snapshot) -> Iterator[Alert]:
    farms = [
        family
        for family in snapshot.families or ()
        if family.sites >= FAMILY_SITES and family.pages < family.sites
    ]
    for family in farms[:NAMED]:
        yield Alert(
            NOTE,
            f"{family.sites:,} sites are known by {family.name} alone: perhaps a link farm.",
            "Look at it. To be rid of them, block it with the sites that it introduced.",
            link_to(family.name),
        )


def _little_left(snapshot: Snapshot) -> Iterator[Alert]:
    rate = snapshot.outlook.next_harvest_rate
    is_little = rate is not None and rate < LITTLE_LEFT and snapshot.pages >= BEGUN_PAGES
    if snapshot.is_live and is_little:
        yield Alert(
            NOTE, "Fewer than one in a hundred of the next pages should be relevant.",
            "Stop it, or add seeds. LSWC_STOP_HARVEST ends a crawl there.",
        )  # fmt: skip
