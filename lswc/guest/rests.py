"""Rests of servers: which are being asked now, and until when the others are left in peace.

A server that is overloaded says so by Retry-After (RFC 9110 §10.2.3), or rests longer each time.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from heapq import nlargest
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.appended_files import Appended, replace
from lswc.errors import writing
from lswc.outcomes import Outcome, is_transient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lswc.frontier.rules.visit import Visit

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


FILE = "backoff.jsonl"
"""Name of the file in the crawl folder that keeps who rests, and until when."""

LONGEST_REST_SECONDS = 86_400.0
"""Seconds that a server rests at most: a day."""


class Rest(NamedTuple):
    """How often a server was overloaded, and until when it rests, in Unix time."""

    times: int
    until: float


class Backoff:
    """How often in a row each server was overloaded, and until when it rests.

    ``first`` is the rest in seconds after the first time; each further one doubles it, up to
    LONGEST_REST_SECONDS. Times are Unix time, so that a rest goes on when the crawl does. Raises
    LswcError if the file can't be read or written.
    """

    def __init__(self, path: Path, first: float) -> None:
        self._first = first
        with writing(path):
            self._rests = read(path)
            new = path.with_suffix(".new")
            new.write_bytes(b"".join(map(self._row, self._rests)))  # what is over is left out
            replace(path, new)
        self._file = Appended(path)

    def overloaded(self, server: str, now: float) -> float:
        """Count that a server is overloaded; return the seconds that it is to rest."""
        times = self._rests[server].times if server in self._rests else 0
        rest = self._rest(times)
        self._rests[server] = Rest(times + 1, now + rest)
        self._write(server)
        return rest

    def answered(self, server: str) -> None:
        """Take note that a server isn't overloaded any more."""
        if self._rests.pop(server, None) is not None:
            self._write(server)

    def remaining(self, server: str, now: float) -> float:
        """Return the seconds that a server still rests.

        Never more than it rests in all: where the clock was set back it rests once more.
        """
        if server not in self._rests:
            return 0.0
        times, until = self._rests[server]
        longest = self._rest(times - 1)
        if until - now > longest:
            until = now + longest
            self._rests[server] = Rest(times, until)
        return max(0.0, until - now)

    def _rest(self, times: int) -> float:
        """Return how long a server rests that rested so many times before."""
        return min(self._first * 2.0 ** min(times, 40), LONGEST_REST_SECONDS)

    def _write(self, server: str) -> None:
        self._file.append(self._row(server))

    def _row(self, server: str) -> bytes:
        times, until = self._rests.get(server, Rest(0, 0.0))
        row = {"server": server, "times": times, "until": round(until, 3)}
        return json.dumps(row).encode() + b"\n"

    def close(self) -> None:
        """Close the file, durably."""
        self._file.close()


def read(path: Path) -> dict[str, Rest]:
    """Return who rests by the file of a crawl, also while that runs. Raises OSError."""
    text = path.read_text("utf-8", errors="replace") if path.exists() else ""
    rests: dict[str, Rest] = {}
    for line in text.split("\n")[:-1]:
        try:
            row = json.loads(line)
        except ValueError:
            continue  # torn by a kill or a power cut: the server rests anew if it has to
        rests[row["server"]] = Rest(row["times"], row["until"])
    return {server: rest for server, rest in rests.items() if rest.times}


OVERLOADED = (429, 503)
"""Statuses by which a server says that it is asked for too much, or too often."""


def seconds(value: str, now: float) -> float | None:
    """Return the seconds that a header asks for, as a number or a date; None if it doesn't.

    ``now`` is Unix time.
    """
    value = value.strip()
    if value.isascii() and value.isdecimal():
        return float(value[:12])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError, TypeError):
        return None


FAR = 3.2e8
"""Seconds for which a paused URL is postponed unless it is allowed again: ten years."""

AWAY = 10_000
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
        if outcome in (Outcome.PAUSED, Outcome.GENERATED_LAST):
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
        if len(self._away) > AWAY:
            self._away = {name: other for name, other in self._away.items() if now < other.until}

    def away(self, server: str, now: float) -> str | None:
        """Return why nothing can be had of a server now; None if it may be asked."""
        if not self._away:
            return None
        away = self._away.get(server)
        return away.outcome if away is not None and now < away.until else None


_TIMED = 5_000  # servers
_RECENT = 0.3  # weight of a server's latest answer


@dataclass
class _Answers:
    seconds: float
    number: int = 1


class Latencies:
    """Seconds from a request to its answer, by server; the latest answers count most."""

    def __init__(self) -> None:
        self._servers: OrderedDict[str, _Answers] = OrderedDict()

    def add(self, server: str, seconds: float) -> None:
        """Take notice of an answer."""
        known = self._servers.get(server)
        if known is None:
            self._servers[server] = _Answers(seconds)
        else:
            known.seconds += _RECENT * (seconds - known.seconds)
            known.number += 1
        self._servers.move_to_end(server)
        if len(self._servers) > _TIMED:
            self._servers.popitem(last=False)

    def slowest(self, most: int) -> list[tuple[str, float, int]]:
        """Return the slowest servers: name, seconds, and answers."""
        found = nlargest(most, self._servers.items(), key=lambda item: item[1].seconds)
        return [(name, round(a.seconds, 3), a.number) for name, a in found]
