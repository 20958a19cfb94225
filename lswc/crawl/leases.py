"""Leases of URLs: seeds are offered, and the next URL is chosen, pages and requisites in turn."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from lswc.crawl.commits import MISSING
from lswc.errors import AwayError
from lswc.frontier.rules.visit import FollowedLink, offer_like
from lswc.outcomes import INSTEAD, LIFTED, OF_QUOTA, UNSHOWN, Outcome, has_failed
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scrapy.statscollectors import StatsCollector

    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.crawl.feed import Feed
    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Lease, Visit
    from lswc.guest.guest import Guest
    from lswc.guest.twins import Twins

AT_ONCE = 50
"""URLs of servers left alone that are finished at once; others run between."""

STAY = 90.0
"""A crawl with nothing else left waits for a URL that is tried again in so many seconds; one that
ends, for a server of its requisites that rests, and for what other workers fetch."""

ASKED = 1.0
"""Seconds for which it is known that pages are left to visit again, or whether the crawl ends."""

STANDSTILL_SECONDS = 5.0
"""Seconds in a row that are counted as long: the frontier's rule allows a few rests of a server."""

logger = logging.getLogger(__name__)


@dataclass
class IdleConnections:
    """The ``seconds`` in all, the ``longest`` in a row, and ``since`` when some are idle now.

    They are idle in vain if nothing better came. Times are seconds of one clock.
    """

    seconds: float = 0.0
    longest: float = 0.0
    since: float | None = None

    def waits(self, now: float) -> None:
        """Take notice that a connection is free, and the URL that is next waits."""
        if self.since is None:
            self.since = now

    def goes_on(self, now: float) -> float:
        """Take notice that no URL waits so any more; return for how many seconds one did."""
        if self.since is None:
            return 0.0
        seconds, self.since = now - self.since, None
        self.seconds += seconds
        self.longest = max(self.longest, seconds)
        return seconds

    def in_a_row(self, now: float) -> float:
        """Return for how many seconds connections have been idle so."""
        return 0.0 if self.since is None else now - self.since


