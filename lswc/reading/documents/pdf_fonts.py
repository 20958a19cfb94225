"""Font of a PDF that brings none: every letter has an extent, whatever the machine has.

For a font that isn't embedded PDFium takes one of the machine's. Without one a letter has no
extent, and text without extent is left out: all of a page whose letters are drawn one by one, as
in many Japanese, Chinese and Korean documents. This font has a box for each letter; what is written
doesn't depend on how it looks. Importing this loads PDFium.
"""

from __future__ import annotations

import ctypes
from functools import cache
from io import BytesIO
from typing import Any

from pypdfium2 import raw

_LATIN = frozenset({0, 1, 2})  # charsets: ANSI, the default, symbols. PDFium has fonts for them.
_SIZE = 1_000  # units of an em
_HANDLE = 1


def use() -> None:
    """Let PDFium take this font, and none of the machine's, from now on."""
    raw.FPDF_SetSystemFontInfo(_fonts())


@cache
def _fonts() -> Any:
    """Return what PDFium asks for fonts; it is kept as long as the process."""
    of = dict(raw.FPDF_SYSFONTINFO._fields_)

    def map_font(_: Any, weight: int, italic: int, charset: int, *__: Any) -> int | None:
        return None if charset in _LATIN else _HANDLE

    def data(_: Any, font: Any, table: int, buffer: Any, size: int) -> int:
        if table:
            return 0  # all of the file is asked for by no name
        if buffer and size >= len(_font()):
            ctypes.memmove(buffer, _font(), len(_font()))
        return len(_font())

    return raw.FPDF_SYSFONTINFO(
        version=1,
        MapFont=of["MapFont"](map_font),
        GetFontData=of["GetFontData"](data),
        GetFaceName=of["GetFaceName"](lambda *_: 0),
        DeleteFont=of["DeleteFont"](lambda *_: None),
    )


@cache
def _font() -> bytes:
    """Return a TrueType font that has one sign, a box, for all of the Basic Multilingual Plane."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from fontTools.ttLib import newTable
    from fontTools.ttLib.tables._c_m_a_p import CmapSubtable

    pen = TTGlyphPen(None)
    for place, corner in enumerate(((0, 0), (0, _SIZE), (_SIZE, _SIZE), (_SIZE, 0))):
        (pen.lineTo if place else pen.moveTo)(corner)
    pen.closePath()
    glyphs = [".notdef", "box"]
    font = FontBuilder(_SIZE, isTTF=True)
    font.setupGlyphOrder(glyphs)
    font.font["cmap"] = cmap = newTable("cmap")
    cmap.tableVersion = 0
    many_to_one = CmapSubtable.newSubtable(13)
    many_to_one.platformID, many_to_one.platEncID, many_to_one.language = 3, 10, 0
    many_to_one.cmap = dict.fromkeys(range(0x21, 0xFFFE), "box")
    cmap.tables = [many_to_one]
    font.setupGlyf(dict.fromkeys(glyphs, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(glyphs, (_SIZE, 0)))
    font.setupHorizontalHeader(ascent=_SIZE, descent=0)
    font.setupNameTable({"familyName": "Box", "styleName": "Regular"})
    font.setupOS2(sTypoAscender=_SIZE, usWinAscent=_SIZE, usWinDescent=0)
    font.setupPost()
    out = BytesIO()
    font.save(out)
    return out.getvalue()
