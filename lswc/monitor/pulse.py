"""What the crawl does now, and how it goes: written down for those who watch it."""

from __future__ import annotations

import json
import logging
import shutil
from collections import OrderedDict, deque
from dataclasses import asdict, dataclass
from heapq import nlargest, nsmallest
from math import inf
from operator import attrgetter
from os import getpid
from socket import gethostname
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from lswc import __version__
from lswc.crawl.close_reasons import said
from lswc.crawl.composition import parts_of
from lswc.crawl.requests import url_of
from lswc.errors import LswcError
from lswc.frontier.harvest import CellHarvest, Forecast, by_group, forecast
from lswc.monitor.course import Course, Point, write_now

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from lswc.crawl.composition import Parts

EVERY = 2.0
"""Seconds between two pulses."""

CELLS_EVERY = 5.0
"""Seconds between two looks at what the queue should bring, which looks at every cell."""

MINUTE = 60.0
"""Seconds over which the speed is measured."""

SHOWN = 25
"""URLs under way, servers and cells that are told, each: the oldest, the slowest, the best."""

_REMEMBERED = 5_000  # servers
_RECENT = 0.3  # weight of a server's latest answer

RUNNING, PAUSED, OFFLINE, CLOSED = "running", "paused", "offline", "closed"
"""What a crawl can be doing."""

logger = logging.getLogger(__name__)


@dataclass
class _Answers:
    seconds: float
    number: int = 1


class Latencies:
    """Seconds from a request to its answer, by server; the latest answers count most."""

    def __init__(self) -> None:
        self._servers: OrderedDict[str, _Answers] = OrderedDict()

    def add(self, server: str, seconds: float) -> None:
        """Take notice of an answer."""
        known = self._servers.get(server)
        if known is None:
            self._servers[server] = _Answers(seconds)
        else:
            known.seconds += _RECENT * (seconds - known.seconds)
            known.number += 1
        self._servers.move_to_end(server)
        if len(self._servers) > _REMEMBERED:
            self._servers.popitem(last=False)

    def slowest(self, most: int) -> list[dict[str, Any]]:
        """Return the slowest servers, each with its seconds and the number of its answers."""
        found = nlargest(most, self._servers.items(), key=lambda item: item[1].seconds)
        return [
            {"server": server, "seconds": round(a.seconds, 3), "answers": a.number}
            for server, a in found
        ]


