"""The scheduler: the only place where a leased URL becomes a Request."""

from __future__ import annotations

import logging
from asyncio import ensure_future
from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.asyncio import call_later, create_looping_call

from lswc.archive.files import ArchiveError
from lswc.archive.store import Archive
from lswc.crawl import crawl_of, number
from lswc.errors import ConfigError
from lswc.frontier.contract import REDIRECT, Counts, Found, FrontierError, Offer
from lswc.strategy import SEED, PageLanguage
from lswc.urls import fingerprint, parse
from lswc.visit.attempt import ATTEMPTS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from lswc.frontier.contract import Frontier, Lease
    from lswc.urls import Url
    from lswc.visit.attempt import Attempt
    from lswc.visit.record import Record

LEASE = "lswc_lease"
"""Key of the lease's id in ``request.meta``."""

SINCE = "lswc_since"
"""Key of the monotonic time in ``request.meta`` when the URL was handed out."""

DRAINED = 50
"""URLs of servers left alone that are finished at once."""

WAITING = 1_000
"""Requests that wait to be sent again; of more, the one that would wait longest is given up."""

HELD = 16_384
"""Bytes of an answer, headers included, that are kept while its request waits to be sent again."""

RENEWALS = 4
"""How often a lease is renewed in the time after which it would expire."""

CANNOT_WRITE = "can't write"
"""Reason with which a crawl closes whose state can't be written."""

logger = logging.getLogger(__name__)


