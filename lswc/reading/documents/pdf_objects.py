"""Text objects of a PDF's page, as they are drawn. Importing this loads PDFium."""

from __future__ import annotations

from ctypes import addressof
from typing import TYPE_CHECKING

from pypdfium2 import raw

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from pypdfium2 import PdfPage

PAGE_OBJECTS = 50_000
"""Objects of a page that are looked at."""

_DEPTH = 4  # of forms in forms


def texts(page: PdfPage) -> Iterator[Any]:
    """Yield the text objects of a page, those in forms where these are drawn."""
    for place in range(min(raw.FPDFPage_CountObjects(page), PAGE_OBJECTS + 1)):
        yield from _within(raw.FPDFPage_GetObject(page, place), _DEPTH)


def _within(one: Any, depth: int) -> Iterator[Any]:
    """Yield a text object, or those of a form."""
    kind = raw.FPDFPageObj_GetType(one)
    if kind == raw.FPDF_PAGEOBJ_TEXT:
        yield one
    elif kind == raw.FPDF_PAGEOBJ_FORM and depth:
        for place in range(min(raw.FPDFFormObj_CountObjects(one), PAGE_OBJECTS + 1)):
            yield from _within(raw.FPDFFormObj_GetObject(one, place), depth - 1)


def written(codes: Iterable[int]) -> str:
    """Return the text of UTF-16's units, as PDFium gives letters: pairs of them are one."""
    return "".join(map(chr, codes)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def address(pointer: Any) -> int:
    """Return where what PDFium points to is; 0 if that is nowhere."""
    return addressof(pointer.contents) if pointer else 0
