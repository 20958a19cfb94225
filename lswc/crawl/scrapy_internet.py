"""The internet through Scrapy: names, ports, and the files in which servers say their rules."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from functools import cached_property
from time import monotonic, time
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy.downloadermiddlewares.httpproxy import HttpProxyMiddleware
from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.resolver import dnscache
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.error import ConnectError

from lswc.crawl.requests import GO, KNOCK, RULES, headers_of
from lswc.crawl.transport.refused import Refused
from lswc.crawl.transport.resolver import addresses_of
from lswc.guest.decisions import Refuse
from lswc.guest.internet import ROBOTS, TDMREP, ClosingError
from lswc.guest.likeness import sign_of_answer, sign_of_redirect
from lswc.guest.robots_txt import MAX_SIZE
from lswc.guest.server_rules import TDMREP_PATH
from lswc.outcomes import Outcome
from lswc.reading.reader_messages import Asked
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from scrapy.crawler import Crawler

    from lswc.frontier.rules.visit import Attempt
    from lswc.guest.decisions import Go
    from lswc.reading.page import PageReading
    from lswc.urls import Url

OPENING = 10.0
"""Seconds that a server has to open its port."""

LOOK = 30.0
"""Seconds that a page has to come, after its server's rest, by which the network is judged."""

logger = logging.getLogger(__name__)

_PATHS = {ROBOTS: "/robots.txt", TDMREP: TDMREP_PATH}
_ACCEPT = {ROBOTS: {}, TDMREP: {"Accept": "application/json,*/*;q=0.5"}}
_FROM_PROXIES = (502, 503, 504)  # what a proxy says for servers that it doesn't reach
_REDIRECTS = {ROBOTS: {}, TDMREP: {"redirect_ttl": 5}}


