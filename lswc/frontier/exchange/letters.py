"""Letters: messages of the outbox that are on their way to other workers."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lswc.frontier.exchange.neighbours import Neighbours
    from lswc.frontier.exchange.outbox import Sendable
    from lswc.frontier.store.frontier import Frontier

MESSAGES, LINKS_TOGETHER = 200, 400
"""Messages to a worker that are read at once, and links of those that are sent, and taken,
together: some 20 ms of a worker's time."""

IN_FLIGHT = 20_000
"""Links to a worker that were sent and that it hasn't got: what Redis must have room for."""

Letter = tuple[int, int, list[tuple[int, bytes]]]
"""Messages to a worker, by their numbers, that follow the one of a number."""


class Letters:
    """What is sent to whom: ``sent`` has the number of the last message to each worker.

    What was sent is sent again if the receiver says that it is missing, or if nobody knows.
    """

    def __init__(self, frontier: Frontier, others: Neighbours) -> None:
        self._frontier, self._outbox, self._others = frontier, frontier.outbox, others
        self.sent: dict[int, int] = {}
        self._links_sent: defaultdict[int, deque[tuple[int, int]]] = defaultdict(deque)

    def forget(self) -> None:
        """Take it that nobody knows what of all that arrived."""
        self.sent.clear()

    def next(self) -> list[Letter]:
        """Return what is sent next to all workers."""
        return [
            (worker, after, messages)
            for worker in self._outbox.addressed()
            for after, messages in self._letters_to(worker)
        ]

    def _letters_to(self, worker: int) -> Iterator[tuple[int, list[tuple[int, bytes]]]]:
        """Yield what is sent to a worker next: after which number, and messages."""
        status = self._others.statuses.get(worker)
        if status is None or worker in self._others.owners.lost:
            return  # it is not known yet what it got
        got = status.got.get(self._others.me, 0)
        sent = max(self.sent.get(worker, 0), got)
        if 0 < status.missing.get(self._others.me, 0) <= sent:
            sent = got
            self._links_sent[worker].clear()
        in_flight = self._links_sent[worker]
        while in_flight and in_flight[0][0] <= got:
            in_flight.popleft()
        room = IN_FLIGHT - sum(links for _, links in in_flight)
        while room > 0 and (waiting := self._outbox.waiting(worker, sent, MESSAGES)):
            for few in _together(waiting):
                yield sent, [(one.id, one.message) for one in few]
                sent = self.sent[worker] = few[-1].id
                links = sum(one.links for one in few)
                in_flight.append((sent, links))
                room -= links + 1

    def forget_what_arrived(self) -> None:
        """Forget the messages that others have for good."""
        arrived = {
            number: kept
            for number, status in self._others.statuses.items()
            if (kept := status.kept.get(self._others.me, 0))
        }
        if arrived and self._outbox.links | len(self._outbox.parts):
            with self._frontier.transaction():
                for number, kept in arrived.items():
                    self._outbox.arrived(number, kept)


def _together(waiting: Iterable[Sendable]) -> Iterator[list[Sendable]]:
    """Yield messages that are sent together."""
    few: list[Sendable] = []
    links = 0
    for one in waiting:
        few.append(one)
        links += one.links
        if links >= LINKS_TOGETHER:
            yield few
            few, links = [], 0
    if few:
        yield few
