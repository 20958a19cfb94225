"""Course of a crawl: ``now.json``, its latest snapshot, and ``course.jsonl``, some in short.

Nobody needs them to go on with the crawl: who watches it reads them, also after its end.
"""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

import msgspec

from lswc.files import whole
from lswc.monitor.snapshot import Snapshot, rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

NOW = "now.json"
"""Name of the file in the crawl folder that has the latest snapshot."""

COURSE = "course.jsonl"
"""Name of the file in the crawl folder that has a point of its course per line."""

OFTEN, SELDOM = 5.0, 300.0
"""Seconds between two points: at first, and of a crawl of eight hours and more."""

STEPS = 100
"""A point is due after this part of the crawl's age: the file grows by 20 MB a year at most."""

READ = 4_000_000
"""Bytes of the course that are read at a time."""

DRAWN = 400
"""Points that are drawn at most."""

POINTS_OF_AN_ESTIMATE = 12
"""Points of a run from which its end is estimated: of a minute at least."""

_Kind = TypeVar("_Kind")

SHORT = 2.0
"""Seconds between two points that are too few to measure a speed."""


class Point(msgspec.Struct, frozen=True):
    """A snapshot in short.

    ``time`` and ``run`` (when this run began) in seconds since 1970. ``relevant`` of ``pages``
    were identified as such; ``received`` bytes of bodies; ``finished`` URLs, pages or not;
    ``pending`` URLs, and relevant pages ``expected`` among them; ``servers`` found.
    """

    time: float
    run: float
    pages: int
    relevant: int
    received: int
    finished: int
    pending: int
    expected: float
    servers: int

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """Return a snapshot in short."""
        return cls(
            time=round(snapshot.time, 1),
            run=round(snapshot.workers[0].began, 1),
            pages=snapshot.pages,
            relevant=snapshot.relevant,
            received=snapshot.received,
            finished=snapshot.finished,
            pending=snapshot.pending,
            expected=snapshot.outlook.expected,
            servers=snapshot.servers,
        )

    def line(self) -> str:
        """Return the point as a line of JSON."""
        return msgspec.json.encode(self).decode() + "\n"


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
            return parsed(file.readline(), Point)
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
    return all_parsed(whole_lines.splitlines(), Point), after + len(whole_lines)


class CourseSum:
    """Adds the courses of a crawl's workers up: a point for each of theirs."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._latest: dict[int, Point] = {}
        self._run = self._time = 0.0

    def go_on(self, courses: Mapping[int, Sequence[Point]], after: int) -> tuple[list[Point], int]:
        """Return the sums of what is new in the courses, by worker; ``after`` 0 begins anew.

        And what to ask with after these.
        """
        if not after:
            self._forget()
        fresh = [
            (point.time, number, point)
            for number, points in courses.items()
            for point in points
            if number not in self._latest or point.time > self._latest[number].time
        ]
        found = []
        for when, number, point in sorted(fresh, key=lambda one: one[:2]):
            self._latest[number] = point
            if when <= self._time:  # of a clock that goes behind: it counts in the next point
                continue
            if not self._time or point.run > self._time + SELDOM:  # nobody ran before it
                self._run = point.run
            self._time = when
            found.append(self._now())
        return found, after + len(found)

    def _now(self) -> Point:
        latest = self._latest.values()
        counted = ("pages", "relevant", "received", "finished", "pending", "expected", "servers")
        return Point(
            time=self._time,
            run=self._run,
            **{name: sum(getattr(point, name) for point in latest) for name in counted},
        )


class Times(NamedTuple):
    """When a crawl ``began`` (seconds since 1970, None if it never ran), and how long it ran.

    It had ``runs``, of ``seconds`` in all. ``left`` are the seconds until no URL is pending, if
    their number falls on as it fell in the latest third of this run; None if it doesn't.
    """

    began: float | None
    runs: int
    seconds: float
    left: float | None


def times(points: Sequence[Point]) -> Times:
    """Return the times of a crawl, as its course tells."""
    if not points:
        return Times(None, 0, 0.0, None)
    ended = {point.run: point.time for point in points}
    seconds = round(sum(max(0.0, end - began) for began, end in ended.items()), 1)
    return Times(points[0].run, len(ended), seconds, _left(points))


def _left(points: Sequence[Point]) -> float | None:
    run = [point for point in points if point.run == points[-1].run]
    before, last = run[len(run) * 2 // 3 - 1], run[-1]
    fallen, passed = before.pending - last.pending, last.time - before.time
    if len(run) < POINTS_OF_AN_ESTIMATE or fallen <= 0 or passed <= 0:
        return None
    return round(last.pending * passed / fallen, 1)


def read_all(folder: Path) -> list[Point]:
    """Return all points of a course."""
    found, (points, after) = list[Point](), read(folder)
    while points:
        found += points
        points, after = read(folder, after)
    return found


def write_now(folder: Path, now: Snapshot) -> None:
    """Write a crawl's latest snapshot. Raises OSError."""
    with whole(folder / NOW) as path:
        path.write_bytes(msgspec.json.encode(now))


