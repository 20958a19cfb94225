"""How many requests at a time one machine, or one registered domain, is sent: slots to take."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from time import monotonic
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


SOON = 0.1
"""Seconds until it is seen again whether a request under way has ended."""

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
