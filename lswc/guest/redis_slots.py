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
from lswc.frontier.rides import Ride
from lswc.guest.slots import REMEMBERED, SOON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.frontier.redis_script import Connection
    from lswc.guest.slots import Group

GIVEN_BACK = 0.1
"""Seconds that a slot which is given back waits for a call to go with; it rests meanwhile. Without
an event loop none waits."""


class SharedSlots:
    """The slots of a crawl of many workers, in Redis, by its clock.

    A slot whose worker died is free after ``life`` seconds; a living one renews it.
    """

    def __init__(self, connection: Connection, life: float) -> None:
        self._connection = connection
        self._clock = f"{connection.prefix}clock"
        self._prefix = f"{connection.prefix}slots:"
        self._life = round(life * 1000)
        self._script = connection.client.register_script(
            shared_source() + files("lswc.guest").joinpath("slots.lua").read_text(encoding="utf-8")
        )
        self._worker = secrets.token_hex(8)
        self._number = 0
        self._tokens: dict[str, list[str]] = {}
        self._full: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def take(self, groups: Sequence[Group]) -> float:
        if not groups:
            return 0.0
        now, names = monotonic(), [group.name for group in groups]
        full_until = max(self._full.get(name, 0.0) for name in names)
        if full_until > now:
            return full_until - now  # without asking
        self._number += 1
        token, slots = f"{self._worker}:{self._number}", (group.slots for group in groups)
        wait, full = self._run("take", token, self._life, *slots, of=names)
        if wait:
            if wait >= self._life / 2:
                return SOON  # it is being asked
            self._remember(names[full], now, min(wait / 1000, 1.0))
            return min(wait / 1000, 1.0)
        for name in names:
            self._tokens.setdefault(name, []).append(token)
        return 0.0

    def _remember(self, name: str, now: float, seconds: float) -> None:
        """Keep that a group's slots rest for so long."""
        self._full[name] = now + seconds
        if len(self._full) > REMEMBERED:
            self._full = {n: until for n, until in self._full.items() if until > now}

    def renew(self) -> None:
        held = [(name, token) for name, tokens in self._tokens.items() for token in tokens]
        if held:
            tokens = (token for _, token in held)
            self._run("renew", self._life, *tokens, of=[name for name, _ in held])

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        now = monotonic()
        for group, token in zip(groups, self.forget(groups), strict=True):
            ride = Ride("slot", group.name, token.encode(), now + group.rest * asked)
            self._connection.rides.add(ride)
        if self._timer is None and groups:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                self._run("", of=())
            else:
                self._timer = loop.call_later(GIVEN_BACK, self._give_back)

    def forget(self, groups: Sequence[Group]) -> list[str]:
        """Take it that slots are given back, one of each group; return their tokens."""
        forgotten = []
        for group in groups:
            self._full.pop(group.name, None)
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
                self._run("", of=())

    def _run(self, *arguments: str | int, of: Sequence[str]) -> list[int]:
        keys = [self._clock, *(self._prefix + name for name in of)]
        rides, arrived = self._connection.rides.packed()
        with self._connection.errors():
            answer: list[int] = self._script(keys, [rides, *arguments])
        arrived()
        return answer
