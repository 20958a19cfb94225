"""Scheduler: the only place where a leased URL becomes a Request."""

from __future__ import annotations

import logging
from sys import maxsize
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import call_later

from lswc.crawl.composition import Parts, parts_of
from lswc.crawl.requests import VISIT, is_wake_up, request_for, url_of, visit_of, wake_up
from lswc.crawl.retries import Retries
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from lswc.frontier.rules.visit import Visit

logger = logging.getLogger(__name__)


class TierScheduler(BaseScheduler):
    """Hands out the frontier's URLs in the order of their tiers.

    A retry goes on with its visit, and goes out first; a redirect ends its visit and offers its
    target with the facts of the link. A request without a visit is taken for a seed.
    """

    def __init__(self, crawler: Crawler, parts: Parts) -> None:
        self._crawler = crawler
        self._parts = parts
        self._commits, self._leases, self._guest = parts.commits, parts.leases, parts.guest
        self._retries = Retries(parts.crawl, parts.commits, parts.guest.admission, parts.twins)
        self._most = 0
        self._has_warned = False
        self._orphans: set[int] = set()
        self._wake_up: Any = None
        self._wake_time = 0.0
        parts.guest.network.resumed = self._wake_now
        parts.upkeep.changed = self._changed
        connect = crawler.signals.connect
        connect(self._item_ended, signals.item_dropped)
        connect(self._item_ended, signals.item_error)
        connect(self._spider_error, signals.spider_error)
        self._count_connections()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, parts_of(crawler))

    def open(self, spider: Spider) -> None:
        """Offer the seeds. Raises LswcError."""
        pages: Any = spider
        # One bound method for all: Scrapy parses a callback's source once an object.
        self._errback = self._commits.errback
        self._listing_failed = self._parts.listings.failed
        self._parse: Callable[..., Any] = pages.parse
        self._parse_requisite: Callable[..., Any] = pages.parse_requisite
        self._parse_listing: Callable[..., Any] = pages.parse_listing
        self._leases.open()
        self._parts.upkeep.start()

    def close(self, reason: str) -> None:
        """Close the crawl; what isn't finished stays pending."""
        self._parts.upkeep.stop()
        if self._wake_up is not None:
            self._wake_up.cancel()
        self._parts.close(reason)

    def _changed(self) -> None:
        self._count_connections()
        self._wake_now()

    def _count_connections(self) -> None:
        said = self._guest.control.control.requests or maxsize
        self._most = min(self._parts.handles.requests, said)

    def enqueue_request(self, request: Request) -> bool:
        if is_wake_up(request):
            return True
        visit = visit_of(request)
        if visit is None:
            self._warn_of_callback(request)
            return VISIT not in request.meta and self._leases.offer_seeds([request.url]) > 0
        if self._commits.visits.get(visit.lease.id) is not visit:
            return False  # it has ended
        try:
            self._retries.take(request, visit)
        except Exception as error:
            self._commits.fail(error)
        return True

    def _warn_of_callback(self, request: Request) -> None:
        """Say once that a user's own callback isn't called: what is asked for is a page."""
        if request.callback not in (None, self._parse) and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "a request's own callback isn't kept: %s is a seed now, and comes to parse, as "
                "every page does",
                request.url,
            )

    def next_request(self) -> Request | None:
        commits, network = self._commits, self._guest.network
        under_way = len(commits.visits) - len(self._retries.waiting) - len(network.waiting)
        if under_way >= self._most or commits.failed or self._guest.halt or network.paused:
            return None
        now = monotonic()
        try:
            retry = self._next_retry(now) if self._retries.waiting else None
            if retry is not None:
                return retry
            visit = None if self._guest.is_full else self._leases.next(now)
            if visit is None:
                self._wake_later(now)
                return None
        except Exception as error:
            commits.fail(error)
            return None
        errback = self._listing_failed if visit.lease.is_listing else self._errback
        return request_for(visit, self._parts.crawl.headers, self._callback(visit), errback)

    def _callback(self, visit: Visit) -> Callable[..., Any]:
        if visit.is_page:
            return self._parse
        return self._parse_requisite if visit.lease.is_requisite else self._parse_listing

    def _next_retry(self, now: float) -> Request | None:
        while (retry := self._retries.next_due(now)) is not None:
            visit, url = visit_of(retry), url_of(retry)
            paused = self._guest.admission.pause(url) if url else None
            if visit is None or paused is None:
                return retry
            self._commits.end(visit, paused)
        return None

    def _wake_later(self, now: float) -> None:
        ready = None if self._guest.is_full else self._leases.next_ready(now)
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
        self._go_on()

    def _go_on(self) -> None:
        """Let the engine ask for the next request."""
        engine = self._crawler.engine
        if engine.scheduler is self:
            engine.crawl(wake_up())

    def has_pending_requests(self) -> bool:
        """Tell whether URLs are left. Asked only when nothing runs, so it also ends visits
        that no signal ended, once they were seen twice in a row."""
        commits, network = self._commits, self._guest.network
        network.settle()
        under_way = {number for number, visit in commits.visits.items() if not visit.is_over}
        left = under_way - self._retries.visits - network.held
        for number in left & self._orphans:
            visit = commits.visits.get(number)
            if visit is not None:
                logger.warning("request lost: %s", visit.url)
                commits.commit(visit, Outcome.LOST)
        self._orphans = left
        if commits.failed:
            return False
        try:
            if self._retries.waiting or self._leases.goes_on:
                return True
            self._leases.take_fed_seeds()
            return self._leases.stays()
        except Exception as error:
            commits.fail(error)
            return False

    def _item_ended(self, response: Response | None) -> None:
        self._end(response, Outcome.ITEM_DROPPED)

    def _spider_error(self, response: Response | None) -> None:
        self._end(response, Outcome.SPIDER_ERROR)

    def _end(self, response: Response | None, outcome: Outcome) -> None:
        visit = visit_of(response)
        if visit is not None:
            self._commits.commit(visit, outcome)
