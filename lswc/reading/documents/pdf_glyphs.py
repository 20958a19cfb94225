"""Glyphs of a PDF's font that its map doesn't name: their letters, if the font itself says these.

A font that is embedded whole has the table by which letters become glyphs (OpenType, cmap), and the
rules by which glyphs become others (GSUB), as that a letter below another is drawn. Here these are
followed from glyph to letters. Importing this loads PDFium and fontTools.
"""

from __future__ import annotations

import ctypes
import struct
import unicodedata
from functools import lru_cache
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from fontTools.ttLib import TTFont, TTLibError
from pypdfium2 import raw

if TYPE_CHECKING:
    from collections.abc import Iterator

FONT_BYTES = 5_000_000
"""Bytes of a font that is looked at."""

RULES = 50_000
"""Rules of a font that are looked at."""

_FONTS = 8  # that are remembered, from page to page
_ROUNDS = 4  # what a rule makes may be what another takes
_LONGEST = 8  # letters of a glyph
_SINGLE, _MULTIPLE, _LIGATURE, _EXTENSION = 1, 2, 4, 7  # types of lookups
# What a font's author, or an enemy, may have made of its tables.
_BROKEN = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, OSError,
    RecursionError, TTLibError, TypeError, ValueError, struct.error,
)  # fmt: skip


def embedded(font: Any) -> bytes:
    """Return the bytes of a font that its PDF brings; b"" if it brings none, or a large one."""
    size, ask = ctypes.c_size_t(0), raw.FPDFFont_GetFontData
    if not font or raw.FPDFFont_GetIsEmbedded(font) != 1:
        return b""
    if not ask(font, None, 0, size) or not 0 < size.value <= FONT_BYTES:
        return b""
    buffer = (ctypes.c_uint8 * size.value)()
    return bytes(buffer) if ask(font, buffer, size.value, size) else b""


@lru_cache(_FONTS)
def letters(content: bytes) -> tuple[dict[int, str], bool]:
    """Return what the glyphs of a font say, by their numbers, and whether the font is whole.

    A part of a font may have other numbers in its PDF.
    """
    try:
        with TTFont(BytesIO(content), lazy=True) as font:
            return (_letters(font), "GSUB" in font) if "cmap" in font else ({}, False)
    except _BROKEN:
        return {}, False


def _letters(font: TTFont) -> dict[int, str]:
    said: dict[str, str] = {}
    for code, name in sorted((font.getBestCmap() or {}).items()):
        if unicodedata.category(chr(code)) != "Co":  # of private use: it may be a part of a letter
            said.setdefault(name, chr(code))
    rules = list(islice(_rules(font), RULES))
    for _ in range(_ROUNDS):
        before = len(said)
        for glyphs, made in rules:
            if made not in said and all(one in said for one in glyphs):
                text = "".join(said[one] for one in glyphs)
                if len(text) <= _LONGEST:
                    said[made] = text
        if len(said) == before:
            break
    return {font.getGlyphID(name): text for name, text in said.items()}


def _rules(font: TTFont) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the glyphs that become another, and which; of several the last, as it says the most."""
    lookups = font["GSUB"].table.LookupList if "GSUB" in font else None
    for lookup in lookups.Lookup if lookups is not None else ():
        for table in lookup.SubTable:
            inner = table.ExtSubTable if table.LookupType == _EXTENSION else table
            if inner.LookupType == _SINGLE:
                yield from (((one,), made) for one, made in inner.mapping.items())
            elif inner.LookupType == _MULTIPLE:
                yield from (((one,), made[-1]) for one, made in inner.mapping.items() if made)
            elif inner.LookupType == _LIGATURE:
                for first, made in inner.ligatures.items():
                    for one in made:
                        yield (first, *one.Component), one.LigGlyph
