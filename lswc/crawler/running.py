"""The crawl that runs: it owns the frontier, the archive and the limits, and commits visits.

Every visit is committed exactly once; what says so again does nothing. Where each end of a
request arrives:

=========================================  ===============================================
end of a request                           arrives at
=========================================  ===============================================
page recorded                              ``RecordPipeline``
page that asks not to be kept              ``StrategyMiddleware``
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
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.archive.store import PAGES, Archive
from lswc.crawler import backoff
from lswc.crawler.backoff import Backoff
from lswc.crawler.kept import KeptRules
from lswc.crawler.machines import Machines
from lswc.crawler.slots import OwnSlots, Slots
from lswc.crawler.turns import Turns
from lswc.errors import ConfigError, LswcError
from lswc.frontier import FRONTIER_FILE, names_redis, open_frontier, sqlite_experience
from lswc.frontier.contract import Counts
from lswc.outcomes import Outcome
from lswc.strategy import SEED, PageLanguage
from lswc.urls import parse
from lswc.visit.lease import Offer
from lswc.visit.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from scrapy.statscollectors import StatsCollector

    from lswc.crawl import Crawl
    from lswc.frontier import Frontier
    from lswc.frontier.harvest import CellHarvest
    from lswc.reading.tdmrep import Reservations
    from lswc.strategy import Experience
    from lswc.urls import Url

CANNOT_WRITE = "can't write"
"""Reason with which a crawl closes whose state can't be written."""

logger = logging.getLogger(__name__)


class RunningCrawl:
    """A crawl under way in this process.

    ``stop`` closes the crawl in order, for a reason. ``visits`` are those that haven't ended, by
    the number of their lease. Raises LswcError; the caller closes it.
    """

    failed = False
    """Whether the crawl's state can't be written any more; nothing is, from then on."""
    counts = Counts({}, 0, {}, {})
    """What the frontier held when the crawl was closed."""
    cells: tuple[CellHarvest, ...] = ()
    """What its cells held then, and should bring."""

    def __init__(
        self,
        crawl: Crawl,
        settings: BaseSettings,
        stats: StatsCollector,
        stop: Callable[[str], None],
    ) -> None:
        self.crawl = crawl
        self.visits: dict[int, Visit] = {}
        self._stats = stats
        self.stop = stop
        self.frontier = frontier_of(crawl, settings)
        committed = self.frontier.lengths()
        self.archive = Archive(
            crawl.folder,
            crawl.language.code,
            crawl.archived,
            crawl.warc_size,
            crawl.described(settings),
            committed,
        )
        # Only now: the archive has cut what wasn't committed.
        self.backoff = Backoff(crawl.folder / backoff.FILE, crawl.politeness.backoff)
        self.turns = Turns(crawl.politeness.delay, self.backoff)
        self.machines = Machines(slots_of(crawl, settings), crawl.politeness)
        self.reservations: KeptRules[Reservations] = KeptRules()
        self.limits = crawl.limits.new()
        self.limits.load(crawl.folder / PAGES)

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
        lease = self.frontier.lease(now)
        while lease is not None and lease.id in self.visits:
            # It expired while this process stood still; what it was given for is on its way.
            lease = self.frontier.lease(now)
        if lease is None:
            return None
        visit = self.visits[lease.id] = Visit(lease, now)
        return visit

    def left_alone(self, visit: Visit) -> Outcome | None:
        """Return why a visit's URL isn't to be asked for after all, None if it is."""
        url = parse(visit.url)
        return self.limits.closed(url) if url else Outcome.INVALID_URL

    def offer_of_redirect(self, visit: Visit, url: Url, redirects: int) -> Offer:
        """Return the offer of a redirect's target, with the facts of the link to its source."""
        lease = visit.lease
        unit = self.crawl.unit(url)
        return Offer(
            url.href, url.server, unit, lease.code, lease.inherited, lease.depth, redirects
        )

    def commit(self, visit: Visit, outcome: str) -> None:
        """End a visit, if it hasn't ended yet: write what it brought, then commit it."""
        if self.visits.get(visit.lease.id) is not visit or self.failed:
            return
        del self.visits[visit.lease.id]
        visit.outcome = outcome
        try:
            visit, lengths = self._stored(visit)
            if not self.frontier.commit(visit, lengths):
                self.archive.withdraw()
                logger.warning("lease expired, %s is another worker's", visit.url)
                return
        except LswcError as error:
            self.fail(str(error))
            return
        self._stats.inc_value(f"lswc/finished/{visit.outcome}")
        for (kind, name), count in visit.tally.items():
            self._stats.inc_value(f"lswc/{kind}/{name}", count)

    def put_back(self, visit: Visit) -> None:
        """Give a visit's URL back to the frontier: nothing was asked of its server for it."""
        del self.visits[visit.lease.id]
        try:
            self.frontier.put_back(visit.lease, visit.rest or 0.0)
        except LswcError as error:
            self.fail(str(error))
        self._stats.inc_value("lswc/put_back")

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
            failed = Visit(visit.lease, visit.since, rest=visit.rest, outcome=Outcome.FAILED)
            return failed, self.archive.store(failed)

    def tend(self, now: float) -> None:
        """Renew the leases, and take the seeds that were fed; asked every few seconds."""
        if not self.failed:
            try:
                self.frontier.renew(now)
                self.take_fed_seeds()
            except LswcError as error:
                self.fail(str(error))

    def fail(self, reason: str) -> None:
        """Stop the crawl in order because its state can't be written; resume goes on from it."""
        if not self.failed:
            self.failed = True
            logger.error("%s; the crawl stops, and goes on from here when started again", reason)
            self.stop(CANNOT_WRITE)

    def close(self) -> None:
        """Close the archive and the frontier; what isn't finished stays pending."""
        try:
            self.counts, self.cells = self.frontier.counts(), self.frontier.cells()
            self.archive.close(self.frontier.lengths())
        except LswcError as error:
            logger.error("%s", error)
        self.backoff.close()
        self.frontier.close()