class ScrapyInternet:
    """What a crawl's guest needs of the world; see ``lswc.guest.internet.Internet``.

    ``reads`` reads a page; ``headers`` are those with which pages are asked for.
    """

    def __init__(self, crawler: Crawler, headers: Mapping[str, str]) -> None:
        self._crawler, self._headers = crawler, dict(headers)
        self.reads: Callable[[Asked, bytes], Awaitable[PageReading | None]] = _unread

    @cached_property
    def is_frozen(self) -> bool:
        from twisted.internet import reactor  # not above: importing it installs one

        return getattr(reactor.nameResolver, "serves_web", False)

    async def address(self, name: str, port: int) -> str:
        found = await addresses_of(name, port)
        return str(found[0].host) if found else ""

    async def finds(self, url: Url) -> bool:
        dnscache.pop(url.hostname, None)
        return bool(await self.address(url.hostname, url.port))

    async def opens(self, url: Url) -> bool:
        from twisted.internet import reactor  # not above: importing it installs one
        from twisted.internet.endpoints import HostnameEndpoint
        from twisted.internet.protocol import Factory, Protocol

        if self._has_proxy(url):
            return await self._answers(url)
        host, port = url.hostname.strip("[]"), url.port
        dnscache.pop(host, None)  # that its name was known says nothing
        endpoint = HostnameEndpoint(reactor, host, port, timeout=OPENING)
        factory: Any = Factory.forProtocol(Protocol)
        connecting = maybe_deferred_to_future(endpoint.connect(factory))
        try:
            protocol = await asyncio.wait_for(connecting, OPENING)
        except (ConnectError, OSError, ValueError):  # also of its name, or of the time
            return False
        protocol.transport.abortConnection()
        return True

    def _has_proxy(self, url: Url) -> bool:
        """Tell whether a URL is asked for by a proxy, as Scrapy has it."""
        proxies = self._crawler.get_downloader_middleware(HttpProxyMiddleware)
        if proxies is None:
            return False
        request = Request(url.href)
        proxies.process_request(request)
        return bool(request.meta.get("proxy"))

    async def _answers(self, url: Url) -> bool:
        """Tell whether a server answers by the proxy, whose own port says nothing of it.

        A refusal by robots.txt is an answer, too: that file has come.
        """
        try:
            response, _ = await self._asked_once_more(url)
        except Refused as refused:
            return refused.outcome == Outcome.ROBOTS
        except Exception as error:  # of the network or a limit
            logger.debug("%s isn't to be had by the proxy: %s", url.href, error)
            return False
        return response.status not in _FROM_PROXIES

    async def _asked_once_more(self, url: Url) -> tuple[Response, Attempt]:
        """Ask for a URL by a new connection, in its server's turn; raise what comes."""
        attempts: list[Attempt] = []
        meta = {KNOCK: attempts, "dont_retry": True, "dont_redirect": True}
        request = Request(
            url.href, callback=NO_CALLBACK, headers=self._headers, meta=meta, dont_filter=True
        )
        dnscache.pop(url.hostname, None)
        response = await asyncio.wait_for(self.download(request), LOOK)
        return response, attempts[-1]

    async def sign(self, url: Url) -> int | None:
        """As ``Internet.sign``: by a new connection, in its server's turn."""
        try:
            return await self._sign_of(url, *await self._asked_once_more(url))
        except Exception as error:  # of the network, a limit or a reader: nothing came
            logger.debug("%s says nothing: %s", url.href, error)
            return None

    async def _sign_of(self, url: Url, response: Response, attempt: Attempt) -> int | None:
        location = response.headers.get("Location")
        if 300 <= response.status < 400 and location is not None:
            target = parse(urljoin(url.href, location.decode("latin-1")))
            return sign_of_redirect(url, target) if target is not None else None
        if response.status < 300 and not attempt.truncated:
            asked = Asked(headers_of(response), url, 0, response.url)
            if (reading := await self.reads(asked, response.body)) is not None:
                return reading.simhash
        return sign_of_answer(attempt)

    def forget(self) -> None:
        """As ``Internet.forget``."""
        dnscache.clear()

    async def fetch(self, url: Url, file: str, go: Go | None) -> Response | Refuse:
        """As ``Internet.fetch``. Raises also ResponseDataLossError, if a file came cut short."""
        address = urljoin(url.href, _PATHS[file])
        # Its size is no reason to refuse it: what is read of it is bounded on the way.
        meta = {RULES: file, "dont_retry": True, "download_maxsize": 0, **_REDIRECTS[file]}
        headers = {"Accept-Encoding": "identity", **_ACCEPT[file]}
        request = Request(address, callback=NO_CALLBACK, headers=headers, meta=meta)
        if go is not None:
            request.meta[GO] = go
        try:
            response = await self.download(request)
        except Refused as refused:
            if refused.outcome == Outcome.LOST:  # the crawl closes; the page may wait for the next
                raise ClosingError from refused
            return Refuse(refused.outcome)
        except IgnoreRequest:  # too many redirects: it isn't to be had (RFC 9309 §2.3.1.2)
            return Response(address, status=404)
        if "dataloss" in response.flags and len(response.body) < MAX_SIZE:
            raise ResponseDataLossError
        return response

    async def sleep(self, seconds: float) -> None:
        """As ``Internet.sleep``: Scrapy sends no signal when it begins to close."""
        until = monotonic() + seconds
        while True:
            slot = self._crawler.engine._slot
            if slot is not None and slot.closing is not None:
                raise ClosingError
            await asyncio.sleep(max(0.0, min(1.0, until - monotonic())))
            if monotonic() >= until:
                return

    async def download(self, request: Request) -> Response:
        """Send a request that is no visit's, through all downloader middlewares."""
        return await self._crawler.engine.download_async(request)

    @contextmanager
    def aside(self, size: int) -> Iterator[None]:
        """As ``Internet.aside``: Scrapy holds up others while pages of many bytes are read."""
        slot = self._crawler.engine.scraper.slot
        if slot is None:
            raise ClosingError
        size = max(size, slot.MIN_RESPONSE_SIZE)
        slot.active_size -= size
        try:
            yield
        finally:
            slot.active_size += size

    now, unix_time = staticmethod(monotonic), staticmethod(time)


async def _unread(asked: Asked, body: bytes) -> PageReading | None:
    """Read nothing."""
    return None
