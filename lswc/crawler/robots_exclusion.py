"""robots.txt as the crawl keeps it: fetched, obeyed, and fetched again when it has expired."""

from __future__ import annotations

import re
from collections import OrderedDict
from time import monotonic, time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from scrapy.core.downloader import Downloader
from scrapy.exceptions import IgnoreRequest, NotConfigured, ResponseDataLossError
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from lswc.crawler.requests import IS_ROBOTS, visit_of
from lswc.crawler.running import running_of
from lswc.crawler.transport.refused import Refused
from lswc.errors import LswcError
from lswc.outcomes import Outcome
from lswc.reading.opt_outs import in_robots
from lswc.safety.robots import MAX_SIZE, RobotsRules
from lswc.urls import parse

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

REMEMBERED = 10_000_000
"""Bytes of robots.txt, the latest, whose rules are kept: 160 MB of them at most.

Each counts as 1,000 bytes more, so that is 9,000 servers, most files being short.
"""

LIFETIME = 86_400.0
"""Seconds that rules are kept at most (RFC 9309 §2.4)."""

UNWILLING = 600.0
"""Seconds that they are kept at least: many servers say that nothing of theirs may be cached."""

STALE = 3_600.0
"""Seconds that expired rules go on if the server fails to give new ones."""

CRAWL_DELAY = "lswc_crawl_delay"
"""Key of the Crawl-delay in seconds in a page's ``request.meta``."""

_FETCHED = "lswc_robots_fetched"
_MAX_AGE = re.compile(rb"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)


class _Kept(NamedTuple):
    rules: RobotsRules
    until: float
    size: int


class RobotsMiddleware:
    """robots.txt (RFC 9309) with its Crawl-delay.

    A server that asks for more than LSWC_MAX_CRAWL_DELAY seconds isn't crawled: the delay is
    never shortened. A robots.txt that can't be had, or came cut short, fails the page it is asked
    for, so that the page is tried again, or by https, and the server is waited for; if that still
    gets a server's error no page may be asked for (RFC 9309 §2.3.1.4): they wait until the server
    is asked again. Rules that were had before go on meanwhile (§2.4).
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        self._crawler = crawler
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._held = 0
        self._agent: str = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT")
        running = running_of(crawler)
        self._running = running
        self._turns, self._machines = running.turns, running.machines
        self._longest = running.crawl.politeness.longest_crawl_delay
        self._retried = {int(status) for status in settings.getlist("RETRY_HTTP_CODES")}
        self._retries = settings.getint("RETRY_TIMES") * settings.getbool("RETRY_ENABLED")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | Response | None:
        """Raise Refused if robots.txt forbids it; answer with the server's failure to say so.

        Return the request, for another turn, if robots.txt had to be fetched.
        """
        if request.meta.get(IS_ROBOTS):
            # A redirect may have led it to another server, which has its own turn to wait for.
            request.meta.pop(Downloader.DOWNLOAD_SLOT, None)
            return None
        server = urlparse_cached(request).netloc
        kept = self._kept.get(server)
        # However short they hold, they hold for the page that they were fetched for.
        just_fetched = request.meta.pop(_FETCHED, None) == server
        if kept is not None and (just_fetched or monotonic() < kept.until):
            self._obey(kept.rules, request)
            return None
        if kept is not None:
            self._obey(await self._renewed(server, kept.rules, request), request)
        else:
            response = await self._fetch(request)
            if _fails(response) and self._is_retried(request, response):
                return Response(request.url, response.status, response.headers, request=request)
            if _fails(response):
                self._give_up(request)
            self._obey(self._remember(server, response), request)
        request.meta[_FETCHED] = server
        self._machines.give_back(request, asked=True)
        return request.replace(dont_filter=True)  # in its turn: the server was asked just now

    def _give_up(self, request: Request) -> None:
        """Let a server that fails rest, and its page wait. Raises Refused."""
        url = parse(request.url)
        try:
            self._running.backoff.overloaded(url.server if url else "", time())
        except LswcError as error:
            self._running.fail(error)
        raise Refused(Outcome.ROBOTS_UNAVAILABLE)

    async def _renewed(self, server: str, rules: RobotsRules, request: Request) -> RobotsRules:
        """Return a server's rules as they are now, or the ones before if it fails to say them."""
        try:
            response = await self._fetch(request)
        except Refused:
            raise
        except Exception:  # of the network, whatever it is: the page's own request will meet it
            self._keep(server, rules, STALE)
            return rules
        if _fails(response):
            self._keep(server, rules, STALE)
            return rules
        return self._remember(server, response)

    async def _fetch(self, request: Request) -> Response:
        """Fetch a server's robots.txt. Raises ResponseDataLossError if it came cut short."""
        url = urljoin(request.url, "/robots.txt")
        # Its size is no reason to refuse it: what is read of it is bounded on the way.
        meta = {IS_ROBOTS: True, "dont_retry": True, "download_maxsize": 0}
        headers = {"Accept-Encoding": "identity"}
        robots = Request(url, callback=NO_CALLBACK, headers=headers, meta=meta)
        try:
            response = await self._crawler.engine.download_async(robots)
        except Refused:
            raise
        except IgnoreRequest:  # too many redirects: it isn't to be had (RFC 9309 §2.3.1.2)
            return Response(url, status=404)
        if "dataloss" in response.flags and len(response.body) < MAX_SIZE:
            raise ResponseDataLossError
        return response

    def _remember(self, server: str, response: Response) -> RobotsRules:
        body = response.body if response.status < 300 else b""
        rules = RobotsRules(body, self._agent)
        self._keep(server, rules, lifetime(response))
        return rules

    def _keep(self, server: str, rules: RobotsRules, seconds: float) -> None:
        before = self._kept.pop(server, None)
        kept = _Kept(rules, monotonic() + seconds, rules.size + 1000)
        self._kept[server] = kept
        self._held += kept.size - (before.size if before else 0)
        while self._held > REMEMBERED:
            self._held -= self._kept.popitem(last=False)[1].size

    def _is_retried(self, request: Request, response: Response) -> bool:
        retries = request.meta.get("retry_times", 0)
        return response.status in self._retried and retries < self._retries

    def _obey(self, rules: RobotsRules, request: Request) -> None:
        allowed = rules.allows(request.url)
        if not allowed or rules.crawl_delay > self._longest:
            self._let_rest(request)
            raise Refused(Outcome.CRAWL_DELAY_TOO_LONG if allowed else Outcome.ROBOTS)
        request.meta[CRAWL_DELAY] = rules.crawl_delay
        if (visit := visit_of(request)) is not None:
            visit.opt_outs = in_robots(rules.content_usage(request.url))

    def _let_rest(self, request: Request) -> None:
        """Say how long a server rests whose page isn't asked for: only
        from robots.txt, if that had to be fetched.
        """
        visit, url = visit_of(request), parse(request.url)
        if visit is not None and url is not None and visit.rest is None:
            wait = self._turns.wait(url.server)
            visit.rest = monotonic() - visit.since + wait if wait else 0.0


def lifetime(response: Response) -> float:
    """Return the seconds that a robots.txt's rules hold, by its Cache-Control (RFC 9111 §5.2.2)."""
    said = b", ".join(response.headers.getlist("Cache-Control"))
    age = _MAX_AGE.search(said)
    if b"no-store" in said.lower() or b"no-cache" in said.lower() or (age and int(age[1]) == 0):
        return UNWILLING
    return min(float(age[1]), LIFETIME) if age else LIFETIME


def _fails(response: Response) -> bool:
    return response.status >= 500 or response.status == 429
