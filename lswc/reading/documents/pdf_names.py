"""Names of a PDF's glyphs: their letters, where its map names more than a glyph says, or nothing.

Of a cluster of Khmer or Burmese some writers call the first glyph by all of its letters, and the
others by none: so does the map wherever that glyph is drawn again (ISO 32000-2 §9.10.3). The font
may know better, and what is left of a cluster is of the glyph that has no name.

PDFium tells what the map says, and tells a glyph's number only if no map does. So a document whose
maps are out of the way is read beside it. Importing this loads PDFium.
"""

from __future__ import annotations

import ctypes
import re
from io import BytesIO
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import category

from pypdfium2 import PdfDocument, PdfiumError, raw

from lswc.reading.documents.pdf_glyphs import embedded, letters
from lswc.reading.documents.pdf_objects import address, texts, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Self

    from pypdfium2 import PdfTextPage

COPY_BYTES = 30_000_000
"""Bytes of a document that is copied at most."""

_MAP, _NO_MAP = b"/ToUnicode", b"/ToUnicodX"
_CLUSTER = 5  # glyphs beside one that may be of its cluster
_LEAST, _AGREED = 5, 0.9  # letters of which map and font say both, and the share that they agree on
_OF_CLUSTERS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


class Glyph(NamedTuple):
    """A glyph as it is drawn: its number, what its map calls it, and where these letters are."""

    number: int
    called: str
    places: Sequence[int]


class _Font:
    """What is known of a font's glyphs, by their numbers."""

    def __init__(self, own: dict[int, str], is_whole: bool) -> None:
        self._own, self._is_whole = own, is_whole
        self._is_own = False  # the numbers are the font's
        self.names: dict[int, str] = {}
        self._shared: set[int] = set()
        self._left: dict[int, str] = {}  # of a cluster, for a glyph without a name

    def meet(self, drawn: Sequence[Sequence[Glyph]]) -> None:
        """Take the glyphs of each text, as they are drawn one after another."""
        fresh = []
        for glyphs in drawn:
            for place, glyph in enumerate(glyphs):
                if self.names.setdefault(glyph.number, glyph.called) != glyph.called:
                    continue
                if glyph.number not in self._shared and _is_cluster(glyph.called):
                    self._shared.add(glyph.number)
                    fresh.append((glyphs, place))
        self._is_own = self._agrees()
        for glyphs, place in fresh:
            self._share(glyphs, place)

    def of(self, glyph: Glyph) -> tuple[str, bool]:
        """Return what a glyph says, and whether that is sure."""
        own, called = self._known(glyph.number), glyph.called
        if own and (_is_nothing(called, own) or _is_more(called, own)):
            return own, True
        if len(own) > 1 and self._is_whole and _OF_CLUSTERS.match(own):
            return own, True
        if not own and glyph.number in self._left:
            return self._left[glyph.number], False
        return called, not _is_nothing(called)

    def _known(self, number: int) -> str:
        return self._own.get(number, "") if self._is_own else ""

    def _agrees(self) -> bool:
        """Tell whether the font calls letters as the map does, so that it has these numbers."""
        both = [
            self._own[number] == called
            for number, called in self.names.items()
            if len(called) == 1 and not called.isspace() and number in self._own
        ]
        return (self._is_whole or len(both) >= _LEAST) and sum(both) >= _AGREED * len(both)

    def _share(self, glyphs: Sequence[Glyph], place: int) -> None:
        """Give what a glyph is called besides its own letters to the one that has no name."""
        first = glyphs[place]
        left, own = first.called, self._known(first.number)
        nameless = set() if own else {first.number}
        left = _without(left, own)
        for beside in (
            glyphs[place + 1 : place + 1 + _CLUSTER],
            glyphs[max(0, place - _CLUSTER) : place][::-1],
        ):
            for glyph in beside:
                own = self._known(glyph.number) or glyph.called
                if _is_nothing(own):
                    nameless.add(glyph.number)
                elif _is_more(left, own, 0):
                    left = _without(left, own)
                else:
                    break
        if left and len(nameless) == 1 and left != first.called:
            self._left.setdefault(nameless.pop(), left)


def _is_cluster(called: str) -> bool:
    """Tell whether a name is a letter and more: what begins otherwise is a part of a cluster."""
    return len(called) > 1 and category(called[0]) == "Lo"


def _is_nothing(called: str, own: str = " ") -> bool:
    """Tell whether a name says nothing; nor does a blank, of a letter."""
    is_blank = called == " " and not own.isspace()
    return called in {"", "\ufffd"} or is_blank or _is_private(called)


def _is_private(called: str) -> bool:
    return bool(called) and category(called[0]) == "Co"


def _is_more(called: str, own: str, by: int = 1) -> bool:
    """Tell whether a name has all letters of another, and so many more."""
    return len(called) >= len(own) + by and all(called.count(one) >= own.count(one) for one in own)


def _without(letters: str, some: str) -> str:
    for one in some:
        letters = letters.replace(one, "", 1)
    return letters


