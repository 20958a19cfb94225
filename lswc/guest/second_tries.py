"""Second tries: when a URL is tried again, and which servers can't be had at all meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lswc.outcomes import Outcome, is_transient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.frontier.visit import Visit

FAR = 3.2e8
"""Seconds for which a paused URL is postponed unless it is allowed again: ten years."""

REMEMBERED = 10_000
"""Servers that can't be had, before those are forgotten that are to be asked again."""

_OF_SERVER = {
    Outcome.NAME_LOOKUP_FAILED, Outcome.CONNECTION_REFUSED, Outcome.ROBOTS_UNAVAILABLE,
}  # fmt: skip


class _Away(NamedTuple):
    outcome: str
    until: float


class SecondTries:
    """``waits`` are the seconds before a URL's second try, its third, and so on.

    Where nothing can be had of a server, its other URLs share that without being asked for. Times
    are those of a monotonic clock.
    """

    def __init__(self, waits: Sequence[float]) -> None:
        self._waits = waits
        self._away: dict[str, _Away] = {}

    def due(self, visit: Visit, outcome: str, now: float) -> float | None:
        """Return when a URL is tried again that ends so; None if it never is."""
        if outcome == Outcome.PAUSED:
            return now + FAR
        if not self._waits or not is_transient(outcome):
            return None
        server, tries = visit.lease.server, visit.lease.tries
        away = self._away.get(server)
        until = away.until if away is not None and now < away.until else None
        if until is None:
            until = now + self._waits[min(tries, len(self._waits) - 1)]
            if outcome in _OF_SERVER:
                self._leave(server, _Away(outcome, until), now)
        return until if tries < len(self._waits) else None

    def _leave(self, server: str, away: _Away, now: float) -> None:
        self._away[server] = away
        if len(self._away) > REMEMBERED:
            self._away = {name: other for name, other in self._away.items() if now < other.until}

    def away(self, server: str, now: float) -> str | None:
        """Return why nothing can be had of a server now; None if it may be asked."""
        if not self._away:
            return None
        away = self._away.get(server)
        return away.outcome if away is not None and now < away.until else None
