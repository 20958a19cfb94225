"""Arrivals: messages that came from other workers, and what of them is here for good."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.frontier.exchange.neighbours import Neighbours
    from lswc.frontier.exchange.post import Entry, Mail
    from lswc.frontier.store.frontier import Frontier

SAVED = 2.0
"""Seconds between two times at which what was taken is made to outlast a power cut, at least."""


class Arrivals:
    """What came, in the order of its sending; ``position`` is where the stream was read up to.

    ``missing`` says what other workers sent that isn't there though all was read; ``durable`` up to
    which number the messages of each would outlast a power cut. ``saves`` sees to that, and tells
    whether it is done.
    """

    def __init__(self, frontier: Frontier, others: Neighbours, clock: Callable[[], float]) -> None:
        self._frontier, self._inbox, self._others = frontier, frontier.inbox, others
        self._clock = clock
        self.saves: Callable[[], bool] = self._save
        self._expected = dict(self._inbox.received)
        self.missing: dict[int, int] = {}
        self._entries: deque[Entry] = deque()
        self.position = b"0-0"
        self._taken: list[bytes] = []
        self._kept: list[bytes] = []
        self.durable = dict(self._inbox.received)
        self._saved = clock()

    def _save(self) -> bool:
        if not self._frontier.prepare_checkpoint():
            return False
        self._frontier.checkpoint()
        return True

    @property
    def are_left(self) -> bool:
        """Whether messages wait to be taken, or are missing."""
        return bool(self._entries or self.missing)

    def forget(self) -> None:
        """Read the stream from its beginning again; what was taken is known by its numbers."""
        self._entries.clear()
        self.position = b"0-0"
        self._expected = dict(self._inbox.received)

    def kept(self) -> list[bytes]:
        """Return, once, the positions of entries that are here for good."""
        kept, self._kept = self._kept, []
        return kept

    def queue(self, mail: Mail) -> None:
        """Take notice of entries that came, and of what is missing between them and after."""
        for entry in mail.entries:
            self.position = entry.position
            last = entry.messages[-1][0]
            expected = self._expected.get(entry.worker, 0)
            if entry.after > expected:
                self._taken.append(entry.position)  # what lies between was lost: it comes again
            else:
                self._entries.append(entry)
                self._expected[entry.worker] = max(expected, last)
        if not mail.is_all:
            return
        self.missing = {
            number: status.sent[self._others.me]
            for number, status in self._others.statuses.items()
            if number not in self._others.owners.lost
            and status.sent.get(self._others.me, 0) > self._expected.get(number, 0)
        }
        if self.missing:  # of a Redis that was replaced, whose clock may go behind
            self.position = b"0-0"

    def take(self, until: float) -> None:
        """Take messages that came, as many as there is time for."""
        while self._entries:
            entry = self._entries.popleft()
            with self._frontier.transaction():
                self._inbox.receive(entry.worker, entry.messages)
            self._taken.append(entry.position)
            if self._clock() > until:
                break
        now = self._clock()
        if self._taken and now - self._saved > SAVED and self.saves():
            self._saved = now
            self.durable = dict(self._inbox.received)
            self._kept += self._taken
            self._taken = []
