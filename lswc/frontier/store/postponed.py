"""URLs of a SQLite file that couldn't be had for now: when each is due."""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from json import dumps
from typing import TYPE_CHECKING

from lswc.frontier.rules.contract import AT_ONCE
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator

    from lswc.frontier.rules.contract import Wanted

_ENDED_BY = """
SELECT seq, outcome, server, 1, url, depth FROM url
WHERE outcome IN (SELECT value FROM json_each(?1))
UNION ALL SELECT seq, later.outcome, server, 0, url, depth FROM later JOIN url USING (seq)
WHERE url.outcome = ?2 AND later.outcome IN (SELECT value FROM json_each(?1))
"""


class Postponed:
    """The URLs that were postponed: ``waiting`` is a heap of when they are due, on the clock of
    ``lease``, and of their numbers."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.waiting: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self.waiting)

    def load(self) -> None:
        """Take what the file holds; all is due."""
        rows = self._db.execute(
            "SELECT seq FROM later JOIN url USING (seq) WHERE url.outcome = ?", (Outcome.POSTPONED,)
        )
        self.waiting = [(0.0, seq) for (seq,) in rows]
        heapify(self.waiting)

    @property
    def next_due(self) -> float | None:
        """When the first is due; None if there is none."""
        return self.waiting[0][0] if self.waiting else None

    def take_due(self, now: float) -> Iterator[int]:
        """Give the numbers of URLs that are due, which no longer wait here."""
        for _ in range(AT_ONCE):
            if not self.waiting or self.waiting[0][0] > now:
                return
            yield heappop(self.waiting)[1]

    def keep(self, seq: int, tries: int, outcome: str) -> None:
        """Note how often a URL was postponed, and why."""
        self._db.execute("INSERT OR REPLACE INTO later VALUES (?, ?, ?)", (seq, tries, outcome))

    def wait(self, seq: int, due: float) -> None:
        """Let a URL wait that is kept here."""
        heappush(self.waiting, (due, seq))

    def leave_out(self, seqs: Collection[int]) -> None:
        """Let URLs wait here no more."""
        self.waiting = [(due, seq) for due, seq in self.waiting if seq not in seqs]
        heapify(self.waiting)

    def forget(self, seq: int) -> None:
        """Forget a URL that is finished."""
        self._db.execute("DELETE FROM later WHERE seq = ?", (seq,))

    def revive(
        self, outcomes: Collection[str], wanted: Wanted | None
    ) -> tuple[Counter[tuple[int, str]], int]:
        """Postpone what finished so, to be due at once, and let be due what was postponed for it.

        Returns how many of the former, by server and outcome, and how many of the latter.
        """
        rows = self._db.execute(_ENDED_BY, (dumps(list(outcomes)), Outcome.POSTPONED)).fetchall()
        found = [row[:4] for row in rows if wanted is None or wanted(*row[4:])]
        numbers: Counter[tuple[int, str]] = Counter()
        for seq, outcome, server, is_finished in found:
            if is_finished:
                self.keep(seq, 0, outcome)
                self._db.execute(
                    "UPDATE url SET outcome = ? WHERE seq = ?", (Outcome.POSTPONED, seq)
                )
                numbers[server, outcome] += 1
        due = {seq for seq, *_ in found}
        again = sum(when > 0 and seq in due for when, seq in self.waiting)
        self.waiting = [(when, seq) for when, seq in self.waiting if seq not in due]
        self.waiting += [(0.0, seq) for seq in due]
        heapify(self.waiting)
        return numbers, again
