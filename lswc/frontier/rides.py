"""Rides: what a worker tells a Redis with its next call, whatever that is for."""

from __future__ import annotations

from struct import pack
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Ride(NamedTuple):
    """A slot that is given back, a file of a server's rules, or groups of a server's slots.

    ``value`` is the slot's token, the file's bytes, or the groups (``packed_groups``). Until then,
    by ``monotonic``, the slot rests, or the file holds; so many are kept at ``most``.
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


def packed_groups(groups: Iterable[tuple[str, int]]) -> bytes:
    """Return groups of a server's requests, names and how many slots, as the script has them."""
    return "\n".join(f"{slots} {name}" for name, slots in groups).encode()


_REFUSED = 10_000  # groups


class _Slots(NamedTuple):
    token: str
    groups: bytes
    since: float


class SlotsOfLeases:
    """Slots that leases came with, until a request takes them; else they go back with the lease.

    ``refused`` are groups that had none for a lease: when that was, and the ms to wait then.
    """

    def __init__(self, rides: Rides) -> None:
        self._rides = rides
        self.refused: dict[str, tuple[float, int]] = {}
        self._kept: dict[str, _Slots] = {}

    def add(self, server: str, token: str, groups: bytes) -> None:
        """Keep the slots that a server's lease of this token came with, one of each group.

        Or that it has none, as the script says it.
        """
        if groups.startswith(b"!"):
            wait, _, name = groups[1:].decode().partition(" ")
            self.refused[name] = monotonic(), int(wait)
            if len(self.refused) > _REFUSED:
                self.refused.clear()
        else:
            self._kept[server] = _Slots(token, groups, monotonic())

    def take(self, server: str, groups: bytes, life: float) -> str | None:
        """Return the token of a leased server's slots, if it came with some of these groups.

        Slots of others, or that were taken longer ago than ``life`` seconds, go back.
        """
        kept = self._kept.get(server)
        if kept is None:
            return None
        if kept.groups != groups or kept.since < monotonic() - life:
            self.end(server)
            return None
        del self._kept[server]
        return kept.token

    def end(self, server: str) -> None:
        """Give back what a server's lease came with, if that is left."""
        kept = self._kept.pop(server, None)
        if kept is not None:
            for line in kept.groups.decode().splitlines():
                name = line.partition(" ")[2]
                self._rides.add(Ride("slot", name, kept.token.encode(), 0.0))

    def clear(self) -> None:
        """Forget all: the leases are lost."""
        self._kept.clear()
        self.refused.clear()
