"""Full count of a frontier, now and then: it takes seconds when millions of URLs are pending."""

from __future__ import annotations

from threading import Thread
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from lswc.errors import LswcError
from lswc.monitor.snapshot import TOP
from lswc.strategy import strategy

if TYPE_CHECKING:
    from lswc.monitor.snapshot import Snapshot
    from lswc.monitor.stored import StoredCrawl

SECONDS_BETWEEN_COUNTS = 10.0
"""Seconds between two counts, at least."""

SPARING = 200
"""So many times the CPU time of a count, no other begins: it costs one part in so many."""


class FullCount:
    """Counts in a thread of its own. ``snapshot`` is the latest, None until there is one.

    ``seconds`` is what that took, ``cpu`` of the CPU; ``error`` why the latest couldn't be had.
    """

    def __init__(self, crawl: StoredCrawl) -> None:
        self._crawl = crawl
        self._thread: Thread | None = None
        self._counted = 0.0
        self.snapshot: Snapshot | None = None
        self.seconds = self.cpu = 0.0
        self.error = ""

    @property
    def age(self) -> float:
        """Seconds since the latest count."""
        return monotonic() - self._counted

    def count_if_due(self) -> None:
        """Begin to count, if that is due and nobody does."""
        under_way = self._thread is not None and self._thread.is_alive()
        rested = self.age >= max(SECONDS_BETWEEN_COUNTS, SPARING * self.cpu)
        if not under_way and (self._thread is None or rested):
            self._thread = Thread(target=self._count, daemon=True)
            self._thread.start()

    def _count(self) -> None:
        began, cpu = monotonic(), thread_time()
        try:
            if self.snapshot is None and strategy(self._crawl.identity()["strategy"]):
                began, cpu = monotonic(), thread_time()  # the first one takes a while, but once
            self.snapshot = self._crawl.counted(TOP)
            self.error = " ".join(f"{gap}." for gap in self._crawl.gaps())
        except LswcError as error:
            self.error = str(error)
        except KeyError:  # of Redis, where somebody has deleted it meanwhile
            self.error = "The crawl isn't there any more."
        self._counted = monotonic()
        self.seconds, self.cpu = self._counted - began, thread_time() - cpu
        if self._crawl.store == "Redis":  # then workers count
            self.cpu = self.seconds