class Leases:
    """Hands out the frontier's URLs. Methods raise LswcError.

    ``feed`` has further seeds, None unless other workers share the crawl. While it ``may_end``,
    ``asked_for`` is called, with the time, before the next URL is looked for: it may ``finish`` it.
    """

    def __init__(
        self,
        crawl: Crawl,
        frontier: Frontier,
        guest: Guest,
        commits: Commits,
        stats: StatsCollector,
        twins: Twins | None,
    ) -> None:
        self._crawl, self._frontier, self._guest = crawl, frontier, guest
        self._commits, self._stats, self._twins = commits, stats, twins
        if twins is not None:
            twins.parted = self._retry_twins
        self.feed: Feed | None = None
        self.may_be_shown: Callable[[], Callable[[str, int], bool] | None] = lambda: None
        self.may_end = False
        self.asked_for: Callable[[float], None] = lambda now: None
        self.ends_after = ""
        """What is still to be asked for before the crawl ends, in words; "" while no end is due."""
        self.idle = IdleConnections()
        self._ends_because = ""
        self._confirms: Callable[[], bool] | None = None
        self._idle_since: float | None = None
        self._confirmed_at: float | None = None
        self._held_at = 0.0
        self._stopped = self._has_more = False

    def open(self) -> None:
        """Offer the seeds, and make pending what an earlier run of the crawl had to leave."""
        self._retry_failed()
        self.retry_refused()
        self._retry_copies()
        self.offer_seeds(self._crawl.seeds)

    def offer_seeds(self, addresses: Iterable[str]) -> int:
        """Offer seeds; return how many are in scope."""
        found = [self._crawl.seed(address) for address in addresses]
        offers = [offer for offer in found if not isinstance(offer, Outcome)]
        for reason in (one for one in found if isinstance(one, Outcome)):
            self._stats.inc_value(f"lswc/discarded/{reason}")
        self._frontier.offer(offers)
        return len(offers)

    def take_fed_seeds(self) -> None:
        """Offer the seeds that users fed to the running crawl."""
        if self.feed is None:
            return
        with suppress(AwayError), self.feed.seeds() as addresses:
            if addresses:
                self.offer_seeds(addresses)
                logger.info("%d seeds were fed", len(addresses))

    def _retry_failed(self) -> None:
        """Make pending what couldn't be had, if the crawl's user wants that."""
        if self._crawl.retry_failed:
            finished = self._frontier.counts().tally.get("finished", {})
            number = self._frontier.retry([name for name in finished if has_failed(name)])
            logger.info("%d URLs that failed are tried once more", number)

    def retry_refused(self) -> None:
        """Make pending what was refused when it was queued, and may be had now."""
        number = self._frontier.retry((*LIFTED, *OF_QUOTA), self._guest.admission.opened())
        if number:
            logger.info("%d URLs that were refused may be fetched now", number)

    def next(self, now: float) -> Visit | None:
        """Begin the visit of the next URL that may be asked for; None if there is none now.

        ``now`` in seconds on a monotonic clock.
        """
        self._has_more = False
        for _ in range(AT_ONCE):
            visit = self.lease(now)
            if visit is None:
                return None
            reason = self._guest.admission.of_visit(visit, now)
            if reason is None and self._is_twin(visit):
                reason = Outcome.TWIN
            if reason is None:
                return visit
            self._commits.end(visit, reason)
        self._has_more = True
        return None

    def _is_twin(self, visit: Visit) -> bool:
        """Tell whether another URL is asked for instead of a visit's, and offer that."""
        lease, twins = visit.lease, self._twins
        if twins is None or not (twins.servers or twins.parameters):
            return False
        if lease.visits or not visit.is_page:
            return False
        url = parse(lease.url)
        found = None if url is None else twins.instead(url, lease.referrer)
        if found is None or isinstance(self._guest.admission.scope_of(visit, found.href), Outcome):
            return False
        with self._frontier.reading() as reader:
            standing = reader.find(found.href)
        outcome = None if standing is None else standing.outcome
        if outcome in MISSING:
            return False
        if outcome == Outcome.CANONICAL and not twins.canonicals.has_shown(found):
            return False  # it may wait for this very URL
        visit.led_to = found.href
        visit.offers = [offer_like(visit, found, self._crawl.unit(found))]
        visit.links = [FollowedLink(found.href, None, lease.tier, None)]
        return True

    def take_owed(self) -> None:
        """Make pending what had to be left for a while.

        That is what the browser can show now, and URLs instead of which another was asked for that
        doesn't show the same.
        """
        if (may_be_shown := self.may_be_shown()) is not None:
            self._frontier.retry(UNSHOWN, may_be_shown)
        twins = self._twins
        if twins is not None and (owed := {*twins.owed, *twins.canonicals.owed}):
            self._frontier.retry(INSTEAD, lambda address, depth: address in owed)
            twins.owed.clear()
            twins.canonicals.paid()

    def _retry_copies(self) -> None:
        """Make pending what gave way to URLs that ended before the crawl was stopped."""
        if self._twins is None:
            return
        canonicals = self._twins.canonicals
        waits = [url for name in canonicals.waiting if (url := parse(f"http://{name}")) is not None]
        with self._frontier.reading() as reader:
            for url in waits:
                standing = reader.find(url.href)
                if standing is None or standing.outcome is not None:
                    canonicals.ended(url)
        self.take_owed()

    def _retry_twins(self) -> None:
        """Make pending what was asked for by another name, as that shows something else."""
        try:
            self._frontier.retry([Outcome.TWIN])
        except Exception as error:
            self._commits.fail(error)

    def lease(self, now: float) -> Visit | None:
        """Begin the visit of the next URL, whether or not it may be asked for; None as ``next``."""
        commits = self._commits
        if self.may_end and not self._ends_because:
            self.asked_for(now)
        if self._crawl.in_order and (commits.visits or now < commits.rested):
            return None
        lease = self._leased(now)
        if lease is None or self.idle.since is not None:
            self._count_idle(lease, now)
        if lease is not None:
            return commits.begin(lease, now)
        if self._ends_because and not self._ends(now):
            return self.lease(now)
        return None

    def _count_idle(self, lease: Lease | None, now: float) -> None:
        if lease is None and self._frontier.holds_back:
            self.idle.waits(now)
        elif seconds := self.idle.goes_on(now):
            self._stats.set_value("lswc/connections idle/seconds", round(self.idle.seconds, 1))
            if seconds > STANDSTILL_SECONDS:
                self._stats.inc_value("lswc/connections idle/long")

    def _leased(self, now: float) -> Lease | None:
        """Lease what is to be had first; None if nothing is."""
        frontier = self._frontier
        for servers in self._turns(now):
            if servers is None:
                lease = frontier.lease_requisite(now)
            else:
                lease = frontier.lease_among(servers, now) if servers else frontier.lease(now)
            if lease is not None:
                return lease
        return None

    def _turns(self, now: float) -> list[Sequence[str] | None]:
        """Return what to lease as long as there is none: of servers, of any (), or a requisite.

        That is None: if their share isn't used up, or no page is being asked for. A free connection
        alone is no reason: an answer costs time even where a server doesn't. A young crawl has few
        servers, which are for pages first; but not one that visits an earlier crawl's pages again:
        sitemaps say what has changed. Nothing else is wanted of a crawl that ends.
        """
        if self._ends_because:
            return [None]
        first = self._guest.control.first(self._frontier, now)
        pages: list[Sequence[str] | None] = [first, ()] if first else [()]
        begun = self._commits.begun
        share = self._crawl.requisites_share * (begun.total() + 1)
        is_young = self._frontier.choice.is_young and not self._crawl.earlier
        if begun[False] + 1 <= share and not is_young:
            return [None, *pages]
        if any(visit.is_page for visit in self._commits.visits.values()):
            return pages
        return [*pages, None]

    def next_ready(self, now: float) -> float | None:
        """Return when ``next`` is worth another try though nothing ends or is offered till then.

        None if there is no such time.
        """
        if self._has_more:
            return now
        if self._crawl.in_order and self._commits.visits:
            return None
        rested = self._commits.rested
        if self._crawl.in_order and now < rested:
            return rested
        if self._ends_because and self._confirmed_at is not None:
            return self._confirmed_at + ASKED
        return self._frontier.next_ready()

    def finish(self, reason: str, confirms: Callable[[], bool] | None = None) -> None:
        """Close the crawl for a reason, once what its archived pages need was asked for.

        It goes on if ``confirms`` says False then. That is of the whole crawl: it is asked again
        and again until other workers fetch nothing either, for what they find may change it.
        """
        self._ends_because, self._confirms = reason, confirms
        self._ends(monotonic())

    def _ends(self, now: float) -> bool:
        """Close the crawl if nothing more is asked for; tell whether it is to end at all.

        Requisites whose servers rest for long are left, and workers that fetch on for long.
        """
        if self._commits.visits:
            self._idle_since = self._confirmed_at = None
            return True
        self._idle_since = now if self._idle_since is None else self._idle_since
        is_patient = now - self._idle_since < STAY
        if self._stopped or (self._frontier.requisites and is_patient):
            return True
        if self._confirms is not None:
            if self._confirmed_at is not None and now < self._confirmed_at + ASKED:
                return True
            self._confirmed_at = now
            others_fetch = is_patient and self._others_fetch()  # at first: what they found counts
            if not self._confirms():
                self._ends_because = ""
                return False
            if others_fetch:
                return True
        self._stopped = True
        self._commits.stop(self._ends_because)
        return True

    def _others_fetch(self) -> bool:
        return self._frontier.elsewhere.leased > 0

    @property
    def goes_on(self) -> bool:
        """Whether pages were there to visit again a moment ago, and nothing ended here since.

        An idle crawl asks a shared store for that once a second, and not at each turn.
        """
        return self._commits.latest_end < self._held_at > monotonic() - ASKED

    def stays(self) -> bool:
        """Tell whether URLs are left that are worth to wait for, or pages to visit again."""
        self.take_owed()
        if self._frontier.elsewhere.waits:
            return True
        if self._frontier.revisited:
            self._held_at = monotonic()
            return True
        later, due = self._frontier.later, self._frontier.next_due()
        control = self._guest.control
        if self._frontier.unfinished > later or (later and control.pauses):
            return True
        if later and control.takes_last():
            return True
        twins = self._twins
        if twins is not None and twins.canonicals.waiting:  # for what the frontier has no more
            twins.canonicals.release()
            self.take_owed()
            return True
        if due is None or due - monotonic() <= STAY:
            return due is not None
        logger.info("%d URLs failed, and are tried again at the next start", later)
        return False
