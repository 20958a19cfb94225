"""Store of instructions, and of their history: the files of the crawl's folder."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from datetime import UTC, datetime
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from lswc.errors import ConfigError, StorageError, writing
from lswc.files import whole
from lswc.frontier import FRONTIER_FILE
from lswc.frontier.rules.contract import check_format
from lswc.frontier.store import report as sqlite_report
from lswc.guest.control.places import ControlError, place_of
from lswc.guest.control.toml_text import FILE, MAX_SIZE, edited, parsed, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lswc.guest.control.rules_in_force import Control

HISTORY, LOCK = "control.jsonl", "control.lock"
"""Names of the files beside ``control.toml``."""


class Change(NamedTuple):
    """An instruction: when, by whom and why. ``value`` is None if it was taken back.

    ``place`` is "" if it is for the whole crawl; ``time`` is UTC, ISO 8601.
    """

    time: str
    by: str
    place: str
    key: str
    value: Any
    why: str


class Instructions(Protocol):
    """Where the instructions to a crawl are held. All raise LswcError."""

    def version(self) -> object:
        """Return what is another one after each change; None if there is nothing."""

    def text(self) -> str:
        """Return the text of ``control.toml``, "" if there is none."""

    def edit(self, change: Callable[[str], str], line: str) -> None:
        """Change the text and add a line to the history; of two at a time one waits."""

    def lines(self) -> list[str]:
        """Return the lines of the history, the oldest first."""


def read(where: Instructions) -> Control:
    """Return the instructions to a crawl.

    Raises ControlError if that can't be understood, or is gone though it has a history.
    """
    if where.version() is None and where.lines():
        raise ControlError(
            f"{FILE} is gone, but its history is there: put it back, or write an empty one to "
            "remove all instructions"
        )
    return parsed(where.text())


def change(
    where: Instructions,
    key: str,
    value: object,
    place: str = "",
    *,
    why: str = "",
    by: str = "",
    seen: str | None = None,
) -> Control:
    """Give a crawl an instruction, or with None take it back; return all that hold then.

    It is in force within seconds. ``seen`` is what was given before (``given``), as whoever changes
    it saw it. Raises ControlError for what is no key, value or place, if those before can't be
    understood, and if what was seen isn't given any more: somebody else has changed it.
    """
    name = place_of(place).name if place else ""
    before = read(where)
    if value is None:
        _check_given(before, key, name)
    else:
        value_of(key, value, place=name)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    line = json.dumps(Change(now, by, name, key, value, why)._asdict(), ensure_ascii=False)
    after: list[Control] = []

    def with_change(text: str) -> str:
        _check_seen(where, parsed(text), key, name, seen)
        edit = edited(text, key, value, name, why)
        after[:] = [parsed(edit)]
        return edit

    where.edit(with_change, line)
    return after[0]


def given(control: Control, key: str, place: str = "") -> str:
    """Return what is given for a place, by its canonical name, as JSON: "null" if nothing is."""
    return json.dumps(_given(control, key, place), default=str)


def _given(control: Control, key: str, name: str) -> Any:
    rules = {place.name: rule for place, rule in control.rules}
    return getattr(rules.get(name) if name else control, key, None)


def _check_seen(
    where: Instructions, control: Control, key: str, name: str, seen: str | None
) -> None:
    """Raise ControlError if something else is given than what was seen, None for whatever it is."""
    now = given(control, key, name)
    if seen in (None, now):
        return
    latest = [one for one in history(where) if (one.key, one.place) == (key, name)][-1:]
    by = "".join(f", by {one.by or 'somebody'} at {one.time}" for one in latest)
    raise ControlError(
        f"{key} of {name or 'the whole crawl'} was changed meanwhile{by}: it is "
        f"{'not given' if now == 'null' else now} now. Load the page again, and decide anew"
    )


def _check_given(control: Control, key: str, name: str) -> None:
    """Raise ControlError if there is nothing to take back."""
    given = _given(control, key, name)
    if given in (None, "", ()) or given is False:
        raise ControlError(f"{key} isn't given for {name or 'the whole crawl'}")


def history(where: Instructions) -> list[Change]:
    """Return all changes, the oldest first; a line that can't be read is left out."""
    changes = []
    for line in where.lines():
        try:
            changes.append(Change(**json.loads(line)))
        except (ValueError, TypeError):  # torn by a kill, or written by hand
            continue
    return changes


class InFolder:
    """Instructions in the files of a crawl's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / FILE

    def version(self) -> object:
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ControlError(f"can't read {self._file}: {error.strerror}") from error
        if not S_ISREG(stat.st_mode):  # a pipe would hold the crawl
            raise ControlError(f"can't read {self._file}: it is no file")
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def text(self) -> str:
        try:
            with self._file.open("rb") as file:
                return str(file.read(MAX_SIZE + 1), "utf-8-sig")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise ControlError(f"can't read {self._file}: {error}") from error

    def edit(self, change: Callable[[str], str], line: str) -> None:
        with self._alone(), writing(self._file):
            after = change(self.text())
            self._file.touch()  # a history without it would say that it is gone
            with (self._folder / HISTORY).open("a", encoding="utf-8") as history:
                history.write(line + "\n")
                history.flush()
                os.fsync(history.fileno())
            with whole(self._file) as beside, beside.open("w", encoding="utf-8") as file:
                file.write(after)
                file.flush()
                os.fsync(file.fileno())

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with writing(self._folder / LOCK), (self._folder / LOCK).open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def lines(self) -> list[str]:
        try:
            return (self._folder / HISTORY).read_text("utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(f"can't read {self._folder / HISTORY}: {error}") from error


def in_folder(folder: Path) -> InFolder:
    """Return the instructions in the folder of a crawl that there is.

    Raises ConfigError if it isn't one, if it is of another version, or a worker's of a Redis.
    """
    if not (folder / FRONTIER_FILE).is_file():
        raise ConfigError(
            f"no crawl: {folder} has no {FRONTIER_FILE}; if it is a worker's, name its Redis: "
            "redis://... [--key NAME]"
        )
    with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
        check_format(reader.identity())
    return InFolder(folder)
