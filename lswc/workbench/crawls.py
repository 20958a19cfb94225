"""Crawls of a folder: listed for the page's script, started and stopped."""

from __future__ import annotations

import os
import subprocess
import sys
from time import time
from typing import TYPE_CHECKING, Any

from lswc.archive.run_settings import SETTINGS
from lswc.crawl import crawl_file
from lswc.crawl.crawl_folder import names_a_redis
from lswc.errors import ConfigError, LswcError, of_file, writing
from lswc.frontier import FRONTIER_FILE
from lswc.guest.control import InFolder, change, in_folder, read
from lswc.monitor import course
from lswc.monitor.course import Times, read_now, times
from lswc.monitor.snapshot import PAUSED, RUNNING, SILENT, Snapshot
from lswc.processes import environment
from lswc.workbench import plans
from lswc.workbench.instructions import BY
from lswc.workbench.jobs import last_line
from lswc.workbench.live.data import SILENCE

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.monitor.course import Point

AT_ONCE = 5.0
"""Seconds in which a crawl that can't begin mostly says so."""

PLANNED, STARTING = "planned", "starting"
"""States of a crawl that hasn't begun."""

UNREADABLE = "unreadable"
"""State of a folder that this user may not read, such as another user's crawl."""


class Crawls:
    """Looks at the crawls that lie in a folder, those of workers over Redis left out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._courses: dict[str, tuple[list[Point], int, Times]] = {}
        self._started: dict[str, subprocess.Popen[bytes]] = {}
        self.dry_runs: dict[str, tuple[str, str]] = {}  # version of the plan, and what was printed

    def names(self) -> list[str]:
        """Return the names of the crawls' folders, sorted."""
        found = (path.parent for path in self.folder.glob(f"*/{FRONTIER_FILE}"))
        return sorted(folder.name for folder in found if not names_a_redis(folder))

    def path(self, name: str) -> Path:
        """Return the folder of a crawl by its name. Raises ConfigError if there is none."""
        if name not in self.names():
            raise ConfigError(f"there is no crawl {name!r} in {self.folder}")
        return self.folder / name

    def listed(self) -> list[dict[str, Any]]:
        """Return what is shown of each crawl."""
        for process in self._started.values():
            process.poll()  # so that none is left that nobody waits for
        begun = [self._of_crawl(name) for name in self.names()]
        plans_of_folder = [self._of_plan(name) for name in plans.names(self.folder)]
        others = [{"name": name, "state": UNREADABLE} for name in self.unreadable()]
        return [*begun, *plans_of_folder, *others]

    def unreadable(self) -> list[str]:
        """Return the names of folders that can't be read, and may be crawls. Raises LswcError."""
        if not self.folder.exists():
            return []
        try:
            with os.scandir(self.folder) as entries:
                return sorted(
                    entry.name
                    for entry in entries
                    if entry.is_dir() and not os.access(entry, os.R_OK | os.X_OK)
                )
        except OSError as error:
            raise of_file(error) from error

    def is_starting(self, name: str) -> bool:
        """Tell whether a crawl was started here that hasn't ended."""
        process = self._started.get(name)
        return process is not None and process.poll() is None

    def _of_plan(self, name: str) -> dict[str, Any]:
        """Return what is shown of a crawl that hasn't begun."""
        language, wrong = "", ""
        try:
            file = crawl_file.read(plans.plan(self.folder, name).file)
            language = file.arguments["lang"]
        except LswcError as error:
            wrong = str(error)
        state = STARTING if self.is_starting(name) else PLANNED
        return {"name": name, "language": language, "state": state, "wrong": wrong}

    def _of_crawl(self, name: str) -> dict[str, Any]:
        found = read_now(self.folder / name) or Snapshot()
        late = found.is_live and time() - found.time > SILENCE
        state, reason, wrong = (SILENT if late else found.state), found.reason, ""
        try:
            control = read(in_folder(self.folder / name))
            if state == RUNNING and control.rests():
                state, reason = PAUSED, control.rests()
        except LswcError as error:
            wrong = str(error)
        return {
            "name": name,
            "language": found.language,
            "strategy": found.strategy,
            "state": state,
            "reason": reason,
            "wrong": wrong,
            "pages": found.pages,
            "harvest_rate": found.harvest_rate,
            "pending": found.pending,
            "pages_per_second": 0.0 if late else found.pages_per_second,
            "is_live": found.is_live and not late,
            **self._times(name)._asdict(),
        }

    def _times(self, name: str) -> Times:
        points, after, known = self._courses.get(name, ([], 0, times(())))
        while (found := course.read(self.folder / name, after))[0]:
            points, after = [*points, *found[0]], found[1]
            known = times(points)
        self._courses[name] = points, after, known
        return known

    def stop(self, name: str) -> None:
        """Tell a crawl to stop, which it does in order within seconds. Raises LswcError."""
        change(in_folder(self.path(name)), "stop", value=True, why="", by=BY)

    def start(self, name: str) -> None:
        """Begin a crawl by its file, or go on with it as it was run last.

        The instruction to stop is taken back. Raises LswcError, also for what it says itself if it
        can't begin.
        """
        if name in plans.names(self.folder):
            chosen = plans.plan(self.folder, name)
            folder, command = chosen.folder, chosen.command()
            kept = InFolder(folder)
        else:
            folder = self.path(name)
            kept = in_folder(folder)
            file = [str(folder / SETTINGS), "--into", str(folder)]
            command = [sys.executable, "-m", "lswc", "crawl", *file]
        if self.is_starting(name) or self._of_crawl(name)["is_live"]:
            raise ConfigError(f"{name} runs already")
        if read(kept).stop:
            change(kept, "stop", None, by=BY)
        self._run(name, command, folder / plans.LOG)

    def _run(self, name: str, command: list[str], log: Path) -> None:
        """Start a crawl. Raises LswcError, also if it ends at once."""
        with writing(log):
            log.parent.mkdir(exist_ok=True)
        with writing(log), log.open("ab") as file:
            process = subprocess.Popen(
                [*command, "--logfile", str(log)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file,
                env=environment(), start_new_session=True,
            )  # fmt: skip
        self._started[name] = process
        try:
            code = process.wait(AT_ONCE)
        except subprocess.TimeoutExpired:
            return
        if code:
            raise ConfigError(f"{name} doesn't begin: {last_line(log)}")
