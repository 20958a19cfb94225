"""Text of a PDF's page with the letters that its author says, and each mark at its letter.

PDFium puts what is drawn in a line in the order of places. A mark that begins before its letter is
moved away from it, and marks that are drawn after all letters of a line end it; what a PDF says by
ActualText of some glyphs (ISO 32000-2 §14.9.4) is given again once others come between them; and
blanks are seen where a mark is narrower than its letter.
Here a mark stays with the letter that was drawn before it, or else with the one that it is drawn
over, and ActualText is taken once.

Importing this loads PDFium.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import category

from pypdfium2 import PdfTextPage, raw

from lswc.reading.documents.pdf_objects import PAGE_OBJECTS, address, texts, written

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

_MARKED = re.compile("[\u0900-\u109f\u1780-\u17ff\ua980-\ua9df\uaa00-\uaa7f]")
_CLUSTERS = re.compile("[\u1000-\u109f\u1780-\u17ff\ue000-\uf6ff\ufffd]")
# What is written to the left PDFium puts in order better.
_TO_THE_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_EAST_ASIAN = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_LONGEST = 20_000  # bytes of an ActualText
_NEXT_LINE = 0.6  # of the size of the letters
_BLANK = 0.15  # of it: from the edge of a letter to where the next is put
_GAP = 0.2  # the same, where no blank is drawn
_WIDE_GAP = 0.8  # East Asian signs have room around them
_BEYOND = 0.5  # the same, to what is drawn over a letter
_PAIRS = 50  # of letters that follow each other, which tell how a page is written
_FLAT = 50  # times as wide as high
_CLUSTER = 5  # letters that may share a place
_AA = {"\u0e32": "\u0e4d", "\u0eb2": "\u0ecd"}  # a vowel, and the ring that makes it sara am
_BLANKS = frozenset({0x20, 0x0D, 0x0A})


class _Piece(NamedTuple):
    """A text drawn at once: where it begins and ends, its line, and the size of its letters.

    ``middle`` is that of what is seen of it, ``origins`` says where each of its letters is put. One
    that ``joins`` has no blank before it.
    """

    text: str
    at: float
    right: float
    line: float
    size: float
    middle: float = 0.0
    origins: Sequence[float] = ()
    joins: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether it is of the letter before it."""
        return not self.text or category(self.text[0]).startswith("M")

    @property
    def is_mark(self) -> bool:
        """Whether it is marks without an extent of their own."""
        return bool(self.text) and all(_is_mark(ord(sign)) for sign in self.text)

    @property
    def last(self) -> float:
        """Where its last letter begins."""
        letters = [at for at, sign in zip(self.origins, self.text, strict=False) if _is_base(sign)]
        return letters[-1] if letters else self.at


Said = Mapping[int, tuple[str, bool]]
"""What letters of a page say instead, by their places, and whether that is sure."""

Named = Callable[[PdfTextPage, Sequence[Any]], Said]
"""Tells it, as ``Names.on_page`` of the page does."""


def in_order(
    page: PdfPage, text: PdfTextPage, plain: str, named: Named, has_unnamed: bool
) -> tuple[str, int]:
    """Return a page's text, and how many of its letters are guessed, or missing.

    It is ``plain``, which is PDFium's, where that is as good. ``has_unnamed`` says that a font
    doesn't say what some of its glyphs are.
    """
    objects = list(texts(page))
    actual = _Actual()
    said = [actual.of(one) for one in objects]
    is_plain = _TO_THE_LEFT.search(plain) is not None or len(objects) > PAGE_OBJECTS
    is_marked = not is_plain and _MARKED.search(plain) is not None
    has_unnamed = has_unnamed or (is_marked and any(_unnamed(text)))
    # Who says what glyphs are by ActualText calls none by its cluster.
    has_clusters = is_marked and not actual.found and _CLUSTERS.search(plain) is not None
    names = named(text, objects) if has_unnamed or has_clusters else {}
    if has_unnamed:
        names = _with_blanks(text, names)
        plain = _plain(text, names)
    doubtful = sum(not is_sure for _, is_sure in names.values())
    if not is_marked and _EAST_ASIAN.search(plain) and _is_vertical(text):
        return _columns(text, objects, names), doubtful
    is_plain = is_plain or not (actual.found or is_marked)
    found = None if is_plain else _in_order(text, objects, said, names)
    return plain if found is None else found, doubtful


