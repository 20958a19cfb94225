"""A good guest: what servers ask for, in headers and by how fast they answer."""

from __future__ import annotations

from asyncio import sleep
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares import retry
from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
)

from lswc.crawl.failures import is_silence
from lswc.crawl.requests import RENDERING, page_visit_of, url_of, visit_of
from lswc.crawl.robots_exclusion import CRAWL_DELAY
from lswc.crawl.running import RunningCrawl, running_of
from lswc.crawl.transport.refused import Refused
from lswc.errors import LswcError
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response

    from lswc.urls import Url


OVERLOADED = (429, 503)
"""Statuses by which a server says that it is asked for too much, or too often."""

_ASKED = "lswc_asked"


class TurnMiddleware:
    """Lets a page's request wait while its server rests, where it keeps no other waiting.

    The frontier leases no URL of a server that rests from a page; but robots.txt may have been
    asked for just now, or a redirect have led here. Its machine and its registered domain have
    other servers, which the frontier doesn't know of.
    """

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(running_of(crawler))

    async def process_request(self, request: Request) -> Request | None:
        """Return a page's request, to be sent later, if it isn't its turn."""
        visit, url = visit_of(request), url_of(request)
        if RENDERING in request.meta and url is not None:
            await self._wait(request, url)
        if visit is None or url is None:
            return None
        wait = self._running.turns.wait(url.server, request.meta.get(CRAWL_DELAY, 0.0))
        try:
            wait = wait or await self._running.machines.take(request, url)
        except LswcError as error:
            self._running.fail(error)
        if not wait:
            return None
        visit.rest = max(visit.rest or 0.0, monotonic() - visit.since + wait)
        return request.replace(dont_filter=True)

    async def _wait(self, request: Request, url: Url) -> None:
        """Hold up what a page in the browser needs till it is its turn. Raises Refused."""
        while wait := (
            self._running.turns.wait(url.server, request.meta.get(CRAWL_DELAY, 0.0))
            or await self._running.machines.take(request, url)
        ):
            await sleep(wait)
            if request.meta[RENDERING].is_over:
                raise Refused(Outcome.LOST)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Give back what a request holds that was refused before it was sent."""
        _give_back(self._running, request, asked=False)


class AnswerMiddleware:
    """Tells the crawl which servers answer, to robots.txt too, and which don't."""

    def __init__(self, running: RunningCrawl) -> None:
        self._network = running.network

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(running_of(crawler))

    def process_response(self, request: Request, response: Response) -> Response:
        """Take notice of an answer."""
        url = url_of(request)
        if url is not None and response.ip_address is not None:  # else none was asked for it
            self._network.answered(url)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Take notice that no byte came."""
        url = url_of(request)
        # What is behind a proxy can't be knocked at: there each failure is its server's.
        if url is not None and is_silence(exception) and "proxy" not in request.meta:
            self._network.silent(url)


class RetryMiddleware(retry.RetryMiddleware):
    """Retries what Scrapy's does; not what a server says that is left alone for its Retry-After."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler.settings)
        self.crawler = crawler
        self._running = running_of(crawler)
        self._longest = self._running.crawl.politeness.longest_retry_after

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if response.status in OVERLOADED and (retry_after(response) or 0.0) > self._longest:
            return response
        return super().process_response(request, response)

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | Response | None:
        if self._running.network.paused:
            return None  # it says nothing of the server, and counts for no try
        return super().process_exception(request, exception)


class TwinMiddleware:
    """Asks by https where nothing answers http's port: twins are one URL, found by either name."""

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Return the twin of a page's request that was refused a connection."""
        visit, url = page_visit_of(request), url_of(request)
        if visit is None or url is None or (url.scheme, url.port) != ("http", 80):
            return None
        if not isinstance(exception, DownloadConnectionRefusedError):
            return None
        visit.url = f"https://{visit.url.partition('://')[2]}"
        return request.replace(url=f"https://{request.url.partition('://')[2]}")


