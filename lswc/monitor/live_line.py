"""How the crawl is going: a live line on a terminal, a log line now and then otherwise."""

from __future__ import annotations

import logging
import sys
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.status import Status
from scrapy import signals
from scrapy.utils.asyncio import create_looping_call

from lswc.crawl.composition import parts_of
from lswc.errors import LswcError
from lswc.frontier.harvest import Forecast, forecast

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

TERMINAL_INTERVAL = 0.5
"""Seconds between two updates of the live line."""

FORECAST_INTERVAL = 5.0
"""Seconds between two looks at what the queue should bring."""

logger = logging.getLogger(__name__)


class ProgressExtension:
    """Shows pages, harvest rate, queue and servers; every LOGSTATS_INTERVAL s if logged."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._parts = parts_of(crawler)
        self._live: Status | None = None
        self._forecast, self._forecast_at = Forecast(0.0, 0, 0.0), -inf
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self) -> None:
        self._task = create_looping_call(self._show)
        if sys.stderr.isatty():
            self._live = Status("", console=Console(stderr=True))
            self._live.start()
            self._task.start(TERMINAL_INTERVAL)
        else:
            interval = self._crawler.settings.getfloat("LOGSTATS_INTERVAL")
            if interval:
                self._task.start(interval, now=False)

    def _closed(self) -> None:
        if self._task.running:
            self._task.stop()
        if self._live is not None:
            self._live.stop()

    def _show(self) -> None:
        if self._parts.commits.failed:
            return
        try:
            line = self._line()
        except LswcError as error:
            self._parts.commits.fail(error)
            return
        if self._live is None:
            logger.info(line)
        else:
            self._live.update(line)

    def _line(self) -> str:
        stats = self._crawler.stats
        relevant = stats.get_value("lswc/page/relevant", 0)
        others = (stats.get_value(f"lswc/page/{kind}", 0) for kind in ("guessed", "irrelevant"))
        pages = relevant + sum(others)
        frontier, offline = self._parts.frontier, self._parts.guest.network.offline
        return (
            f"{pages:,} pages, harvest rate {relevant / max(pages, 1):.1%}, "
            f"queue {frontier.pending:,}, servers {frontier.servers:,}, {self._outlook()}"
            + (f", OFFLINE for {offline:.0f} s" if offline else "")
            + (f", PAUSED: {self._parts.guest.halt}" if self._parts.guest.halt else "")
        )

    def _outlook(self) -> str:
        """Say what waits; worked out every FORECAST_INTERVAL seconds, as it looks at every cell."""
        if monotonic() - self._forecast_at > FORECAST_INTERVAL:
            self._forecast_at = monotonic()
            self._forecast = forecast(self._parts.frontier.cells())
        return f"{self._forecast.waiting:,.0f} relevant ones expected in the queue"
