"""A good guest: what servers ask for, in robots.txt, in headers and by how fast they answer."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares import retry, robotstxt
from scrapy.exceptions import DownloadConnectionRefusedError
from scrapy.http import Request
from scrapy.utils.datatypes import LocalCache

from lswc.crawl import number
from lswc.safety.refused import Refused
from lswc.scheduler import LEASE, RETRY_AT, SINCE, scheduler_of
from lswc.urls import parse

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.robotstxt import RobotParser

    from lswc.frontier.contract import Lease

REMEMBERED = 10_000
"""Servers whose robots.txt is kept, the latest."""

_OVERLOADED = (429, 503)
_NOTHING_ALLOWED = b"User-agent: *\nDisallow: /"


class RobotsMiddleware(robotstxt.RobotsTxtMiddleware):
    """robots.txt (RFC 9309) with its Crawl-delay.

    A server that asks for more than LSWC_MAX_CRAWL_DELAY seconds isn't crawled: the delay is
    never shortened. One that fails to give its robots.txt allows nothing (RFC 9309 §2.3.1.4).
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._parsers = LocalCache(REMEMBERED)
        self._longest = number(crawler.settings, "LSWC_MAX_CRAWL_DELAY")

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        super().process_request_2(rp, request)
        agent = self._robotstxt_useragent or self._default_useragent
        delay = rp.crawl_delay(agent) if rp is not None else None
        if not delay:
            return
        if self._longest and delay > self._longest:
            raise Refused("Crawl-delay too long")
        _rest(self.crawler, request, delay)

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if response.status >= 500 or response.status == 429:
            response = response.replace(body=_NOTHING_ALLOWED)
        await super()._parse_robots(response, netloc, request)


class RetryMiddleware(retry.RetryMiddleware):
    """Retries after the time that a 429 or 503 asks for in Retry-After (RFC 9110 §10.2.3).

    Without that header after ten times DOWNLOAD_DELAY, then twenty and so on. A server that asks
    for more than LSWC_MAX_RETRY_AFTER seconds is left alone.
    """

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if response.status not in _OVERLOADED or LEASE not in request.meta:
            return super().process_response(request, response)
        settings = self.crawler.settings
        wait = retry_after(response)
        if wait is None:
            times = request.meta.get("retry_times", 0)
            wait = 10.0 * settings.getfloat("DOWNLOAD_DELAY") * 2**times
        longest = number(settings, "LSWC_MAX_RETRY_AFTER")
        if longest and wait > longest:
            server = scheduler_of(self.crawler).frontier.leases[request.meta[LEASE]].server
            scheduler_of(self.crawler).ledger.close(server, "Retry-After too long")
            return response
        again = super().process_response(request, response)
        if isinstance(again, Request):
            again.meta[RETRY_AT] = monotonic() + wait
        else:
            _rest(self.crawler, request, monotonic() - request.meta[SINCE] + wait)
        return again


class TwinMiddleware:
    """Asks by https where nothing answers http's port: twins are one URL, found by either name."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Return the twin of a page's request that was refused a connection."""
        lease = _lease(self._crawler, request)
        url = parse(request.url)
        if lease is None or url is None or (url.scheme, url.port) != ("http", 80):
            return None
        if not isinstance(exception, DownloadConnectionRefusedError):
            return None
        lease.url = f"https://{lease.url.partition('://')[2]}"
        return request.replace(url=f"https://{request.url.partition('://')[2]}")


class AdaptiveDelayMiddleware:
    """Lets a server rest LSWC_DELAY_FACTOR times as long as it took to answer."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._factor = number(crawler.settings, "LSWC_DELAY_FACTOR")
        self._polite = number(crawler.settings, "DOWNLOAD_DELAY") > 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Set the rest of the page's server."""
        latency = request.meta.get("download_latency")
        if self._polite and latency and SINCE in request.meta:
            elapsed = monotonic() - request.meta[SINCE]
            _rest(self._crawler, request, elapsed + self._factor * latency)
        return response


def retry_after(response: Response) -> float | None:
    """Return the seconds that Retry-After asks for, as a number or a date; None if it doesn't."""
    value = (response.headers.get("Retry-After") or b"").decode("latin-1").strip()
    if value.isascii() and value.isdecimal():
        return float(value[:12])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, OverflowError, TypeError):
        return None


def robots_tag(response: Response) -> frozenset[str]:
    """Return what X-Robots-Tag says to all robots or to this one, in lower case."""
    told: set[str] = set()
    for value in response.headers.getlist("X-Robots-Tag"):
        for part in value.decode("latin-1").lower().split(","):
            agent, colon, word = part.rpartition(":")
            if not colon or agent.strip() == "lswc":
                told.add(word.strip())
    return frozenset(told)


def _rest(crawler: Crawler, request: Request, seconds: float) -> None:
    """Let the server of a leased URL rest for at least so long from its handing out on."""
    lease = _lease(crawler, request)
    if lease is not None:
        own = crawler.settings.getfloat("DOWNLOAD_DELAY")
        lease.rest = max(own if lease.rest is None else lease.rest, seconds)


def _lease(crawler: Crawler, request: Request) -> Lease | None:
    return scheduler_of(crawler).frontier.leases.get(request.meta.get(LEASE, 0))
