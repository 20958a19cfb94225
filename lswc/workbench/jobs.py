"""Jobs: commands of lswc that run for a crawl, beside the workbench, which may end before them.

Each has a log and a record in ``handover/`` of the crawl's folder. The job holds a lock on its log:
so any workbench sees whether it runs, and one of a name runs at a time.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Lock
from time import time
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from lswc.errors import ConfigError, writing
from lswc.files import is_partial
from lswc.processes import environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FOLDER = "handover"
"""Name of the folder, in a crawl's, of what jobs write."""

NICENESS = 10
"""How far a job stands behind the crawl."""

BEHIND = 0.05
"""Seconds by which the time of a file may be behind the clock."""

RUNS, DONE, FAILED, CANCELLED, NEVER = "runs", "done", "failed", "cancelled", ""
"""States of a job."""

_PROGRESS = re.compile(r"\d\d:\d\d:\d\d (.*?)(?:, (\d+)% done)?$")
_END_OF_LOG = 1_000
"""Characters of a log that are looked at."""


class Task(NamedTuple):
    """What a job does.

    ``place`` is the path of its log and its record, without their endings. ``arguments`` are those
    of ``lswc``. ``result`` is the file or the folder that it makes, which
    appears when it is whole; None if the job serves something, and so ends with the workbench.
    """

    place: Path
    title: str
    about: str
    arguments: tuple[str, ...]
    result: Path | None

    @property
    def log(self) -> Path:
        """The file with what the job prints."""
        return self.place.with_name(f"{self.place.name}.log")

    @property
    def record(self) -> Path:
        """The file that says which process does the job, and since when."""
        return self.place.with_name(f"{self.place.name}.json")


class Jobs:
    """Starts, watches and cancels jobs."""

    def __init__(self) -> None:
        self._started: dict[Path, subprocess.Popen[bytes]] = {}
        self._lock = Lock()

    def start(self, task: Task) -> None:
        """Start a job. Raises LswcError, also if it runs already."""
        with self._lock, writing(task.log):
            task.log.parent.mkdir(exist_ok=True)
            with task.log.open("ab") as file:
                if not _locks(file, fcntl.LOCK_EX):
                    raise ConfigError(f"{task.title} runs already")
                file.truncate(0)
                began = time() - BEHIND
                _record(task, process=0, began=began)
                process = subprocess.Popen(  # noqa: S603
                    [sys.executable, "-m", "lswc", *task.arguments],
                    stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                    env=environment(), start_new_session=True,
                )  # fmt: skip
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
            _record(task, process=process.pid, began=began)
            self._started[task.place] = process
            if task.result is None:
                atexit.register(process.terminate)

    def cancel(self, task: Task) -> None:
        """End a job as Ctrl-C does; at once if that was tried. Raises LswcError."""
        with self._lock:
            found = _recorded(task)
            process = int(found.get("process", 0))
            if not (self._runs(task) and process and _leads(process)):
                raise ConfigError("that has ended already")
            if found.get("cancelled"):
                os.killpg(process, signal.SIGKILL)
            else:
                _record(task, **{**found, "cancelled": True})
                os.kill(process, signal.SIGINT)

    def progress(self, task: Task) -> dict[str, Any]:
        """Return what is known of a job: state, progress, result, and why it failed."""
        found, files = _recorded(task), list(files_of(task.result))
        began = float(found.get("began", 0))
        state = self._state(task, found, max((one.time for one in files), default=0.0) >= began)
        what, share = _progress(task) if state == RUNS else ("", None)
        return {
            "title": task.title,
            "about": task.about,
            "serves": task.result is None,
            "state": state,
            "seconds": time() - began if state == RUNS else None,
            "what": what,
            "share": share,
            "so_far": _size_so_far(task) if state == RUNS else None,
            "why": last_line(task.log) if state == FAILED else "",
            "files": [] if state == RUNS else files,
            "size": sum(one.size for one in files),
        }

    def _state(self, task: Task, found: Mapping[str, Any], is_fresh: bool) -> str:
        if not found:
            return NEVER
        if self._runs(task):
            return RUNS
        started = self._started.get(task.place)
        code = None if started is None else started.poll()
        if is_fresh and not code:
            return DONE
        return CANCELLED if found.get("cancelled") else FAILED

    def _runs(self, task: Task) -> bool:
        """Tell whether a job runs: it has a lock on its log."""
        started = self._started.get(task.place)
        if started is not None and started.poll() is None:
            return True
        try:
            with task.log.open("rb") as file:
                return not _locks(file, fcntl.LOCK_SH)
        except OSError:
            return False


def _progress(task: Task) -> tuple[str, float | None]:
    found = _PROGRESS.match(last_line(task.log))
    if found is None:
        return "", None
    return found[1], int(found[2]) / 100 if found[2] else None


def _size_so_far(task: Task) -> int:
    """Return the bytes of what isn't whole yet of a job's result."""
    if task.result is None:
        return 0
    inside = list(task.result.iterdir()) if task.result.is_dir() else []
    beside = [path for path in task.result.parent.iterdir() if path.name.endswith(task.result.name)]
    partial = filter(is_partial, [*inside, *beside])
    return sum(one.size for path in partial for one in files_of(path))


def _record(task: Task, **about: Any) -> None:
    task.record.write_text(json.dumps(about) + "\n", "utf-8")


def _recorded(task: Task) -> dict[str, Any]:
    try:
        found = json.loads(task.record.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


class Made(NamedTuple):
    """A file of a result: ``path`` is that in the result's folder; ``time`` since 1970."""

    path: str
    size: int
    time: float


def files_of(result: Path | None) -> Iterator[Made]:
    """Yield the files of a result, by name; links are none, and what isn't whole is left out."""
    if result is None or result.is_symlink():
        return
    inside = sorted(result.rglob("*")) if result.is_dir() else [result]
    for path in inside:
        parts = path.relative_to(result).parts
        if path.is_symlink() or any(is_partial(result / part) for part in parts):
            continue
        with suppress(OSError):  # it goes while it is looked for
            stat = path.stat()
            if path.is_file():
                yield Made("/".join(parts) or path.name, stat.st_size, stat.st_mtime)


def last_line(log: Path) -> str:
    """Return the last line of a log, or of its last 1,000 bytes."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _END_OF_LOG))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        lines = []
    return next((line for line in reversed(lines) if line.strip()), "it says nothing")


def _locks(file: IO[bytes], how: int) -> bool:
    """Lock a file, if no other has a lock that doesn't allow that; tell whether it is locked."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _leads(process: int) -> bool:
    """Tell whether a process leads a session, as jobs do: its number may be another's now."""
    try:
        return os.getsid(process) == process
    except OSError:
        return False
