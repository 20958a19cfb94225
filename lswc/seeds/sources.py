"""A person's file, plain or packed, as bytes: never more of it in memory than a piece."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from typing_extensions import override

from lswc.progress import Say, silent
from lswc.seeds.candidates import SeedError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path

    from typing_extensions import Buffer


LINE = 1 << 16
"""Bytes of the longest line that is read; longer ones are passed over."""

HEAD = 1 << 16
"""Bytes from which a format is recognised."""

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def opened(path: Path, say: Say = silent, *, unpack: bool = True) -> Iterator[IO[bytes]]:
    """Open a file, the content of a gzip file, or the one file in a zip archive.

    A gzip file as it is without ``unpack``. ``say`` hears how far the file was read. Raises
    SeedError for what can't be read, while it is read too.
    """
    try:
        with _Heard(path, say) as raw:
            yield _unpacked(path, io.BufferedReader(raw), unpack)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        raise SeedError(f"can't read {path}: {reason}") from error


def head(path: Path) -> bytes:
    """Return how a file begins. Raises SeedError."""
    with opened(path) as file:
        return file.read(HEAD)


def lines(file: IO[bytes], passed: Counter[str]) -> Iterator[str]:
    """Yield the lines of a text in UTF-8; bytes that aren't are replaced, NUL is left out."""
    first = True
    while piece := file.readline(LINE):
        if len(piece) == LINE and piece[-1:] != b"\n":
            passed["line too long"] += 1
            while piece and piece[-1:] != b"\n":
                piece = file.readline(1 << 20)
            continue
        if first:
            piece, first = piece.removeprefix(b"\xef\xbb\xbf"), False
        yield piece.replace(b"\0", b"").decode(errors="replace")


def _unpacked(path: Path, file: io.BufferedReader, unpack: bool) -> IO[bytes]:
    magic = file.peek(4)[:4]
    if magic[:2] in _UTF_16:
        raise SeedError(f"{path} is in UTF-16: save it as UTF-8")
    if magic[:2] == _GZIP and unpack:
        # In a buffer of its own: lines of a gzip file are slow one by one.
        return io.BufferedReader(gzip.GzipFile(fileobj=file), LINE)
    if magic != _ZIP:
        return file
    archive = zipfile.ZipFile(file)
    members = [member for member in archive.infolist() if not member.is_dir()]
    if {"[Content_Types].xml", "mimetype"} & {member.filename for member in members}:
        raise SeedError(f"{path} is a document of an office program: save it as CSV")
    if len(members) != 1:
        raise SeedError(f"{path} holds {len(members)} files: unpack it, and name one")
    try:
        return archive.open(members[0])
    except (RuntimeError, NotImplementedError) as error:  # encrypted; packed in a rare way
        raise SeedError(f"can't read {path}: {error}") from error


class _Heard(io.FileIO):
    """A file that tells how far it was read."""

    def __init__(self, path: Path, say: Say) -> None:
        super().__init__(path)
        self._told, self._say, self._size = path.name, say, path.stat().st_size

    @override
    def readinto(self, buffer: Buffer) -> int:
        length = super().readinto(buffer)
        self._say(self._told, self.tell(), self._size)
        return length
