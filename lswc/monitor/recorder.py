"""Recorder: takes a snapshot of the running crawl every few seconds, writes and announces it.

``now.json`` is the latest one, ``course.jsonl`` has some of them in short, and ``summary.json``
tells the last one. A worker that shares a crawl sends the first two to Redis, too, and answers
questions about its frontier.
"""

from __future__ import annotations

import logging
from time import time
from typing import TYPE_CHECKING, Self

import msgspec
from msgspec.structs import replace
from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from lswc.crawl.close_reasons import in_words
from lswc.crawl.composition import parts_of
from lswc.errors import LswcError
from lswc.frontier import FRONTIER_FILE
from lswc.monitor import watchdog
from lswc.monitor.course import Course, Point, read_all, times, write_now
from lswc.monitor.observer import Observer
from lswc.monitor.questions import Answering
from lswc.monitor.snapshot import CLOSED, CLOSING, Snapshot, of_workers
from lswc.monitor.summary import SUMMARY, write

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from lswc.crawl.composition import Parts

SNAPSHOT_SECONDS = 2.0
"""Seconds between two snapshots."""

snapshot_taken = object()
"""Signal of Scrapy's kind with a ``snapshot``: at each one, and a last one as the crawl closes."""

logger = logging.getLogger(__name__)


class Recorder:
    """Takes snapshots while the crawl runs, and a last one, with a full count, as it closes.

    ``last`` is that one, None if it couldn't be taken; ``folder`` is the crawl's.
    """

    last: Snapshot | None = None
    _latest = Snapshot()
    _answering: Answering | None = None

    def __init__(self, crawler: Crawler, parts: Parts) -> None:
        self._signals, self._stats = crawler.signals, crawler.stats
        self._parts = parts
        self.folder = parts.crawl.folder
        self.observer = Observer(
            parts,
            crawler.settings,
            crawler.stats,
            lambda: bool(crawler.engine and crawler.engine.downloader.active),
        )
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, parts_of(crawler))

    def _opened(self) -> None:
        self._course = Course(self.folder)
        self._parts.closing = self._close
        if (exchange := self._parts.exchange) is not None:
            frontier = self.folder / FRONTIER_FILE
            self._answering = Answering(frontier, exchange.post, self._stats.inc_value)
            exchange.asked = self._answering.ask
        self._task = create_looping_call(self._record)
        self._task.start(SNAPSHOT_SECONDS)

    def _record(self) -> None:
        if self._parts.commits.failed:
            self._announce(_ended(self._latest, CLOSING, ""))
            return
        try:
            snapshot = self.observer.take()
            self._keep(snapshot, at_end=False)
        except Exception as error:
            self._parts.commits.fail(error)
            return
        (worker,) = snapshot.workers
        if worker.is_stuck:
            self._parts.commits.fail(watchdog.stuck(worker.idle))
        else:
            watchdog.goes_on()

    def _close(self, reason: str) -> None:
        """Take the last snapshot. Raises LswcError if it can't be counted, or kept."""
        if self._task.running:
            self._task.stop()
        if self._answering is not None:
            self._answering.close()
        try:
            self.last = self.observer.take_last(in_words(reason))
        except LswcError:
            self._write(_ended(self._latest, CLOSED, in_words(reason)), None)
            raise
        if self._parts.commits.failed:  # then only the file can be written, if that
            self._write(self.last, None)
        else:
            self._keep(self.last, at_end=True)

    def _closed(self, reason: str) -> None:
        if self.last is None:
            logger.error("%s stays as it was: the frontier can't be read any more", SUMMARY)
            return
        try:
            ran = times(read_all(self.folder))
            self.last = replace(
                self.observer.with_coverage(self.last), runs=ran.runs, seconds=ran.seconds
            )
            write(self.folder, self.last, reason)
        except OSError as error:
            logger.error("can't write %s: %s", SUMMARY, error.strerror)

    def _announce(self, snapshot: Snapshot) -> None:
        self._latest = snapshot
        self._signals.send_catch_log(snapshot_taken, snapshot=snapshot)

    def _keep(self, snapshot: Snapshot, *, at_end: bool) -> None:
        self._announce(snapshot)
        point = Point.of(snapshot) if at_end or self._course.is_due else None
        self._write(snapshot, point)
        if self._parts.exchange is not None:
            line = point.line() if point is not None else ""
            self._parts.exchange.tell(msgspec.json.encode(snapshot).decode(), line)

    def _write(self, snapshot: Snapshot, point: Point | None) -> None:
        """Write the files. A disk that is full is left to what writes the crawl itself."""
        try:
            write_now(self.folder, snapshot)
            if point is not None:
                self._course.add(point)
        except OSError as error:
            self._stats.inc_value("lswc/monitor/unwritten")
            logger.debug("can't write how the crawl goes: %s", error.strerror)


def _ended(snapshot: Snapshot, state: str, reason: str) -> Snapshot:
    """Return a snapshot with its worker in another state, that fetches nothing."""
    workers = tuple(
        replace(worker, time=time(), state=state, reason=reason, under_way=0, fetching=())
        for worker in snapshot.workers
    )
    return replace(snapshot, **of_workers(workers))
