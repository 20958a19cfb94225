"""How a crawl goes: ``now.json``, what it does now, and ``course.jsonl``, how it went so far.

Nobody needs them to go on with the crawl: who watches it reads them, also after its end.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from time import time
from typing import TYPE_CHECKING, Any, Self

import msgspec

from lswc.files import whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NOW = "now.json"
"""Name of the file in the crawl folder that says what the crawl does now."""

COURSE = "course.jsonl"
"""Name of the file in the crawl folder that has a point of its course per line."""

OFTEN, SELDOM = 5.0, 300.0
"""Seconds between two points: at first, and of a crawl of eight hours and more."""

STEPS = 100
"""A point is due after this part of the crawl's age: the file grows by 20 MB a year at most."""

READ = 4_000_000
"""Bytes of the course that are read at a time."""


@dataclass(frozen=True)
class Point:
    """A crawl at one time, all of its runs and workers together.

    ``time`` and ``run`` (when this run began) in seconds since 1970. ``relevant`` of ``pages``
    were identified as such; ``received`` bytes of bodies; ``finished`` URLs, pages or not;
    ``waiting`` URLs, and relevant pages ``expected`` among them; ``servers`` known.
    """

    time: float
    run: float
    pages: int
    relevant: int
    received: int
    finished: int
    waiting: int
    expected: float
    servers: int

    def line(self) -> str:
        """Return the point as a line of JSON."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def of(cls, line: str | bytes) -> Self | None:
        """Return the point of a line, None if it is torn."""
        try:
            return msgspec.json.decode(line, type=cls)
        except msgspec.DecodeError:
            return None


class Course:
    """Appends points to the course in a crawl folder. Raises OSError."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / COURSE
        first = _first(self._path)
        self._began = time() if first is None else first.time
        self._latest = 0.0

    @property
    def every(self) -> float:
        """Seconds between two points, by the age of the crawl."""
        return min(max((time() - self._began) / STEPS, OFTEN), SELDOM)

    @property
    def is_due(self) -> bool:
        """Whether it is time for a point; also if the clock was set back."""
        return not 0 <= time() - self._latest < self.every

    def add(self, point: Point) -> None:
        """Append a point."""
        self._latest = point.time
        with self._path.open("a", encoding="utf-8") as file:
            file.write(point.line())


def _first(path: Path) -> Point | None:
    try:
        with path.open("rb") as file:
            return Point.of(file.readline())
    except FileNotFoundError:
        return None


def read(folder: Path, after: int = 0) -> tuple[list[Point], int]:
    """Return the points whose lines begin at byte ``after`` or later, and where the next begins.

    At most READ bytes of them. Empty if there is no such file.
    """
    try:
        with (folder / COURSE).open("rb") as file:
            file.seek(after)
            text = file.read(READ)
    except FileNotFoundError:
        return [], 0
    whole_lines = text[: text.rfind(b"\n") + 1]
    points = map(Point.of, whole_lines.splitlines())
    return [point for point in points if point is not None], after + len(whole_lines)


def write_now(folder: Path, now: Mapping[str, Any]) -> None:
    """Say what the crawl does now. Raises OSError."""
    with whole(folder / NOW) as path:
        path.write_text(json.dumps(now, ensure_ascii=False), "utf-8", errors="replace")


def read_now(folder: Path) -> dict[str, Any]:
    """Return what the crawl said last that it does; empty if it never did."""
    try:
        return parsed((folder / NOW).read_bytes())
    except FileNotFoundError:
        return {}


def parsed(text: str | bytes) -> dict[str, Any]:
    """Return what a crawl said that it does; empty if that is torn."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
