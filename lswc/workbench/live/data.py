"""Data of the page: a crawl's snapshot, course and control, as the page's script reads them."""

from __future__ import annotations

import shutil
from threading import Lock
from time import monotonic, time
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins
from msgspec.structs import replace

from lswc.errors import StorageError
from lswc.guest.control import Control, ControlError, read
from lswc.monitor.course import columns, times
from lswc.monitor.snapshot import (
    CLOSED,
    PAUSED,
    RUNNING,
    SILENT,
    DiskSpace,
    Snapshot,
    in_force,
    of_workers,
    slowest,
)  # fmt: skip
from lswc.monitor.snapshot_sum import summed
from lswc.monitor.story import explained
from lswc.workbench import usual
from lswc.workbench.alerts import alerts
from lswc.workbench.live.full_count import FullCount
from lswc.workbench.replay import address_of

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.monitor.course import Point
    from lswc.monitor.stored import StoredCrawl

ANSWER_SECONDS = 1.0
"""Seconds for which the same answer is given to all who ask."""

SILENCE = 15.0
"""Seconds without a report after which a worker counts as gone."""


class PageData:
    """Looks at a crawl; once for any number of those who ask at a time."""

    def __init__(self, crawl: StoredCrawl) -> None:
        self._crawl = crawl
        self._identity = crawl.identity()
        self._lock = Lock()
        self._made, self._made_at = dict[str, Any](), 0.0
        self._full = FullCount(crawl)
        self._points: list[Point] = []
        self._times = times(())
        self._after = 0
        self._heard: dict[tuple[str, str], tuple[float, float]] = {}

    def get(self, known: int = -1) -> dict[str, Any]:
        """Return all that is shown; with the course, unless it is still of the version ``known``.

        Raises LswcError.
        """
        with self._lock:
            if monotonic() - self._made_at > ANSWER_SECONDS or not self._made:
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
            self._after, self._times = after, times(self._points)

    def _make(self) -> dict[str, Any]:
        try:
            control, error = read(self._crawl.kept), ""
        except ControlError as wrong:
            control, error = Control(), str(wrong)
        snapshot, full = self._snapshot(control), self._full
        found = alerts(snapshot, wrong=error, gap=full.error)
        return {
            "name": self._crawl.name,
            "store": self._crawl.store,
            "replay": self.replay(),
            "times": self._times._asdict(),
            "count": {
                "age": round(full.age) if full.snapshot is not None else None,
                "seconds": round(full.seconds, 1),
                "error": full.error,
            },
            "rules": [[place.name, rule.given, rule.why] for place, rule in control.rules],
            "control_error": error,
            "alerts": to_builtins(found),
            "usual_harvest": usual.harvest(snapshot),
            "sentences": _sentences(snapshot),
            "slowest": to_builtins(slowest(snapshot.workers)),
            **to_builtins(snapshot),
        }

    def replay(self) -> str:
        """Return where the archive is replayed, if it is and is of one folder."""
        return address_of(self._crawl.folders()[0]) if self._crawl.store == "SQLite" else ""

    def _snapshot(self, control: Control) -> Snapshot:
        """Return the crawl as its workers report it, or as it was counted if none of them lives."""
        reported = [self._with_state(one) for one in self._crawl.reported()]
        found, full = summed(reported), self._full.snapshot
        if full is not None:
            newer = found if found.is_live else full
            found = replace(
                newer, time=found.time, state=found.state, reason=found.reason,
                servers=found.servers or full.servers, workers=found.workers,
                by_status=full.by_status, largest=full.largest, longest=full.longest,
                families=full.families, completion=full.completion,
                without_page=found.without_page,
            )  # fmt: skip
        if not found.is_live and self._crawl.store == "SQLite":
            disk = _disk_of(self._crawl.folders()[0])
            found = replace(found, disk=DiskSpace(disk.free, disk.total))
        if found.state == RUNNING and (reason := control.rests()):
            found = replace(found, state=PAUSED, reason=reason)
        return replace(
            found,
            language=self._identity.get("language", ""),
            strategy=self._identity.get("strategy", ""),
            control=in_force(control),
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
        return replace(snapshot, **of_workers(workers))


def _disk_of(folder: Path) -> Any:
    """Return how full the disk of a folder is. Raises StorageError if it is there no more."""
    try:
        return shutil.disk_usage(folder)
    except OSError as error:
        raise StorageError(f"can't read {folder}: {error.strerror}") from error


def _sentences(snapshot: Snapshot) -> dict[str, str]:
    """Return what the outcomes and reasons mean that a snapshot counts."""
    tallies, ended = snapshot.tallies, snapshot.completion
    named = {*tallies.left_out, *tallies.errors, *tallies.postponed}
    named |= {reason for server in snapshot.without_page.first for reason in server.reasons}
    if ended is not None:
        named |= {reason for _, reason, _ in ended.cut} | {reason for _, reason in ended.failed}
    return {name: explained(name) for name in sorted(named - {""})}
