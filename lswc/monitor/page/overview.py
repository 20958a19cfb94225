"""All that the page shows of a crawl, for JSON."""

from __future__ import annotations

import shutil
from collections import Counter
from threading import Lock
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from lswc.frontier.harvest import by_group, forecast
from lswc.guest.control import ControlError, read
from lswc.monitor.page.graph import Graph
from lswc.monitor.page.stock import Stock
from lswc.monitor.page.story import explained
from lswc.outcomes import OF_REQUISITE, Outcome, is_left_out
from lswc.strategy import strategy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lswc.frontier.report import Completion, Queue, Report
    from lswc.guest.control import Control
    from lswc.monitor.page.sources import Source

TOP = 25
"""Servers, cells and URLs in a list."""

FRESH = 1.0
"""Seconds for which an overview is given to all who ask."""

SILENT = 15.0
"""Seconds without a word after which a worker counts as gone."""

_FETCHED = (
    Outcome.HTML, Outcome.DOCUMENT, Outcome.NOINDEX, Outcome.NOARCHIVE, Outcome.NOT_HTML,
    Outcome.DOCUMENT_LEFT, Outcome.REDIRECT, Outcome.REQUISITE, Outcome.LISTING,
)  # fmt: skip
"""Outcomes that are no error."""

_STATES = ("running", "paused", "offline", "silent", "closed")
"""What a crawl of several workers does: the first of these that one of them does."""


class Overview:
    """Makes overviews of a crawl; one at a time, for any number of those who look."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lock = Lock()
        self._made, self._made_at = dict[str, Any](), 0.0
        self._identity = source.identity()
        self._stock = Stock(source, TOP)
        self._graph = Graph(source)
        self._heard: dict[str, tuple[float, float]] = {}

    def get(self, known: int = -1) -> dict[str, Any]:
        """Return an overview; with the course, unless it is still of the version ``known``.

        Raises LswcError.
        """
        with self._lock:
            if monotonic() - self._made_at > FRESH or not self._made:
                self._graph.read()
                self._made = self._make()
                self._made_at = monotonic()
                self._stock.count_if_due()  # last: what is known at once is shown at once
            version = self._graph.version
            course: dict[str, Any] = {"version": version}
            if version != known:
                course["columns"] = self._graph.columns()
            return {**self._made, "course": course}

    def _make(self) -> dict[str, Any]:
        workers = [self._with_state(now) for now in self._source.workers()]
        tallies, report = self._source.tallies(), self._stock.report
        control, wrong = self._control()
        shown = _shown(workers)
        rests = control.rests() if control is not None else ""
        return {
            "name": self._source.name,
            "store": self._source.store,
            "language": self._identity.get("language", ""),
            "strategy": self._identity.get("strategy", ""),
            "time": time(),
            **_state(workers, rests),
            "lost": _number_of(workers, "silent"),
            "totals": _totals(workers, tallies, report),
            "workers": [_worker(now) for now in workers],
            "fetching": _merged(filter(_is_live, workers), "fetching", "seconds"),
            "slowest": _merged(workers, "slowest", "seconds"),
            "queue": shown.get("queue") if _is_live(shown) else _queue(report, shown),
            "stock": self._stock_told(),
            "servers": [list(item) for item in report.counts.servers.items()] if report else None,
            "largest": _servers(report.largest) if report else None,
            "longest": _servers(report.queues) if report else None,
            "ended": _ended(self._stock.ended),
            "dropped": _explained(_dropped(tallies)),
            "errors": _explained(_errors(tallies.get("finished", {}))),
            "put_off": _explained(tallies.get("put off", {})),
            "languages": [list(item) for item in tallies.get("language", {}).items()],
            "disk": self._disk(shown),
            "control": {"wrong": wrong, **(_told(control) if control is not None else {})},
        }

    def _with_state(self, now: dict[str, Any]) -> dict[str, Any]:
        """Say of a worker that it is silent, if it has said nothing for long.

        Its clock may be another machine's, and go behind by as much as a word of it is late that
        came since the latest look, a moment ago.
        """
        name, said = f"{now.get('host')} {now.get('folder')}", _number(now.get("time"))
        late = time() - said
        before, behind = self._heard.get(name, (said, min(late, 0.0)))
        if said != before and monotonic() - self._made_at < SILENT / 2:
            behind = late
        self._heard[name] = said, behind
        is_silent = late - behind > SILENT and now.get("state") != "closed"
        return now | {"state": "silent"} if is_silent else now

    def _control(self) -> tuple[Control | None, str]:
        try:
            return read(self._source.kept), ""
        except ControlError as error:
            return None, str(error)

    def _stock_told(self) -> dict[str, Any]:
        stock = self._stock
        there = stock.report is not None
        age = round(stock.age) if there else None
        return {"age": age, "seconds": round(stock.seconds, 1), "wrong": stock.wrong}

    def _disk(self, shown: Mapping[str, Any]) -> dict[str, int] | None:
        told = shown.get("disk")
        if _is_live(shown) or self._source.store == "Redis":
            return told
        found = shutil.disk_usage(self._source.folders()[0])
        return {"free": found.free, "total": found.total}


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _is_live(now: Mapping[str, Any]) -> bool:
    return now.get("state") in ("running", "paused", "offline")


def _shown(workers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the worker that speaks for the crawl: of those that live, the one heard last."""
    return max(workers, key=lambda now: (_is_live(now), _number(now.get("time"))), default={})


