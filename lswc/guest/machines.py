"""The machine and the registered domain behind a server: both are spared, however many names."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING

from lswc.crawl.transport.resolver import addresses_of
from lswc.guest.slots import SOON, Group
from lswc.urls import site

if TYPE_CHECKING:
    from scrapy import Request

    from lswc.crawl.configuration import Politeness
    from lswc.guest.slots import Slots
    from lswc.urls import Url

NETWORK = 500
"""Registered domains on one address from which on it counts as a content network's."""

NETWORK_SLOTS = 8
"""A content network's address may be asked so many times as much at a time: it is many machines."""

LONGEST_LINE = 300.0
"""Seconds after which it is seen again whether an address has a free slot, at the latest."""

_REMEMBERED = 10_000  # names, and addresses
_HELD = "lswc_slots"


class Machines:
    """Takes a page's request a slot of its server's address, and one of its registered domain."""

    def __init__(self, slots: Slots, politeness: Politeness) -> None:
        self._slots = slots
        self._politeness = politeness
        self._addresses: OrderedDict[str, str] = OrderedDict()  # by name
        self._sites: OrderedDict[str, set[str]] = OrderedDict()  # by address
        self._promised: dict[str, float] = {}

    async def take(self, request: Request, url: Url) -> float:
        """Take the slots for a request and return 0, or return the seconds to wait for them.

        Raises LswcError if they are kept in a store that can't be reached.
        """
        groups = await self._groups(url)
        wait = self._slots.take(groups) if groups else 0.0
        if wait:
            return self._in_line(groups[0], wait)
        request.meta[_HELD] = groups
        return 0.0

    def give_back(self, request: Request, *, asked: bool) -> None:
        """Give back what a request holds, if anything. Raises LswcError."""
        groups = request.meta.pop(_HELD, ())
        if groups:
            self._slots.give_back(groups, asked=asked)

    def _in_line(self, group: Group, wait: float) -> float:
        """Return when to come again, for each one a little later: there may be thousands."""
        now = monotonic()
        step = 0.8 * max(group.rest, SOON) / group.slots
        promised = max(now + wait, self._promised.get(group.name, 0.0) + step)
        promised = min(promised, now + max(wait, LONGEST_LINE))
        self._promised[group.name] = promised
        if len(self._promised) > _REMEMBERED:
            self._promised = {n: at for n, at in self._promised.items() if at > now}
        return promised - now

    async def _groups(self, url: Url) -> list[Group]:
        from twisted.internet import reactor  # not above: importing it installs one

        if getattr(reactor.nameResolver, "serves_web", False):
            return []  # this machine, whatever the names
        groups = []
        name, limits = site(url.hostname), self._politeness
        if limits.per_address and (address := await self._address(url)):
            slots = limits.per_address * (NETWORK_SLOTS if self._is_network(address, name) else 1)
            groups.append(Group(f"address {address}", slots, limits.delay))
        if limits.per_domain:
            groups.append(Group(f"domain {name}", limits.per_domain, 0.0))
        return groups

    def _is_network(self, address: str, name: str) -> bool:
        sites = self._sites.setdefault(address, set())
        self._sites.move_to_end(address)
        if len(sites) < NETWORK:
            sites.add(name)
        if len(self._sites) > _REMEMBERED:
            self._sites.popitem(last=False)
        return len(sites) >= NETWORK

    async def _address(self, url: Url) -> str:
        """Return the address that a name leads to, "" if it leads nowhere."""
        if url.hostname not in self._addresses:
            try:
                name, timeout = url.hostname.strip("[]"), self._politeness.timeout or None
                # The connection tries the first address first.
                found = await asyncio.wait_for(addresses_of(name, url.port), timeout)
            except TimeoutError:
                return ""
            if not found:
                return ""
            self._addresses[url.hostname] = str(found[0].host)
            if len(self._addresses) > _REMEMBERED:
                self._addresses.popitem(last=False)
        return self._addresses[url.hostname]
