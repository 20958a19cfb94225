"""Rests of servers: which are being asked now, and until when the others are left in peace."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

AGAIN = 0.05
"""Seconds until it is seen again whether a server has answered."""

REMEMBERED = 20_000
"""Servers, before those that have rested are forgotten."""


class _Server:
    """How many requests are under way, when the last ended, and until when the server rests."""

    __slots__ = ("asked", "ended", "until")

    def __init__(self) -> None:
        self.asked, self.ended, self.until = 0, 0.0, 0.0


class Rests:
    """What this process asked each server, rules included, and how long it rests.

    ``delay`` is the least rest in seconds; ``clock`` gives seconds that never go back.
    """

    def __init__(self, delay: float, clock: Callable[[], float] = monotonic) -> None:
        self._delay = delay
        self._clock = clock
        self._servers: dict[str, _Server] = {}

    def wait(self, name: str, crawl_delay: float = 0.0) -> float:
        """Return the seconds that a server is still to be left in peace, 0 if it may be asked."""
        server = self._servers.get(name)
        if server is None:
            return 0.0
        if server.asked:
            return max(self._delay, AGAIN)
        return max(max(server.until, server.ended + crawl_delay) - self._clock(), 0.0)

    def begin(self, name: str) -> None:
        """Take note that a server is asked."""
        self._servers.setdefault(name, _Server()).asked += 1
        if len(self._servers) > REMEMBERED:
            now = self._clock()
            resting = {n: s for n, s in self._servers.items() if s.asked or now < s.until}
            self._servers = resting

    def end(self, name: str, rest: float) -> None:
        """Take note that a server has answered, or failed to, and is to rest for so long."""
        server = self._servers.setdefault(name, _Server())
        server.asked = max(server.asked - 1, 0)
        server.ended = self._clock()
        server.until = max(server.until, server.ended + max(rest, self._delay))