class DelayMiddleware:
    """Lets a server rest after each answer of its, or failure to, robots.txt and retries included.

    As long as the longest of DOWNLOAD_DELAY, its Crawl-delay, and LSWC_DELAY_FACTOR times as long
    as it took to answer; if it didn't in time, twice as long after each further URL, but at most
    LSWC_MAX_RETRY_AFTER seconds. So a silent server takes little of the crawl, and isn't lost.

    After 429 and 503 as long as Retry-After asks for (RFC 9110 §10.2.3); without it LSWC_BACKOFF
    seconds, and twice as long each further time. A server that asks for more than
    LSWC_MAX_RETRY_AFTER seconds is left alone.
    """

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running
        self._politeness = running.crawl.politeness

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(running_of(crawler))

    async def process_request(self, request: Request) -> None:
        """Hold up a robots.txt whose redirect leads to a server that rests; count the others."""
        url = url_of(request)
        if url is None:
            return
        if self._running.steering.rule(url).block:
            raise Refused(Outcome.BLOCKED)  # also robots.txt that a redirect led here for
        while visit_of(request) is None and (wait := self._running.turns.wait(url.server)):
            await sleep(wait)
        self._running.turns.begin(url.server)
        request.meta[_ASKED] = url.server

    def process_response(self, request: Request, response: Response) -> Response:
        """Set the rest of the server."""
        server = request.meta.get(_ASKED)
        if server is None:  # none was asked for it
            _give_back(self._running, request, asked=False)
            return response
        latency = request.meta.get("download_latency") or 0.0
        rest = self._politeness.delay_factor * latency
        try:
            if response.status in OVERLOADED:
                rest = max(rest, self._overloaded(server, response))
            elif response.status < 500:
                self._running.backoff.answered(server)
        except LswcError as error:
            self._running.fail(error)
        self._end(request, rest)
        return response

    def _overloaded(self, server: str, response: Response) -> float:
        wait = retry_after(response)
        if wait is None:
            return self._running.backoff.overloaded(server, time())
        if wait > self._politeness.longest_retry_after:
            self._running.limits.close(server, Outcome.RETRY_AFTER_TOO_LONG)
            return 0.0  # it isn't asked again: its other URLs needn't wait to end
        return wait

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Set the rest of the server, if it was asked."""
        silent = isinstance(exception, DownloadTimeoutError)
        self._end(request, self._after_silence(request) if silent else 0.0)

    def _end(self, request: Request, seconds: float) -> None:
        server, visit = request.meta.pop(_ASKED, None), visit_of(request)
        # Now: a retry is a copy of the request, and would hold it too.
        _give_back(self._running, request, asked=server is not None)
        if server is None:
            return
        url = url_of(request)
        said = (self._running.steering.rule(url).delay if url else None) or 0.0
        rest = max(seconds, said, self._politeness.delay, request.meta.get(CRAWL_DELAY, 0.0))
        self._running.turns.end(server, rest)
        if visit is not None and rest:
            visit.rest = max(visit.rest or 0.0, monotonic() - visit.since + rest)

    def _after_silence(self, request: Request) -> float:
        url = url_of(request)
        times = self._running.limits.unanswered(url) if url else 0
        rest = self._politeness.delay_factor * self._politeness.timeout * 2.0 ** min(times, 20)
        return min(rest, self._politeness.longest_retry_after)


def retry_after(response: Response) -> float | None:
    """Return the seconds that Retry-After asks for, as a number or a date; None if it doesn't."""
    value = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if value.isascii() and value.isdecimal():
        return float(value[:12])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, OverflowError, TypeError):
        return None


def _give_back(running: RunningCrawl, request: Request, *, asked: bool) -> None:
    try:
        running.machines.give_back(request, asked=asked)
    except LswcError as error:
        running.fail(error)
