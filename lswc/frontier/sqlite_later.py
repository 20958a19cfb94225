"""URLs that couldn't be had, in a SQLite file: they are tried again when they are due."""

from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from json import dumps
from typing import TYPE_CHECKING

from lswc.outcomes import Outcome

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator

    from lswc.frontier.contract import Wanted

# How often each was put off, and how it ended last: until it is finished. While it waits, its
# outcome in `url` is PUT_OFF. When it is due only the process knows: to start again tries all.
SCHEMA = """
CREATE TABLE later (seq INTEGER PRIMARY KEY, tries INTEGER NOT NULL, outcome TEXT NOT NULL);
"""

_ENDED = """
SELECT seq, outcome, server, 1, url, depth FROM url
WHERE outcome IN (SELECT value FROM json_each(?1))
UNION ALL SELECT seq, later.outcome, server, 0, url, depth FROM later JOIN url USING (seq)
WHERE url.outcome = ?2 AND later.outcome IN (SELECT value FROM json_each(?1))
"""

AT_ONCE = 100
"""URLs that are due at most at a time: a server that was away may have many thousands."""


class Later:
    """The URLs that were put off, by when they are due (seconds on the clock of ``lease``)."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._waiting: list[tuple[float, int]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def load(self) -> None:
        """Take what the file holds; all is due."""
        rows = self._db.execute(
            "SELECT seq FROM later JOIN url USING (seq) WHERE url.outcome = ?", (Outcome.PUT_OFF,)
        )
        self._waiting = [(0.0, seq) for (seq,) in rows]
        heapify(self._waiting)

    @property
    def next_due(self) -> float | None:
        """When the first is due; None if there is none."""
        return self._waiting[0][0] if self._waiting else None

    def take_due(self, now: float) -> Iterator[int]:
        """Give the numbers of URLs that are due, which no longer wait here."""
        for _ in range(AT_ONCE):
            if not self._waiting or self._waiting[0][0] > now:
                return
            yield heappop(self._waiting)[1]

    def keep(self, seq: int, tries: int, outcome: str) -> None:
        """Note how often a URL was put off, and why."""
        self._db.execute("INSERT OR REPLACE INTO later VALUES (?, ?, ?)", (seq, tries, outcome))

    def wait(self, seq: int, due: float) -> None:
        """Let a URL wait that is kept here."""
        heappush(self._waiting, (due, seq))

    def forget(self, seq: int) -> None:
        """Forget a URL that is finished."""
        self._db.execute("DELETE FROM later WHERE seq = ?", (seq,))

    def revive(
        self, outcomes: Collection[str], wanted: Wanted | None
    ) -> tuple[Counter[tuple[int, str]], int]:
        """Put off what finished so, to be due at once, and let be due what was put off for it.

        Returns how many of the former, by server and outcome, and how many of the latter.
        """
        found = [
            row[:4]
            for row in self._db.execute(_ENDED, (dumps(list(outcomes)), Outcome.PUT_OFF)).fetchall()
            if wanted is None or wanted(*row[4:])
        ]
        numbers: Counter[tuple[int, str]] = Counter()
        for seq, outcome, server, is_finished in found:
            if is_finished:
                self.keep(seq, 0, outcome)
                self._db.execute("UPDATE url SET outcome = ? WHERE seq = ?", (Outcome.PUT_OFF, seq))
                numbers[server, outcome] += 1
        due = {seq for seq, *_ in found}
        again = sum(when > 0 and seq in due for when, seq in self._waiting)
        self._waiting = [(when, seq) for when, seq in self._waiting if seq not in due]
        self._waiting += [(0.0, seq) for seq in due]
        heapify(self._waiting)
        return numbers, again
