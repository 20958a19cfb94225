"""How many requests at a time one machine, or one registered domain, is sent: slots to take."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from heapq import heappop, heappush
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from redis import RedisError

from lswc.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis


REMEMBERED = 10_000
"""Groups with slots that rest, before those that have rested are forgotten."""


@dataclass(frozen=True, slots=True)
class Group:
    """What shares slots: a name, how many, and the seconds that each rests after a request."""

    name: str
    slots: int
    rest: float


class Slots(Protocol):
    """Slots of groups; ``take`` and ``give_back`` go by all groups of a request at once."""

    def take(self, groups: Sequence[Group]) -> float:
        """Take a slot of each group and return 0; or take none, and return the seconds until
        one is likely to be free."""

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        """Give the slots back, to rest only if the server was ``asked``."""


class OwnSlots:
    """The slots of a crawl of one process. ``clock`` gives seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._taken: dict[str, int] = {}
        self._resting: dict[str, list[float]] = {}  # heaps of when they are rested

    def take(self, groups: Sequence[Group]) -> float:
        now = self._clock()
        waits = [self._wait(group, now) for group in groups]
        if any(waits):
            return max(waits)
        for group in groups:
            self._taken[group.name] = self._taken.get(group.name, 0) + 1
        return 0.0

    def _wait(self, group: Group, now: float) -> float:
        resting = self._resting.get(group.name, [])
        while resting and resting[0] <= now:
            heappop(resting)
        if not resting:
            self._resting.pop(group.name, None)
        if self._taken.get(group.name, 0) + len(resting) < group.slots:
            return 0.0
        return resting[0] - now if resting else SOON

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


SOON = 0.1
"""Seconds until it is seen again whether a request under way has ended."""


class SharedSlots:
    """The slots of a crawl of many workers, in Redis, by its clock.

    The keys begin with ``prefix``. A slot whose worker died is free after ``life`` seconds, and
    so is every other if the clock is put back. No group may rest longer than that.
    """

    def __init__(self, client: Redis, prefix: str, life: float) -> None:
        self._prefix = f"{prefix}slots:"
        self._life = round(life * 1000)
        self._script = client.register_script(
            files("lswc.crawler").joinpath("slots.lua").read_text(encoding="utf-8")
        )
        self._worker = secrets.token_hex(8)
        self._number = 0
        self._tokens: dict[str, list[str]] = {}

    def take(self, groups: Sequence[Group]) -> float:
        if not groups:
            return 0.0
        self._number += 1
        token = f"{self._worker}:{self._number}"
        wait = self._run("take", token, self._life, *(group.slots for group in groups), of=groups)
        if wait:
            return min(wait / 1000, 1.0) if wait < self._life / 2 else SOON
        for group in groups:
            self._tokens.setdefault(group.name, []).append(token)
        return 0.0

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        for group in groups:
            tokens = self._tokens[group.name]
            token = tokens.pop(0)
            if not tokens:
                del self._tokens[group.name]
            self._run("give back", token, round(group.rest * 1000) * asked, of=[group])

    def _run(self, *arguments: str | int, of: Sequence[Group]) -> int:
        keys = [self._prefix + group.name for group in of]
        try:
            return int(self._script(keys, arguments))
        except RedisError as error:
            raise StorageError(f"can't take turns with other workers: {error}") from error
