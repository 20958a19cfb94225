"""Neighbours: the other workers of a crawl, by their latest report, and who owns what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier.exchange import status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.frontier.exchange.owners import Owners
    from lswc.frontier.exchange.status import Status

LIVES = 10.0
"""A worker that reported nothing for so many seconds isn't running."""


class Neighbours:
    """What is known of the others: ``statuses`` are the latest of each, by number.

    ``me`` is this worker's own number, ``owners`` the table as it is known here.
    """

    def __init__(self, me: int, owners: Owners) -> None:
        self.me, self.owners = me, owners
        self.statuses: dict[int, Status] = {}
        self._lived: dict[int, tuple[int, float]] = {}

    def hear(self, statuses: Mapping[int, bytes], now: float) -> None:
        """Take notice of what all reported. Raises StorageError if that can't be read."""
        self.statuses = {
            number: status.decode(packed)
            for number, packed in statuses.items()
            if number != self.me
        }
        for number, one in self.statuses.items():
            beat, _ = self._lived.get(number, (-1, 0.0))
            if one.beat != beat:
                self._lived[number] = one.beat, now

    def alive(self, now: float) -> list[int]:
        """Return those that run."""
        return [
            number
            for number, one in self.statuses.items()
            if not one.has_ended and now - self._lived[number][1] < LIVES
            and number not in self.owners.lost
        ]  # fmt: skip

    def missing(self, worker: int) -> list[int]:
        """Return the members that neither run nor have ended in order, but for this ``worker``."""
        ended = {number for number, one in self.statuses.items() if one.has_ended}
        return sorted(set(self.owners.members) - {worker} - ended)

    def kept(self, worker: int) -> int:
        """Return up to which number of this worker's messages another one has them for good."""
        one = self.statuses.get(worker)
        return 0 if one is None else one.kept.get(self.me, 0)
