"""The course of a crawl as columns of numbers, few enough to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lswc.monitor.course import Point
    from lswc.monitor.page.sources import Source

DRAWN = 400
"""Points that are drawn at most."""


SHORT = 2.0
"""Seconds between two points that say too little of the speed."""


class Graph:
    """Reads a crawl's course bit by bit. ``version`` changes when there is more of it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._points: list[Point] = []
        self._after = 0

    @property
    def version(self) -> int:
        return len(self._points)

    def read(self) -> None:
        """Read what is new. Raises LswcError, or OSError."""
        while True:
            points, after = self._source.course(self._after)
            for point in points:
                if not self._points or point.time > self._points[-1].time:  # a clock may go back
                    self._points.append(point)
            if after == self._after:
                return
            self._after = after

    def columns(self) -> dict[str, list[float | None]]:
        """Return the columns, each of the same length; None where nothing was crawled.

        ``time`` in seconds since 1970; ``harvest`` and ``coverage`` as shares, ``recent`` the
        harvest rate since the point before; ``speed`` in pages a second; ``waiting``, ``expected``.
        """
        columns: dict[str, list[float | None]] = {name: [] for name in _COLUMNS}
        before: Point | None = None
        for point in self._drawn():
            if before is not None and before.run != point.run:
                _add(columns, time=(before.time + point.time) / 2)
                before = None
            _add(columns, **_values(point, before))
            before = point
        return columns

    def _drawn(self) -> list[Point]:
        """Return some of the points: the first and the last of each run, and one in so many."""
        step = max(1, len(self._points) // DRAWN)
        ends = {0, len(self._points) - 1}
        for number in range(1, len(self._points)):
            if self._points[number].run != self._points[number - 1].run:
                ends |= {number - 1, number}
        return [p for number, p in enumerate(self._points) if number % step == 0 or number in ends]


_COLUMNS = ("time", "harvest", "recent", "coverage", "speed", "waiting", "expected")


def _add(columns: dict[str, list[float | None]], **values: float | None) -> None:
    for name, column in columns.items():
        column.append(values.get(name))


def _values(point: Point, before: Point | None) -> dict[str, float | None]:
    values: dict[str, float | None] = {
        "time": point.time,
        "harvest": _share(point.relevant, point.pages),
        "coverage": _share(point.relevant, point.relevant + point.expected),
        "waiting": point.waiting,
        "expected": point.expected,
    }
    if before is not None and point.time - before.time >= SHORT:
        pages = point.pages - before.pages
        values["recent"] = _share(point.relevant - before.relevant, pages)
        values["speed"] = pages / (point.time - before.time)
    return values


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None
