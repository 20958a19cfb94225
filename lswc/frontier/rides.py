"""Rides: what a worker tells a Redis with its next call, whatever that is for."""

from __future__ import annotations

from struct import pack
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Ride(NamedTuple):
    """A slot that is given back, or a file of a server's rules, as ``rides.lua`` takes it.

    ``value`` is the slot's token, or the file's bytes. Until then, by ``monotonic``, the slot
    rests, or the file holds; ``most`` files are kept.
    """

    kind: str
    name: str
    value: bytes
    until: float
    most: int = 0

    def packed(self, now: float) -> bytes:
        """Return it as the script takes it."""
        kind, name, value = self.kind.encode(), self.name.encode(), self.value
        left = max(0, round((self.until - now) * 1000))
        lengths = len(kind), kind, len(name), name, len(value), value
        form = f">B{len(kind)}sH{len(name)}sI{len(value)}sII"
        return pack(form, *lengths, left, self.most)


class Rides:
    """What waits for the next call. What a call that fails had with it goes with the next again."""

    def __init__(self) -> None:
        self._waiting: list[Ride] = []

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, ride: Ride) -> None:
        """Let something go with the next call."""
        self._waiting.append(ride)

    def packed(self) -> tuple[bytes, Callable[[], None]]:
        """Return what goes with a call now, and what says that it has arrived."""
        sent, now = self._waiting, monotonic()
        if not sent:
            return b"", lambda: None

        def arrived() -> None:
            self._waiting = [ride for ride in self._waiting if ride not in sent]

        self._waiting = list(sent)
        return b"".join(ride.packed(now) for ride in sent), arrived
