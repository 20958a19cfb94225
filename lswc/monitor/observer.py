"""Observer: takes the snapshots of a crawl that this process runs."""

from __future__ import annotations

import shutil
from collections import deque
from heapq import nsmallest
from math import inf
from operator import attrgetter
from os import getpid
from socket import gethostname
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lswc import __version__
from lswc.archive import page_record
from lswc.crawl.leases import STANDSTILL_SECONDS
from lswc.crawl.web import truth
from lswc.errors import writing
from lswc.guest.pageless import Without
from lswc.monitor import snapshot
from lswc.monitor.snapshot import (
    CLOSED,
    OFFLINE,
    PAUSED,
    RUNNING,
    TOP,
    DiskSpace,
    Fetch,
    Latency,
    Outlook,
    Worker,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from lswc.crawl.composition import Parts
    from lswc.crawl.configuration import Crawl
    from lswc.frontier.rules.report import Freshness
    from lswc.monitor.snapshot import Coverage, Snapshot

CELLS_EVERY = 5.0
"""Seconds between two looks at what the frontier should bring, which looks at every cell."""

MINUTE = 60.0
"""Seconds over which pages per second and the recent harvest rate are measured."""

LOOK = 5.0
"""Seconds between two snapshots, at most: in what is beyond that the process didn't run."""

STUCK = 300.0
"""Seconds in which some URL must end, if there is anything to do; at least five timeouts."""


class Observer:
    """Takes snapshots of the crawl that runs here. ``is_busy`` tells whether a request is sent."""

    def __init__(
        self,
        parts: Parts,
        settings: BaseSettings,
        stats: StatsCollector,
        is_busy: Callable[[], bool],
    ) -> None:
        self._parts = parts
        self._stats = stats
        self._requests = settings.getint("CONCURRENT_REQUESTS")
        self._is_busy = is_busy
        self._began = time()
        self._minute: deque[tuple[float, int, int, int]] = deque()
        self._outlook = Outlook()
        self._freshness: Freshness | None = None
        self._without_page = Without()
        self._outlook_at = -inf
        self._elsewhere = 0
        self._idle = 0.0  # of the seconds in which this process and its crawl ran
        self._idle_at = (0.0, monotonic())

    def take(self) -> Snapshot:
        """Return the crawl as it is now. Asked every few seconds. Raises LswcError."""
        frontier = self._parts.frontier
        known = {"pending": frontier.pending, "requisites": frontier.requisites}
        return self._taken(frontier.tallies(), self._at_hand() | known)

    def take_last(self, reason: str) -> Snapshot:
        """Return the crawl as it closes, and why: with a full count. Raises LswcError."""
        self._outlook_at = -inf
        known, counts = self._at_hand(), self._parts.frontier.counts()
        self._elsewhere = self._parts.frontier.elsewhere.workers
        families = tuple(self._parts.frontier.families(snapshot.TOP))
        known |= {**snapshot.full(counts), "leased": 0, "families": families}
        known["pending"] += counts.leased  # what is leased is pending again
        return self._taken(counts.tally, known, reason)

    def with_coverage(self, last: Snapshot) -> Snapshot:
        """Return the last snapshot with what is known of coverage. Once the records are closed."""
        crawl = self._parts.crawl
        # What other workers have isn't known here.
        known = _coverages(crawl, [crawl.folder]) if not self._elsewhere else {}
        tags = tuple(crawl.language.tags)
        several = {tag: known.get((tag,)) for tag in tags} if len(tags) > 1 else {}
        return replace(
            last,
            coverage=known.get(tags),
            by_language=snapshot.by_language(last, several),
        )

    def _at_hand(self) -> dict[str, Any]:
        """Return the fields of a snapshot that need no count."""
        frontier = self._parts.frontier
        if monotonic() - self._outlook_at > CELLS_EVERY:
            cells = frontier.cells()
            self._outlook = snapshot.outlook(cells, self._parts.crawl.strategy)
            if self._parts.crawl.revisit:
                self._freshness = frontier.freshness(time())
            self._without_page = self._parts.pageless.without_page(TOP)
            self._outlook_at = monotonic()
        return {
            "servers": frontier.servers,
            "outlook": self._outlook,
            "freshness": self._freshness,
            "without_page": self._without_page,
        }

    def _taken(
        self,
        tallies: Mapping[str, Mapping[str, int]],
        known: dict[str, Any],
        closed: str | None = None,
    ) -> Snapshot:
        crawl = self._parts.crawl
        page = tallies.get("page", {})
        speed, recent = self._latest_minute(page.get("relevant", 0), sum(page.values()))
        worker = self._worker(speed, closed)
        with writing(crawl.folder):
            disk = shutil.disk_usage(crawl.folder)
        return snapshot.made(
            tallies,
            **known,
            language=crawl.language.tag,
            strategy=crawl.strategy.name,
            recent_harvest_rate=recent,
            disk=DiskSpace(disk.free, disk.total),
            control=snapshot.in_force(self._parts.guest.control.control),
            **snapshot.of_workers((worker,)),
        )

    def _worker(self, speed: float, closed: str | None) -> Worker:
        parts, now = self._parts, time()
        crawl, idle = parts.crawl, monotonic() - parts.commits.latest_end
        pages, seconds = self._pages(), now - self._began
        state, reason = (CLOSED, closed) if closed is not None else self._state()
        return Worker(
            host=gethostname(),
            process=getpid(),
            folder=_text(crawl.folder.resolve()),
            version=__version__,
            time=now,
            began=self._began,
            seconds=round(seconds, 1),
            state=state,
            reason=_text(reason),
            pages=pages,
            received=self._stats.get_value("lswc/received/bytes", 0),
            pages_per_second=speed,
            mean_pages_per_second=round(pages / seconds, 1) if seconds > 0 else 0.0,
            requests=self._requests,
            readers=crawl.readers,
            under_way=0 if state == CLOSED else len(parts.commits.visits),
            idle=round(idle, 1),
            offline=round(parts.guest.network.offline, 1),
            unsaved=parts.frontier.unsaved,
            is_stuck=self._is_stuck(state),
            waits=self._waits() if state == RUNNING else "",
            held_back=round(parts.leases.idle.seconds, 1),
            longest_held_back=round(parts.leases.idle.longest, 1),
            outbox=0 if parts.exchange is None else parts.exchange.waiting,
            away="" if parts.exchange is None else _text(parts.exchange.away),
            fetching=() if state == CLOSED else self._fetching(),
            slowest=tuple(Latency(*slow) for slow in parts.guest.latencies.slowest(TOP)),
        )

    def _waits(self) -> str:
        """Return what alone is waited for, in words; "" if other URLs are asked for."""
        leases, now = self._parts.leases, monotonic()
        if leases.idle.in_a_row(now) > STANDSTILL_SECONDS:
            return "free connections wait for likelier URLs of busy servers"
        if not leases.ends_after:
            return ""
        ready = leases.next_ready(now)
        seconds = 0.0 if ready is None else ready - now
        when = f"; the next server can be asked in {seconds:.0f} s" if seconds >= 1 else ""
        return f"little else is left to find: waits for {leases.ends_after}{when}"

    def _state(self) -> tuple[str, str]:
        if self._parts.guest.halt:
            return PAUSED, self._parts.guest.halt
        return (OFFLINE if self._parts.guest.network.offline else RUNNING), ""

    def _pages(self) -> int:
        """Return the pages of this run and process."""
        kinds = ("relevant", "guessed", "irrelevant")
        return sum(self._stats.get_value(f"lswc/page/{kind}", 0) for kind in kinds)

    def _latest_minute(self, relevant: int, pages: int) -> tuple[float, float | None]:
        """Return the pages per second of this process, and the crawl's harvest rate, of late."""
        now, own = monotonic(), self._pages()
        self._minute.append((now, own, relevant, pages))
        while now - self._minute[0][0] > MINUTE and len(self._minute) > 2:
            self._minute.popleft()
        began, own_before, relevant_before, before = self._minute[0]
        speed = round((own - own_before) / (now - began), 3) if now > began else 0.0
        return speed, snapshot.rate(relevant - relevant_before, pages - before)

    def _is_stuck(self, state: str) -> bool:
        """Tell whether something is to be done, and nothing was for long.

        A time in which the crawl rested, or the whole machine, is none in which it should have.
        """
        end, now = self._parts.commits.latest_end, monotonic()
        (before, at), self._idle_at = self._idle_at, (end, now)
        runs_on = state == RUNNING and end == before
        self._idle = self._idle + min(now - at, LOOK) if runs_on else 0.0
        longest = max(STUCK, 5 * self._parts.crawl.politeness.timeout)
        if self._idle < longest:
            return False
        if self._is_busy():
            return True
        ready = self._parts.leases.next_ready(monotonic())
        return ready is not None and ready < monotonic() - longest

    def _fetching(self) -> tuple[Fetch, ...]:
        now = monotonic()
        oldest = nsmallest(TOP, self._parts.commits.visits.values(), key=attrgetter("since"))
        return tuple(
            Fetch(v.url, round(now - v.since, 1), v.lease.expected, v.lease.tries) for v in oldest
        )


def _text(value: Any) -> str:
    """Return a text that JSON can hold, of one that may have a file's name that isn't UTF-8."""
    return str(value).encode(errors="replace").decode()


def _coverages(crawl: Crawl, folders: Sequence[Path]) -> dict[tuple[str, ...], Coverage]:
    """Compare the records with what is known of the web, in all languages of a crawl and in each.

    Empty if nothing is known.
    """
    known = truth(crawl.web) if crawl.web is not None else None
    if known is None:
        return {}
    collected = {record["url"] for folder in folders for record in page_record.records(folder)}
    tags = tuple(crawl.language.tags)
    return {
        wanted: snapshot.covered(
            (
                url
                for url, page in known.items()
                if page.language in wanted and (page.listed or page.language in page.reachable)
            ),
            collected,
        )
        for wanted in {tags, *((tag,) for tag in tags)}
    }
