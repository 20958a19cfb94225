"""Whose turn it is: servers that are being asked, and servers that rest."""

from __future__ import annotations

from time import monotonic, time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lswc.guest.backoff import Backoff

_AGAIN = 0.05  # seconds until it is seen again whether a server has answered
_REMEMBERED = 20_000  # servers, before those that have rested are forgotten


class _Server:
    """How many requests are under way, and until when the server rests (monotonic seconds)."""

    __slots__ = ("asked", "ended", "until")

    def __init__(self) -> None:
        self.asked, self.ended, self.until = 0, 0.0, 0.0


class Turns:
    """What this process asked each server, robots.txt included, and how long it rests.

    ``delay`` is the least rest in seconds. The frontier knows of pages only: it leases no URL of
    a server that rests from one.
    """

    def __init__(self, delay: float, backoff: Backoff) -> None:
        self._delay = delay
        self._backoff = backoff
        self._servers: dict[str, _Server] = {}

    def wait(self, name: str, crawl_delay: float = 0.0) -> float:
        """Return the seconds that a server is still to be left in peace, 0 if it may be asked."""
        wait = self._backoff.remaining(name, time())
        server = self._servers.get(name)
        if server is None:
            return wait
        if server.asked:
            return max(wait, self._delay, _AGAIN)
        until = max(server.until, server.ended + crawl_delay)
        return max(wait, until - monotonic(), 0.0)

    def begin(self, name: str) -> None:
        """Take note that a server is asked."""
        self._servers.setdefault(name, _Server()).asked += 1
        if len(self._servers) > _REMEMBERED:
            now = monotonic()
            resting = {n: s for n, s in self._servers.items() if s.asked or now < s.until}
            self._servers = resting

    def end(self, name: str, rest: float) -> None:
        """Take note that a server has answered, or failed to, and is to rest for so long."""
        server = self._servers.setdefault(name, _Server())
        server.asked = max(server.asked - 1, 0)
        server.ended = monotonic()
        server.until = max(server.until, server.ended + max(rest, self._delay))
