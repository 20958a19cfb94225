"""Volumes: the files of an archive, whoever made it, told by what they begin with.

WARC (ISO 28500) and ARC, plain, in gzip, Zstandard or LZ4; and the WARC files in a WACZ file. What
else there is in archives is refused by its name: an index, a list of other files.
"""

from __future__ import annotations

import io
import json
import re
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import Struct
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from fastwarc import Lz4Reader, WarcRecordType, ZstdReader

from lswc.archive.appended_files import ArchiveError
from lswc.archive.arc_reading import BEGIN, ArcRecords
from lswc.archive.warc_reading import Records, record_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

    from lswc.archive.warc_reading import Record

TIMES = 200
"""How many times as large as it is a file may be unpacked: more than any text is packed."""

ROOM = 100_000_000
"""Bytes to which any file may be unpacked."""

_GZIP, _ZIP, _ZSTD, _LZ4 = b"\x1f\x8b\x08", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18"
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # of Zstandard, before records that need it (IIPC's .warc.zst)
_WARC = b"WARC/"
_CDXJ = re.compile(rb"[^\s]{1,8192} \d{4,17}[ \t]")
_CDX = re.compile(rb" ?CDX( [a-zA-Z]){3,}")
_REFUSED = (
    (b"BZh", "bzip2: unpack it"),
    (b"\xfd7zXZ\x00", "xz: unpack it"),
    (b"%PDF-", "a PDF"),
)
_NAME = re.compile(r"\.(warc|arc)(\.(gz|zst|lz4))?(\.open)?$|\.wacz$", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\nContent-Length: *(\d{1,15})", re.IGNORECASE)
_MEMBERS = {"gz": 31, "deflate": -15}  # as zlib calls these forms
_HEAD = 1 << 16
_NEAR = 32  # bytes that are unpacked at once: what comes before damage counts
_PIECE = 1 << 20
_MAX_MANIFEST = 10_000_000  # bytes
_ANY = WarcRecordType.any_type
_LENGTHS = Struct("<HH")  # of a name, and of what follows it
_LOCAL = 30  # bytes of a file's own header in a zip archive, before its name


def is_archive(path: Path) -> bool:
    """Tell by its name whether a file is one of records: WARC, ARC or WACZ."""
    return _NAME.search(path.name) is not None


def begins_as_archive(path: Path) -> bool:
    """Tell by its bytes whether a file is one of records, or an index of one.

    Raises OSError, and ArchiveError for a pipe, which would be waited for.
    """
    _check_file(path)
    with path.open("rb") as file:
        head = file.read(_HEAD)
    text = _begins(head) if head.startswith(_GZIP) else head
    return text.startswith((_WARC, BEGIN)) or _is_index(text) or _is_packed(head)


def _check_file(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise ArchiveError(f"{path} is a folder, a pipe or a device, not a file")


def _is_index(text: bytes) -> bool:
    return _CDXJ.match(text) is not None or _CDX.match(text) is not None


class _Window(io.RawIOBase):
    """A part of a file, from ``begin`` to ``end``, as a file of its own."""

    def __init__(self, file: IO[bytes], begin: int, end: int) -> None:
        self._file, self._begin, self._end = file, begin, end
        file.seek(begin)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        of = {io.SEEK_SET: self._begin, io.SEEK_CUR: self._file.tell(), io.SEEK_END: self._end}
        return self._file.seek(of[whence] + place) - self._begin

    def tell(self) -> int:
        return self._file.tell() - self._begin

    def readinto(self, buffer: Buffer) -> int:
        taken = memoryview(buffer)
        data = self._file.read(max(0, min(len(taken), self._end - self._file.tell())))
        taken[: len(data)] = data
        return len(data)


class Volume:
    """A file of records: a whole file, or a part of one. ``name`` is what messages call it.

    Records can be read one after the other, and one by its place. What isn't packed record by
    record is unpacked into a temporary file first, once. Files that should be beside it, and were
    ``lost``, count as one unreadable record each. Close it.
    """

    lost = 0

    def __init__(
        self, path: Path, name: str, begin: int = 0, end: int | None = None, packing: str = ""
    ) -> None:
        self.path, self.name = path, name
        self._begin = begin
        self._end = path.stat().st_size if end is None else end
        self._unpacked: IO[bytes] | None = None
        self._is_damaged = False
        with self.raw() as file:
            self._packing = packing or _packing(file.read(_HEAD))
        if self._packing:
            self._unpacked, self._is_damaged = _unpacked(self)
        with self.opened() as file:
            self._is_arc = file.read(len(BEGIN)) == BEGIN or _is_bare_arc(self.path)

    @property
    def packing(self) -> str:
        """What it is packed with as a whole, "" if that is nothing."""
        return self._packing

    @contextmanager
    def raw(self) -> Iterator[IO[bytes]]:
        """Open it as it is, packed. Raises OSError."""
        with self.path.open("rb") as file:
            if self._begin == 0 and self._end == self.path.stat().st_size:
                yield file
            else:
                yield io.BufferedReader(_Window(file, self._begin, self._end))

    @property
    def size(self) -> int:
        """Bytes of it, packed as it is."""
        return self._end - self._begin

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open it as a file that can seek. Raises OSError."""
        if self._unpacked is None:
            with self.raw() as file:
                yield file
        else:
            self._unpacked.seek(0)
            yield self._unpacked

    def records(self, file: IO[bytes], types: WarcRecordType, most: int) -> Records | ArcRecords:
        """Return its records of some types, with ``most`` bytes of each; ``file`` is it, opened."""
        found = (ArcRecords if self._is_arc else Records)(file, types, most)
        found.unreadable += self._is_damaged + self.lost
        return found

    def at(self, place: int, most: int) -> Record | None:
        """Return the record that begins at a place; None if it can't be read."""
        try:
            with self.opened() as file:
                if self._is_arc:
                    return ArcRecords(file, _ANY, most).at(place)[0]
                return record_in(file, place, most)
        except OSError:
            return None

    def close(self) -> None:
        """Let its temporary file go."""
        if self._unpacked is not None:
            self._unpacked.close()


def volumes_of(path: Path) -> list[Volume]:
    """Return the volumes that a file is, or holds. Raises ArchiveError for what is no archive."""
    _check_file(path)
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(_ZIP):
            return _of_wacz(path)
        _refuse(path, head)
        volume = Volume(path, str(path))
        try:
            with volume.opened() as file:
                _refuse(path, file.read(_HEAD))
        except ArchiveError:
            volume.close()
            raise
        return [volume]
    except (OSError, EOFError, zlib.error, BadZipFile, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArchiveError(f"can't read {path}: {reason}") from error


def _refuse(path: Path, head: bytes) -> None:
    """Raise ArchiveError if a file doesn't begin as one of records does: it says what it is."""
    if head.startswith(_GZIP):
        head = _begins(head)
    text = head.lstrip(b"\r\n")
    if text.startswith((_WARC, BEGIN)) or _is_packed(head) or _is_bare_arc(path):
        return
    if not text:
        raise ArchiveError(f"{path} is empty, or damaged from its beginning on")
    for sign, name in _REFUSED:
        if head.startswith(sign):
            raise ArchiveError(f"{path} is {name}, not WARC")
    if _is_index(head):
        raise ArchiveError(f"{path} is an index (CDX), and no archive: name the files of its pages")
    raise ArchiveError(f"{path} is no WARC, ARC or WACZ file: it begins with {head[:20]!r}")


def _is_packed(head: bytes) -> bool:
    return head.startswith((_ZSTD, _LZ4, _DICTIONARY))


def _is_bare_arc(path: Path) -> bool:
    """Tell by its name whether a file is ARC: some begin without what says so."""
    return re.search(r"\.arc(\.gz)?(\.open)?$", path.name, re.IGNORECASE) is not None


def _begins(head: bytes) -> bytes:
    """Return what a member of gzip begins with, as far as it can be unpacked."""
    member, text = zlib.decompressobj(31), b""
    with suppress(zlib.error):  # what comes after it may be whole
        for at in range(0, len(head), _NEAR):
            text += member.decompress(head[at : at + _NEAR], _HEAD - len(text) or 1)
            if member.eof or len(text) >= _HEAD:
                break
    return text


def _packing(head: bytes) -> str:
    """Return what a file is packed with as a whole, "" for what is packed record by record."""
    if head.startswith((_ZSTD, _DICTIONARY)):
        return "zst"
    if head.startswith(_LZ4):
        return "lz4"
    if head.startswith(_GZIP):
        text = _begins(head)
        return "" if text.startswith(_WARC) and not _goes_on(text) else "gz"
    return ""


def _goes_on(text: bytes) -> bool:
    """Tell whether a member of gzip has more in it than its first record."""
    record, mark, _ = text.partition(b"\r\n\r\n")
    length = _LENGTH.search(record)
    end = len(record) + 2 * len(mark) + int(length[1] if length else 0)
    return text[end : end + len(_WARC)] == _WARC


def _unpacked(volume: Volume) -> tuple[IO[bytes], bool]:
    """Return what a volume holds, in a temporary file; and whether some of it is damaged.

    Raises ArchiveError for a bomb.
    """
    most, is_damaged = max(ROOM, TIMES * volume.size), False
    file = TemporaryFile()  # noqa: SIM115 (its volume closes it)
    try:
        with volume.raw() as packed:
            for piece in _pieces(packed, volume.packing):
                if piece is None:
                    is_damaged = True
                elif file.tell() + len(piece) > most:
                    raise ArchiveError(
                        f"{volume.name} unpacks to more than {TIMES} times its size: it is a bomb"
                    )
                else:
                    file.write(piece)
    except BaseException:
        file.close()
        raise
    return file, is_damaged


def _pieces(packed: IO[bytes], packing: str) -> Iterator[bytes | None]:
    """Yield what is packed; None where it is damaged."""
    if packing in _MEMBERS:
        yield from _unzipped(packed, _MEMBERS[packing])
        return
    reader = (ZstdReader if packing == "zst" else Lz4Reader)(packed)
    try:
        while piece := reader.read(_PIECE):
            yield piece
    except (OSError, ValueError):
        yield None


def _unzipped(packed: IO[bytes], form: int) -> Iterator[bytes | None]:
    """Yield what members of gzip, or a raw deflate stream, hold.

    None where one is damaged, and then the next.
    """
    at: int | None = 0
    while at is not None:
        packed.seek(at)
        member = zlib.decompressobj(form)
        try:
            while not member.eof and (left := packed.read(_PIECE)):
                while left and not member.eof:
                    if piece := member.decompress(left, _PIECE):
                        yield piece
                    left = member.unconsumed_tail
        except zlib.error:
            yield None
            if form < 0:
                return
            at = _next_member(packed, at + 1)
            continue
        if not member.eof:
            yield None
        if form < 0:
            return
        end = packed.tell() - len(member.unused_data)
        at = _next_member(packed, end)
        packed.seek(end)
        if at != end and packed.read(_PIECE).strip(b"\0"):  # else it is filled up
            yield None


def _next_member(packed: IO[bytes], place: int) -> int | None:
    """Return where a member of gzip begins, from a place on; None if none does."""
    while True:
        packed.seek(place)
        data = packed.read(_PIECE)
        found = data.find(_GZIP)
        if found >= 0:
            return place + found
        if len(data) < _PIECE:
            return None
        place += _PIECE - len(_GZIP)


def _of_wacz(path: Path) -> list[Volume]:
    """Return the WARC files in a WACZ file. Raises ArchiveError if it has none."""
    with ZipFile(path) as archive:
        members = [one for one in archive.infolist() if is_archive(Path(one.filename))]
        if not members:
            raise ArchiveError(f"{path} is a zip archive without WARC files")
        found = [_member(path, archive, one) for one in members]
        found[0].lost = len(_listed(archive) - {one.filename for one in members})
        return found


def _listed(archive: ZipFile) -> set[str]:
    """Return the WARC files that a WACZ file says it has."""
    try:
        with archive.open("datapackage.json") as file:
            said = json.loads(file.read(_MAX_MANIFEST))
        paths = {str(one["path"]) for one in said["resources"]}
    except (KeyError, TypeError, ValueError, RecursionError, OSError, EOFError, zlib.error,
            BadZipFile, NotImplementedError, RuntimeError):  # fmt: skip
        return set()  # it needn't say
    return {path for path in paths if path.startswith("archive/") and is_archive(Path(path))}


def _member(path: Path, archive: ZipFile, member: ZipInfo) -> Volume:
    name = f"{path}: {member.filename}"
    if member.filename.endswith(".wacz"):
        raise ArchiveError(f"{name} is a WACZ file within another: unpack it, and name it")
    if member.flag_bits & 1:
        raise ArchiveError(f"{name} is encrypted")
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ArchiveError(f"{name} is compressed in a rare way: unpack {path.name}, and name it")
    with path.open("rb") as file:
        file.seek(member.header_offset)
        local = file.read(_LOCAL)
        if len(local) < _LOCAL:
            raise ArchiveError(f"{name} lies beyond the end of the file")
        begin = member.header_offset + _LOCAL + sum(_LENGTHS.unpack_from(local, 26))
    packing = "" if member.compress_type == ZIP_STORED else "deflate"
    return Volume(path, name, begin, begin + member.compress_size, packing)
