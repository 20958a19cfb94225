"""Excel's older files (BIFF, [MS-XLS]), by xlrd: what cells say, in their order."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from lswc.reading.documents.deadline import Deadline
from lswc.reading.documents.packed import PARTS
from lswc.reading.documents.text import DAMAGED, LOCKED, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xlrd import Book

    from lswc.reading.documents.text import Most

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of a compound file ([MS-CFB] §2.2)."""

# What the library meets in files that are broken, besides its own errors.
_BROKEN = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, RecursionError,
    TypeError, ValueError, struct.error,
)  # fmt: skip


class _NoLog:
    """Takes what the library would print of a broken file."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Do nothing."""


def read(body: bytes, most: Most) -> Text:
    """Return what a file says: nothing if it is broken, or needs a password."""
    import xlrd  # not above: most crawls' readers never need it
    from xlrd.compdoc import CompDocError
    from xlrd.formula import FormulaError

    errors = (xlrd.XLRDError, CompDocError, FormulaError, *_BROKEN)
    lines: list[str] = []
    is_cut, reason = False, ""
    try:
        # Rows that aren't ragged are filled up: one cell at the far end makes millions.
        with xlrd.open_workbook(
            file_contents=body, logfile=_NoLog(), on_demand=True, ragged_rows=True
        ) as book:
            is_cut = _take(book, lines, most.text)
    except errors as error:
        is_cut = bool(lines)
        reason = "" if lines else LOCKED if "encrypted" in str(error) else DAMAGED
    return Text(text="\n".join(lines), is_cut=is_cut, reason=reason).completed(most)


def _take(book: Book, lines: list[str], most: int) -> bool:
    """Take the texts of a book's cells; return whether these aren't all."""
    size, deadline = 0, Deadline()
    for number in range(book.nsheets):
        if number >= PARTS or deadline.is_over:
            return True
        for line in _texts(book, number):
            lines.append(line)
            size += len(line) + 1
            if size > most:
                return True
        book.unload_sheet(number)
    return False


def _texts(book: Book, number: int) -> Iterator[str]:
    """Yield the texts of a sheet's cells, unless it is hidden."""
    import xlrd

    sheet = book.sheet_by_index(number)
    if sheet.visibility:
        return
    for row in range(sheet.nrows):
        for kind, value in zip(sheet.row_types(row), sheet.row_values(row), strict=True):
            if kind == xlrd.XL_CELL_TEXT and (text := " ".join(value.split())):
                yield text
