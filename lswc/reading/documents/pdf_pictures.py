"""Pictures of a PDF: whether a page is one, as scanned pages are, and how it looks.

Importing this loads PDFium.
"""

from __future__ import annotations

import ctypes
from contextlib import closing
from math import sqrt
from typing import TYPE_CHECKING

from pypdfium2 import PdfDocument, PdfiumError, raw

if TYPE_CHECKING:
    from typing import Any

    from pypdfium2 import PdfPage

PER_INCH = 300
"""Dots of an inch of a page, which programs that read pictures are made for."""

PAGE_DOTS = 12_000_000
"""Dots of a page at most: beyond, it is drawn smaller."""

_OBJECTS = 1_000  # of a page that are looked at
_DEPTH = 3  # of forms in forms
_COVERED = 0.5  # of a page
_POINTS = 72  # of an inch


def is_picture(page: PdfPage) -> bool:
    """Tell whether pictures cover most of a page."""
    width, height = page.get_size()
    covered = 0.0
    edges = tuple(ctypes.c_float(0) for _ in range(4))
    for place in range(min(raw.FPDFPage_CountObjects(page), _OBJECTS)):
        one = raw.FPDFPage_GetObject(page, place)
        if _has_picture(one, _DEPTH) and raw.FPDFPageObj_GetBounds(one, *edges):
            left, bottom, right, top = (edge.value for edge in edges)
            covered += max(0.0, right - left) * max(0.0, top - bottom)
    return bool(covered >= _COVERED * width * height > 0)


def _has_picture(one: Any, depth: int) -> bool:
    kind = raw.FPDFPageObj_GetType(one)
    if kind != raw.FPDF_PAGEOBJ_FORM or not depth:
        return bool(kind == raw.FPDF_PAGEOBJ_IMAGE)
    inner = range(min(raw.FPDFFormObj_CountObjects(one), _OBJECTS))
    return any(_has_picture(raw.FPDFFormObj_GetObject(one, place), depth - 1) for place in inner)


def drawn(body: bytes, index: int) -> bytes:
    """Return how a page looks, in shades of grey (PGM, Netpbm); b"" if it can't be drawn."""
    try:
        with PdfDocument(body) as document, closing(document[index]) as page:
            width, height = page.get_size()
            scale = min(PER_INCH / _POINTS, sqrt(PAGE_DOTS / max(1.0, width * height)))
            with closing(page.render(scale=scale, grayscale=True)) as bitmap:
                rows = bitmap.to_numpy()[:, : bitmap.width]
                size = b"%d %d" % (bitmap.width, bitmap.height)
                return b"P5 " + size + b" 255\n" + bytes(rows.tobytes())
    except (PdfiumError, ValueError, MemoryError):
        return b""
