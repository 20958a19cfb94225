"""Files that only grow, and whose torn tail is cut when a crawl is resumed."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from lswc.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


class ArchiveError(ConfigError):
    """What a crawl leaves behind can't be written or read; the message says what to do."""


class Appended:
    """A file that only grows. ``end`` is its length in bytes.

    Opening it cuts what is beyond ``committed``. Raises ArchiveError if it can't be written.
    """

    marked = 0
    """The length that ``withdraw`` goes back to."""

    def __init__(self, path: Path, committed: int = 0) -> None:
        self.path = path
        try:
            path.parent.mkdir(exist_ok=True)
            # Unbuffered: what is appended is in the system's hands before a page is committed.
            self._file: IO[bytes] = path.open("ab", buffering=0)
            self.end = min(self._file.tell(), committed)
            self._file.truncate(self.end)
        except OSError as error:
            raise ArchiveError(f"can't write {path}: {error.strerror}") from error

    def append(self, data: bytes) -> None:
        """Add bytes at the end. Raises ArchiveError; the tail may be torn then."""
        try:
            written = self._file.write(data)
        except OSError as error:
            raise ArchiveError(f"can't write {self.path}: {error.strerror}") from error
        self.end += written
        if written != len(data):
            raise ArchiveError(f"can't write {self.path}: no space left")

    def mark(self) -> None:
        """Say that what was appended so far stays."""
        self.marked = self.end

    def withdraw(self) -> None:
        """Take back what was appended since the last mark. Raises ArchiveError."""
        cut(self.path, self.marked)
        self.end = self.marked

    def close(self) -> None:
        self._file.close()


def cut(path: Path, length: int) -> None:
    """Cut a file that is longer than ``length``. Raises ArchiveError."""
    try:
        if path.exists() and path.stat().st_size > length:
            with path.open("r+b") as file:
                file.truncate(length)
    except OSError as error:
        raise ArchiveError(f"can't write {path}: {error.strerror}") from error
