"""Data of the page: a crawl's snapshot, course and control, as the page's script reads them."""

from __future__ import annotations

import shutil
from threading import Lock
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import replace

from lswc.guest.control import Control, ControlError, read
from lswc.monitor.course import columns
from lswc.monitor.page.full_count import FullCount
from lswc.monitor.snapshot import (
    CLOSED,
    PAUSED,
    RUNNING,
    SILENT,
    TOP,
    DiskSpace,
    Snapshot,
    instructions,
    merged,
)  # fmt: skip
from lswc.monitor.story import explained

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lswc.frontier.report import Completion, Queue
    from lswc.monitor.course import Point
    from lswc.monitor.snapshot import Worker
    from lswc.monitor.stored import StoredCrawl

FRESH = 1.0
"""Seconds for which the same answer is given to all who ask."""

SILENCE = 15.0
"""Seconds without a report after which a worker counts as gone."""


class PageData:
    """Looks at a crawl; once for any number of those who ask at a time."""

    def __init__(self, crawl: StoredCrawl) -> None:
        self._crawl = crawl
        with crawl.frontier() as frontier:
            self._identity = frontier.identity()
        self._lock = Lock()
        self._made, self._made_at = dict[str, Any](), 0.0
        self._full = FullCount(crawl)
        self._points: list[Point] = []
        self._after = 0
        self._heard: dict[tuple[str, str], tuple[float, float]] = {}

    def get(self, known: int = -1) -> dict[str, Any]:
        """Return all that is shown; with the course, unless it is still of the version ``known``.

        Raises LswcError.
        """
        with self._lock:
            if monotonic() - self._made_at > FRESH or not self._made:
                self._read_course()
                self._made = self._make()
                self._made_at = monotonic()
                self._full.count_if_due()  # last: what is known at once is shown at once
            course: dict[str, Any] = {"version": len(self._points)}
            if course["version"] != known:
                course["columns"] = columns(self._points)
            return {**self._made, "course": course}

    def _read_course(self) -> None:
        while True:
            points, after = self._crawl.course(self._after)
            for point in points:
                if not self._points or point.time > self._points[-1].time:  # a clock may go back
                    self._points.append(point)
            if after == self._after:
                return
            self._after = after

    def _make(self) -> dict[str, Any]:
        try:
            control, wrong = read(self._crawl.kept), ""
        except ControlError as error:
            control, wrong = Control(), str(error)
        full = self._full
        age = round(full.age) if full.snapshot is not None else None
        return {
            "name": self._crawl.name,
            "store": self._crawl.store,
            "stock": {"age": age, "seconds": round(full.seconds, 1), "wrong": full.error},
            **page_json(self._snapshot(control)),
            "control": {"wrong": wrong, **_control(control)},
        }

    def _snapshot(self, control: Control) -> Snapshot:
        """Return the crawl as its workers report it, or as it was counted if none of them lives."""
        reported = [self._with_state(one) for one in self._crawl.reported()]
        found, full = merged(reported), self._full.snapshot
        if full is not None:
            newer = found if found.is_live else full
            found = replace(
                newer, time=found.time, state=found.state, reason=found.reason,
                servers=found.servers or full.servers, workers=found.workers,
                by_status=full.by_status, largest=full.largest, longest=full.longest,
                completion=full.completion,
            )  # fmt: skip
        if found.state == RUNNING and (reason := control.rests()):
            found = replace(found, state=PAUSED, reason=reason)
        return replace(
            found,
            language=self._identity.get("language", ""),
            strategy=self._identity.get("strategy", ""),
            workers=tuple(self._with_disk(worker) for worker in found.workers),
            control=instructions(control),
        )

    def _with_state(self, snapshot: Snapshot) -> Snapshot:
        """Return a worker's snapshot; its state is SILENT if it has reported nothing for long.

        Its clock may be another machine's, and go behind by as much as a report of it is late that
        came since the latest look, a moment ago.
        """
        workers = []
        for worker in snapshot.workers:
            late = time() - worker.time
            name = worker.host, worker.folder
            before, behind = self._heard.get(name, (worker.time, min(late, 0.0)))
            if worker.time != before and monotonic() - self._made_at < SILENCE / 2:
                behind = late
            self._heard[name] = worker.time, behind
            is_silent = late - behind > SILENCE and worker.state != CLOSED
            workers.append(replace(worker, state=SILENT) if is_silent else worker)
        return merged([replace(snapshot, workers=tuple(workers))])

    def _with_disk(self, worker: Worker) -> Worker:
        """Return a worker with the disk as it is now, if it is this machine's and ended."""
        if worker.is_live or self._crawl.store == "Redis":
            return worker
        disk = shutil.disk_usage(self._crawl.folders()[0])
        return replace(worker, disk=DiskSpace(disk.free, disk.total))


