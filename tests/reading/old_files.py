"""Excel's older files, as small as they may be, made by hand ([MS-XLS], [MS-CFB])."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECTOR = 512
_LEAST = 4_096  # bytes of a stream that has sectors of its own
_END, _FREE, _TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def workbook(
    sheets: Mapping[str, Sequence[tuple[int, int, str]]],
    hidden: Sequence[str] = (),
    formula: bytes = b"",
) -> bytes:
    """Return an Excel 97 file of sheets: row, column and text of each cell.

    ``formula`` is what a name stands for, in its tokens.
    """
    begin = _record(0x809, struct.pack("<HHHHII", 0x600, 0x05, 0, 0, 0, 0))
    if formula:
        about = struct.pack("<HBBHHH4x", 0, 0, 1, len(formula), 0, 0)
        begin += _record(0x18, about + b"\0a" + formula)
    end = _record(0x0A, b"")
    size = len(begin) + len(end) + sum(12 + len(name) for name in sheets)
    listed, parts = b"", b""
    for name, cells in sheets.items():
        state = int(name in hidden)
        place = struct.pack("<IBBBB", size + len(parts), state, 0, len(name), 0)
        listed += _record(0x85, place + name.encode())
        parts += _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
        for row, column, text in cells:
            coded = text.encode("utf-16-le")
            said = struct.pack("<HHHHB", row, column, 0, len(text), 1) + coded
            parts += _record(0x204, said)
        parts += end
    return compound("Workbook", begin + listed + end + parts)


def _record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def compound(name: str, stream: bytes) -> bytes:
    """Return a compound file of one stream."""
    stream = stream.ljust(max(_LEAST, -len(stream) % _SECTOR + len(stream)), b"\0")
    sectors = len(stream) // _SECTOR
    tables = (sectors + 2 + 127) // 128 + 1
    chain = [*range(1, sectors), _END, _END, *[_TABLE] * tables]
    table = struct.pack(f"<{len(chain)}I", *chain)
    table = table.ljust(tables * _SECTOR, b"\xff")
    first = sectors + 1  # after the stream and the directory
    places = [first + number for number in range(tables)]
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6,
        0, tables, sectors, 0, _LEAST, _END, 0, _END, 0,
    ) + struct.pack("<109I", *places, *[_FREE] * (109 - tables))  # fmt: skip
    directory = _entry("Root Entry", 5, 1, _END, 0) + _entry(name, 2, _FREE, 0, len(stream))
    return header + stream + directory.ljust(_SECTOR, b"\0") + table


def _entry(name: str, kind: int, child: int, start: int, size: int) -> bytes:
    coded = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16sIQQIQ", coded, len(coded), kind, 1, _FREE, _FREE, child, b"", 0, 0, 0,
        start, size,
    )  # fmt: skip