def _is_vertical(text: PdfTextPage) -> bool:
    """Tell whether most letters of a page stand below the letters before them."""
    number = text.count_chars() - 1
    sample = range(0, number, max(1, number // _PAIRS))
    below = 0
    for place in sample:
        (x, y), (next_x, next_y) = (_origin(text, one) for one in (place, place + 1))
        below += next_y < y and abs(next_x - x) < y - next_y
    return 2 * below > len(sample) > 1


def _columns(text: PdfTextPage, objects: Sequence[Any], names: Said) -> str:
    """Return a page in columns as it was drawn: PDFium orders them from left to right."""
    runs = _runs(text, names)
    columns: list[list[int]] = []
    last = (0.0, 0.0)
    for run in (run for one in objects for run in runs.get(address(one), [])):
        at = _origin(text, run.first)
        if not columns or at[1] > last[1] or abs(at[0] - last[0]) > abs(at[1] - last[1]):
            columns.append([])
        columns[-1] += run.codes
        last = _origin(text, run.end - 1)
    return "\n".join(map(written, columns))


def _origin(text: PdfTextPage, place: int) -> tuple[float, float]:
    x, y = ctypes.c_double(0), ctypes.c_double(0)
    raw.FPDFText_GetCharOrigin(text, place, x, y)
    return x.value, y.value


def _unnamed(text: PdfTextPage) -> Iterator[int]:
    """Yield the places of glyphs of which no map says what they are."""
    for place in range(text.count_chars()):
        if raw.FPDFText_HasUnicodeMapError(text, place) == 1:
            yield place


def _with_blanks(text: PdfTextPage, names: Said) -> Said:
    """Return names with those of blanks, which draw nothing; what is left has none."""
    edges = tuple(ctypes.c_double(0) for _ in range(4))
    found = dict(names)
    for place in _unnamed(text):
        if not found.get(place, ("", False))[0]:
            raw.FPDFText_GetCharBox(text, place, *edges)
            left, right, bottom, top = (edge.value for edge in edges)
            is_blank = right - left > _FLAT * (top - bottom)
            found[place] = (" ", True) if is_blank else ("", False)
    return found


def _plain(text: PdfTextPage, names: Said) -> str:
    codes: list[int] = []
    for place in range(text.count_chars()):
        if place in names:
            codes += map(ord, names[place][0])
        else:
            codes.append(raw.FPDFText_GetUnicode(text, place))
    return written(codes)


def _in_order(
    text: PdfTextPage, objects: Sequence[Any], said: Sequence[str | None], names: Said
) -> str | None:
    """Return a page's text by where its objects are; None if it is better as PDFium orders it.

    ``said`` is what ActualText says of each object.
    """
    runs = _runs(text, names)
    measure = _Measure(
        any(run.codes and _is_mark(run.codes[0]) for own in runs.values() for run in own)
    )
    pieces: list[_Piece] = []
    for one, instead in zip(objects, said, strict=True):
        whole = measure.whole(one)
        if whole is None:
            return None
        own = runs.get(address(one), [])
        if instead is not None:
            pieces.append(whole._replace(text=instead))
        elif len(own) == 1:
            pieces.append(whole._replace(**measure.letters(text, own[0])))
        elif own:
            pieces += [measure.part(text, whole, run) for run in own]
        elif whole.right <= whole.at:  # nothing is to be seen
            pieces.append(whole._replace(text=" "))
    return "\n".join(_line(_with_marks(_once(line))) for line in _lines(pieces))


def _is_mark(code: int) -> bool:
    """Tell whether a letter is a mark without an extent of its own."""
    return category(chr(code)) == "Mn"


def _is_base(sign: str) -> bool:
    return not category(sign).startswith("M")


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
            key = address(mark)
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


class _Run:
    """Letters of an object that follow each other: the places of the first and behind the last.

    ``codes`` are their code points, or parts of such. It ``joins`` what is before it in its object.
    """

    __slots__ = ("codes", "end", "first", "joins")

    def __init__(self, first: int, joins: bool) -> None:
        self.first = self.end = first
        self.joins = joins
        self.codes: list[int] = []

    @property
    def is_whole(self) -> bool:
        """Whether each of its places is a code point."""
        return self.end - self.first == len(self.codes)


def _runs(text: PdfTextPage, names: Said) -> dict[int, list[_Run]]:
    """Return the letters of each object, by its address: another run after what may be a blank.

    What no map names is another run, too, of its name in ``names``, or of nothing.
    """
    found: dict[int, list[_Run]] = {}
    before, was_unnamed = 0, False
    for place in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, place)
        if code in _BLANKS and raw.FPDFText_IsGenerated(text, place) == 1:
            before, was_unnamed = 0, False
            continue
        here = address(raw.FPDFText_GetTextObject(text, place))
        is_unnamed = raw.FPDFText_HasUnicodeMapError(text, place) == 1
        if here != before or is_unnamed or was_unnamed:
            found.setdefault(here, []).append(_Run(place, here == before))
        run = found[here][-1]
        run.end = place + 1
        if place in names:
            run.codes += map(ord, names[place][0])
        elif not is_unnamed:
            run.codes.append(code)
        before, was_unnamed = here, is_unnamed
    return found


class _Measure:
    """Where objects and letters are, by PDFium; a page has thousands, and what it fills is one."""

    def __init__(self, has_marks: bool) -> None:
        self._has_marks = has_marks  # in strings of their own
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
        left, _, right, _ = (edge.value for edge in self._edges)
        return _Piece("", matrix.e, right, matrix.f, height, (left + right) / 2)

    def letters(self, text: PdfTextPage, run: _Run) -> dict[str, Any]:
        """Return what a run says, and where its letters are put."""
        letters, (x, y) = written(run.codes), self._box[:2]
        if not self._has_marks or not run.is_whole or len(letters) != len(run.codes):
            return {"text": letters}
        origins = []
        for place in range(run.first, run.end):
            raw.FPDFText_GetCharOrigin(text, place, x, y)
            origins.append(x.value)
        return {"text": letters, "origins": origins}

    def part(self, text: PdfTextPage, whole: _Piece, run: _Run) -> _Piece:
        """Return one of several runs of an object."""
        at, line, *_ = self._box
        raw.FPDFText_GetCharOrigin(text, run.first, at, line)
        begin, last = at.value, range(max(run.first, run.end - _CLUSTER), run.end)
        boxes = [self._extent(text, place) for place in last]
        left, right = boxes[0][0], max(right for _, right in boxes)
        middle = (left + right) / 2
        of_run = self.letters(text, run) | {"joins": run.joins}
        return whole._replace(at=begin, right=right, middle=middle, **of_run)

    def _extent(self, text: PdfTextPage, place: int) -> tuple[float, float]:
        raw.FPDFText_GetCharBox(text, place, *self._box)  # left, right, bottom, top
        return self._box[0].value, self._box[1].value


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


def _once(line: list[_Piece]) -> list[_Piece]:
    """Return the pieces of a line without those that say again what is below or above them.

    Where the parts of a cluster are drawn at several heights, each may say the whole (Typst).
    """
    kept: list[_Piece] = []
    for piece in line:
        is_cluster = len(piece.text) > 1 and _is_base(piece.text[0])
        is_said = is_cluster and any(
            one.at <= piece.middle <= one.right and one.text.endswith(piece.text)
            for one in kept[-_CLUSTER:]
        )
        if not is_said:
            kept.append(piece)
    return kept


def _with_marks(line: list[_Piece]) -> list[_Piece]:
    """Return the pieces of a line with marks in the piece that they are drawn over.

    What is over the last letter before it, or after it, stays where it is.
    """
    if not any(piece.is_mark for piece in line):
        return line
    bases = sorted((one.at, n) for n, one in enumerate(line) if one.origins and not one.is_mark)
    over: dict[int, list[tuple[int, str]]] = {}
    kept: list[int] = []
    begin, end = 0.0, -1.0  # of the last letter before it
    for number, piece in enumerate(line):
        place = None
        if piece.is_mark and not begin <= piece.middle <= end:
            place = _place_under(line, bases, piece)
        if place is not None:
            over.setdefault(place[0], []).append((place[1], piece.text))
            continue
        kept.append(number)
        if not piece.goes_on and piece.text.strip():
            begin, end = piece.last, piece.right + _BEYOND * piece.size
    return [_marked(line[number], over.get(number, [])) for number in kept]


def _place_under(
    line: list[_Piece], bases: list[tuple[float, int]], mark: _Piece
) -> tuple[int, int] | None:
    """Return which piece a mark is drawn over, and after which of its letters it is read."""
    after = bisect_right(bases, (mark.middle, len(line)))
    for _, number in reversed(bases[max(0, after - _CLUSTER) : after]):
        piece = line[number]
        if mark.middle <= piece.right:
            place = bisect_right(piece.origins, mark.middle)
            while place < len(piece.text) and not _is_base(piece.text[place]):
                place += 1
            return number, place
    return None


def _marked(piece: _Piece, marks: list[tuple[int, str]]) -> _Piece:
    """Return a piece with marks after its letters."""
    signs = list(piece.text)
    for place, mark in marks:
        signs[max(0, place - 1)] += mark
    return piece._replace(text="".join(signs)) if marks else piece


def _line(pieces: list[_Piece]) -> str:
    """Return the text of a line, with blanks where there is room for one."""
    clusters: list[list[_Piece]] = []
    for piece in pieces:
        if clusters and piece.goes_on:
            clusters[-1].append(piece)
        else:
            clusters.append([piece])
    clusters.sort(key=lambda cluster: cluster[0].at)
    out, right, blank, is_drawn = "", 0.0, 0.0, False
    for cluster in clusters:
        text, first = "".join(piece.text for piece in cluster), cluster[0]
        if text == " ":
            is_drawn, blank = True, first.at
            continue
        if is_drawn and text[0] in _AA and first.at - blank < _BLANK * first.size:
            text = _AA[text[0]] + text  # what is drawn there without an extent is no blank
        if out and out[-1] != " " and text[:1] != " " and (is_drawn or not first.joins):
            is_close = _EAST_ASIAN.match(text) and _EAST_ASIAN.match(out[-1])
            room = _BLANK if is_drawn else _WIDE_GAP if is_close else _GAP
            left = min(piece.at for piece in cluster)  # what is of a letter may be drawn before it
            out += " " if left - right > room * first.size else ""
        out += text
        right = max(right, *(piece.right for piece in cluster), 0.0)
        is_drawn = False
    return out
