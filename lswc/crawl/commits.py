"""Commits of visits: what a visit brought is written, then its URL ends in the frontier.

Every visit is committed exactly once; what reports its end again does nothing. Where each end of a
request arrives:

=========================================  ===============================================
end of a request                           arrives at
=========================================  ===============================================
page recorded                              ``RecordPipeline``
page that asks not to be kept              ``StrategyMiddleware``
requisite of an archived page              ``Requisites.parse``, its callback
sitemap or feed                            ``Listings.parse``, its callback
no page, or one that can't be read         ``Pages.parse``, its callback
item dropped, or a pipeline raised         signals ``item_dropped``, ``item_error``
callback or spider middleware raised       signal ``spider_error``
callback output swallowed                  ``VisitGuardMiddleware``
download error, timeout, robots.txt,       ``Commits.errback``, the errback of the request
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
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING

from scrapy.spidermiddlewares.httperror import HttpError

from lswc.crawl.close_reasons import (
    CANNOT_WRITE,
    LOST_STORE,
    NO_PROXY,
    NOT_CLOSED,
    STUCK,
    UNEXPECTED,
)
from lswc.crawl.failures import outcome_of
from lswc.crawl.requests import url_of, visit_of
from lswc.errors import DamageError, LostStoreError, LswcError, ProxyError, StuckError
from lswc.frontier.rules.revisited import became
from lswc.frontier.rules.visit import Visit, offer_like
from lswc.outcomes import RECORDED, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.statscollectors import StatsCollector
    from twisted.python.failure import Failure

    from lswc.archive.archive import Archive
    from lswc.crawl.configuration import Crawl
    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Lease
    from lswc.guest.guest import Guest
    from lswc.guest.pageless import Pageless
    from lswc.guest.twins import Twins

SAVE_SECONDS, SAVE_BYTES = 15.0, 64_000_000
"""After so many seconds, or bytes of the frontier's log, what is committed is made durable.

Not more often: a page changes leaves all over the frontier, and each is written once a checkpoint.
"""

_REASONS = (
    (LostStoreError, LOST_STORE),
    (StuckError, STUCK),
    (ProxyError, NO_PROXY),
    (LswcError, CANNOT_WRITE),
)

MISSING = ("status 400", "status 403", "status 404", "status 410")
"""Outcomes of URLs that aren't there, and may be by another name of their server."""

logger = logging.getLogger(__name__)