class Names:
    """What the glyphs of a document say, from page to page."""

    def __init__(self, document: PdfDocument) -> None:
        self._document = document
        self._copy: PdfDocument | None = None
        self._is_copied = False
        self._fonts: dict[int, _Font] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._copy is not None:
            self._copy.close()

    def on_page(
        self, index: int, text: PdfTextPage, objects: Sequence[Any]
    ) -> dict[int, tuple[str, bool]]:
        """Return what letters of a page say instead, by their places, and whether it is sure.

        ``objects`` are those of its texts, as ``pdf_objects.texts`` yields them.
        """
        places, numbers = _by_object(text), self._numbers(index)
        by_font: dict[_Font, list[list[tuple[list[int], list[int]]]]] = {}
        for one, of_object in zip(objects, numbers, strict=False):
            font = self._font(one)
            if groups := _together(text, places.get(address(one), []), of_object):
                by_font.setdefault(font, []).append(groups)
                for glyphs, there in groups:
                    if len(glyphs) == 1:
                        font.names.setdefault(glyphs[0], _called(text, there))
        said: dict[int, tuple[str, bool]] = {}
        for font, drawn in by_font.items():
            split = [
                [_split(text, *group, font.names) or [] for group in groups] for groups in drawn
            ]
            whole = [list(chain.from_iterable(one)) for one in split]
            font.meet(whole)
            for glyph in chain.from_iterable(whole):
                told, is_sure = font.of(glyph)
                if glyph.places and (told != glyph.called or not is_sure):
                    said |= dict.fromkeys(glyph.places, ("", is_sure))
                    said[glyph.places[0]] = told, is_sure
        return said

    def _font(self, one: Any) -> _Font:
        content = embedded(raw.FPDFTextObj_GetFont(one))
        key = hash(content)
        if key not in self._fonts:
            self._fonts[key] = _Font(*letters(content))
        return self._fonts[key]

    def _numbers(self, index: int) -> list[list[_Number]]:
        """Return the glyphs of each text object of a page; none if it hides their numbers."""
        copy = self._unmapped()
        if copy is None:
            return []
        try:
            page = copy[index]
        except PdfiumError:
            return []
        try:
            text = page.get_textpage()
            places = _by_object(text)
            return [_numbers_of(text, places.get(address(one), [])) for one in texts(page)]
        except PdfiumError:
            return []
        finally:
            page.close()

    def _unmapped(self) -> PdfDocument | None:
        """Return the document without its maps; None if it can't be."""
        if not self._is_copied:
            self._is_copied = True
            out = BytesIO()
            try:
                self._document.save(out)
                if out.tell() <= COPY_BYTES:
                    self._copy = PdfDocument(out.getvalue().replace(_MAP, _NO_MAP))
            except PdfiumError:
                pass
        return self._copy


class _Number(NamedTuple):
    """The number of a glyph, and where it is put."""

    number: int
    at: tuple[float, float]


def _by_object(text: PdfTextPage) -> dict[int, list[int]]:
    """Return the places of the letters of each text object of a page, by its address."""
    found: dict[int, list[int]] = {}
    for place in range(text.count_chars()):
        if raw.FPDFText_IsGenerated(text, place) != 1:
            found.setdefault(address(raw.FPDFText_GetTextObject(text, place)), []).append(place)
    return found


def _numbers_of(text: PdfTextPage, places: Sequence[int]) -> list[_Number]:
    if not all(raw.FPDFText_HasUnicodeMapError(text, place) == 1 for place in places):
        return []  # their encoding names them
    return [
        _Number(raw.FPDFText_GetUnicode(text, place), at)
        for place, at in zip(places, _origins(text, places), strict=True)
    ]


def _origins(text: PdfTextPage, places: Iterable[int]) -> Iterator[tuple[float, float]]:
    x, y = ctypes.c_double(0), ctypes.c_double(0)
    for place in places:
        raw.FPDFText_GetCharOrigin(text, place, x, y)
        yield round(x.value, 2), round(y.value, 2)


def _together(
    text: PdfTextPage, places: Sequence[int], numbers: Sequence[_Number]
) -> list[tuple[list[int], list[int]]]:
    """Return the numbers of a text's glyphs and the places of letters that are put at one point.

    Both are in the order in which they are drawn. None are returned if these don't go together.
    """
    letters_at = [
        (at, [place for _, place in group])
        for at, group in groupby(zip(_origins(text, places), places, strict=True), itemgetter(0))
    ]
    letters_at.reverse()
    found = []
    for at, group in groupby(numbers, key=lambda one: one.at):
        there = letters_at.pop()[1] if letters_at and letters_at[-1][0] == at else []
        found.append(([one.number for one in group], there))
    return [] if letters_at else found


def _split(
    text: PdfTextPage, numbers: Sequence[int], places: Sequence[int], names: Mapping[int, str]
) -> list[Glyph] | None:
    """Return glyphs that are put at one point, each with its letters; None if that isn't clear."""
    if not numbers:
        return None if places else []
    first, rest = numbers[0], numbers[1:]
    if not rest or len(numbers) == len(places) or not places:
        size = 1 if rest and places else len(places)
    elif raw.FPDFText_HasUnicodeMapError(text, places[0]) == 1:
        size = 1
    elif first in names:
        size = len(names[first])
    else:
        known = [len(names[one]) if one in names else None for one in rest]
        size = 0 if None in known else len(places) - sum(one or 0 for one in known)
        if size <= 0:
            return None
    glyph = Glyph(first, _called(text, places[:size]), places[:size])
    if glyph.called != names.get(first, glyph.called):
        return None
    others = _split(text, rest, places[size:], names)
    return None if others is None else [glyph, *others]


def _called(text: PdfTextPage, places: Sequence[int]) -> str:
    """Return what a map calls a glyph; "" if it calls it nothing."""
    if len(places) == 1 and raw.FPDFText_HasUnicodeMapError(text, places[0]) == 1:
        return ""
    return written(raw.FPDFText_GetUnicode(text, place) for place in places)