def frontier_of(crawl: Crawl, settings: BaseSettings) -> Frontier:
    """Open a crawl's frontier; the caller closes it. Raises LswcError."""
    experience = _experience(crawl, settings)
    if names_redis(crawl.store):
        from lswc.crawler import workers  # not above: Redis's client is only for crawls with one

        return workers.join(crawl, settings, experience)
    return open_frontier(
        crawl.store,
        crawl.folder,
        crawl.strategy,
        crawl.identity,
        crawl.politeness.delay,
        crawl.patience,
        experience,
    )


def _experience(crawl: Crawl, settings: BaseSettings) -> Experience | None:
    if not crawl.experience:
        return None
    if not crawl.strategy.learns:
        raise ConfigError(
            f"LSWC_EXPERIENCE: strategy {crawl.strategy.name!r} learns nothing: choose 'adaptive'"
        )
    if names_redis(crawl.experience):
        from lswc.crawler import workers

        return workers.read_experience(crawl, settings)
    return sqlite_experience.read(Path(crawl.experience) / FRONTIER_FILE, crawl.language.code)


def slots_of(crawl: Crawl, settings: BaseSettings) -> Slots:
    """Return where the slots of machines and domains are taken: of all workers together."""
    if names_redis(crawl.store):
        from lswc.crawler import workers

        return workers.slots(crawl, settings)
    return OwnSlots()


def running_of(crawler: Crawler) -> RunningCrawl:
    """Return the crawl that a crawler runs, for components to take when they are built.

    Raises ConfigError if the spider isn't an LswcSpider.
    """
    running = getattr(crawler.spider, "running", None)
    if not isinstance(running, RunningCrawl):
        raise ConfigError(f"{crawler.spider} isn't a spider of lswc's: subclass LswcSpider")
    return running
