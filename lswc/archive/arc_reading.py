"""ARC reading: the records of files as archives wrote them before WARC, until about 2009.

Versions 1 and 2 (Internet Archive, 1996): a line says the URL, the address, the time, the media
type and the length of what follows. A length that is wrong ends its record, and never the file.
"""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING

from fastwarc import WarcRecordType

from lswc.archive.cdxj import iso_date
from lswc.archive.warc_reading import HEADS, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN = b"filedesc://"
"""How an ARC file begins."""

# A URL may have blanks in it, and the second version has five fields more before the length.
_LINE = re.compile(
    rb"(?P<url>[a-z][a-z0-9+.-]*:[^\r\n]{0,8192}?) (?P<ip>[0-9a-fA-F.:]{3,45}|-) "
    rb"(?P<time>\d{4,20}) (?P<mime>[^\s]{1,200})(?: [^\r\n]{1,8192}?)? (?P<length>-?\d{1,15})\r?\n",
    re.IGNORECASE,
)
_NEXT = re.compile(rb"\n(?=[a-z][a-z0-9+.-]*:[^\r\n]{1,8192}\d\r?\n)", re.IGNORECASE)
_LONGEST = 1 << 15  # bytes of a line
_PIECE = 1 << 20


class ArcRecords:
    """Iterates over the records of a file that isn't compressed, with ``most`` bytes of each.

    Those of web pages are of the type ``response``, as what they hold is one; of others, such as of
    DNS, ``resource``. ``file`` can seek. A record that can't be read is one of the ``unreadable``.
    """

    def __init__(self, file: IO[bytes], types: WarcRecordType, most: int) -> None:
        self._file, self._types, self._most = file, types, most
        self.read = self.unreadable = 0

    def __iter__(self) -> Iterator[Record]:
        at: int | None = 0
        while at is not None:
            record, end = self.at(at)
            if record is None:
                if end is None:
                    return
                self.unreadable += 1
                at = self._after(end)
                continue
            if record.type & self._types:
                self.read += 1
                yield record
            at = end

    def at(self, place: int) -> tuple[Record | None, int | None]:
        """Return the record at a place, and where it ends.

        None if it can't be read, and where to go on; None and None at the end of the file.
        """
        self._file.seek(place)
        line = self._file.read(_LONGEST)
        begin = len(line) - len(line.lstrip(b"\r\n"))
        if begin == len(line):
            return None, None
        found = _LINE.match(line, begin)
        if found is None:
            return None, place + begin
        length, start = int(found["length"]), place + found.end()
        end = start + length
        if length < 0 or not self._ends(end):
            return None, start
        return _record(found, self._block(start, length), place + begin), end

    def _ends(self, place: int) -> bool:
        """Tell whether a record may end at a place: there the file ends, or another begins."""
        self._file.seek(place - 1)
        rest = self._file.read(_LONGEST)
        if not rest:
            return False  # the file is cut
        after = rest[1:].lstrip(b"\r\n")
        return not after or _LINE.match(after) is not None

    def _block(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(min(length, self._most + HEADS)) if self._most else b""

    def _after(self, place: int) -> int | None:
        """Return where a line begins that may be a record's, from a place on; None if none does."""
        while True:
            self._file.seek(place)
            data = self._file.read(_PIECE + _LONGEST)
            for sign in _NEXT.finditer(data, 0, _PIECE):
                if _LINE.match(data, sign.end()):
                    return place + sign.end()
            if len(data) <= _PIECE:
                return None
            place += _PIECE


def _record(line: re.Match[bytes], block: bytes, place: int) -> Record | None:
    url = line["url"].decode("utf-8", "replace")
    if url.lower().startswith(BEGIN.decode()):
        return Record(WarcRecordType.warcinfo, {"warc-target-uri": url}, block, place)
    is_web = url.lower().startswith(("http:", "https:"))
    headers = {
        "warc-target-uri": url.replace(" ", "%20"),
        "warc-date": iso_date(line["time"].decode().ljust(14, "0")[:14]),
        "warc-ip-address": line["ip"].decode(),
        "content-type": "application/http; msgtype=response" if is_web else line["mime"].decode(),
        "content-length": line["length"].decode(),
    }
    kind = WarcRecordType.response if is_web else WarcRecordType.resource
    return Record(kind, headers, block, place)
