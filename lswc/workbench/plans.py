"""Plans: crawls of a folder that haven't begun, each a crawl file and its seeds beside it."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from os.path import lexists
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, NamedTuple

from lswc.crawl.crawl_folder import has_records
from lswc.errors import ConfigError, writing
from lswc.files import whole
from lswc.frontier import FRONTIER_FILE
from lswc.guest.control.store import HISTORY, LOCK
from lswc.guest.control.toml_text import FILE
from lswc.processes import environment

if TYPE_CHECKING:
    from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""What a crawl may be called: a name of a file and a part of an address, without a dot."""

TAKEN = frozenset({"api", "new", "plan"})
"""Names of pages of the workbench, which no crawl can have."""

DRY_RUNS_AT_ONCE = 2
DRY_RUN_SECONDS = 300.0
DRY_RUN_CHARACTERS = 100_000
"""What of a dry run's output is shown."""

LOG = "crawl.log"
"""Name of the file in a crawl's folder with the log of the runs that were started here."""

_BEFORE = (FILE, HISTORY, LOCK, LOG)
"""Files that a crawl's folder may have before it begins."""

_writing = Lock()
_dry_runs = BoundedSemaphore(DRY_RUNS_AT_ONCE)


class Plan(NamedTuple):
    """A crawl's file, its list of seeds if it has one of its own, and the crawl's folder."""

    name: str
    file: Path
    seeds: Path
    folder: Path

    @property
    def version(self) -> str:
        """What is another one when the file or the seeds have changed. Raises ConfigError."""
        content = [self.file, *([self.seeds] if self.seeds.is_file() else [])]
        try:
            return sha256(b"\0".join(path.read_bytes() for path in content)).hexdigest()
        except OSError as error:
            raise ConfigError(f"can't read the crawl file of {self.name}: {error}") from error

    @property
    def has_begun(self) -> bool:
        """Whether the crawl has a frontier, or records without one."""
        return _has_begun(self.folder)

    def write(self, text: str, seeds: str, version: str) -> None:
        """Write the crawl file, and the seeds if there are any.

        ``version`` is that which is replaced, "" for a new plan. Raises LswcError, also if somebody
        else changed the plan, or began the crawl.
        """
        with _writing, writing(self.file):
            is_there = [path for path in (self.file, self.seeds, self.folder) if lexists(path)]
            if not version and is_there:
                raise ConfigError(f"{is_there[0]} is there already: choose another name")
            if version and (self.has_begun or self.version != version):
                raise ConfigError(f"{self.name} was changed by somebody else: open its form again")
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if seeds:
                with whole(self.seeds) as beside:
                    beside.write_text(seeds, "utf-8")
            else:
                self.seeds.unlink(missing_ok=True)
            with whole(self.file) as beside:
                beside.write_text(text, "utf-8")

    def delete(self) -> None:
        """Delete the crawl file, its seeds, and the instructions that it was given.

        Raises LswcError if the crawl has begun.
        """
        if self.has_begun:
            raise ConfigError(f"{self.name} has begun: stop it, nothing of it is deleted here")
        with writing(self.file):
            self.file.unlink()
            for path in (self.seeds, *(self.folder / name for name in _BEFORE)):
                path.unlink(missing_ok=True)
            with suppress(OSError):  # it isn't there, or others' files are in it
                self.folder.rmdir()

    def dry_run(self) -> str:
        """Return what a dry run of the crawl prints. Raises ConfigError if it can't be run."""
        if not _dry_runs.acquire(blocking=False):
            raise ConfigError(f"{DRY_RUNS_AT_ONCE} dry runs go on already: wait for their ends")
        try:
            done = subprocess.run(  # noqa: S603
                [*self.command(), "--dry-run"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=DRY_RUN_SECONDS, check=False, env=environment(),
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise ConfigError(f"the dry run took over {DRY_RUN_SECONDS:.0f} seconds") from error
        finally:
            _dry_runs.release()
        return done.stdout.decode("utf-8", "replace")[:DRY_RUN_CHARACTERS]

    def command(self) -> list[str]:
        """Return the command that begins the crawl."""
        given = [str(self.file), "--into", str(self.folder)]
        return [sys.executable, "-m", "lswc", "crawl", *given]


def plan(crawls: Path, name: str) -> Plan:
    """Return the plan of a name, there or not. Raises ConfigError for what can't be a name."""
    if not NAME.fullmatch(name) or name in TAKEN:
        raise ConfigError(
            "a name has 1 to 64 Latin letters, digits, - and _, and begins with a letter or digit; "
            f"{', '.join(sorted(TAKEN))} are taken"
        )
    folder = crawls.resolve()
    file, seeds = folder / f"{name}.toml", folder / f"{name}-seeds.txt"
    return Plan(name, file, seeds, folder / name)


def planned(crawls: Path, name: str) -> Plan:
    """Return a plan that is there. Raises ConfigError."""
    if name not in names(crawls):
        raise ConfigError(f"no crawl that is to begin is called {name!r} in {crawls}")
    return plan(crawls, name)


def names(crawls: Path) -> list[str]:
    """Return the names of the crawls in a folder that haven't begun, sorted."""
    found = (path.stem for path in crawls.glob("*.toml") if path.is_file())
    usable = (name for name in found if NAME.fullmatch(name) and name not in TAKEN)
    return sorted(name for name in usable if not _has_begun(crawls / name))


def _has_begun(folder: Path) -> bool:
    return (folder / FRONTIER_FILE).exists() or has_records(folder)