def _state(workers: Sequence[Mapping[str, Any]], rests: str) -> dict[str, Any]:
    if not workers:
        return {"state": "unknown", "reason": "", "since": None}
    states = {str(now.get("state")) for now in workers}
    state = next((name for name in _STATES if name in states), "unknown")
    latest = max(workers, key=lambda now: _number(now.get("time")))
    if state == "running" and rests:
        return {"state": "paused", "reason": rests, "since": None}
    reason = latest.get("reason", "") if state == "closed" else ""
    return {"state": state, "reason": reason, "since": latest.get("time")}


def _totals(
    workers: Sequence[Mapping[str, Any]],
    tallies: Mapping[str, Mapping[str, int]],
    report: Report | None,
) -> dict[str, Any]:
    page, shown = tallies.get("page", {}), _shown(list(map(dict, workers)))
    relevant, pages = page.get("relevant", 0), sum(page.values())
    live = [now for now in workers if _is_live(now)]
    expected = shown.get("forecast", {}).get("waiting")
    if report is not None and not live:
        expected = forecast(report.cells).waiting
    waiting, servers = shown.get("waiting"), shown.get("servers")
    if waiting is None and report is not None:
        waiting = sum(report.counts.pending.values())
        servers = sum(report.counts.servers.values())
    return {
        "pages": pages,
        "relevant": relevant,
        "guessed": page.get("guessed", 0),
        "received": tallies.get("received", {}).get("bytes", 0),
        "finished": sum(tallies.get("finished", {}).values()),
        "harvest": relevant / pages if pages else None,
        "expected": expected,
        "coverage": _coverage(relevant, expected),
        "waiting": waiting,
        "later": sum(tallies.get("put off", {}).values()),
        "servers": servers,
        "speed": sum(_number(now.get("speed")) for now in live),
        "under_way": sum(int(_number(now.get("under_way"))) for now in live),
        "requests": sum(int(_number(now.get("requests"))) for now in live),
    }


def _coverage(relevant: int, expected: float | None) -> float | None:
    if expected is None or not relevant + expected:
        return None
    return relevant / (relevant + expected)


def _number_of(workers: Iterable[Mapping[str, Any]], state: str) -> int:
    return sum(now.get("state") == state for now in workers)


def _worker(now: Mapping[str, Any]) -> dict[str, Any]:
    names = ("host", "folder", "state", "time", "began", "pages", "speed", "under_way", "version")
    return {name: now.get(name) for name in names}


def _merged(workers: Iterable[Mapping[str, Any]], name: str, key: str) -> list[dict[str, Any]]:
    """Return the entries of all workers, the largest first."""
    found = [entry for now in workers for entry in now.get(name, ())]
    return sorted(found, key=lambda entry: -_number(entry.get(key)))[:TOP]


def _queue(report: Report | None, shown: Mapping[str, Any]) -> Any:
    """Return the queue by group and cell, as ``lswc.monitor.pulse`` tells it."""
    if report is None:
        return shown.get("queue")
    chosen = strategy(report.identity["strategy"])
    groups = [
        {"name": name, "waiting": waiting, "pages": downloaded, "relevant": relevant}
        for name, waiting, (downloaded, relevant) in by_group(report.cells)
    ]
    cells = [
        {
            "name": chosen.describe(cell.cell),
            "waiting": cell.waiting,
            "pages": cell.pages.downloaded,
            "relevant": cell.pages.relevant,
            "expected": cell.expected,
        }
        for cell in report.cells
        if cell.waiting
    ]
    return {"groups": groups, "cells": cells[:TOP]}


def _ended(ended: Completion | None) -> dict[str, Any] | None:
    if ended is None:
        return None
    return {
        "numbers": [ended.complete, ended.cut_number, ended.failed_number],
        "cut": [[*row, explained(row[1])] for row in ended.cut],
        "failed": [[*row, explained(row[1]) if row[1] else ""] for row in ended.failed],
    }


def _servers(queues: Iterable[Queue]) -> list[list[object]]:
    return [[q.server, q.downloaded, q.relevant, q.pending] for q in queues]


def _dropped(tallies: Mapping[str, Mapping[str, int]]) -> Counter[str]:
    """Return why links were left out, and URLs that waited already: as by a block."""
    finished = tallies.get("finished", {}).items()
    waited = {name: number for name, number in finished if is_left_out(name)}
    return Counter(tallies.get("dropped", {})) + Counter(waited)


def _errors(finished: Mapping[str, int]) -> dict[str, int]:
    return {
        name: number
        for name, number in finished.items()
        if name.removeprefix(OF_REQUISITE) not in _FETCHED and not is_left_out(name)
    }


def _explained(counts: Mapping[str, int]) -> list[list[object]]:
    return [[name, number, explained(name)] for name, number in Counter(counts).most_common()]


def _told(control: Control) -> dict[str, Any]:
    """Return what is said to the crawl."""
    return {
        "pause": control.pause,
        "stop": control.stop,
        "hours": str(control.hours) if control.hours else "",
        "requests": control.requests,
        "why": control.why,
        "rules": [[place.name, rule.said, rule.why] for place, rule in control.rules],
    }