class Pulse:
    """What one process of a crawl does. ``began`` in seconds since 1970."""

    def __init__(self, crawler: Crawler, parts: Parts) -> None:
        self.began = time()
        self.latencies = Latencies()
        self.parts = parts
        self._stats = crawler.stats
        self._requests = crawler.settings.getint("CONCURRENT_REQUESTS")
        self._speeds: deque[tuple[float, int]] = deque()
        self._cells: tuple[CellHarvest, ...] = ()
        self._cells_at = -inf

    @property
    def pages(self) -> int:
        """Pages of this run and process."""
        kinds = ("relevant", "guessed", "irrelevant")
        return sum(self._stats.get_value(f"lswc/page/{kind}", 0) for kind in kinds)

    @property
    def state(self) -> str:
        """What the crawl is doing: RUNNING, PAUSED or OFFLINE."""
        if self.parts.guest.halt:
            return PAUSED
        return OFFLINE if self.parts.guest.network.offline else RUNNING

    def cells(self) -> tuple[CellHarvest, ...]:
        """Return the cells, as they were CELLS_EVERY seconds ago at most. Raises LswcError."""
        if monotonic() - self._cells_at > CELLS_EVERY:
            self._cells = self.parts.frontier.cells()
            self._cells_at = monotonic()
        return self._cells

    def forecast(self) -> Forecast:
        """Say what the queue should bring. Raises LswcError."""
        return forecast(self.cells())

    def speed(self) -> float:
        """Pages a second over the latest minute. Asked at every pulse."""
        now = monotonic()
        self._speeds.append((now, self.pages))
        while now - self._speeds[0][0] > MINUTE and len(self._speeds) > 2:
            self._speeds.popleft()
        began, before = self._speeds[0]
        return (self.pages - before) / (now - began) if now > began else 0.0

    def now(self) -> dict[str, Any]:
        """Return what this process does, for JSON. Raises LswcError."""
        crawl, frontier = self.parts.crawl, self.parts.frontier
        disk = shutil.disk_usage(crawl.folder)
        return {
            "version": __version__,
            "time": time(),
            "began": self.began,
            "host": gethostname(),
            "process": getpid(),
            "folder": str(crawl.folder.resolve()),
            "language": crawl.language.tag,
            "strategy": crawl.strategy.name,
            "state": self.state,
            "reason": self.parts.guest.halt,
            "pages": self.pages,
            "speed": round(self.speed(), 3),
            "requests": self._requests,
            "under_way": len(self.parts.commits.visits),
            "fetching": self._fetching(),
            "slowest": self.latencies.slowest(SHOWN),
            "waiting": frontier.pending,
            "later": frontier.later,
            "servers": frontier.servers,
            "queue": self._queue(),
            "forecast": asdict(self.forecast()),
            "disk": {"free": disk.free, "total": disk.total},
        }

    def _fetching(self) -> list[dict[str, Any]]:
        now = monotonic()
        oldest = nsmallest(SHOWN, self.parts.commits.visits.values(), key=attrgetter("since"))
        return [
            {
                "url": visit.url,
                "seconds": round(now - visit.since, 1),
                "expected": visit.lease.expected,
                "tries": visit.lease.tries,
            }
            for visit in oldest
        ]

    def _queue(self) -> dict[str, list[dict[str, Any]]]:
        """Return the queue by group, and its best cells in words."""
        strategy = self.parts.crawl.strategy
        best = [cell for cell in self.cells() if cell.waiting][:SHOWN]
        return {
            "groups": [
                {"name": name, "waiting": waiting, "pages": downloaded, "relevant": relevant}
                for name, waiting, (downloaded, relevant) in by_group(self.cells())
            ],
            "cells": [
                {
                    "name": strategy.describe(cell.cell),
                    "waiting": cell.waiting,
                    "pages": cell.pages.downloaded,
                    "relevant": cell.pages.relevant,
                    "expected": cell.expected,
                }
                for cell in best
            ],
        }

    def point(self) -> Point:
        """Return the crawl as it is now. Raises LswcError."""
        frontier = self.parts.frontier
        tallies = frontier.tallies()
        page = tallies.get("page", {})
        return Point(
            time=round(time(), 1),
            run=round(self.began, 1),
            pages=sum(page.values()),
            relevant=page.get("relevant", 0),
            received=tallies.get("received", {}).get("bytes", 0),
            finished=sum(tallies.get("finished", {}).values()),
            waiting=frontier.pending,
            expected=round(self.forecast().waiting, 1),
            servers=frontier.servers,
        )


class PulseExtension:
    """Writes ``now.json`` every EVERY seconds, and ``course.jsonl``; over Redis tells it there."""

    _latest: dict[str, Any]

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._parts = parts_of(crawler)
        self.pulse = Pulse(crawler, self._parts)
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._answered, signals.response_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self) -> None:
        self._course = Course(self._parts.crawl.folder)
        self._parts.closing = self._close
        self._task = create_looping_call(self._beat)
        self._task.start(EVERY)

    def _answered(self, response: Response, request: Request) -> None:
        url, seconds = url_of(request), request.meta.get("download_latency")
        if url is not None and seconds is not None:
            self.pulse.latencies.add(url.server, seconds)

    def _beat(self) -> None:
        if not self._parts.commits.failed:
            try:
                self._tell(self.pulse.now(), at_end=False)
            except LswcError as error:
                self._parts.commits.fail(error)

    def _close(self, reason: str) -> None:
        """Say the last word. Raises LswcError."""
        if self._task.running:
            self._task.stop()
        closed = {"state": CLOSED, "reason": said(reason), "under_way": 0, "fetching": []}
        if self._parts.commits.failed:  # then only the file can be written, if that
            self._write(self._latest | closed, None)
        else:
            self._tell(self.pulse.now() | closed, at_end=True)

    def _tell(self, now: dict[str, Any], *, at_end: bool) -> None:
        self._latest = now
        point = self.pulse.point() if at_end or self._course.is_due else None
        self._write(now, point)
        line = point.line() if point is not None else ""
        self._parts.frontier.tell(
            json.dumps(now, ensure_ascii=False), line, 0.0 if at_end else self._course.every
        )

    def _write(self, now: dict[str, Any], point: Point | None) -> None:
        """Write the files. A disk that is full is left to what writes the crawl itself."""
        try:
            write_now(self._parts.crawl.folder, now)
            if point is not None:
                self._course.add(point)
        except OSError as error:
            self._crawler.stats.inc_value("lswc/pulse/unwritten")
            logger.debug("can't write how the crawl goes: %s", error.strerror)
