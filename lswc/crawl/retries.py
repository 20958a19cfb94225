"""Retries, and redirects: requests that come to the scheduler for visits under way."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

from lswc.crawl.requests import page_visit_of, visit_of
from lswc.frontier.rules.visit import FollowedLink, offer_of_redirect
from lswc.outcomes import Outcome
from lswc.urls import fingerprint, parse

if TYPE_CHECKING:
    from scrapy import Request

    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.frontier.rules.visit import Visit
    from lswc.guest.admission import Admission
    from lswc.guest.twins import Twins

WAITING = 1_000
"""Requests that wait to be sent again; of more, the one that would wait longest is given up."""

PARKED = 5_000
"""Requests that wait in all. Of more, those that only wait for their turn go back to the frontier:
their servers may be thousands on one machine, and keep no other waiting."""

PATIENCE = 10.0
"""Seconds that a request waits here for its turn; for longer it goes back to the frontier."""

HELD = 16_384
"""Bytes of an answer, headers included, that are kept while its request waits to be sent again."""


class Retries:
    """Requests that wait to be sent again, each until its server has rested: those ``waiting``."""

    def __init__(
        self, crawl: Crawl, commits: Commits, admission: Admission, twins: Twins | None
    ) -> None:
        self._crawl, self._commits, self._admission = crawl, commits, admission
        self._twins = twins
        self.waiting: list[tuple[float, int, Request]] = []  # a heap
        self._numbers = count()
        self._retried = 0

    def take(self, request: Request, visit: Visit) -> None:
        """Take a request that came back: a redirect ends its visit, or leads to its twin."""
        if request.meta.get("redirect_times", 0) > visit.redirects:
            self._redirect(request, visit)
        else:
            self._wait(request, visit)

    def _wait(self, request: Request, visit: Visit) -> None:
        if not visit.attempts and visit.url == visit.lease.url and self._is_long(visit):
            self._commits.give_back(visit)
            return
        for attempt in visit.attempts:
            if attempt.exchange is not None and attempt.exchange.weight > HELD:
                attempt.exchange = None
        self._push(request, visit)
        self._retried += bool(visit.attempts)
        if self._retried > WAITING:
            self._give_up()

    def _is_long(self, visit: Visit) -> bool:
        return len(self.waiting) >= PARKED or _due(visit) - monotonic() > PATIENCE

    def _push(self, request: Request, visit: Visit) -> None:
        heappush(self.waiting, (_due(visit), next(self._numbers), request))

    def _give_up(self) -> None:
        """End the visit of the request that would be sent again last."""
        last = max(entry for entry in self.waiting if _is_retried(entry[2]))
        self.waiting.remove(last)
        heapify(self.waiting)
        self._retried -= 1
        given_up = visit_of(last[2])
        if given_up is not None:
            self._commits.commit(given_up, Outcome.TOO_MANY_WAIT)

    def _redirect(self, request: Request, visit: Visit) -> None:
        url = self._admission.scope_of(visit, request.url)
        times = request.meta["redirect_times"]
        if isinstance(url, Outcome):
            visit.tally["discarded" if visit.is_page else "requisites discarded", url] += 1
            self._led_to(visit, request.url, url)
        elif fingerprint(url.href) == fingerprint(visit.url):
            # By https, or with a session in it: another request for the same page.
            if request.url in request.meta["redirect_urls"]:
                self._commits.commit(visit, Outcome.REDIRECT_LOOP)
            else:
                visit.url, visit.redirects = url.href, times
                self._wait(request, visit)
            return
        else:
            twins = self._twins if visit.is_page else None
            if twins is not None and (source := parse(visit.url)) is not None:
                twins.named(source, url, redirects=True)
            visit.offers = [offer_of_redirect(visit, url, self._crawl.unit(url), times)]
            self._led_to(visit, url.href, None)
        self._commits.commit(visit, Outcome.REDIRECT)

    def _led_to(self, visit: Visit, url: str, discarded: str | None) -> None:
        visit.led_to = url
        if visit.lease.is_listing:
            return
        if visit.lease.is_requisite:
            visit.requisites = () if discarded else (url,)
        else:
            tier = None if discarded else visit.lease.tier
            visit.links = [FollowedLink(url, None, tier, discarded)]

    def next_due(self, now: float) -> Request | None:
        """Return a request whose wait is over, None if there is none."""
        while self.waiting and self.waiting[0][0] <= now:
            request = heappop(self.waiting)[2]
            self._retried -= _is_retried(request)
            visit = visit_of(request)
            if visit is not None and not visit.is_over:
                return request
        return None

    @property
    def next_time(self) -> float | None:
        """When the next request may be sent; None if none waits."""
        return self.waiting[0][0] if self.waiting else None

    @property
    def visits(self) -> set[int]:
        """The numbers of the visits whose requests wait."""
        visits = (visit_of(request) for _, _, request in self.waiting)
        return {visit.lease.id for visit in visits if visit is not None}


def _due(visit: Visit) -> float:
    return visit.since + visit.rest


def _is_retried(request: Request) -> bool:
    """Tell whether a request was sent before: others wait only until their server has rested."""
    visit = page_visit_of(request)
    return visit is not None and bool(visit.attempts)
