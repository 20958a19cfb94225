"""Politeness towards servers: each request asks the guest, who hears how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core.downloader import Downloader
from scrapy.downloadermiddlewares import redirect, retry
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadTimeoutError
from scrapy.http import Response
from scrapy.spidermiddlewares.referer import RefererMiddleware
from typing_extensions import override
from w3lib.url import safe_url_string

from lswc.crawl.composition import parts_of
from lswc.crawl.failures import is_silence
from lswc.crawl.placement import only_for_crawls
from lswc.crawl.requests import (
    BROKEN_OFF,
    GO,
    RENDERING,
    RULES,
    STEP,
    headers_of,
    page_visit_of,
    url_of,
)
from lswc.crawl.transport.connection import LOGIN, ProxyLoginError
from lswc.crawl.transport.refused import Refused, address_refusal
from lswc.errors import LswcError, ProxyError
from lswc.guest.decisions import End, Fails, Go, Refuse, Wait
from lswc.guest.internet import ClosingError
from lswc.guest.rests import OVERLOADED
from lswc.language.html import parse as parse_page
from lswc.outcomes import REDIRECTS, Outcome
from lswc.safety.content_types import declared_type, is_html

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Request
    from scrapy.settings import BaseSettings

    from lswc.crawl.commits import Commits
    from lswc.crawl.walls import Walls
    from lswc.frontier.rules.visit import Visit
    from lswc.guest.decisions import Decision
    from lswc.guest.guest import Guest
    from lswc.urls import Url


class GuestMiddleware:
    """Sends only what the guest lets go, and reports to it how that ended.

    A page's request comes back to the scheduler while it has to wait; any other waits here. It is
    sent with the cookies that its server wants, and a redirect for the lack of them is none.
    """

    def __init__(
        self, guest: Guest, commits: Commits, settings: BaseSettings, walls: Walls | None = None
    ) -> None:
        self._guest, self._commits, self._walls = guest, commits, walls
        self._jars = {} if walls is None else walls.cookies.jars
        self._retried = {int(status) for status in settings.getlist("RETRY_HTTP_CODES")}
        self._retries = settings.getint("RETRY_TIMES") * settings.getbool("RETRY_ENABLED")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        parts = parts_of(crawler)
        return cls(parts.guest, parts.commits, crawler.settings, parts.walls)

    async def process_request(self, request: Request) -> Request | Response | None:
        """Return None to send a request, or itself to send it later. Raises Refused.

        If its server fails to say what may be asked for, its answer is the page's: it is retried.
        """
        url, visit = url_of(request), page_visit_of(request)
        if RULES in request.meta:  # a redirect may have led it to another server
            request.meta.pop(Downloader.DOWNLOAD_SLOT, None)
        if url is None or GO in request.meta:
            return None
        try:
            waits = visit is None or STEP in request.meta
            decision = await self._decision(request, url, waits=waits)
        except LswcError as error:
            self._commits.fail(error)
            raise Refused(Outcome.LOST) from error
        except ClosingError as closing:
            if visit is not None:
                self._commits.give_back(visit)
            raise Refused(Outcome.LOST) from closing
        return self._obeyed(request, visit, decision)

    async def _decision(self, request: Request, url: Url, *, waits: bool) -> Decision:
        file = request.meta.get(RULES, "")
        while True:
            decision = await self._guest.may(url, request.url, file)
            if isinstance(decision, Wait) and waits:
                await self._guest.sleep(decision.seconds)
                waiting = request.meta.get(RENDERING) or page_visit_of(request)
                if waiting is not None and waiting.is_over:
                    return Refuse(Outcome.LOST)
            elif isinstance(decision, Fails) and not self._is_retried(request, decision):
                return self._guest.give_up(url)
            else:
                return decision

    def _obeyed(
        self, request: Request, visit: Visit | None, decision: Decision
    ) -> Request | Response | None:
        if isinstance(decision, Go):
            request.meta[GO] = decision
            if visit is not None or RENDERING in request.meta:
                self._dress(request, visit, decision.url)
            if visit is not None:
                visit.opt_outs = decision.opt_outs
                self._guest.keep_away(visit, decision.rest)  # however it may end
            return None
        if isinstance(decision, Wait):
            if visit is not None:
                self._guest.keep_away(visit, decision.seconds)
            return request.copy()
        if isinstance(decision, Fails):
            answer: Any = decision.answer
            return Response(request.url, answer.status, answer.headers, request=request)
        if visit is not None and not visit.rest:
            self._guest.keep_away(visit, self._guest.wait(visit.lease.server))
        raise Refused(decision.outcome)

    def _dress(self, request: Request, visit: Visit | None, url: Url) -> None:
        """Let a request bring what its server wants to see now, and nothing else."""
        if STEP in request.meta:
            return
        jar = self._jars.get(url.server)
        cookies = "" if jar is None else jar.header(url.href)
        request.headers.pop("Cookie", None)
        if cookies:
            request.headers["Cookie"] = cookies
        if visit is not None:
            visit.cookies = cookies

    def _is_retried(self, request: Request, failure: Fails) -> bool:
        retries = request.meta.get("retry_times", 0)
        return failure.answer.status in self._retried and retries < self._retries

    def process_response(
        self, request: Request, response: Response
    ) -> Response | Awaitable[Response]:
        """Report an answer to the guest; return what is behind it, if it is a wall."""
        go = request.meta.pop(GO, None)  # now: a retry is a copy of the request
        if response.status == LOGIN and "proxy" in request.meta:
            self._end_for_login(request)
        if go is not None:
            self._end(request, go, _end_of(request, response))
        if response.status in REDIRECTS and self._walls is not None and STEP not in request.meta:
            visit, url = page_visit_of(request), url_of(request)
            if visit is not None and url is not None and not visit.is_over:
                return self._passed(self._walls, visit, url, response)
        return response

    async def _passed(self, walls: Walls, visit: Visit, url: Url, response: Response) -> Response:
        try:
            return await walls.passed(visit, url, response)
        except LswcError as error:
            self._commits.fail(error)
            return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Report to the guest that no answer came."""
        go = request.meta.pop(GO, None)
        if go is None:
            return
        if isinstance(exception, ProxyLoginError):
            self._end_for_login(request)
        refusal = address_refusal(request, exception)
        nameless = refusal == Outcome.NAME_NOT_RESOLVED
        is_live = is_silence(exception) and (refusal is None or nameless)
        timed_out = isinstance(exception, DownloadTimeoutError)
        self._end(request, go, End(is_live=is_live, timed_out=timed_out, nameless=nameless))

    def _end_for_login(self, request: Request) -> None:
        """End the crawl: all that it asks for would be refused."""
        proxy = request.meta["proxy"]
        self._commits.fail(
            ProxyError(
                f"the proxy {proxy} wants a login (status {LOGIN}): set one, as in "
                "http_proxy=http://user:password@host:port"
            )
        )

    def _end(self, request: Request, go: Go, end: End) -> None:
        try:
            rest = self._guest.ended(go, end)
        except LswcError as error:
            self._commits.fail(error)
            return
        visit = page_visit_of(request)
        if visit is not None:
            self._guest.keep_away(visit, rest)


