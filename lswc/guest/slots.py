"""Slots: how many requests at a time an address, or a registered domain, is sent."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from heapq import heappop, heappush
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from lswc.guest.decisions import Group
from lswc.safety.address import machine_of
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.guest.internet import Internet
    from lswc.guest.politeness import Politeness
    from lswc.urls import Url

OF_ADDRESS = "address "
"""How the names of groups begin that are of an address."""

SLOT_SECONDS = 0.1
"""Seconds until it is seen again whether a request under way has ended."""

REMEMBERED = 10_000
"""Groups with slots that rest, before those that have rested are forgotten."""


class Slots(Protocol):
    """Slots of groups; ``take`` and ``give_back`` go by all groups of a request at once."""

    def take(self, groups: Sequence[Group], server: str = "") -> float:
        """Take a slot of each group and return 0; or take none, and return the seconds until
        one is likely to be free. ``server`` is the one to be asked, if that is known."""

    def renew(self) -> None:
        """Say that the slots which are taken are still needed. Ask every few seconds."""

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        """Give the slots back, to rest only if the server was ``asked``."""


class OwnSlots:
    """The slots of a crawl of one process. ``clock`` gives seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._taken: dict[str, int] = {}
        self._resting: dict[str, list[float]] = {}  # heaps of when they are rested

    def take(self, groups: Sequence[Group], server: str = "") -> float:
        now = self._clock()
        waits = [self._wait(group, now) for group in groups]
        if any(waits):
            return max(waits)
        for group in groups:
            self._taken[group.name] = self._taken.get(group.name, 0) + 1
        return 0.0

    def renew(self) -> None:
        """Do nothing: they end with this process."""

    def _wait(self, group: Group, now: float) -> float:
        resting = self._resting.get(group.name, [])
        while resting and resting[0] <= now:
            heappop(resting)
        if not resting:
            self._resting.pop(group.name, None)
        if self._taken.get(group.name, 0) + len(resting) < group.slots:
            return 0.0
        return resting[0] - now if resting else SLOT_SECONDS

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        for group in groups:
            self._taken[group.name] -= 1
            if not self._taken[group.name]:
                del self._taken[group.name]
            if asked and group.rest:
                rested = self._clock() + group.rest
                heappush(self._resting.setdefault(group.name, []), rested)
        if len(self._resting) > REMEMBERED:
            now = self._clock()
            self._resting = {n: ends for n, ends in self._resting.items() if max(ends) > now}


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

    def take(self, groups: Sequence[Group], server: str) -> float:
        """Take a slot of each group and return 0, or return the seconds to wait for them."""
        wait = self._slots.take(groups, server) if groups else 0.0
        return self._in_line(groups[0], wait) if wait else 0.0

    def renew(self) -> None:
        """Say that the slots which are taken are still needed."""
        self._slots.renew()

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        """Give back what was taken; it rests if the server was ``asked``."""
        if groups:
            self._slots.give_back(groups, asked=asked)

    def _in_line(self, group: Group, wait: float) -> float:
        """Return when to come again, for each one a little later: there may be thousands."""
        now = self._internet.now()
        step = 0.8 * max(group.rest, SLOT_SECONDS) / group.slots
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
            groups.append(Group(f"{OF_ADDRESS}{address}", limits.per_address * times, limits.delay))
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
        """Return the machine that a name leads to, "" if it leads nowhere."""
        if url.hostname not in self._addresses:
            asked = self._internet.address(url.hostname.strip("[]"), url.port)
            try:
                address = await asyncio.wait_for(asked, self._politeness.timeout or None)
            except TimeoutError:
                return ""
            if not address:
                return ""
            self._addresses[url.hostname] = machine_of(address)
            if len(self._addresses) > _REMEMBERED:
                self._addresses.popitem(last=False)
        return self._addresses[url.hostname]