def page_json(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot as the page's script reads it."""
    tallies, outlook, workers = snapshot.tallies, snapshot.outlook, snapshot.workers
    live = [worker for worker in workers if worker.is_live]
    latest = max(workers, key=lambda one: (one.is_live, one.time), default=None)
    return {
        "language": snapshot.language,
        "strategy": snapshot.strategy,
        "time": time(),
        "state": snapshot.state,
        "reason": snapshot.reason,
        "since": snapshot.time or None,
        "lost": sum(worker.state == SILENT for worker in workers),
        "totals": {
            "pages": snapshot.pages,
            "relevant": snapshot.relevant,
            "guessed": snapshot.guessed,
            "received": snapshot.received,
            "finished": snapshot.finished,
            "harvest": snapshot.harvest_rate,
            "expected": outlook.expected,
            "coverage": snapshot.coverage_at_most,
            "waiting": snapshot.pending,
            "later": snapshot.postponed,
            "servers": snapshot.servers,
            "speed": snapshot.pages_per_second,
            "under_way": snapshot.under_way,
            "requests": snapshot.requests,
        },
        "workers": [to_builtins(worker) | {"speed": worker.pages_per_second} for worker in workers],
        "fetching": _longest(fetch for worker in live for fetch in worker.fetching),
        "slowest": _longest(latency for worker in workers for latency in worker.slowest),
        "queue": {
            "groups": [to_builtins(group) | {"waiting": group.pending} for group in outlook.groups],
            "cells": [to_builtins(cell) | {"waiting": cell.pending} for cell in outlook.best],
        },
        "servers": None if snapshot.by_status is None else list(snapshot.by_status.items()),
        "largest": _servers(snapshot.largest),
        "longest": _servers(snapshot.longest),
        "ended": _completion(snapshot.completion),
        "dropped": _explained(tallies.left_out),
        "errors": _explained(tallies.errors),
        "put_off": _explained(tallies.postponed),
        "languages": list(tallies.languages.items()),
        "disk": to_builtins(latest.disk) if latest is not None else None,
    }


def _longest(rows: Iterable[Any]) -> list[dict[str, Any]]:
    found = sorted(rows, key=lambda row: -row.seconds)[:TOP]
    return [to_builtins(row) for row in found]


def _servers(queues: Iterable[Queue] | None) -> list[list[object]] | None:
    if queues is None:
        return None
    return [[q.server, q.downloaded, q.relevant, q.pending] for q in queues]


def _completion(ended: Completion | None) -> dict[str, Any] | None:
    if ended is None:
        return None
    return {
        "numbers": [ended.complete, ended.cut_number, ended.failed_number],
        "cut": [[*row, explained(row[1])] for row in ended.cut],
        "failed": [[*row, explained(row[1]) if row[1] else ""] for row in ended.failed],
    }


def _explained(counts: Mapping[str, int]) -> list[list[object]]:
    return [[name, number, explained(name)] for name, number in counts.items()]


def _control(control: Control) -> dict[str, Any]:
    """Return the instructions to the crawl, and its rules."""
    whole = to_builtins(instructions(control))
    rules = [[place.name, rule.given, rule.why] for place, rule in control.rules]
    return {**whole, "rules": rules}
