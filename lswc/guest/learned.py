"""Lessons of a crawl about servers, for its next requests: kept in its folder, a line each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lswc.archive.appended_files import Appended, replace
from lswc.errors import writing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FILE = "learned.jsonl"
"""Name of the file in the crawl folder."""

CRAWL_DELAY = "Crawl-delay"
"""Subject of the seconds that the robots.txt of a server asks for."""

DELAYS_KEPT = 20_000
"""Servers whose Crawl-delay is kept."""

Key = tuple[str, str]
"""A server, or what else is learned of, and the subject."""


class Learned:
    """The latest that was learned of each server, by subject; values are what JSON has.

    All that have ``heard`` are called with each key whose value is another now. Raises LswcError if
    the file can't be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.heard: list[Callable[[Key], None]] = []
        with writing(path):
            self._values = read(path)
            new = path.with_suffix(".new")
            new.write_bytes(b"".join(_row(key, value) for key, value in self._values.items()))
            replace(path, new)
        self._file = Appended(path)

    def get(self, server: str, subject: str) -> Any:
        """Return what was learned; None if nothing was."""
        return self._values.get((server, subject))

    def put(self, server: str, subject: str, value: Any) -> None:
        """Keep what was learned, for the runs to come; None forgets it."""
        key = server, subject
        if self._values.get(key) == value:
            return
        if value is None:
            del self._values[key]
        else:
            self._values[key] = value
        self._write(key, value)
        for heard in self.heard:
            heard(key)

    def keys(self, subject: str) -> list[str]:
        """Return of which servers anything is known of a subject."""
        return [server for server, about in self._values if about == subject]

    def _write(self, key: Key, value: Any) -> None:
        self._file.append(_row(key, value))

    def sync(self) -> None:
        """Return once what was put would outlast a power cut."""
        self._file.sync()

    def close(self) -> None:
        """Close the file, durably."""
        self._file.close()


class CrawlDelays:
    """Crawl-delays of robots.txt, kept for people to see: in seconds, by server."""

    def __init__(self, learned: Learned) -> None:
        self._learned = learned
        self._servers = set(learned.keys(CRAWL_DELAY))

    def heard(self, server: str, seconds: float) -> None:
        """Take notice of what a robots.txt asks for, 0 if it asks for nothing."""
        if seconds and (server in self._servers or len(self._servers) < DELAYS_KEPT):
            self._servers.add(server)
            self._learned.put(server, CRAWL_DELAY, seconds)
        elif server in self._servers:
            self._servers.remove(server)
            self._learned.put(server, CRAWL_DELAY, None)


def _row(key: Key, value: Any) -> bytes:
    return json.dumps([*key, value]).encode() + b"\n"


def read(path: Path, about: str = "") -> dict[Key, Any]:
    """Return what the file of a crawl has, also while that runs; of names with a text in them.

    Raises OSError.
    """
    text = path.read_text("utf-8", errors="replace") if path.exists() else ""
    values: dict[Key, Any] = {}
    for line in text.split("\n")[:-1]:
        if about not in line:
            continue
        try:
            server, subject, value = json.loads(line)
        except (ValueError, TypeError):
            continue  # torn by a kill or a power cut: it is learned anew
        values[server, subject] = value
    return {key: value for key, value in values.items() if value is not None}
