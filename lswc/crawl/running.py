"""The crawl that runs: it owns the frontier, the archive and the limits, and commits visits.

Every visit is committed exactly once; what says so again does nothing. Where each end of a
request arrives:

=========================================  ===============================================
end of a request                           arrives at
=========================================  ===============================================
page recorded                              ``RecordPipeline``
page that asks not to be kept              ``StrategyMiddleware``
requisite of an archived page              the callback
item dropped, or a pipeline raised         signals ``item_dropped``, ``item_error``
callback or spider middleware raised       signal ``spider_error``
callback output swallowed                  ``VisitGuardMiddleware``
download error, timeout, robots.txt,       the errback of the request
retries exhausted, status filtered,
IgnoreRequest, too many redirects
retry                                      ``TierScheduler.enqueue_request`` (goes on)
long wait for its turn                     ``TierScheduler.enqueue_request`` (pending again)
redirect                                   ``TierScheduler.enqueue_request`` (target offered;
                                           goes on if that is the same URL's twin)
anything else, such as a redirect that     ``TierScheduler.has_pending_requests``, asked when
a ``request_scheduled`` handler refused    nothing runs any more
crawl closed or killed                     nothing to do: unfinished URLs are pending again
=========================================  ===============================================
"""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING

from lswc.archive import page_records
from lswc.archive.check.recovery import settle
from lswc.archive.earlier_crawls import Earlier
from lswc.archive.store import Archive
from lswc.crawl.close_reasons import CANNOT_WRITE, LOST_STORE, OFFLINE_TOO_LONG, TOLD
from lswc.crawl.readers import Readers
from lswc.crawl.rendering import Rendering
from lswc.crawl.requests import url_of
from lswc.crawl.requisites import Requisites
from lswc.crawl.sitemaps import Listings
from lswc.crawl.stores import control_of, frontier_of, handles_of, slots_of
from lswc.errors import ConfigError, LostStoreError, LswcError
from lswc.frontier.lease import Offer
from lswc.frontier.visit import Visit
from lswc.guest.admission import Reach
from lswc.guest.control_in_effect import ControlInEffect
from lswc.guest.guest import Guest, Stores
from lswc.guest.network import Network
from lswc.outcomes import LIFTED, OF_QUOTA, Outcome, is_transient
from lswc.strategy import SEED, PageLanguage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from lswc.crawl.configuration import Crawl
    from lswc.crawl.internet import ScrapyInternet
    from lswc.frontier.contract import Counts
    from lswc.frontier.harvest import CellHarvest
    from lswc.frontier.lease import Lease
    from lswc.urls import Url

SAVE_SECONDS, SAVE_BYTES = 15.0, 64_000_000
"""After so many seconds, or bytes of the frontier's log, what is committed is made durable.

Not more often: many servers dirty many leaves of the frontier's indexes, and a leaf is written
once a checkpoint.
"""

logger = logging.getLogger(__name__)


