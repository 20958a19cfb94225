"""WARC reading: the records of any WARC file (ISO 28500), those after a damaged one too."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from fastwarc import ArchiveIterator, WarcRecordType

from lswc.archive.http_message import HttpResponse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastwarc import WarcRecord

HEADS = 1 << 20
"""Bytes of a block that are read besides those of a body: its head, and the sizes of its chunks."""

_ANY = WarcRecordType.any_type
_GZIP, _BEGIN = b"\x1f\x8b\x08", b"WARC/"
_SIGN = re.compile(rb"\x1f\x8b\x08|\r\n\r\nWARC/")
_LENGTH = re.compile(rb"\r\nContent-Length: *(\d{1,15})", re.IGNORECASE)
_PIECE = 1 << 20
_NEAR = 512  # bytes that tell whether a member of gzip is a record


@dataclass(frozen=True, slots=True)
class Record:
    """A record: where it begins in its file, and the first bytes of its block, as asked for."""

    type: WarcRecordType
    headers: dict[str, str]
    block: bytes
    place: int

    @property
    def url(self) -> str:
        """What it is of, "" if it doesn't say."""
        return self.headers.get("warc-target-uri", "").strip("<>")

    def response(self) -> HttpResponse:
        """Return the HTTP response that its block is; a resource comes without one."""
        if self.type not in (WarcRecordType.resource, WarcRecordType.conversion):
            return HttpResponse.of(self.block)
        media_type = self.headers.get("content-type", "").encode(errors="replace")
        return HttpResponse(200, ((b"Content-Type", media_type),), self.block)


class Records:
    """Iterates over the records of a file of some ``types``, with ``most`` bytes of their blocks.

    ``file`` can seek, and is compressed record by record, as a whole, or not at all. A record that
    can't be read is one of the ``unreadable``, and never the end. Raises OSError.
    """

    def __init__(self, file: IO[bytes], types: WarcRecordType, most: int) -> None:
        self._file, self._types, self._most = file, types, most
        self.read = self.unreadable = 0

    def __iter__(self) -> Iterator[Record]:
        begin: int | None = self._file.tell()
        if not self._file.read(1):
            return
        is_broken = False  # before what is read next
        while begin is not None:
            latest, broke_before, is_broken = None, is_broken, False
            self._file.seek(begin)
            try:
                for record in ArchiveIterator(self._file, _ANY, parse_http=False):
                    if record.record_type & self._types:
                        taken = _taken(record, self._most)
                        self.read += 1
                        yield taken
                    latest = record.stream_pos
            except (OSError, ValueError):
                is_broken = latest is not None
            self.unreadable += broke_before or latest is None
            begin = self._after(begin + 1 if latest is None else self._end(latest))
        self.unreadable += is_broken

    def _end(self, place: int) -> int:
        """Return where the record ends that begins at ``place``: nothing in it is a record."""
        self._file.seek(place)
        if not self._is_packed():
            head = self._bytes(place, _PIECE).partition(b"\r\n\r\n")[0]
            length = _LENGTH.search(head)
            return place + len(head) + len(b"\r\n\r\n") + int(length[1] if length else 0)
        self._file.seek(place)
        member = zlib.decompressobj(31)
        with suppress(zlib.error):
            while not member.eof and (piece := self._file.read(_PIECE)):
                while piece and not member.eof:  # a bomb is unpacked piece by piece
                    member.decompress(piece, _PIECE)
                    piece = member.unconsumed_tail
        return self._file.tell() - len(member.unused_data) if member.eof else place + 1

    def _is_packed(self) -> bool:
        return self._file.read(len(_GZIP)) == _GZIP

    def _after(self, begin: int) -> int | None:
        """Return where the next record begins, at ``begin`` or after it; None if there is none."""
        while data := self._bytes(begin, _PIECE + _NEAR):
            for sign in _SIGN.finditer(data, 0, _PIECE):
                if sign[0] != _GZIP:
                    return begin + sign.end() - len(_BEGIN)
                if _begins(data[sign.start() : sign.start() + _NEAR]):
                    return begin + sign.start()
            begin += _PIECE
        return None

    def _bytes(self, begin: int, length: int) -> bytes:
        self._file.seek(begin)
        return self._file.read(length)


def record_at(path: Path, place: int, most: int) -> Record | None:
    """Return the record of a file that begins at a place; None if it can't be read."""
    try:
        with path.open("rb") as file:
            return record_in(file, place, most)
    except OSError:
        return None


def record_in(file: IO[bytes], place: int, most: int) -> Record | None:
    """Return the record that begins at a place of a file; None if it can't be read."""
    file.seek(place)
    try:
        return _taken(next(ArchiveIterator(file, _ANY, parse_http=False)), most)
    except (OSError, ValueError, StopIteration):
        return None


def _taken(record: WarcRecord, most: int) -> Record:
    headers = {name.lower(): value for name, value in record.headers.items()}
    if "content-length" not in headers:  # every record has one (ISO 28500:2017 §5.4)
        raise ValueError("the file ends within the head of a record")
    wanted = min(most + HEADS, int(headers["content-length"])) if most else 0
    block = record.reader.read(wanted) if wanted else b""
    if len(block) < wanted:
        raise ValueError("the file ends within a record")
    return Record(record.record_type, headers, block, record.stream_pos)


def _begins(member: bytes) -> bool:
    try:
        return zlib.decompressobj(31).decompress(member, len(_BEGIN)) == _BEGIN
    except zlib.error:
        return False
