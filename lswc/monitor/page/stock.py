"""The whole frontier, counted now and then: it takes seconds when millions of URLs wait."""

from __future__ import annotations

from threading import Thread
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from lswc.errors import LswcError
from lswc.strategy import strategy

if TYPE_CHECKING:
    from lswc.frontier.report import Completion, Report
    from lswc.monitor.page.sources import Source

LEAST = 10.0
"""Seconds between two counts, at least."""

SPARING = 200
"""So many times the CPU time of a count, no other begins: it costs one part in so many."""


class Stock:
    """Counts in a thread of its own. ``report`` is the latest count, None until there is one.

    ``ended`` is how servers ended by then.

    ``seconds`` is what that took, and ``cpu`` of the CPU; ``wrong`` why the latest couldn't be had.
    """

    def __init__(self, source: Source, top: int) -> None:
        self._source = source
        self._top = top
        self._thread: Thread | None = None
        self._counted = 0.0
        self.report: Report | None = None
        self.ended: Completion | None = None
        self.seconds = self.cpu = 0.0
        self.wrong = ""

    @property
    def age(self) -> float:
        """Seconds since the latest count."""
        return monotonic() - self._counted

    def count_if_due(self) -> None:
        """Begin to count, if that is due and nobody does."""
        under_way = self._thread is not None and self._thread.is_alive()
        rested = self.age >= max(LEAST, SPARING * self.cpu)
        if not under_way and (self._thread is None or rested):
            self._thread = Thread(target=self._count, daemon=True)
            self._thread.start()

    def _count(self) -> None:
        began, cpu = monotonic(), thread_time()
        try:
            if self.report is None:
                strategy(self._source.identity()["strategy"])  # which takes a while, but once
                began, cpu = monotonic(), thread_time()
            report = self._source.report(self._top)
            self.ended = self._source.completion(self._top)
            self.report, self.wrong = report, ""
        except LswcError as error:
            self.wrong = str(error)
        self._counted = monotonic()
        self.seconds, self.cpu = self._counted - began, thread_time() - cpu
