"""The internet through Scrapy: names, ports, and the files in which servers say their rules."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from functools import cached_property
from time import monotonic, time
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from scrapy.exceptions import IgnoreRequest, ResponseDataLossError
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.resolver import dnscache
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.error import ConnectError

from lswc.crawl.requests import GO, RULES
from lswc.crawl.transport.refused import Refused
from lswc.crawl.transport.resolver import addresses_of
from lswc.guest.decisions import Refuse
from lswc.guest.internet import ROBOTS, TDMREP, ClosingError
from lswc.guest.robots_txt import MAX_SIZE
from lswc.guest.server_rules import TDMREP_PATH
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.crawler import Crawler

    from lswc.guest.decisions import Go
    from lswc.urls import Url

KNOCK = 10.0
"""Seconds that a server has to open its port."""

_PATHS = {ROBOTS: "/robots.txt", TDMREP: TDMREP_PATH}
_ACCEPT = {ROBOTS: {}, TDMREP: {"Accept": "application/json,*/*;q=0.5"}}
_REDIRECTS = {ROBOTS: {}, TDMREP: {"redirect_ttl": 5}}


class ScrapyInternet:
    """What a crawl's guest needs of the world; see ``lswc.guest.internet.Internet``."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

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

        dnscache.pop(url.hostname, None)  # that its name was known says nothing
        endpoint = HostnameEndpoint(reactor, url.hostname.strip("[]"), url.port, timeout=KNOCK)
        factory: Any = Factory.forProtocol(Protocol)
        connecting = maybe_deferred_to_future(endpoint.connect(factory))
        try:
            protocol = await asyncio.wait_for(connecting, KNOCK)
        except (ConnectError, OSError, ValueError):  # also of its name, or of the time
            return False
        protocol.transport.abortConnection()
        return True

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
