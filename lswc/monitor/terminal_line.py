"""Terminal line: how the crawl is going, live on a terminal, else in the log now and then."""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status
from scrapy import signals
from scrapy.exceptions import NotConfigured

from lswc.crawl.placement import only_for_crawls
from lswc.monitor.recorder import snapshot_taken
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

    from lswc.monitor.snapshot import Snapshot

logger = logging.getLogger(__name__)


def line(snapshot: Snapshot) -> str:
    """Return a crawl in one line."""
    parts = [
        numbered(snapshot.pages, "page"),
        f"{snapshot.harvest_rate or 0:.1%} relevant",
        f"{numbered(snapshot.pending, 'URL')} pending, {snapshot.outlook.in_words}",
    ]
    again = snapshot.freshness
    if again is not None and again.fresh is not None:
        parts.append(f"{again.fresh:.1%} of {again.pages:,} pages fresh, {again.due:,} due")
    offline = sum(worker.offline for worker in snapshot.workers)
    if offline:
        parts.append(f"OFFLINE for {offline:.0f} s")
    if snapshot.state == "paused":
        parts.append(f"PAUSED: {snapshot.reason}")
    parts += dict.fromkeys(worker.waits for worker in snapshot.workers if worker.waits)
    return ", ".join(parts)


class TerminalLine:
    """Shows each snapshot on a terminal; else one every ``interval`` seconds in the log."""

    def __init__(self, crawler: Crawler, interval: float) -> None:
        self._live: Status | None = None
        self._interval, self._shown = interval, monotonic()
        if sys.stderr.isatty():
            self._live = Status("", console=Console(stderr=True))
            crawler.signals.connect(self._begin, signals.spider_opened)
            crawler.signals.connect(self._end, signals.spider_closed)
        crawler.signals.connect(self._show, snapshot_taken)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raise NotConfigured if there is no terminal, and LOGSTATS_INTERVAL is 0."""
        only_for_crawls(crawler)
        interval = crawler.settings.getfloat("LOGSTATS_INTERVAL")
        if not interval and not sys.stderr.isatty():
            raise NotConfigured
        return cls(crawler, interval)

    def _begin(self) -> None:
        if self._live is not None:
            with _log_led_through():
                self._live.start()

    def _end(self) -> None:
        if self._live is not None:
            with _log_led_through():
                self._live.stop()

    def _show(self, snapshot: Snapshot) -> None:
        if self._live is not None:
            self._live.update(escape(line(snapshot)))
        elif monotonic() - self._shown >= self._interval and snapshot.is_live:
            self._shown = monotonic()
            logger.info(line(snapshot))


@contextmanager
def _log_led_through() -> Iterator[None]:
    """Let the log go where standard error goes when the block ends: above the line, or past it."""
    before = sys.stderr
    yield
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler) and handler.stream is before:
            handler.setStream(sys.stderr)
