"""Text of a PDF's page with the letters that its author says, and each mark at its letter.

PDFium puts what is drawn in a line in the order of places. A mark that begins before its letter is
moved away from it; what a PDF says by ActualText of some glyphs (ISO 32000-2 §14.9.4) is given
again once others come between them; and blanks are seen where a mark is narrower than its letter.
Here a mark stays with the letter that was drawn before it, and ActualText is taken once.

Importing this loads PDFium.
"""

from __future__ import annotations

import ctypes
import re
from ctypes import addressof
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

from pypdfium2 import raw

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pypdfium2 import PdfPage, PdfTextPage

MOST = 50_000
"""Objects of a page that are looked at. If it has more, it is read as PDFium orders it."""

_DEPTH = 4  # of forms in forms
_MARKED = re.compile("[\u0900-\u109f\u1780-\u17ff\ua980-\ua9df\uaa00-\uaa7f]")
# What is written to the left PDFium puts in order better.
_TO_THE_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_EAST_ASIAN = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_LONGEST = 20_000  # bytes of an ActualText
_NEXT_LINE = 0.6  # of the size of the letters
_BLANK = 0.15  # of it: from the edge of a letter to where the next is put
_GAP = 0.2  # the same, where no blank is drawn
_WIDE_GAP = 0.8  # East Asian signs have room around them
_CLUSTER = 5  # letters that may share a place
_BLANKS = frozenset({0x20, 0x0D, 0x0A})


class _Piece(NamedTuple):
    """A text drawn at once: where it begins and ends, its line, and the size of its letters."""

    text: str
    at: float
    right: float
    line: float
    size: float

    @property
    def goes_on(self) -> bool:
        """Whether it is of the letter before it."""
        return not self.text or category(self.text[0]).startswith("M")


def in_order(page: PdfPage, text: PdfTextPage, plain: str) -> str:
    """Return a page's text; ``plain``, which is PDFium's, where that is as good."""
    if _TO_THE_LEFT.search(plain):
        return plain
    objects = list(_texts(page))
    actual = _Actual()
    said = [actual.of(one) for one in objects]
    if len(objects) > MOST or not (actual.found or _MARKED.search(plain)):
        return plain
    runs, measure = _runs(text), _Measure()
    pieces: list[_Piece] = []
    for one, instead in zip(objects, said, strict=True):
        whole = measure.whole(one)
        if whole is None:
            return plain
        own = runs.get(_address(one), [])
        if instead is not None:
            pieces.append(whole._replace(text=instead))
        elif len(own) == 1:
            pieces.append(whole._replace(text=_joined(own[0][1])))
        elif own:
            pieces += [measure.part(text, whole, first, codes) for first, codes in own]
        elif whole.right <= whole.at:  # nothing is to be seen
            pieces.append(whole._replace(text=" "))
    return "\n".join(_line(line) for line in _lines(pieces))


def _texts(page: PdfPage) -> Iterator[Any]:
    for place in range(min(raw.FPDFPage_CountObjects(page), MOST + 1)):
        yield from _within(raw.FPDFPage_GetObject(page, place), _DEPTH)


def _within(one: Any, depth: int) -> Iterator[Any]:
    """Yield a text object, or those of a form."""
    kind = raw.FPDFPageObj_GetType(one)
    if kind == raw.FPDF_PAGEOBJ_TEXT:
        yield one
    elif kind == raw.FPDF_PAGEOBJ_FORM and depth:
        for place in range(min(raw.FPDFFormObj_CountObjects(one), MOST + 1)):
            yield from _within(raw.FPDFFormObj_GetObject(one, place), depth - 1)


def _address(pointer: Any) -> int:
    return addressof(pointer.contents) if pointer else 0


class _Actual:
    """What a page says by ActualText, each once; ``found`` says that it does."""

    def __init__(self) -> None:
        self.found = False
        self._texts: dict[int, str | None] = {}

    def of(self, one: Any) -> str | None:
        """Return what is said of a text object; "" if that was returned, None if nothing is.

        Of marks in one another the outermost counts.
        """
        for place in range(raw.FPDFPageObj_CountMarks(one)):
            mark = raw.FPDFPageObj_GetMark(one, place)
            key = _address(mark)
            if key not in self._texts:
                self._texts[key] = _actual(mark)
            if (said := self._texts[key]) is not None:
                self.found, self._texts[key] = True, ""
                return said
        return None


