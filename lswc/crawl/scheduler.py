"""The scheduler: the only place where a leased URL becomes a Request."""

from __future__ import annotations

import logging
from sys import maxsize
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import call_later, create_looping_call

from lswc.crawl.requests import VISIT, is_wake_up, request_for, visit_of, wake_up
from lswc.crawl.retries import Retries
from lswc.crawl.running import RunningCrawl, running_of
from lswc.errors import LswcError
from lswc.guest.control_in_effect import LOOK
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from lswc.frontier.visit import Visit

RENEWALS = 4
"""How often a lease is renewed in the time after which it would expire."""

AT_ONCE = 50
"""URLs of servers left alone that are finished at once."""

STAY = 90.0
"""A crawl with nothing else left waits for a URL that is tried again in so many seconds."""

logger = logging.getLogger(__name__)


class TierScheduler(BaseScheduler):
    """Hands out the frontier's URLs in the order of their tiers.

    A retry goes on with its visit, and goes out first; a redirect ends its visit and offers its
    target with the facts of the link. A request without a visit is taken for a seed.
    """

    def __init__(self, crawler: Crawler, running: RunningCrawl) -> None:
        self._crawler = crawler
        self._running = running
        self._running.guest.network.resumed = self._wake_now
        self._retries = Retries(running)
        self._orphans: set[int] = set()
        self._wake_up: Any = None
        self._wake_time = 0.0
        connect = crawler.signals.connect
        connect(self._item_ended, signals.item_dropped)
        connect(self._item_ended, signals.item_error)
        connect(self._spider_error, signals.spider_error)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, running_of(crawler))

    def open(self, spider: Spider) -> None:
        """Offer the seeds. Raises LswcError."""
        pages: Any = spider
        # One bound method for all: Scrapy parses a callback's source once an object.
        self._callback, self._errback = pages.parse, pages.errback
        self._running.offer_seeds(self._running.crawl.seeds)
        self._tending = create_looping_call(lambda: self._running.tend(monotonic()))
        interval = self._running.crawl.lease_seconds / RENEWALS
        self._tending.start(max(interval, 0.1), now=False)
        self._looking = create_looping_call(self._look)
        self._looking.start(LOOK, now=False)

    def close(self, reason: str) -> None:
        """Close the crawl; what isn't finished stays pending."""
        self._tending.stop()
        self._looking.stop()
        if self._wake_up is not None:
            self._wake_up.cancel()
        self._running.close(reason)

    def _look(self) -> None:
        rested = self._running.rests
        if self._running.look() or (rested and not self._running.rests):
            self._wake_now()

    def enqueue_request(self, request: Request) -> bool:
        if is_wake_up(request):
            return True
        visit = visit_of(request)
        if visit is None:
            return VISIT not in request.meta and self._running.offer_seeds([request.url]) > 0
        if self._running.visits.get(visit.lease.id) is not visit:
            return False  # it has ended
        self._retries.take(request, visit)
        return True

    def next_request(self) -> Request | None:
        running = self._running
        if running.failed or running.guest.network.paused or running.rests or self._is_busy:
            return None
        now = monotonic()
        try:
            retry = self._next_retry(now)
            if retry is not None:
                return retry
            visit = self._next_visit(now)
        except LswcError as error:
            self._running.fail(error)
            return None
        if visit is None:
            return None
        headers = self._running.crawl.headers
        return request_for(visit, headers, self._callback, self._errback)

    @property
    def _is_busy(self) -> bool:
        under_way = len(self._running.visits) - len(self._retries)
        return under_way >= min(
            self._running.handles.requests, self._running.guest.control.control.requests or maxsize
        )

    def _next_retry(self, now: float) -> Request | None:
        while (retry := self._retries.next_due(now)) is not None:
            visit = visit_of(retry)
            if visit is None or not self._running.holds_back(visit):
                return retry
        return None

    def _next_visit(self, now: float) -> Visit | None:
        for _ in range(AT_ONCE):
            visit = None if self._running.guest.is_full else self._running.lease(now)
            if visit is None:
                self._wake_later(now)
                return None
            if not self._running.is_left_alone(visit):
                return visit
        self._wake_at(now)  # let others run between
        return None

    def _wake_later(self, now: float) -> None:
        ready = None if self._running.guest.is_full else self._running.next_ready(now)
        times = (self._retries.next_time, ready)
        known = [time for time in times if time is not None]
        if known:
            self._wake_at(min(known))

    def _wake_at(self, time: float) -> None:
        if self._wake_up is not None and self._wake_time <= time:
            return
        if self._wake_up is not None:
            self._wake_up.cancel()
        self._wake_time = time
        self._wake_up = call_later(max(0.0, time - monotonic()), self._wake)

    def _wake_now(self) -> None:
        self._wake_at(monotonic())

    def _wake(self) -> None:
        self._wake_up = None
        engine = self._crawler.engine
        if engine.scheduler is self:
            engine.crawl(wake_up())

    def has_pending_requests(self) -> bool:
        """Tell whether URLs are left. Asked only when nothing runs, so it also ends visits
        that no signal ended, once they were seen twice in a row."""
        running = self._running
        running.guest.network.settle()
        left = set(running.visits) - self._retries.visits - running.guest.network.held
        for number in left & self._orphans:
            visit = running.visits.get(number)
            if visit is not None:
                logger.warning("request lost: %s", visit.url)
                running.commit(visit, Outcome.LOST)
        self._orphans = left
        if running.failed:
            return False
        try:
            running.take_fed_seeds()
            return bool(self._retries.visits) or self._stays()
        except LswcError as error:
            running.fail(error)
            return False

    def _stays(self) -> bool:
        """Tell whether URLs are left that are worth to wait for. Raises LswcError."""
        frontier = self._running.frontier
        later, due = frontier.later, frontier.next_due()
        if frontier.unfinished > later or (later and self._running.guest.control.pauses):
            return True
        if due is None or due - monotonic() <= STAY:
            return due is not None
        logger.info("%d URLs that couldn't be had are tried when the crawl is started again", later)
        return False

    def _item_ended(self, response: Response | None) -> None:
        self._end(response, Outcome.ITEM_DROPPED)

    def _spider_error(self, response: Response | None) -> None:
        self._end(response, Outcome.SPIDER_ERROR)

    def _end(self, response: Response | None, outcome: Outcome) -> None:
        visit = visit_of(response)
        if visit is not None:
            self._running.commit(visit, outcome)
