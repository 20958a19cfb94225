"""Machine that a crawl runs on: its disk, SQLite's files, the processes that read; all may fail."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sqlite3
from contextlib import suppress
from subprocess import SubprocessError
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import msgspec
from typing_extensions import override

from lswc.processes import MAX_LETTER, Letters, letter
from lswc.reading.reader_messages import AnyAsked, answered
from lswc.reading.reader_settings import ReaderSettings

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable
    from pathlib import Path

    from lswc.reading.page import PageReader

WITHOUT_INDEX = shutil.ignore_patterns("pages.db*")
"""Leaves out of a copy what a thread writes meanwhile, and nothing depends on."""

_asked: msgspec.msgpack.Decoder[AnyAsked] = msgspec.msgpack.Decoder(AnyAsked)


class Disk:
    """Counts what is written, and lets it fail, or ends the process there.

    ``full`` and ``broken`` last until ``heal``; ``dies_in`` is the number of writes after which the
    process ends: the folder ``left`` is then a copy of what it left.
    """

    def __init__(self, died: Callable[[], None]) -> None:
        self._died = died
        self.full = self.unsynced = False
        self.broken = ""
        self.dies_in: int | None = None
        self.crawl: Path | None = None
        self.left: Path | None = None
        self._files: list[IO[bytes]] = []

    def of(self, file: IO[bytes]) -> File:
        """Return a file of the archive that is on this disk."""
        self._files.append(file)
        return File(self, file)

    def temporary(self, **given: Any) -> IO[bytes]:
        """Take the place of ``TemporaryFile``."""
        file: IO[bytes] = TemporaryFile(**given)  # noqa: SIM115
        self._files.append(file)
        return file

    def let_go(self) -> None:
        """Close all files, as the end of a process does."""
        for file in self._files:
            file.close()
        self._files.clear()

    @property
    def fails(self) -> bool:
        """Whether what is written now may not be."""
        return self.full or self.unsynced or bool(self.broken)

    def heal(self) -> None:
        """Let all be written from now on."""
        self.full = self.unsynced = False
        self.broken = ""
        self.dies_in = None

    def count(self) -> None:
        """Take notice of a write that begins, or has ended."""
        if self.dies_in is None:
            return
        self.dies_in -= 1
        if self.dies_in <= 0:
            self.dies_in = None
            self.leave()

    def leave(self) -> None:
        """Copy what a process that is killed now leaves."""
        assert self.crawl is not None
        crawl, self.crawl = self.crawl, None
        name, _, number = crawl.name.partition("-")
        self.left = crawl.with_name(f"{name}-{int(number or 0) + 1}")
        shutil.copytree(crawl, self.left, ignore=WITHOUT_INDEX)
        self._died()

    def sync(self, handle: int) -> None:
        """Take the place of ``os.fsync``, which is for power cuts."""
        if self.unsynced and self.crawl is not None:
            raise OSError(errno.EIO, "Input/output error")


class File:
    """A file of the archive."""

    def __init__(self, disk: Disk, file: IO[bytes]) -> None:
        self._disk, self._file = disk, file

    def write(self, data: bytes) -> int:
        disk, half = self._disk, len(data) // 2
        disk.count()
        if disk.full and disk.crawl is not None:
            if self._file.write(data[:half]) and len(data) % 2:
                return half
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self._file.write(data[:half])
        disk.count()
        return written + self._file.write(data[half:])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class Connection(sqlite3.Connection):
    """A connection to the frontier's file."""

    disk: Disk

    @override
    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        commits = sql == "COMMIT"
        if commits:
            self.disk.count()
        # Who only reads isn't held up by a lock.
        reads = self.disk.broken == "disk I/O error"
        writes = reads or commits or sql.startswith(("BEGIN", "PRAGMA wal"))
        if writes and self.disk.broken and self.disk.crawl is not None:
            raise sqlite3.OperationalError(self.disk.broken)
        cursor = super().execute(sql, *given)
        if commits:
            self.disk.count()
        return cursor


class Reading:
    """Starts the processes that read pages; ``failing`` are the faults of the next ones.

    ``deadly`` are those of the next pages, one each, and ``poison`` texts of pages that end
    whatever process reads them.
    """

    def __init__(self) -> None:
        self.processes: list[Process] = []
        self.failing: list[str] = []
        self.deadly: list[str] = []
        self.poison: set[bytes] = set()
        self._made: dict[bytes, PageReader] = {}

    def heal(self) -> None:
        """Let all be read from now on."""
        self.failing.clear()
        self.deadly.clear()
        self.poison.clear()

    def begin(self) -> None:
        """Forget the processes of the crawl before."""
        for process in self.processes:
            process.kill()
        self.processes.clear()

    def start(self, loop: AbstractEventLoop, stdin: int) -> Process:
        """Take the place of ``Popen``. Raises OSError."""
        fault = self.failing.pop(0) if self.failing else ""
        if fault == "none":
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        process = Process(self, loop, stdin, fault)
        self.processes.append(process)
        return process

    def reader(self, first: bytes) -> PageReader:
        """Return what reads for these settings; made once."""
        if first not in self._made:
            kind = tuple[str, ReaderSettings, float]
            _, settings, _ = msgspec.msgpack.decode(first, type=kind)
            self._made[first] = settings.reader()
            self._made[first].identifier.load()
        return self._made[first]


class Process:
    """What a process that reads pages is to the crawl: a socket, and whether it lives."""

    def __init__(self, reading: Reading, loop: AbstractEventLoop, stdin: int, fault: str) -> None:
        self._reading, self._loop, self._fault = reading, loop, fault
        self._socket = socket.socket(fileno=os.dup(stdin))
        self._letters = Letters(MAX_LETTER)
        self._reader: PageReader | None = None
        self.is_busy = False
        self.returncode: int | None = None
        loop.add_reader(self._socket, self._read)

    def _read(self) -> None:
        piece = self._socket.recv(1 << 20)
        if not piece:
            self.kill()
        for message, body in self._letters.add(piece):
            self.is_busy = True
            # As long as a process takes, in which it may be ended.
            self._loop.call_later(0.2, self._answer, message, body)

    def _answer(self, message: bytes, body: bytes) -> None:
        if self.returncode is not None:
            return
        self.is_busy = False
        if self._reader is None:
            fault, said = self._fault, letter("")
            if not fault:
                self._reader = self._reading.reader(message)
        else:
            said = letter(answered(self._reader, _asked.decode(message), body))
            fault = self._fault_of(body)
        if fault == "hangs":
            return
        with suppress(ConnectionError):
            if fault == "stops halfway":
                self._socket.sendall(said[: len(said) // 2])
            elif fault == "says nonsense":
                self._socket.sendall(letter(["nonsense"]))
                return
            elif not fault:
                self._socket.sendall(said)
        if fault:
            self.kill()

    def _fault_of(self, body: bytes) -> str:
        if any(text in body for text in self._reading.poison):
            return "dies"
        return self._reading.deadly.pop(0) if self._reading.deadly else ""

    def poll(self) -> int | None:
        """Return how it ended, None if it hasn't."""
        return self.returncode

    def wait(self) -> int:
        """Return how it ended."""
        if self.returncode is None:
            raise SubprocessError("it would be waited for without end")
        return self.returncode

    def kill(self) -> None:
        """End it."""
        if self.returncode is None:
            self.returncode = -9
            self._loop.remove_reader(self._socket)
            self._socket.close()
