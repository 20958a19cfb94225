"""Resolver of names: the real one, or one that knows only a web on this machine."""

from __future__ import annotations

import asyncio
from itertools import count
from socket import EAI_NODATA, EAI_NONAME, gaierror, getaddrinfo
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy.resolver import CachingHostnameResolver, HostResolution
from scrapy.utils.datatypes import LocalCache
from twisted.internet._resolver import GAIResolver
from twisted.internet.address import IPv4Address, IPv6Address
from typing_extensions import override

from lswc.crawl.placement import is_crawl
from lswc.crawl.web import from_settings, open_web
from lswc.crawl.web.loopback_server import listen
from lswc.outcomes import Outcome
from lswc.safety.address import Networks
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.internet.base import ReactorBase
    from twisted.internet.interfaces import IAddress

    from lswc.crawl.web.answers import Web

ADDRESSES = 16
"""Addresses of a name that are tried and remembered. A name may have thousands: the crawl would
keep them for 10,000 names, and knock at three doors a second until one opens."""


class Resolver(CachingHostnameResolver):
    """For Scrapy's ``TWISTED_DNS_RESOLVER``.

    With ``LSWC_WEB`` empty it is Scrapy's caching resolver, but passes on only the addresses and
    ports that may be connected to. Twisted connects to what it passes, so no second lookup can
    say otherwise; addresses written in the URL come here too. Otherwise it serves that web on a
    free port of 127.0.0.1 while the reactor runs, and resolves the web's host names, whatever
    their port, to that port: an address carries a port, and Twisted connects to it. So URLs,
    Host headers, download slots and robots.txt stay as they are. Every other name, and every
    address written as a name, fails as a name that doesn't exist.
    """

    refusals: LocalCache[tuple[str, int], Outcome]
    """Why names and ports were refused, the latest of them."""

    def __init__(self, reactor: ReactorBase, cache_size: int, web: Web | None = None) -> None:
        super().__init__(reactor, cache_size)
        if isinstance(self.original_resolver, GAIResolver):
            threads: Any = reactor
            ask: Any = self._ask
            asking: Any = GAIResolver(threads, threads.getThreadPool, ask)
            self.original_resolver = asking
        self.original_resolver = _first(self.original_resolver)
        self.refusals = LocalCache(10_000)
        self._networks = Networks()
        self._web = web
        self._crawlers: Collection[Crawler] | None = None
        self._has_guarded = False
        self._port = 0

    @override
    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: ReactorBase) -> Self:
        """Build it from the settings.

        Raises ConfigError for a wrong one, WebError if ``LSWC_WEB`` holds no web.
        """
        folder = from_settings(crawler.settings)
        resolver = super().from_crawler(crawler, reactor)
        resolver._networks = Networks.of(
            crawler.settings.getlist("LSWC_ALLOWED_NETWORKS"),
            crawler.settings.getlist("LSWC_ALLOWED_PORTS"),
        )
        resolver._web = open_web(folder) if folder else None
        resolver._crawlers = getattr(crawler, "crawlers", None)  # it may be their process
        return resolver

    @property
    def _is_guard(self) -> bool:
        """Whether addresses are kept out: not where only other spiders than lswc's have run."""
        if not self._has_guarded:
            self._has_guarded = self._crawlers is None or any(map(is_crawl, self._crawlers))
        return self._has_guarded

    @property
    def serves_web(self) -> bool:
        """Whether every name leads to a frozen web on this machine."""
        return self._web is not None

    @override
    def install_on_reactor(self) -> None:
        if self._web is not None:
            self._port = listen(self.reactor, self._web)
        super().install_on_reactor()

    @override
    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        if self._web is None and _is_name(hostName):
            receiver = resolutionReceiver
            if self._is_guard:
                receiver = self._filtered(resolutionReceiver, hostName, portNumber)
            return super().resolveHostName(
                receiver, hostName, portNumber, addressTypes, transportSemantics
            )
        resolution = HostResolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)
        if self._web is not None and self._knows(self._web, hostName, portNumber):
            resolutionReceiver.addressResolved(IPv4Address("TCP", "127.0.0.1", self._port))
        else:
            self.refusals[hostName, portNumber] = Outcome.NAME_NOT_RESOLVED
        resolutionReceiver.resolutionComplete()
        return resolution

    def _ask(self, name: Any, port: Any, *arguments: Any) -> Any:
        """Look a name up; remember whether it is certain that it has no address."""
        try:
            return getaddrinfo(name, port, *arguments)
        except gaierror as error:
            if error.errno in (EAI_NONAME, EAI_NODATA):
                self.refusals[name, port] = Outcome.NAME_NOT_RESOLVED
            else:
                self.refusals.pop((name, port), None)
            raise

    def _filtered(self, receiver: Any, name: str, port: int) -> Any:
        """Return a receiver that passes on only the addresses that may be connected to."""

        def resolved(address: IAddress) -> None:
            if self.refusal(name, address, port) is None:
                receiver.addressResolved(address)

        return _receiver(receiver, resolved)

    def refusal(self, name: str, address: IAddress, port: int) -> str | None:
        """Return why an address mustn't be connected to, None if it may be; remember why."""
        host = address.host if isinstance(address, IPv4Address | IPv6Address) else ""
        reason = self._networks.refusal(host, port)
        if reason is not None:
            self.refusals[name, port] = reason
        return reason

    @staticmethod
    def _knows(web: Web, name: str, port: int) -> bool:
        url = parse(f"http://{name}:{port}/")  # the name may come as Unicode, the folder as ASCII
        return url is not None and web.knows(url.server.removesuffix(":443"))


async def addresses_of(name: str, port: int) -> list[IPv4Address | IPv6Address]:
    """Return what a name, or an address, may be connected to, in the order to try."""
    from twisted.internet import reactor  # not above: importing it installs one

    found: list[IPv4Address | IPv6Address] = []
    looked_up: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def complete() -> None:
        if not looked_up.done():
            looked_up.set_result(None)

    receiver = SimpleNamespace(
        resolutionBegan=lambda _: None, addressResolved=found.append, resolutionComplete=complete
    )
    reactor.nameResolver.resolveHostName(receiver, name, port)
    await looked_up
    return found


def _is_name(name: str) -> bool:
    """Tell whether a name can be asked for: of one that can't, Twisted never says so."""
    try:
        return bool(name.encode("idna"))
    except UnicodeError:
        return False


def _first(resolver: Any) -> Any:
    """Return a resolver that passes on the first ADDRESSES of a name that another finds."""

    def resolve(receiver: Any, *arguments: Any) -> Any:
        numbers = count()

        def resolved(address: IAddress) -> None:
            if next(numbers) < ADDRESSES:
                receiver.addressResolved(address)

        return resolver.resolveHostName(_receiver(receiver, resolved), *arguments)

    return SimpleNamespace(resolveHostName=resolve)


def _receiver(receiver: Any, resolved: Callable[[IAddress], None]) -> Any:
    return SimpleNamespace(
        resolutionBegan=receiver.resolutionBegan,
        addressResolved=resolved,
        resolutionComplete=receiver.resolutionComplete,
    )
