"""Files that only grow, and whose torn tail is cut when a crawl is resumed."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from lswc.errors import ConfigError, StorageError, writing

if TYPE_CHECKING:
    from pathlib import Path


class ArchiveError(ConfigError):
    """What a crawl left behind is missing or damaged; the message says what to do."""


class Appended:
    """A file that only grows. ``end`` is its length in bytes.

    Opening it cuts what is beyond ``committed``. Raises LswcError if it can't be written.
    """

    marked = 0
    """The length that ``withdraw`` goes back to."""

    def __init__(self, path: Path, committed: int = 0) -> None:
        self.path = path
        with writing(path):
            path.parent.mkdir(exist_ok=True)
            # Unbuffered: what is appended is in the system's hands before a page is committed.
            self._file: IO[bytes] = path.open("ab", buffering=0)
            self.end = min(self._file.tell(), committed)
            self._file.truncate(self.end)

    def append(self, data: bytes) -> None:
        """Add bytes at the end. Raises LswcError; the tail may be torn then."""
        with writing(self.path):
            written = self._file.write(data)
        self.end += written
        if written != len(data):
            raise StorageError(f"can't write {self.path}: no space left")

    def mark(self) -> None:
        """Say that what was appended so far stays."""
        self.marked = self.end

    def withdraw(self) -> None:
        """Take back what was appended since the last mark. Raises LswcError."""
        cut(self.path, self.marked)
        self.end = self.marked

    def close(self) -> None:
        self._file.close()


def cut(path: Path, length: int) -> None:
    """Cut a file that is longer than ``length``. Raises LswcError."""
    with writing(path):
        if path.exists() and path.stat().st_size > length:
            with path.open("r+b") as file:
                file.truncate(length)