def read_now(folder: Path) -> Snapshot | None:
    """Return a crawl's latest snapshot; None if there is none, or a torn one."""
    try:
        return parsed((folder / NOW).read_bytes(), Snapshot)
    except FileNotFoundError:
        return None


def parsed(text: bytes, kind: type[_Kind]) -> _Kind | None:
    """Return the snapshot, or the point, of a text; None if it is torn."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError:
        return None


def all_parsed(texts: Iterable[bytes], kind: type[_Kind]) -> list[_Kind]:
    """Return the snapshots, or points, of those texts that aren't torn."""
    return [found for text in texts if (found := parsed(text, kind)) is not None]


Columns = dict[str, list[float | None]]

COLUMNS = ("time", "harvest", "recent", "coverage", "speed", "pending", "expected")


def columns(points: Sequence[Point]) -> Columns:
    """Return a course as columns of the same length, few enough to draw.

    None stands where nothing was crawled. ``time`` is in seconds since 1970; ``harvest`` and
    ``coverage`` (at most) are shares, ``recent`` is the harvest rate since the point before;
    ``speed`` is in pages per second; ``pending`` URLs, ``expected`` relevant ones of them.

    Where fewer pages are counted than before, as nobody knew of a worker's, neither ``recent`` nor
    ``speed`` is known until there are as many again.
    """
    found: Columns = {name: [] for name in COLUMNS}
    last: Point | None = None
    before: Point | None = None
    for point in _drawn(points):
        if last is not None and last.run != point.run:
            _add(found, time=(last.time + point.time) / 2)
            before = None
        _add(found, **_values(point, before))
        last = point
        if before is None or point.pages >= before.pages:
            before = point
    return found


def _drawn(points: Sequence[Point]) -> list[Point]:
    """Return some of the points: the first and the last of each run, and one in so many."""
    step = max(1, len(points) // DRAWN)
    ends = {0, len(points) - 1}
    for number in range(1, len(points)):
        if points[number].run != points[number - 1].run:
            ends |= {number - 1, number}
    return [p for number, p in enumerate(points) if number % step == 0 or number in ends]


def _add(found: Columns, **values: float | None) -> None:
    for name, column in found.items():
        column.append(values.get(name))


def _values(point: Point, before: Point | None) -> dict[str, float | None]:
    values: dict[str, float | None] = {
        "time": point.time,
        "harvest": rate(point.relevant, point.pages),
        "coverage": rate(point.relevant, point.relevant + point.expected),
        "pending": point.pending,
        "expected": point.expected,
    }
    pages = 0 if before is None else point.pages - before.pages
    if before is not None and pages >= 0 and point.time - before.time >= SHORT:
        values["recent"] = rate(point.relevant - before.relevant, pages)
        values["speed"] = pages / (point.time - before.time)
    return values
