"""Servers that are overloaded, and don't say for how long: they rest longer each time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.appended_files import Appended, replace
from lswc.errors import writing

if TYPE_CHECKING:
    from pathlib import Path

FILE = "backoff.jsonl"
"""Name of the file in the crawl folder that keeps who rests, and until when."""

LONGEST = 86_400.0
"""Seconds that a server rests at most: a day."""


class _Rest(NamedTuple):
    times: int
    until: float


class Backoff:
    """How often in a row each server was overloaded, and until when it rests.

    ``first`` is the rest in seconds after the first time; each further one doubles it, up to
    LONGEST. Times are Unix time, so that a rest goes on when the crawl does. Raises LswcError if
    the file can't be read or written.
    """

    def __init__(self, path: Path, first: float) -> None:
        self._first = first
        with writing(path):
            text = path.read_text("utf-8", errors="replace") if path.exists() else ""
            self._rests = _read(text)
            new = path.with_suffix(".new")
            new.write_bytes(b"".join(map(self._row, self._rests)))  # what is over is left out
            replace(path, new)
        self._file = Appended(path)

    def overloaded(self, server: str, now: float) -> float:
        """Count that a server is overloaded; return the seconds that it is to rest."""
        times = self._rests[server].times if server in self._rests else 0
        rest = self._rest(times)
        self._rests[server] = _Rest(times + 1, now + rest)
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
            self._rests[server] = _Rest(times, until)
        return max(0.0, until - now)

    def _rest(self, times: int) -> float:
        """Return how long a server rests that rested so many times before."""
        return min(self._first * 2.0 ** min(times, 40), LONGEST)

    def _write(self, server: str) -> None:
        self._file.append(self._row(server))

    def _row(self, server: str) -> bytes:
        times, until = self._rests.get(server, _Rest(0, 0.0))
        row = {"server": server, "times": times, "until": round(until, 3)}
        return json.dumps(row).encode() + b"\n"

    def close(self) -> None:
        self._file.close()


def _read(text: str) -> dict[str, _Rest]:
    rests: dict[str, _Rest] = {}
    for line in text.split("\n")[:-1]:
        try:
            row = json.loads(line)
        except ValueError:
            continue  # torn by a kill or a power cut: the server rests anew if it has to
        rests[row["server"]] = _Rest(row["times"], row["until"])
    return {server: rest for server, rest in rests.items() if rest.times}