class Commits:
    """The visits under way in this process, and their ends.

    ``visits`` are those that haven't ended, by the number of their lease. ``stop`` closes the crawl
    in order, for a reason; ``tallied`` is called with each visit that ends, before it is stored,
    ``taken_back`` with visits that are given back with a page; ``pageless`` hears how URLs of
    servers without a page ended, ``twins`` which aren't to be had. ``rested`` is when every server
    has rested, if URLs go in order.
    """

    failed = False
    """Whether the crawl's state can't be written any more; nothing is, from then on."""

    def __init__(
        self,
        crawl: Crawl,
        frontier: Frontier,
        archive: Archive,
        guest: Guest,
        stats: StatsCollector,
        stop: Callable[[str], None],
    ) -> None:
        self._crawl, self._frontier, self._archive = crawl, frontier, archive
        self._guest, self._count = guest, stats.inc_value
        self.stop = stop
        self.tallied: Callable[[Visit], None] = lambda visit: None
        self.taken_back: Callable[[Visit], None] = lambda visit: None
        self.pageless: Pageless | None = None
        self.twins: Twins | None = None
        self.visits: dict[int, Visit] = {}
        self.begun = Counter[bool]()
        """How many visits were begun, by whether they are of pages."""
        self.latest_end = self._saved = monotonic()
        self._saves = False
        self.rested = 0.0

    def begin(self, lease: Lease, now: float) -> Visit:
        """Begin the visit of a URL that was leased ``now``.

        One of the same URL that hasn't ended is over: its lease has, else there were no other.
        """
        if (before := self.visits.get(lease.id)) is not None:
            before.is_over = True
        visit = self.visits[lease.id] = Visit(lease, now, is_over=self.failed)
        self.begun[visit.is_page] += 1
        return visit

    def errback(self, failure: Failure) -> None:
        """End the visit of a request that brought no answer to read. Never yields anything."""
        request = vars(failure)["request"]  # set by Scrapy's scraper
        visit, url = visit_of(request), url_of(request)
        if url is not None and isinstance(failure.value, HttpError):
            self._guest.limits.answered(url, True)
        if visit is not None:
            self.commit(visit, outcome_of(failure.value))

    def commit(self, visit: Visit, outcome: str) -> None:
        """End a visit, if it hasn't ended yet: at once, or when the network is known to be there.

        What came while it wasn't is given back instead.
        """
        network, under_way = self._guest.network, len(self.visits)
        if not (visit.is_over or network.takes(visit, outcome, under_way)):
            self.end(visit, outcome)

    def end(self, visit: Visit, outcome: str) -> None:
        """End a visit that says nothing of the network: write what it brought, then commit it.

        One that failed may be postponed instead.
        """
        if visit.is_over:
            return
        visit.is_over = True
        del self.visits[visit.lease.id]
        self.latest_end = monotonic()
        visit.outcome = outcome
        if outcome == Outcome.BLOCKED:
            _forget(visit)
        had = visit.record is not None
        due = None if had else self._guest.due(visit, outcome)
        if visit.lease.visits:  # it is asked again anyhow
            due = None
        visit.postponed = due is not None
        if self.twins is not None and visit.is_page and outcome not in RECORDED:
            self._seek_others(self.twins, visit)
        try:
            self._tally(visit)
            self._frontier.foresee(visit)
            visit, lengths = self._stored(visit)
            if due is not None:
                self._ended(visit, self._frontier.postpone(visit, due, lengths))
            else:
                self._ended(visit, self._frontier.commit(visit, lengths))
        except Exception as error:
            self.fail(error)

    def _seek_others(self, twins: Twins, visit: Visit) -> None:
        """Offer a URL by the other name of its server, if it isn't to be had by this.

        What gave way to it is asked for again.
        """
        if (url := url_of(visit)) is None:
            return
        found = twins.of_missing(url) if visit.outcome in MISSING else None
        if found is not None and visit.lease.referrer != found.href:
            times = visit.lease.redirects + 1
            visit.offers = [offer_like(visit, found, self._crawl.unit(found), times)]
        if twins.canonicals.waiting and not visit.postponed:
            twins.canonicals.ended(url)

    def _ended(self, visit: Visit, has_ended: bool) -> None:
        """Take notice of an end: it leaves nothing if the lease was over. Raises LswcError."""
        if not has_ended:
            self._archive.withdraw()
            logger.warning("the lease of %s has ended: its result is left out", visit.url)
            return
        pageless, server = self.pageless, visit.lease.server
        if pageless is not None and (visit.relevant is None or server in pageless.servers):
            pageless.ended(visit)
        if self._crawl.revisit:
            self._archive.confirm()
        self._save_if_due()
        self.rested = max(self.rested, visit.since + visit.rest)
        if visit.lease.visits:
            self._count(f"lswc/visited again/{became(visit)}")
        else:
            self._count(f"lswc/{'postponed' if visit.postponed else 'finished'}/{visit.outcome}")
        for (kind, name), number in visit.tally.items():
            self._count(f"lswc/{kind}/{name}", number)

    def _tally(self, visit: Visit) -> None:
        """Count what a visit brought, beside what was counted as it was read. Raises LswcError."""
        visit.count_end()
        self.tallied(visit)

    def _stored(self, visit: Visit) -> tuple[Visit, dict[str, int]]:
        """Write what a visit brought, or that it failed if no one knows how to write it.

        So one page can't keep its server, and the crawl, from ending. Raises LswcError.
        """
        try:
            return visit, self._archive.store(visit)
        except LswcError:
            raise
        except Exception:
            logger.exception("can't write what came of %s", visit.url)
            self._archive.withdraw()
            failed = Visit(
                visit.lease,
                visit.since,
                rest=visit.rest,
                outcome=Outcome.FAILED,
                postponed=visit.postponed,
            )
            return failed, self._archive.store(failed)

    def check(self) -> None:
        """Raise StorageError if a file was removed while the crawl writes it."""
        self._archive.check()
        self._frontier.check()

    def _save_if_due(self) -> None:
        is_due = monotonic() - self._saved > SAVE_SECONDS or self._frontier.unsaved > SAVE_BYTES
        if self._saves or is_due:
            self.save()

    def save(self) -> bool:
        """Make durable what is committed: first the files, then what refers to them.

        Most of the frontier is, beside the crawl, before the rest takes a moment: until then it
        isn't done, and is to be asked for again.
        """
        if not self._saves:
            self._archive.sync()
            self._saves = True
        if not self._frontier.prepare_checkpoint():
            return False
        self._archive.sync()
        if self.twins is not None:
            self.twins.sync()
        self._frontier.checkpoint()
        self._archive.rotate()
        self._saved, self._saves = monotonic(), False
        return True

    def give_back(self, visit: Visit) -> None:
        """End a visit as if its URL hadn't been asked for."""
        if visit.is_over:
            return
        visit.is_over = True
        del self.visits[visit.lease.id]
        record, url = visit.record, url_of(visit)
        if record is not None and url is not None:
            limits, lease, simhash = self._guest.limits, visit.lease, int(record.simhash, 16)
            if lease.visits:
                limits.visited_again(url, simhash, lease.simhash or simhash)
            else:
                limits.take_back(url, simhash, record.near_duplicate)
            self.taken_back(visit)
        try:
            self._frontier.give_back(visit)
        except Exception as error:
            self.fail(error)
        self._count("lswc/given_back")

    def fail(self, error: Exception) -> None:
        """Stop the crawl in order because its state can't be written; resume goes on from it.

        So it is for what nobody expected, too: to go on would keep a place for good, in silence.
        """
        if self.failed:
            return
        self.failed = True
        for visit in self.visits.values():
            visit.is_over = True
        reason = next((one for kind, one in _REASONS if isinstance(error, kind)), UNEXPECTED)
        if isinstance(error, DamageError):
            logger.error("%s; the crawl stops", error)
        elif isinstance(error, LswcError):
            logger.error("%s; the crawl stops, and goes on from here when started again", error)
        else:
            logger.error(
                "an error of lswc's own, %s: the crawl stops, and goes on from here when started "
                "again", repr(error), exc_info=error,
            )  # fmt: skip
        self.stop(reason)

    def not_closed(self, error: Exception) -> None:
        """Say that something couldn't be closed in order at the end; the exit code says so, too."""
        if isinstance(error, LswcError):
            logger.error("%s", error)
        else:
            logger.error("an error of lswc's own at the end, %r", error, exc_info=error)
        self._count(NOT_CLOSED)


def _forget(visit: Visit) -> None:
    """Leave out all that a visit brought of a place that is blocked now."""
    visit.relevant, visit.record = None, None
    visit.offers, visit.links, visit.requisites = (), [], []
    visit.tally.clear()
    visit.withhold()
