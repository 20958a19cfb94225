"""Addresses and registered domains behind servers: both are spared, however many their names."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from lswc.guest.slots import SOON, Group
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.guest.internet import Internet
    from lswc.guest.politeness import Politeness
    from lswc.guest.slots import Slots
    from lswc.urls import Url

NETWORK = 500
"""Registered domains on one address from which on it counts as a content network's."""

NETWORK_SLOTS = 8
"""A content network's address may be asked so many times as much at a time: it is many machines."""

LONGEST_LINE = 300.0
"""Seconds after which it is seen again whether an address has a free slot, at the latest."""

_REMEMBERED = 10_000  # names, and addresses


class AddressSlots:
    """Slots of a URL's address, and of its registered domain: so many requests at a time to each.

    Raises LswcError if they are held in a store that can't be reached.
    """

    def __init__(self, slots: Slots, politeness: Politeness, internet: Internet) -> None:
        self._slots = slots
        self._politeness = politeness
        self._internet = internet
        self._addresses: OrderedDict[str, str] = OrderedDict()  # by name
        self._domains: OrderedDict[str, set[str]] = OrderedDict()  # by address
        self._promised: dict[str, float] = {}

    def take(self, groups: Sequence[Group]) -> float:
        """Take a slot of each group and return 0, or return the seconds to wait for them."""
        wait = self._slots.take(groups) if groups else 0.0
        return self._in_line(groups[0], wait) if wait else 0.0

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        """Give back what was taken; it rests if the server was ``asked``."""
        if groups:
            self._slots.give_back(groups, asked=asked)

    def _in_line(self, group: Group, wait: float) -> float:
        """Return when to come again, for each one a little later: there may be thousands."""
        now = self._internet.now()
        step = 0.8 * max(group.rest, SOON) / group.slots
        promised = max(now + wait, self._promised.get(group.name, 0.0) + step)
        promised = min(promised, now + max(wait, LONGEST_LINE))
        self._promised[group.name] = promised
        if len(self._promised) > _REMEMBERED:
            self._promised = {n: at for n, at in self._promised.items() if at > now}
        return promised - now

    async def groups(self, url: Url) -> list[Group]:
        """Return what a request for a URL takes slots of."""
        if self._internet.is_frozen:
            return []
        groups = []
        domain, limits = site(url.hostname), self._politeness
        if limits.per_address and (address := await self._address(url)):
            times = NETWORK_SLOTS if self._is_network(address, domain) else 1
            groups.append(Group(f"address {address}", limits.per_address * times, limits.delay))
        if limits.per_domain:
            groups.append(Group(f"domain {domain}", limits.per_domain, 0.0))
        return groups

    def _is_network(self, address: str, domain: str) -> bool:
        domains = self._domains.setdefault(address, set())
        self._domains.move_to_end(address)
        if len(domains) < NETWORK:
            domains.add(domain)
        if len(self._domains) > _REMEMBERED:
            self._domains.popitem(last=False)
        return len(domains) >= NETWORK

    async def _address(self, url: Url) -> str:
        """Return the address that a name leads to, "" if it leads nowhere."""
        if url.hostname not in self._addresses:
            asked = self._internet.address(url.hostname.strip("[]"), url.port)
            try:
                address = await asyncio.wait_for(asked, self._politeness.timeout or None)
            except TimeoutError:
                return ""
            if not address:
                return ""
            self._addresses[url.hostname] = address
            if len(self._addresses) > _REMEMBERED:
                self._addresses.popitem(last=False)
        return self._addresses[url.hostname]