def _end_of(request: Request, response: Response) -> End:
    latency = request.meta.get("download_latency") or 0.0
    wish = _retry_after(response) if response.status in OVERLOADED else ""
    return End(response.status, latency, wish, is_live=response.ip_address is not None)


def _retry_after(response: Response) -> str:
    return (response.headers.get("Retry-After") or b"").decode("latin-1")


class RetryMiddleware(retry.RetryMiddleware):
    """Retries what Scrapy's does, and a body that was cut; the last is taken as far as it came.

    Not what a server says that is left alone for its Retry-After.

    Where nothing answers http's port it asks by https: twins are one URL, found by either name.
    """

    def __init__(self, crawler: Crawler, guest: Guest) -> None:
        super().__init__(crawler.settings)
        self.crawler = crawler
        self._guest = guest

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, parts_of(crawler).guest)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if response.status in OVERLOADED and self._guest.asks_too_much(_retry_after(response)):
            return response
        if BROKEN_OFF in response.flags and not request.meta.get("dont_retry"):
            return self._retry(request, "body cut") or response
        return super().process_response(request, response)

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | Response | None:
        # While the network is doubted a failure says nothing of the server, and is no try.
        paused = self._guest.network.paused
        again = None if paused else super().process_exception(request, exception)
        return again or _twin(request, exception)


def _twin(request: Request, exception: Exception) -> Request | None:
    """Return the twin of a page's request that was refused a connection."""
    visit, url = page_visit_of(request), url_of(request)
    if visit is None or STEP in request.meta:
        return None
    if url is None or (url.scheme, url.port) != ("http", 80):
        return None
    if not isinstance(exception, DownloadConnectionRefusedError) or "proxy" in request.meta:
        return None  # it is the proxy that refuses
    visit.url = f"https://{visit.url.partition('://')[2]}"
    return request.replace(url=f"https://{request.url.partition('://')[2]}")


_SHORT = 4_096  # bytes


def _linked(response: Response) -> str:
    """Return where the page of a redirect leads, "" if it has no link, or several.

    It is read here, so only one that is as short as such pages are.
    """
    body = response.body
    if len(body) > _SHORT or not is_html(declared_type(headers_of(response)), body):
        return ""
    links = {link.url for link in parse_page(body, response.url).links}
    links = {link for link in links if link.startswith(("http://", "https://"))}
    return safe_url_string(links.pop()) if len(links) == 1 else ""


class RedirectMiddleware(redirect.RedirectMiddleware):
    """Scrapy's, which asks no spider middleware for the Referer: one costs every page its time."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._referer = RefererMiddleware(settings)

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler) -> Self:
        only_for_crawls(crawler)
        made = cls(crawler.settings)
        made.crawler = crawler
        return made

    @override
    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Follow a redirect; one that says only in its body where it leads, too."""
        is_mute = response.status in REDIRECTS and b"Location" not in response.headers
        if is_mute and (target := _linked(response)):
            response.headers[b"Location"] = target
        answer: Request | Response = super().process_response(request, response)
        return answer

    @override
    def handle_referer(self, request: Request, response: Response) -> None:
        request.headers.pop("Referer", None)
        self._referer.get_processed_request(request, response)
