"""robots.txt as the crawl keeps it: fetched, obeyed, and fetched again when it has expired."""

from __future__ import annotations

from time import monotonic, time
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy.core.downloader import Downloader
from scrapy.exceptions import IgnoreRequest, NotConfigured, ResponseDataLossError
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from lswc.crawl.requests import RULES, page_visit_of, url_of, visit_of
from lswc.crawl.running import running_of
from lswc.crawl.transport.refused import Refused
from lswc.errors import LswcError
from lswc.guest.robots_txt import MAX_SIZE, RobotsRules
from lswc.guest.rule_cache import STALE, KeptRules, lifetime
from lswc.outcomes import Outcome
from lswc.reading.opt_outs import in_robots

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

ROBOTS = "robots.txt"
"""Name of the file, as RULES has it."""

CRAWL_DELAY = "lswc_crawl_delay"
"""Key of the Crawl-delay in seconds in a page's ``request.meta``."""

_FETCHED = "lswc_robots_fetched"


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
        self._kept: KeptRules[RobotsRules] = KeptRules()
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
        if RULES in request.meta:
            # A redirect may have led it to another server, which has its own turn to wait for.
            request.meta.pop(Downloader.DOWNLOAD_SLOT, None)
        if request.meta.get(RULES) == ROBOTS:
            return None
        server = urlparse_cached(request).netloc
        kept = self._kept.get(server)
        # However short they hold, they hold for the page that they were fetched for.
        just_fetched = request.meta.pop(_FETCHED, None) == server or RULES in request.meta
        if kept is not None and (just_fetched or kept.is_fresh):
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
        url = url_of(request)
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
            self._kept.keep(server, rules, rules.size, STALE)
            return rules
        if _fails(response):
            self._kept.keep(server, rules, rules.size, STALE)
            return rules
        return self._remember(server, response)

    async def _fetch(self, request: Request) -> Response:
        """Fetch a server's robots.txt. Raises ResponseDataLossError if it came cut short."""
        url = urljoin(request.url, "/robots.txt")
        # Its size is no reason to refuse it: what is read of it is bounded on the way.
        meta = {RULES: ROBOTS, "dont_retry": True, "download_maxsize": 0}
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
        self._running.listings.heard(server, body, response.url)
        self._kept.keep(server, rules, rules.size, lifetime(response))
        return rules

    def _is_retried(self, request: Request, response: Response) -> bool:
        retries = request.meta.get("retry_times", 0)
        return response.status in self._retried and retries < self._retries

    def _obey(self, rules: RobotsRules, request: Request) -> None:
        allowed = rules.allows(request.url)
        if not allowed or rules.crawl_delay > self._longest:
            self._let_rest(request)
            raise Refused(Outcome.CRAWL_DELAY_TOO_LONG if allowed else Outcome.ROBOTS)
        request.meta[CRAWL_DELAY] = rules.crawl_delay
        if (visit := page_visit_of(request)) is not None:
            visit.opt_outs = in_robots(rules.content_usage(request.url))

    def _let_rest(self, request: Request) -> None:
        """Say how long a server rests whose page isn't asked for: only
        from robots.txt, if that had to be fetched.
        """
        visit, url = visit_of(request), url_of(request)
        if visit is not None and url is not None and visit.rest is None:
            wait = self._turns.wait(url.server)
            visit.rest = monotonic() - visit.since + wait if wait else 0.0


def _fails(response: Response) -> bool:
    return response.status >= 500 or response.status == 429
