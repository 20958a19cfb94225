"""Files that only grow, are made durable from time to time, and are cut without losing a byte."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from shutil import copyfileobj
from typing import IO, TYPE_CHECKING

import msgspec

from lswc.errors import ConfigError, StorageError, same_file, unwritten, writing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class ArchiveError(ConfigError):
    """What a crawl left behind is missing or damaged; the message says what to do."""


def lines(path: Path, until: int | None = None, after: int = 0) -> Iterator[bytes]:
    """Yield the lines of a file from ``after`` bytes on; before ``until`` if it isn't None."""
    with path.open("rb") as file:
        at = file.seek(after)
        for line in file:
            if until is not None and at >= until:
                return
            yield line
            at += len(line)


def json_line(values: object) -> bytes:
    """Return a dataclass, or what else JSON has, as a line in UTF-8."""
    try:
        return msgspec.json.encode(values) + b"\n"
    except UnicodeEncodeError:
        # A lone surrogate, as of a hostile title, has no UTF-8 form.
        plain = msgspec.to_builtins(values)
        return json.dumps(plain, ensure_ascii=False).encode(errors="replace") + b"\n"


class Appended:
    """A file that only grows. ``end`` is its length in bytes.

    Raises LswcError if it can't be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_new = not path.exists()
        with writing(path):
            path.parent.mkdir(exist_ok=True)
            # Unbuffered: what is appended is in the system's hands before a page is committed.
            self._file: IO[bytes] = path.open("ab", buffering=0)
            self.end = self._marked = self._synced = self._file.tell()

    def append(self, data: bytes) -> None:
        """Add bytes at the end. Raises LswcError; the tail may be torn then."""
        try:
            written = self._file.write(data)
        except OSError as error:
            raise unwritten(self.path, error) from error
        self.end += written
        if written != len(data):
            raise StorageError(f"can't write {self.path}: no space left")

    def mark(self) -> None:
        """Say that what was appended so far stays."""
        self._marked = self.end

    def withdraw(self) -> None:
        """Take back what was appended since the last mark. Raises LswcError."""
        with writing(self.path):
            self._file.truncate(self._marked)
        self.end = self._marked

    def sync(self) -> None:
        """Return once what was appended would outlast a power cut. Raises LswcError."""
        if self._synced == self.end:
            return
        with writing(self.path):
            os.fsync(self._file.fileno())
            if self._is_new:
                sync_folder(self.path.parent)
                self._is_new = False
        self._synced = self.end

    def check(self) -> None:
        """Raise StorageError if the file was removed, replaced or cut since it was opened."""
        found = same_file(self.path, os.fstat(self._file.fileno()))
        if found.st_size < self.end:  # as logrotate's copytruncate does
            raise StorageError(f"{self.path} was cut short while the crawl wrote it")

    def close(self) -> None:
        """Make the file durable, and close it. Raises LswcError."""
        try:
            self.sync()
        finally:
            self._file.close()


class OpenFiles:
    """The files of a crawl folder that grow, by their paths in it. Raises LswcError."""

    def __init__(self, crawl: Path) -> None:
        self.crawl = crawl
        self._open: dict[str, Appended] = {}

    def open(self, name: str) -> Appended:
        """Open a file to append to it."""
        file = self._open[name] = Appended(self.crawl / name)
        return file

    def close(self, name: str) -> None:
        """Make a file durable, and close it, if it is open."""
        if (file := self._open.pop(name, None)) is not None:
            file.close()

    def mark(self) -> None:
        """Say that what was appended so far stays."""
        for file in self._open.values():
            file.mark()

    def withdraw(self) -> None:
        """Take back what was appended since the last mark."""
        for file in self._open.values():
            file.withdraw()

    def sync(self) -> None:
        """Return once what was appended would outlast a power cut."""
        for file in self._open.values():
            file.sync()

    def check(self) -> None:
        """Raise StorageError if a file was removed, replaced or cut since it was opened."""
        for file in self._open.values():
            file.check()

    def lengths(self) -> dict[str, int]:
        """Return the bytes of each file."""
        return {name: file.end for name, file in self._open.items()}


def sync_folder(folder: Path) -> None:
    """Return once the names in a folder would outlast a power cut. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace(path: Path, new: Path) -> None:
    """Put a new file, once it is durable, in the place of another. Raises OSError."""
    with new.open("rb") as file:
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)


class Aside:
    """A folder ``aside/<time>`` in a crawl folder, for what is taken out of the crawl's files.

    It is made when it is first needed. Raises LswcError if it can't be written.
    """

    def __init__(self, crawl: Path) -> None:
        self.folder = crawl / "aside" / f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"

    @property
    def is_used(self) -> bool:
        """Whether anything is kept here."""
        return self.folder.exists()

    def new(self, name: str) -> Path:
        """Return the path for a file that is kept; there is none yet."""
        path = self.folder / name
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        number = 1
        while path.exists():
            number += 1
            path = self.folder / f"{name}.{number}"
        return path

    def keep(self, name: str, data: bytes) -> None:
        """Keep bytes, durably; none need no file."""
        if data:
            path = self.new(name)
            with writing(path), path.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())

    def cut(self, path: Path, length: int) -> int:
        """Cut a file that is longer, and keep its tail; return the bytes that were cut."""
        with writing(path):
            beyond = path.stat().st_size - length if path.exists() else 0
            if beyond <= 0:
                return 0
            with path.open("r+b") as file:
                file.seek(length)
                kept = self.new(path.name)
                with kept.open("wb") as tail:
                    copyfileobj(file, tail)
                    tail.flush()
                    os.fsync(tail.fileno())
                file.truncate(length)
                os.fsync(file.fileno())
        return beyond

    def move(self, path: Path) -> None:
        """Move a whole file or folder here."""
        with writing(path):
            path.replace(self.new(path.name))
