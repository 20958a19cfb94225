"""A good guest: what servers ask for, in robots.txt, in headers and by how fast they answer."""

from __future__ import annotations

from collections import OrderedDict
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy.core.downloader import Downloader
from scrapy.downloadermiddlewares import retry
from scrapy.exceptions import (
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    IgnoreRequest,
    NotConfigured,
)
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import build_from_crawler, load_object

from lswc.crawler.requests import visit_of
from lswc.crawler.running import RunningCrawl, running_of
from lswc.crawler.transport.refused import Refused
from lswc.outcomes import Outcome
from lswc.safety.robots import NOTHING_ALLOWED, reduced
from lswc.urls import parse

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.robotstxt import RobotParser

    from lswc.crawl import Politeness

REMEMBERED = 10_000_000
"""Bytes of robots.txt, the latest, whose rules are kept: 160 MB of them at most.

Each counts as 1,000 bytes more, so that is 9,000 servers, most files being short.
"""

CRAWL_DELAY = "lswc_crawl_delay"
"""Key of the Crawl-delay in seconds in a page's ``request.meta``."""

_IS_ROBOTS = "dont_obey_robotstxt"
_OVERLOADED = (429, 503)


class RobotsMiddleware:
    """robots.txt (RFC 9309) with its Crawl-delay.

    A server that asks for more than LSWC_MAX_CRAWL_DELAY seconds isn't crawled: the delay is
    never shortened. A robots.txt that can't be had fails the page it is asked for, so that the
    page is tried again, or by https, and the server is waited for; one that still gets a
    server's error allows nothing (RFC 9309 §2.3.1.4).
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._crawler = crawler
        self._rules: OrderedDict[str, tuple[RobotParser, int]] = OrderedDict()
        self._held = 0
        self._parser = load_object(settings.get("ROBOTSTXT_PARSER"))
        self._agent: str = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT")
        self._longest = running_of(crawler).crawl.politeness.longest_crawl_delay
        self._retried = {int(status) for status in settings.getlist("RETRY_HTTP_CODES")}
        self._retries = settings.getint("RETRY_TIMES") * settings.getbool("RETRY_ENABLED")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> Response | None:
        """Raise Refused if robots.txt forbids it; answer with the server's failure to say so."""
        if request.meta.get(_IS_ROBOTS):
            # A redirect may have led it to another server, which has its own turn to wait for.
            request.meta.pop(Downloader.DOWNLOAD_SLOT, None)
            return None
        server = urlparse_cached(request).netloc
        if server not in self._rules:
            response = await self._fetch(request)
            if self._is_retried(request, response):
                return Response(request.url, response.status, response.headers, request=request)
            self._remember(server, _rules(response, self._agent))
        self._obey(self._rules[server][0], request)
        return None

    async def _fetch(self, request: Request) -> Response:
        url = urljoin(request.url, "/robots.txt")
        meta = {_IS_ROBOTS: True, "dont_retry": True}
        robots = Request(url, callback=NO_CALLBACK, meta=meta)
        try:
            return await self._crawler.engine.download_async(robots)
        except IgnoreRequest:  # by a limit of ours; none that it is above says what is allowed
            return Response(url, status=404)

    def _remember(self, server: str, text: bytes) -> None:
        rules = build_from_crawler(self._parser, self._crawler, text)
        self._rules[server] = rules, len(text) + 1000
        self._held += len(text) + 1000
        while self._held > REMEMBERED:
            self._held -= self._rules.popitem(last=False)[1][1]

    def _is_retried(self, request: Request, response: Response) -> bool:
        retries = request.meta.get("retry_times", 0)
        return _fails(response) and response.status in self._retried and retries < self._retries

    def _obey(self, rules: RobotParser, request: Request) -> None:
        if not rules.allowed(request.url, self._agent):
            raise Refused(Outcome.ROBOTS)
        delay = rules.crawl_delay(self._agent) or 0.0
        if delay > self._longest:
            raise Refused(Outcome.CRAWL_DELAY_TOO_LONG)
        request.meta[CRAWL_DELAY] = delay


def _fails(response: Response) -> bool:
    return response.status >= 500 or response.status == 429


def _rules(response: Response, agent: str) -> bytes:
    if _fails(response):
        return NOTHING_ALLOWED
    return reduced(response.body, agent) if response.status < 400 else b""


class RetryMiddleware(retry.RetryMiddleware):
    """Retries after the time that a 429 or 503 asks for in Retry-After (RFC 9110 §10.2.3).

    Without that header after ten times DOWNLOAD_DELAY, then twenty and so on. A server that asks
    for more than LSWC_MAX_RETRY_AFTER seconds is left alone.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler.settings)
        self.crawler = crawler
        self._running = running_of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        visit = visit_of(request)
        if response.status not in _OVERLOADED or visit is None:
            return super().process_response(request, response)
        politeness = self._running.crawl.politeness
        longest = politeness.longest_retry_after
        wait = retry_after(response)
        if wait is None:
            times = request.meta.get("retry_times", 0)
            wait = min(10.0 * politeness.delay * 2**times, longest)
        if wait > longest:
            self._running.limits.close(visit.lease.server, Outcome.RETRY_AFTER_TOO_LONG)
            return response
        _rest(politeness, request, wait)
        return super().process_response(request, response)


class TwinMiddleware:
    """Asks by https where nothing answers http's port: twins are one URL, found by either name."""

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Return the twin of a page's request that was refused a connection."""
        visit, url = visit_of(request), parse(request.url)
        if visit is None or url is None or (url.scheme, url.port) != ("http", 80):
            return None
        if not isinstance(exception, DownloadConnectionRefusedError):
            return None
        visit.url = f"https://{visit.url.partition('://')[2]}"
        return request.replace(url=f"https://{request.url.partition('://')[2]}")


class DelayMiddleware:
    """Lets a server rest after each answer of its, or failure to.

    As long as the longest of DOWNLOAD_DELAY, its Crawl-delay, and LSWC_DELAY_FACTOR times as long
    as it took to answer; if it didn't in time, twice as long after each further URL, but at most
    LSWC_MAX_RETRY_AFTER seconds. So a silent server takes little of the crawl, and isn't lost.
    """

    def __init__(self, running: RunningCrawl) -> None:
        self._limits = running.limits
        self._politeness = running.crawl.politeness

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(running_of(crawler))

    def process_response(self, request: Request, response: Response) -> Response:
        """Set the rest of the page's server."""
        latency = request.meta.get("download_latency") or 0.0
        _rest(self._politeness, request, self._politeness.delay_factor * latency)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Set the rest of the page's server, unless it wasn't asked."""
        if isinstance(exception, DownloadTimeoutError):
            _rest(self._politeness, request, self._after_silence(request))
        elif not isinstance(exception, IgnoreRequest):
            _rest(self._politeness, request, 0.0)

    def _after_silence(self, request: Request) -> float:
        url = parse(request.url)
        times = self._limits.unanswered(url) if url else 0
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


def _rest(politeness: Politeness, request: Request, seconds: float) -> None:
    """Let the server of a visit rest for at least so long from now on."""
    visit = visit_of(request)
    rest = max(seconds, politeness.delay, request.meta.get(CRAWL_DELAY, 0.0))
    if visit is not None and rest:
        visit.rest = max(visit.rest or 0.0, monotonic() - visit.since + rest)
