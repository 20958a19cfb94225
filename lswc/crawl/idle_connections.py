"""Idle connections: how long some were free while URLs of free servers waited for better ones."""

from __future__ import annotations

from dataclasses import dataclass

LONG = 5.0
"""Seconds in a row that are counted as long: the frontier's rule allows a few rests of a server."""


@dataclass
class IdleConnections:
    """The ``seconds`` in all, the ``longest`` in a row, and how many were ``long`` in a row.

    They are idle in vain if nothing better came. Times are seconds of one clock.
    """

    seconds: float = 0.0
    longest: float = 0.0
    long: int = 0
    _since: float | None = None

    def waits(self, now: float) -> None:
        """Take notice that a connection is free, and the URL that is next waits."""
        if self._since is None:
            self._since = now

    def goes_on(self, now: float) -> float:
        """Take notice that no URL waits so any more; return for how many seconds one did."""
        if self._since is None:
            return 0.0
        seconds, self._since = now - self._since, None
        self.seconds += seconds
        self.longest = max(self.longest, seconds)
        self.long += seconds > LONG
        return seconds

    def in_a_row(self, now: float) -> float:
        """Return for how many seconds connections have been idle so."""
        return 0.0 if self._since is None else now - self._since