def _actual(mark: Any) -> str | None:
    """Return the ActualText of a mark, a text string (ISO 32000-2 §7.9.2.2)."""
    ask, size = raw.FPDFPageObjMark_GetParamBlobValue, ctypes.c_ulong(0)
    if not ask(mark, b"ActualText", None, 0, size) or size.value > _LONGEST:
        return None
    buffer = ctypes.create_string_buffer(size.value + 1)
    ask(mark, b"ActualText", ctypes.cast(buffer, ask.argtypes[2]), size.value, size)
    said = buffer.raw[: size.value]
    if said.startswith(b"\xfe\xff"):
        return said[2:].decode("utf-16-be", "replace")
    if said.startswith(b"\xef\xbb\xbf"):
        return said[3:].decode("utf-8", "replace")
    return said.decode("latin-1")


_Run = tuple[int, list[int]]


def _runs(text: PdfTextPage) -> dict[int, list[_Run]]:
    """Return the letters of each object, by its address: another run after what may be a blank.

    A run is the place of its first letter, and its code points or parts of such.
    """
    found: dict[int, list[_Run]] = {}
    before = 0
    for place in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, place)
        if code in _BLANKS and raw.FPDFText_IsGenerated(text, place) == 1:
            before = 0
            continue
        here = _address(raw.FPDFText_GetTextObject(text, place))
        if here != before:
            found.setdefault(here, []).append((place, []))
        found[here][-1][1].append(code)
        before = here
    return found


def _joined(codes: list[int]) -> str:
    written = "".join(map(chr, codes))
    return written.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Measure:
    """Where objects and letters are, by PDFium; a page has thousands, and what it fills is one."""

    def __init__(self) -> None:
        self._matrix, self._size = raw.FS_MATRIX(), ctypes.c_float(0)
        self._edges = tuple(ctypes.c_float(0) for _ in range(4))
        self._box = tuple(ctypes.c_double(0) for _ in range(4))

    def whole(self, one: Any) -> _Piece | None:
        """Return where a text object is; None if it isn't written to the right."""
        matrix = self._matrix
        raw.FPDFPageObj_GetMatrix(one, matrix)
        if matrix.a <= 0 or abs(matrix.b) > 0.1 * matrix.a:
            return None
        raw.FPDFTextObj_GetFontSize(one, self._size)
        raw.FPDFPageObj_GetBounds(one, *self._edges)
        height = abs(self._size.value * matrix.d) or 1.0
        return _Piece("", matrix.e, self._edges[2].value, matrix.f, height)

    def part(self, text: PdfTextPage, whole: _Piece, first: int, codes: list[int]) -> _Piece:
        """Return one of several runs of an object."""
        at, line, *_ = self._box
        raw.FPDFText_GetCharOrigin(text, first, at, line)
        begin, last = at.value, first + len(codes)
        right = max(self._right(text, place) for place in range(max(first, last - _CLUSTER), last))
        return whole._replace(text=_joined(codes), at=begin, right=right)

    def _right(self, text: PdfTextPage, place: int) -> float:
        raw.FPDFText_GetCharBox(text, place, *self._box)  # left, right, bottom, top
        return float(self._box[1].value)


def _lines(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """Yield the pieces of each line, as they were drawn."""
    line: list[_Piece] = []
    for piece in pieces:
        if line and abs(piece.line - line[0].line) > _NEXT_LINE * max(piece.size, line[0].size):
            yield line
            line = []
        line.append(piece)
    if line:
        yield line


def _line(pieces: list[_Piece]) -> str:
    """Return the text of a line, with blanks where there is room for one."""
    clusters: list[list[_Piece]] = []
    for piece in pieces:
        if clusters and piece.goes_on:
            clusters[-1].append(piece)
        else:
            clusters.append([piece])
    clusters.sort(key=lambda cluster: cluster[0].at)
    out, right, is_drawn = "", 0.0, False
    for cluster in clusters:
        text, first = "".join(piece.text for piece in cluster), cluster[0]
        if text == " ":
            is_drawn = True
            continue
        if out and out[-1] != " " and text[:1] != " ":
            is_close = _EAST_ASIAN.match(text) and _EAST_ASIAN.match(out[-1])
            room = _BLANK if is_drawn else _WIDE_GAP if is_close else _GAP
            out += " " if first.at - right > room * first.size else ""
        out += text
        right = max(right, *(piece.right for piece in cluster), 0.0)
        is_drawn = False
    return out
