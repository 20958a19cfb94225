"""The slots of a crawl of many workers: taken in Redis."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING

from lswc.errors import LswcError
from lswc.frontier.redis_script import shared_source
from lswc.frontier.rides import Ride, packed_groups
from lswc.guest.slots import REMEMBERED, SOON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.frontier.redis_script import Connection
    from lswc.guest.slots import Group

GIVEN_BACK = 0.1
"""Seconds that a slot which is given back waits for a call to go with; it rests meanwhile. Without
an event loop none waits."""


KNOWN = 20_000
"""Web servers of which Redis knows the groups of slots, before it forgets them: 3 MB."""


class SharedSlots:
    """The slots of a crawl of many workers, in Redis, by its clock.

    A slot whose worker died is free after ``life`` seconds; a living one renews it. What this
    worker itself has taken, or lets rest, it needn't ask for. Redis learns of which groups a web
    server's requests are, so that the next lease of it comes with its slots.
    """

    def __init__(self, connection: Connection, life: float) -> None:
        self._connection = connection
        self._clock = f"{connection.prefix}clock"
        self._life = round(life * 1000)
        self._script = connection.client.register_script(
            shared_source() + files("lswc.guest").joinpath("slots.lua").read_text(encoding="utf-8")
        )
        self._worker = secrets.token_hex(8)
        self._number = 0
        self._tokens: dict[str, list[str]] = {}
        self._resting: dict[str, list[float]] = {}
        self._full: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def take(self, groups: Sequence[Group], server: str = "") -> float:
        if not groups:
            return 0.0
        now, pairs = monotonic(), [(group.name, group.slots) for group in groups]
        known = packed_groups(pairs)
        token = self._connection.slots.take(server, known, self._life / 2000)
        if token is None:
            if own := max(self._own_wait(group, now) for group in groups):
                return min(own, 1.0)  # without asking
            self._number += 1
            token = f"{self._worker}:{self._number}"
            slots = (part for name, number in pairs for part in (number, name))
            wait, full = self._run("take", token, self._life, *slots)
            if wait:
                seconds = self._seconds(wait)
                if seconds != SOON:  # else it is being asked, and may be free at any time
                    self._remember(groups[full].name, now, seconds)
                return seconds
            if server:
                self._connection.rides.add(Ride("groups", server, known, 0.0, KNOWN))
        for group in groups:
            self._tokens.setdefault(group.name, []).append(token)
        return 0.0

    def _own_wait(self, group: Group, now: float) -> float:
        """Return how long a group's slots are all this worker's own, or known to rest."""
        name = group.name
        resting = [until for until in self._resting.pop(name, ()) if until > now]
        if resting:
            self._resting[name] = resting
        if len(self._tokens.get(name, ())) + len(resting) >= group.slots:
            return min(resting) - now if resting else SOON
        if (refused := self._connection.slots.refused.pop(name, None)) is not None:
            at, wait = refused
            self._remember(name, at, self._seconds(wait))
        return max(0.0, self._full.get(name, 0.0) - now)

    def _seconds(self, wait: int) -> float:
        """Return when to ask again for a slot that is free in so many ms, at the latest."""
        return SOON if wait >= self._life / 2 else min(wait / 1000, 1.0)

    def _remember(self, name: str, now: float, seconds: float) -> None:
        """Keep that a group has no free slot for so long."""
        self._full[name] = now + seconds
        if len(self._full) > REMEMBERED:
            self._full = {n: until for n, until in self._full.items() if until > now}

    def renew(self) -> None:
        held = [
            part
            for name, tokens in self._tokens.items()
            for token in tokens
            for part in (token, name)
        ]
        if held:
            self._run("renew", self._life, *held)

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        now = monotonic()
        for group, token in zip(groups, self.forget(groups), strict=True):
            rested = now + group.rest * asked
            self._connection.rides.add(Ride("slot", group.name, token.encode(), rested))
            if rested > now:
                self._resting.setdefault(group.name, []).append(rested)
        if len(self._resting) > REMEMBERED:
            self._resting = {n: ends for n, ends in self._resting.items() if max(ends) > now}
        if self._timer is None and groups:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                self._run("")
            else:
                self._timer = loop.call_later(GIVEN_BACK, self._give_back)

    def forget(self, groups: Sequence[Group]) -> list[str]:
        """Take it that slots are given back, one of each group; return their tokens."""
        forgotten = []
        for group in groups:
            self._full.pop(group.name, None)
            self._connection.slots.refused.pop(group.name, None)
            tokens = self._tokens[group.name]
            forgotten.append(tokens.pop(0))
            if not tokens:
                del self._tokens[group.name]
        return forgotten

    def _give_back(self) -> None:
        """Give back what no other call has; if the store is away, the next that asks it says so."""
        self._timer = None
        if self._connection.rides:
            with suppress(LswcError):
                self._run("")

    def _run(self, *arguments: str | int) -> list[int]:
        rides, arrived = self._connection.rides.packed()
        with self._connection.errors():
            answer: list[int] = self._script([self._clock], [rides, *arguments])
        arrived()
        return answer