class TierScheduler(BaseScheduler):
    """Hands out the frontier's URLs in the order of their tiers.

    A retry keeps its lease and goes out first; a redirect ends its lease and offers its
    target with the facts of the link. A request without a lease is taken for a seed.
    """

    frontier: Frontier
    archive: Archive
    counts = Counts({}, 0, {}, {})
    """What the frontier held when the crawl was closed."""
    failed = False
    """Whether the crawl's state can't be written any more; nothing is, from then on."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._retries: list[tuple[float, Request]] = []
        self._attempts: dict[int, list[Attempt]] = {}  # by lease
        self._orphans: set[int] = set()
        self._wake_up: Any = None
        self._wake_time = 0.0
        connect = crawler.signals.connect
        connect(self._item_ended, signals.item_dropped)
        connect(self._item_ended, signals.item_error)
        connect(self._spider_error, signals.spider_error)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def open(self, spider: Spider) -> None:
        """Open the frontier and the archive, and offer the seeds.

        Raises FrontierError and ArchiveError.
        """
        self._crawl = crawl_of(self._crawler)
        running: Any = spider
        # One bound method for all: Scrapy parses a callback's source once an object.
        self._callback, self._errback = running.parse, running.errback
        self.frontier = self._crawl.open_frontier(self._crawler.settings)
        self.archive = Archive(self._crawl, self._crawler.settings, self.frontier.records())
        # Only now: the archive has cut what wasn't committed.
        self.limits = self._crawl.open_limits(self._crawler.settings)
        self._offer_seeds(self._crawl.seeds)
        self._tending = create_looping_call(self._tend)
        life = number(self._crawler.settings, "LSWC_LEASE_SECONDS")
        self._tending.start(max(life / RENEWALS, 0.1), now=False)

    def close(self, reason: str) -> None:
        """Close the archive and the frontier; what isn't finished stays pending."""
        self._tending.stop()
        if self._wake_up is not None:
            self._wake_up.cancel()
        try:
            self.counts = self.frontier.counts()
            self.archive.close(self.frontier.records())
        except (ArchiveError, FrontierError) as error:
            logger.error("%s", error)
        self.frontier.close()

    def _tend(self) -> None:
        """Renew the leases, and take the seeds that were fed."""
        if not self.failed:
            try:
                self.frontier.renew(monotonic())
                self._take_fed()
            except FrontierError as error:
                self.fail(str(error))

    def _take_fed(self) -> None:
        with self.frontier.fed() as addresses:
            if addresses:
                self._offer_seeds(addresses)
                logger.info("%d seeds were fed", len(addresses))

    def _offer_seeds(self, addresses: Iterable[str]) -> None:
        offers = [self._seed(address) for address in addresses]
        self.frontier.offer([offer for offer in offers if offer is not None])

    def _seed(self, address: str) -> Offer | None:
        url = self._crawl.scope.check(address, 0)
        if isinstance(url, str):
            self._count_drop(url)
            return None
        return self._offer(url, SEED, PageLanguage.TARGET, 0)

    def _offer(
        self, url: Url, code: int, inherited: PageLanguage, depth: int, redirects: int = 0
    ) -> Offer:
        unit = self._crawl.unit(url)
        return Offer(url.href, url.server, unit, code, inherited, depth, redirects)

    def _count_drop(self, reason: str) -> None:
        self._crawler.stats.inc_value(f"lswc/dropped/{reason}")

    def enqueue_request(self, request: Request) -> bool:
        if request.meta.get(_MARKER):
            return True
        lease = self.frontier.leases.get(request.meta.get(LEASE, 0))
        if lease is None:
            return self._enqueue_seed(request)
        if request.meta.get("redirect_times", 0) > lease.redirects:
            self._redirect(lease, request)
        else:
            self._send_again(lease, request)
        return True

    def _send_again(self, lease: Lease, request: Request) -> None:
        for attempt in self._attempts.get(lease.id, ()):
            if attempt.exchange is not None and attempt.exchange.weight > HELD:
                attempt.exchange = None
        self._retries.append((request.meta[SINCE] + (lease.rest or 0.0), request))
        if len(self._retries) > WAITING:
            self._retries.sort(key=itemgetter(0))
            self.finish(self._retries.pop()[1].meta[LEASE], "too many wait")

    def _enqueue_seed(self, request: Request) -> bool:
        offer = None if LEASE in request.meta else self._seed(request.url)
        if offer is None:
            return False
        self.frontier.offer([offer])
        return True

    def _redirect(self, lease: Lease, request: Request) -> None:
        url = self._crawl.scope.check(request.url, lease.depth)
        times = request.meta["redirect_times"]
        if isinstance(url, str):
            lease.tally["dropped", url] += 1
            lease.links = [Found(request.url, None, None, url)]
        elif fingerprint(url.href) == fingerprint(lease.url):
            # By https, or with a session in it: another request for the same page.
            if request.url in request.meta["redirect_urls"]:
                self.finish(lease.id, "redirect loop")
            else:
                lease.url, lease.redirects = url.href, times
                self._send_again(lease, request)
            return
        else:
            lease.offers = [self._offer(url, lease.code, lease.inherited, lease.depth, times)]
            lease.links = [Found(url.href, None, lease.tier, None)]
        self.finish(lease.id, REDIRECT)

    def next_request(self) -> Request | None:
        if self.failed:
            return None
        now = monotonic()
        for position, (due, request) in enumerate(self._retries):
            if due <= now:
                del self._retries[position]
                return request
        try:
            lease = self._lease(now)
        except FrontierError as error:
            self.fail(str(error))
            return None
        return None if lease is None else self._request(lease, now)

    def _lease(self, now: float) -> Lease | None:
        """Lease the next URL that isn't of a server left alone; None if there is none now."""
        for _ in range(DRAINED):
            lease = self.frontier.lease(now)
            if lease is None:
                self._wake_later(now)
                return None
            url = parse(lease.url)
            reason = self.limits.closed(url) if url else "invalid URL"
            if reason is None:
                return lease
            lease.rest = 0.0
            self.finish(lease.id, reason)
        self._wake_at(now)  # let others run between
        return None

    def _request(self, lease: Lease, now: float) -> Request:
        attempts = self._attempts[lease.id] = []
        meta = {
            LEASE: lease.id,
            SINCE: now,
            ATTEMPTS: attempts,
            "depth": lease.depth,
            "redirect_times": lease.redirects,
        }
        headers = {"Referer": lease.referrer} if lease.referrer else None
        return Request(
            lease.url,
            callback=self._callback,
            errback=self._errback,
            meta=meta,
            headers=headers,
        )

    def _wake_later(self, now: float) -> None:
        times = [due for due, _ in self._retries]
        ready = self.frontier.next_ready()
        if ready is not None:
            times.append(ready)
        if times:
            self._wake_at(min(times))

    def _wake_at(self, time: float) -> None:
        if self._wake_up is not None and self._wake_time <= time:
            return
        if self._wake_up is not None:
            self._wake_up.cancel()
        self._wake_time = time
        self._wake_up = call_later(max(0.0, time - monotonic()), self._wake)

    def _wake(self) -> None:
        self._wake_up = None
        engine = self._crawler.engine
        if engine.scheduler is self:
            engine.crawl(Request("data:,wake", meta={_MARKER: True}))

    def has_pending_requests(self) -> bool:
        """Tell whether URLs are left. Asked only when nothing runs, so it also ends leases
        that no signal ended, once they were seen twice in a row."""
        leases = set(self.frontier.leases) - {request.meta[LEASE] for _, request in self._retries}
        for lease_id in leases & self._orphans:
            logger.warning("request lost: %s", self.frontier.leases[lease_id].url)
            self.finish(lease_id, "lost")
        self._orphans = leases
        if self.failed:
            return False
        try:
            self._take_fed()
            return bool(self._retries or self.frontier.unfinished)
        except FrontierError as error:
            self.fail(str(error))
            return False

    def finish(self, lease_id: int, outcome: str, record: Record | None = None) -> None:
        """End a lease, if it hasn't ended yet: write what it brought, then commit it."""
        lease = self.frontier.leases.get(lease_id)
        if lease is None or self.failed:
            return
        attempts = self._attempts.pop(lease_id, [])
        try:
            written = self.archive.store(lease, outcome, record, attempts)
            if not self.frontier.finish(lease_id, outcome, written):
                self.archive.withdraw()
                logger.warning("lease expired, %s is another worker's", lease.url)
                return
        except (ArchiveError, FrontierError) as error:
            self.fail(str(error))
            return
        stats = self._crawler.stats
        stats.inc_value(f"lswc/finished/{outcome}")
        for (kind, name), count in lease.tally.items():
            stats.inc_value(f"lswc/{kind}/{name}", count)

    def fail(self, reason: str) -> None:
        """Stop the crawl in order because its state can't be written; resume goes on from it."""
        if self.failed:
            return
        self.failed = True
        logger.error("%s; the crawl stops, and goes on from here when started again", reason)
        closing = self._crawler.engine.close_spider_async(reason=CANNOT_WRITE)
        self._closing = ensure_future(closing)

    def _item_ended(self, response: Response | None) -> None:
        if response is not None and LEASE in response.meta:
            self.finish(response.meta[LEASE], "item dropped or failed")

    def _spider_error(self, response: Response | None) -> None:
        request = getattr(response, "request", None)
        if request is not None and LEASE in request.meta:
            self.finish(request.meta[LEASE], "spider error")


_MARKER = "lswc_wake"


def scheduler_of(crawler: Crawler) -> TierScheduler:
    """Return the running TierScheduler. Raises ConfigError if SCHEDULER names another."""
    scheduler = crawler.engine.scheduler
    if not isinstance(scheduler, TierScheduler):
        raise ConfigError("lswc needs SCHEDULER = 'lswc.crawler.scheduler.TierScheduler'")
    return scheduler