class RunningCrawl:
    """A crawl under way in this process.

    ``stop`` closes the crawl in order, for a reason. ``visits`` are those that haven't ended, by
    the number of their lease. Raises LswcError; the caller closes it.
    """

    failed = False
    """Whether the crawl's state can't be written any more; nothing is, from then on."""
    closing: Callable[[str], None]
    """Is called with the reason for which the crawl closes, while it can still be read."""
    held_at_close: tuple[Counts, tuple[CellHarvest, ...]] | None = None
    """What the frontier and its cells held when the crawl was closed, if that could be read."""

    def __init__(
        self,
        crawl: Crawl,
        settings: BaseSettings,
        stats: StatsCollector,
        stop: Callable[[str], None],
        internet: ScrapyInternet,
    ) -> None:
        self.crawl = crawl
        self.handles = handles_of(crawl, settings)
        if self.handles.requests < settings.getint("CONCURRENT_REQUESTS"):
            logger.warning(
                "%d requests at a time and no more, as this process may have only few files open "
                "(ulimit -n)",
                self.handles.requests,
            )
        self.visits: dict[int, Visit] = {}
        self.latest_end = monotonic()
        self._rested = 0.0
        self._handed_out = [0, 0]  # pages, requisites
        self.requisites = Requisites(crawl)
        self._ends_because = ""
        self._stopped = False
        self._stats = stats
        self.stop = stop
        self.frontier = frontier_of(crawl, settings)
        control = ControlInEffect(control_of(crawl, settings), stats.inc_value)
        committed = settle(crawl.folder, self.frontier)
        self.archive = Archive(
            crawl.folder,
            crawl.language.name,
            crawl.archived,
            crawl.warc_size,
            crawl.rotate,
            crawl.described(settings),
            committed,
        )
        self.closing = lambda _: None
        self._looked_after = monotonic()
        self.limits = crawl.limits.new()
        self.limits.load(page_records.records(crawl.folder))
        stores = Stores(crawl.folder, self.frontier, slots_of(crawl, settings), control)
        self.guest = Guest(
            crawl.politeness,
            _reach(crawl),
            stores,
            self.limits,
            internet,
            Network(
                internet,
                crawl.seeds,
                crawl.max_offline,
                self._end,
                self.give_back,
                lambda: stop(OFFLINE_TOO_LONG),
            ),
        )
        self._retry_failed()
        self._retry_refused()
        self.earlier = Earlier(crawl.earlier) if crawl.earlier else None
        self.listings = Listings(crawl, self.earlier)
        internet.heard = self.listings.heard
        self.readers = Readers(crawl)
        self.rendering = Rendering(crawl, self.frontier, self.refusal_of_file)
        self._saved = monotonic()

    def offer_seeds(self, addresses: Iterable[str]) -> int:
        """Offer seeds; return how many are in scope. Raises LswcError."""
        offers = [offer for address in addresses if (offer := self._seed(address)) is not None]
        self.frontier.offer(offers)
        return len(offers)

    def _seed(self, address: str) -> Offer | None:
        url = self.crawl.reader.scope.check(address, 0)
        if isinstance(url, Outcome):
            self._stats.inc_value(f"lswc/dropped/{url}")
            return None
        return Offer(url.href, url.server, self.crawl.unit(url), SEED, PageLanguage.TARGET, 0)

    def take_fed_seeds(self) -> None:
        """Offer the seeds that users fed to the running crawl. Raises LswcError."""
        with self.frontier.fed_seeds() as addresses:
            if addresses:
                self.offer_seeds(addresses)
                logger.info("%d seeds were fed", len(addresses))

    def lease(self, now: float) -> Visit | None:
        """Lease the next URL; None if there is none now.

        ``now`` in seconds on a monotonic clock. Raises LswcError.
        """
        self._notice_sleep()
        if self.crawl.in_order and (self.visits or now < self._rested):
            return None
        lease = self._leased(now)
        if lease is None:
            return None
        self._handed_out[not lease.is_page] += 1
        visit = self.visits[lease.id] = Visit(lease, now)
        return visit

    def _leased(self, now: float) -> Lease | None:
        """Lease a requisite if their share isn't used up, or no page is being asked for.

        A free connection alone is no reason: an answer costs time even where a server doesn't.
        """
        if self._ends_because:
            lease = self.frontier.lease_requisite(now)
            if lease is None:
                self._stop_if_finished()
            return lease
        pages, requisites = self._handed_out
        if requisites + 1 <= self.crawl.requisites_share * (pages + requisites + 1):
            return self.frontier.lease_requisite(now) or self._lease_page(now)
        page = self._lease_page(now)
        if page is None and not any(visit.lease.is_page for visit in self.visits.values()):
            return self.frontier.lease_requisite(now)
        return page

    def _lease_page(self, now: float) -> Lease | None:
        first = self.guest.control.first(self.frontier, now)
        preferred = self.frontier.lease_among(first, now) if first else None
        return preferred or self.frontier.lease(now)

    def finish(self, reason: str) -> None:
        """Close the crawl for a reason, once what its archived pages need was asked for."""
        self._ends_because = reason
        self._stop_if_finished()

    def _stop_if_finished(self) -> None:
        if not self._stopped and not self.visits and not self.frontier.requisites:
            self._stopped = True
            self.stop(self._ends_because)

    def next_ready(self, now: float) -> float | None:
        """Return when ``lease`` is worth another try though nothing ends or is offered till then.

        None if there is no such time.
        """
        if self.crawl.in_order and self.visits:
            return None
        return self._rested if now < self._rested else self.frontier.next_ready()

    def is_left_alone(self, visit: Visit) -> bool:
        """End a visit whose URL isn't to be asked for after all; tell whether it is one."""
        reason = self.guest.admission.of_visit(visit, monotonic())
        if reason is not None:
            visit.rest = 0.0
            self._end(visit, reason)
        return reason is not None

    def refusal_of_file(self, visit: Visit, address: str) -> str | None:
        """Return why a page that is shown in a browser doesn't get a file; None if it may."""
        if not self.is_under_way(visit):
            return Outcome.LOST
        return self.guest.admission.of_file(address, monotonic())

    def holds_back(self, visit: Visit) -> bool:
        """End the visit of a request that may not be sent again now; tell whether it is one."""
        url = url_of(visit)
        paused = self.guest.admission.pause(url) if url else None
        if paused is not None:
            self._end(visit, paused)
        return paused is not None

    @property
    def rests(self) -> str:
        """Why nothing is fetched now: people say so, or the disk is full; "" if nothing does."""
        return self.guest.halt

    def look(self) -> bool:
        """Look what people say to the crawl, and do that; tell whether that is something else.

        Asked every second.
        """
        if self.failed:
            return False
        try:
            changed, allows = self.guest.look()
            if changed:
                self._obey(allows)
        except LswcError as error:
            self.fail(error)
            return False
        return changed

    def _obey(self, allows: bool) -> None:
        """End what is under way in blocked places; let wait what is allowed again."""
        self.archive.forget(self.guest.admission.is_blocked)
        for visit in list(self.visits.values()):
            if self.guest.admission.is_blocked(visit.url):
                self._end(visit, Outcome.BLOCKED)
        if allows:
            self._retry_refused()
        if self.guest.control.control.stop:
            self.stop(TOLD)

    def _retry_refused(self) -> None:
        """Let URLs wait that were refused when they were queued, and may be had now."""
        number = self.frontier.retry((*LIFTED, *OF_QUOTA), self.guest.admission.opened())
        if number:
            logger.info("%d URLs that had to be left may be asked for again", number)

    def offer_of_redirect(self, visit: Visit, url: Url, redirects: int) -> Offer:
        """Return the offer of a redirect's target, with the facts of the link to its source."""
        lease = visit.lease
        unit = self.crawl.unit(url)
        return Offer(
            url.href, url.server, unit, lease.code, lease.inherited, lease.depth, redirects
        )

    def commit(self, visit: Visit, outcome: str) -> None:
        """End a visit, if it hasn't ended yet: write what it brought, then commit it.

        One that failed may be put off instead, or given back if this machine is offline.
        """
        self._notice_sleep()
        if self.is_under_way(visit) and not self.guest.network.takes(visit, outcome):
            self._end(visit, outcome)

    def is_under_way(self, visit: Visit) -> bool:
        """Tell whether a visit is still this worker's to end."""
        return self.visits.get(visit.lease.id) is visit and not self.failed

    def _end(self, visit: Visit, outcome: str) -> None:
        if not self.is_under_way(visit):
            return
        del self.visits[visit.lease.id]
        self.latest_end = monotonic()
        visit.outcome = outcome
        if outcome == Outcome.BLOCKED:
            _forget(visit)
        visit.tally["received", "bytes"] += visit.received
        if not visit.lease.is_page:
            kind = "requisites" if visit.lease.is_requisite else "listings"
            visit.tally[kind, outcome] += 1
        if outcome == Outcome.TIMEOUT and (url := url_of(visit)) is not None:
            self.limits.answered(url, False)
        due = self.guest.tries.due(visit, outcome, monotonic())
        visit.put_off = due is not None
        try:
            visit.dropped = self.frontier.dropped_by(visit)
            visit, lengths = self._stored(visit)
            if due is not None:
                ended = self.frontier.put_off(visit, due, lengths)
            else:
                ended = self.frontier.commit(visit, lengths)
            if not ended:
                self.archive.withdraw()
                logger.warning("lease expired, %s is another worker's", visit.url)
                return
            self._save_if_due()
        except LswcError as error:
            self.fail(error)
            return
        if self.crawl.in_order:
            rest = self.crawl.politeness.delay if visit.rest is None else visit.rest
            self._rested = max(self._rested, visit.since + rest)
        add = self._stats.inc_value
        kind = "put_off" if visit.put_off else "finished"
        add(f"lswc/{kind}/{visit.outcome}")
        for (kind, name), count in visit.tally.items():
            add(f"lswc/{kind}/{name}", count)

    def _save_if_due(self) -> None:
        """Make durable what is committed: first the files, then what refers to them."""
        now = monotonic()
        if now - self._saved > SAVE_SECONDS or self.frontier.unsaved > SAVE_BYTES:
            self.archive.sync()
            self.frontier.checkpoint()
            self.archive.rotate()
            self._saved = now

    def give_back(self, visit: Visit) -> None:
        """End a visit as if its URL hadn't been asked for."""
        if not self.is_under_way(visit):
            return
        del self.visits[visit.lease.id]
        try:
            self.frontier.give_back(visit)
        except LswcError as error:
            self.fail(error)
        self._stats.inc_value("lswc/given_back")

    def _stored(self, visit: Visit) -> tuple[Visit, dict[str, int]]:
        """Write what a visit brought, or that it failed if no one knows how to write it.

        So one page can't keep its server, and the crawl, from ending. Raises LswcError.
        """
        try:
            return visit, self.archive.store(visit)
        except LswcError:
            raise
        except Exception:
            logger.exception("can't write what came of %s", visit.url)
            self.archive.withdraw()
            failed = Visit(
                visit.lease,
                visit.since,
                rest=visit.rest,
                outcome=Outcome.FAILED,
                put_off=visit.put_off,
            )
            return failed, self.archive.store(failed)

    def tend(self, now: float) -> None:
        """Renew the leases, look after the files, take the seeds that were fed.

        Asked every few seconds.
        """
        if not self.failed:
            try:
                self.archive.check()
                self._renew(now)
                self.take_fed_seeds()
            except LswcError as error:
                self.fail(error)

    def _renew(self, now: float) -> None:
        self._looked_after = monotonic()
        expired = [self.visits.pop(number, None) for number in self.frontier.renew(now)]
        if expired:
            logger.warning(
                "this process stood still for longer than its leases last: %d URLs of its are "
                "others' now, and what comes of them here is left out",
                len(expired),
            )

    def _notice_sleep(self) -> None:
        """See which leases are left, if this process may have stood still for too long."""
        now = monotonic()
        if now - self._looked_after > self.crawl.lease_seconds and not self.failed:
            try:
                self._renew(now)
            except LswcError as error:
                self.fail(error)

    def _retry_failed(self) -> None:
        """Make pending what couldn't be had, if that is wanted. Raises LswcError."""
        if self.crawl.retry_failed:
            finished = self.frontier.counts().tally.get("finished", {})
            number = self.frontier.retry([name for name in finished if is_transient(name)])
            logger.info("%d URLs that couldn't be had are tried once more", number)

    def fail(self, error: LswcError) -> None:
        """Stop the crawl in order because its state can't be written; resume goes on from it."""
        if not self.failed:
            self.failed = True
            logger.error("%s; the crawl stops, and goes on from here when started again", error)
            self.stop(LOST_STORE if isinstance(error, LostStoreError) else CANNOT_WRITE)

    def close(self, reason: str = "") -> None:
        """Close the archive and the frontier; what isn't finished stays pending."""
        self.guest.close()
        self.readers.close()
        self.rendering.close()
        ends: tuple[Callable[[], None], ...] = (
            lambda: self.closing(reason),
            self._take_stock,
            lambda: self.archive.close(whole=not self.failed),
        )
        for end in ends:
            try:
                end()
            except LswcError as error:
                logger.error("%s", error)
        if self.earlier is not None:
            self.earlier.close()
        self.frontier.close()

    def _take_stock(self) -> None:
        self.held_at_close = self.frontier.counts(), self.frontier.cells()


def _reach(crawl: Crawl) -> Reach:
    requisites = crawl.reader.requisites
    return Reach(
        pages=crawl.reader.scope,
        requisites=None if requisites is None else requisites.scope,
        files=crawl.reading.any_host(),
        unit=crawl.unit,
        quotas=crawl.quotas,
    )


def _forget(visit: Visit) -> None:
    """Leave out all that a visit brought of a place that is blocked now."""
    visit.relevant, visit.record = None, None
    visit.offers, visit.links, visit.requisites = (), [], []
    visit.tally.clear()
    visit.withhold()


def running_of(crawler: Crawler) -> RunningCrawl:
    """Return the crawl that a crawler runs, for components to take when they are built.

    Raises ConfigError if the spider isn't an LswcSpider.
    """
    running = getattr(crawler.spider, "running", None)
    if not isinstance(running, RunningCrawl):
        raise ConfigError(f"{crawler.spider} isn't a spider of lswc's: subclass LswcSpider")
    return running
