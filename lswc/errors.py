"""Errors that lswc raises on purpose.

::

    LswcError               what a command prints as one line; anything else is a bug
    ├── ConfigError         the user's mistake: exit code 2
    │   ├── StrategyError, LanguageError      no such strategy, parameter, language
    │   ├── IdentifierError, TrainingError, TableError    of the identification, and of its tables
    │   ├── SourceError, EvaluationError      pages to identify that can't be read
    │   ├── WebError        LSWC_WEB names no web
    │   ├── FrontierError   this crawl can't go on in that frontier
    │   ├── ArchiveError    not a crawl folder, or a damaged one
    │   ├── TraceError      not a trace, or a damaged one
    │   ├── SeedError       a file that says nothing usable of seeds
    │   └── AnalysisError   a question that the collection can't answer
    ├── ReaderError         no process can be started that reads pages: exit code 1
    ├── StuckError          nothing ended for long: exit code 1
    ├── ProxyError          the proxy wants a login: exit code 1
    └── StorageError        a full or broken disk: exit code 1
        ├── DamageError     a frontier that isn't what was written
        └── LostStoreError  Redis has lost the crawl
            └── AwayError   Redis can't be reached
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from lswc.logins import without_logins

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def repair(crawl: Path) -> str:
    """Return the command that repairs a crawl folder, as messages name it."""
    return f"`lswc check {crawl} --repair`"


class LswcError(Exception):
    """What lswc raises on purpose; the message says what to do, and names no login of a URL.

    ``exit_code`` is that of a command which it ends.
    """

    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        return without_logins(super().__str__())


class ConfigError(LswcError):
    """An argument, setting or file of the user's is wrong: found before anything is fetched."""

    exit_code: ClassVar[int] = 2


class StorageError(LswcError):
    """What lswc writes to failed: a disk is full or broken, a store can't be reached.

    Nobody's mistake: the same command works once there is room.
    """


def of_file(error: OSError) -> LswcError:
    """Return what the system says of a file as one line. Raises the error if it names no file."""
    if error.filename is None:
        raise error
    is_mistake = isinstance(error, (PermissionError, FileNotFoundError, NotADirectoryError))
    of_kind = ConfigError if is_mistake else StorageError
    return of_kind(f"can't use {os.fsdecode(error.filename)}: {error.strerror}")


class DamageError(StorageError):
    """What lswc wrote is damaged: the message says how it is mended."""


class StuckError(LswcError):
    """A crawl doesn't go on, and nobody knows why; it does when it is started again."""


class ProxyError(LswcError):
    """The proxy passes nothing on; the message says what it wants."""


class LostStoreError(StorageError):
    """The Redis of a crawl doesn't hold the crawl any more."""


class AwayError(LostStoreError):
    """The Redis of a crawl can't be reached now."""


_MISNAMED = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)


def same_file(path: Path, opened: os.stat_result) -> os.stat_result:
    """Return what is known now of a file that was opened as this one.

    Raises StorageError if it was removed or replaced since.
    """
    try:
        found = path.stat()
    except OSError:
        found = None
    if found is None or not os.path.samestat(found, opened):
        raise StorageError(f"{path} was removed while the crawl wrote it")
    return found


@contextmanager
def writing(place: object) -> Iterator[None]:
    """Turn an OSError into ConfigError, if ``place`` was badly chosen, or into StorageError."""
    try:
        yield
    except OSError as error:
        raise unwritten(place, error) from error


def unwritten(place: object, error: OSError) -> LswcError:
    """Return what is raised for an error of writing: a ConfigError, or a StorageError."""
    kind = ConfigError if isinstance(error, _MISNAMED) else StorageError
    return kind(f"can't write {place}: {error.strerror or error}")
