"""Marks of Thai, Lao, Khmer and Burmese are read at their letters, however a PDF draws them."""

from __future__ import annotations

from io import BytesIO

import pytest
from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

from lswc.reading.documents import pdf_content, read
from lswc.reading.documents.text import Most, Text
from lswc.safety.content_types import Kind
from tests.reading import made

_MARKS = "\u0e31\u0e34\u0e35\u0e38\u0e47\u0e48\u0e49\u0e4a\u0e4c\u0e4d"
_MARKS += "\u0ebb\u0ec8\u0ec9\u0ecd\u17b7\u17c6\u102d\u1037"


def _font(marks: set[int], number: int) -> bytes:
    """Return a TrueType font of boxes; those of marks are over the letter before, without width."""

    def box(left: int) -> object:
        pen = TTGlyphPen(None)
        for place, corner in enumerate(((0, 0), (0, 400), (400, 400), (400, 0))):
            (pen.lineTo if place else pen.moveTo)((corner[0] + left, corner[1]))
        pen.closePath()
        return pen.glyph()

    names = [".notdef", *(f"g{code}" for code in range(1, number))]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({})
    font.setupGlyf({name: box(-450 if code in marks else 50) for code, name in enumerate(names)})
    font.setupHorizontalMetrics(
        {name: (0, -450) if code in marks else (500, 50) for code, name in enumerate(names)}
    )
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Boxes", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    out = BytesIO()
    font.save(out)
    return out.getvalue()


def drawn(*shown: tuple[str, float], names: dict[str, str] | None = None) -> Text:
    """Read a PDF of texts in one line, by where each is put, in a font that it brings."""
    letters = sorted({letter for text, _ in shown for letter in text})
    codes = {letter: number for number, letter in enumerate(letters, 0x21)}
    parts = []
    for text, at in shown:
        written = "".join(f"{codes[one]:04x}" for one in text)
        parts.append(f"BT /F 10 Tf {at} 700 Td <{written}> Tj ET")
    marks = {codes[one] for one in _MARKS if one in codes}
    font = _font(marks, 0x21 + len(letters))
    widths = " ".join(f"{code} [0]" for code in sorted(marks))
    body = made.pdf([letters], names=names, stream="\n".join(parts).encode())
    return read(Kind.PDF, _embedded(body, font, f"/W [{widths}]"), "", Most())


def _embedded(body: bytes, font: bytes, widths: str = "") -> bytes:
    """Return a PDF of ``made.pdf`` with a font in it."""
    body = body.replace(b"/DW 500", f"/DW 500 /CIDToGIDMap /Identity {widths}".encode())
    body = body.replace(b"/StemV 80", b"/StemV 80 /FontFile2 90 0 R")
    stream = b"90 0 obj << /Length %d /Length1 %d >> stream\n%s\nendstream endobj\nxref\n"
    return body.replace(b"xref\n", stream % (len(font), len(font), font), 1)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        pytest.param([("เลมกอน", 50), ("่", 60), ("่", 70)], "เล่มก่อน", id="after the line"),
        pytest.param([("่", 60), ("่", 70), ("เลมกอน", 50)], "เล่มก่อน", id="before it"),
        pytest.param([("เลม", 50), ("กอน", 65), ("่", 60), ("่", 70)], "เล่มก่อน", id="two pieces"),
        pytest.param([("เล", 50), ("่", 60), ("ม", 60)], "เล่ม", id="in its place"),
        pytest.param([("เล่ม", 50)], "เล่ม", id="in one string"),
        pytest.param([("ทนี", 50), ("่", 60), ("ี", 55), ("่", 55)], "ที่นี่", id="two over one"),
        pytest.param([("ทน", 50), ("่", 55), ("ี", 55)], "ที่น", id="in another order"),
        pytest.param([("กก", 50), ("ก้ก", 80), ("ี", 55)], "กีก ก้ก", id="of the first of two"),
        pytest.param([("ຄນ", 50), ("ົ", 55)], "ຄົນ", id="Lao"),
        pytest.param([("កខគ", 50), ("ិ", 55), ("ំ", 60)], "កិខំគ", id="Khmer"),
        pytest.param([("ကခ", 50), ("ိ", 55)], "ကိခ", id="Burmese"),
        pytest.param([("ก", 50), ("่", 200)], "ก่", id="over nothing"),
    ],
)
def test_a_mark_is_read_at_the_letter_that_it_is_drawn_over(
    shown: list[tuple[str, float]], text: str
) -> None:
    assert drawn(*shown).text == text


RING = {"\u0e4d": " ", "\u0ecd": " "}


@pytest.mark.parametrize(
    ("written", "names", "text"),
    [
        ("การน\u0e4dาความรู\u0e49", RING, "การนำความรู้"),
        ("น\u0e4dาท\u0e4dา", RING, "นำทำ"),
        ("น\u0e49\u0e4dา", RING, "น้ำ"),
        ("น\u0e4d\u0e49า", RING, "น้ำ"),
        ("น\u0e4d\u0e49า", None, "น้ำ"),
        ("น\u0e49\u0e4dา", None, "น้ำ"),
        ("ຄ\u0ecdາ", RING, "ຄຳ"),
        ("ຄ\u0ec9\u0ecdາ", None, "ຄ້ຳ"),
        ("ค\u0e33าว่า", None, "คำว่า"),
        ("น\u0e33\u0e49", None, "น้ำ"),
    ],
)
def test_sara_am_is_one_letter(written: str, names: dict[str, str] | None, text: str) -> None:
    found = drawn((written, 50), names=names)
    assert (found.text, found.quality) == (text, 1.0)


@pytest.mark.parametrize("names", [RING, None])
def test_a_ring_that_is_drawn_by_itself_is_of_a_sara_am(names: dict[str, str] | None) -> None:
    ring = drawn(("น", 50), ("\u0e4d", 55), ("าก", 55), ("ก\u0e4dก", 80), names=names)
    assert ring.text[:3] == "นำก"


def test_letters_that_are_spaced_have_no_sara_am() -> None:
    assert drawn(("ป ร ะ ก า ศ", 50)).text == "ป ร ะ ก า ศ"


def test_a_vowel_without_its_letter_is_not_sure() -> None:
    assert (drawn(("กก 5 าาก", 50)).quality or 0.0) < 1.0


@pytest.mark.usefixtures("brake")
def test_many_marks_hold_no_reader() -> None:
    """One by one each would be compared with all letters of the line."""
    letters = [_piece("ก" * 20_000, 0.0), *(_piece("ข", float(n)) for n in range(20_000))]
    marks = [_piece("่", n + 0.5) for n in range(20_000)]
    found = pdf_content._with_marks([*letters, *marks])
    assert sum(piece.text.count("่") for piece in found) == 20_000
    assert len(found) < 20_100


def _piece(text: str, at: float) -> pdf_content._Piece:
    origins = [at + n for n in range(len(text))]
    return pdf_content._Piece(text, at, at + len(text), 0.0, 1.0, at, origins)


def test_marks_beside_what_a_pdf_says_of_its_glyphs() -> None:
    said = "/Span << /ActualText (ab) >> BDC BT /F 10 Tf 50 700 Td <00210021> Tj ET EMC "
    mark = "BT /F 10 Tf 52 700 Td <0022> Tj ET"
    assert read(Kind.PDF, made.pdf([["ก่"]], stream=(said + mark).encode()), "", Most()).text


def test_a_cluster_that_is_drawn_in_parts_is_read_once() -> None:
    """Each part may say the whole, as Typst has it where they are at several heights."""
    part = "BT /F 10 Tf {} {} Td <{}> Tj ET "
    stream = part.format(50, 700, "0021") + part.format(50, 696, "0022")
    stream += part.format(55, 700, "0021")
    names = {"ก": "ក្ដី", "ข": "ក្ដី"}
    body = made.pdf([["กข"]], names=names, stream=stream.encode())
    assert read(Kind.PDF, _embedded(body, _font(set(), 0x23)), "", Most()).text == "ក្ដី" * 2


@pytest.mark.parametrize(("rule", "text"), [(True, "ក្ដក"), (False, "កក")])
def test_a_glyph_without_a_name_is_what_its_font_says(rule: bool, text: str) -> None:
    """Its number is no letter: if the font doesn't say which it is, it is left out."""
    letters = sorted("កX្ដ")
    codes = {letter: number for number, letter in enumerate(letters, 0x21)}
    font = TTFont(BytesIO(_font(set(), 0x21 + len(letters))))
    if rule:
        cmap = {ord(letter): f"g{code}" for letter, code in codes.items() if letter != "X"}
        for table in font["cmap"].tables:
            table.cmap = cmap
        below = f"sub g{codes['្']} g{codes['ដ']} by g{codes['X']};"
        addOpenTypeFeaturesFromString(font, f"feature blwf {{ {below} }} blwf;")
    out = BytesIO()
    font.save(out)
    shown = "".join(f"{codes[one]:04x}" for one in "កXក")
    stream = f"BT /F 10 Tf 50 700 Td <{shown}> Tj ET".encode()
    body = made.pdf([letters], names={"X": ""}, stream=stream)
    assert read(Kind.PDF, _embedded(body, out.getvalue()), "", Most()).text == text


_NAMED = {"ក": "ក្រ", "X": ""}  # the first glyph of a cluster by all of it, the other by nothing


@pytest.mark.parametrize(
    ("names", "shift", "text"),
    [
        pytest.param(_NAMED, 0, "ក្រខខ្រគឃងចកគឃងច", id="named by its cluster"),
        pytest.param({"X": "ក្រ", "ក": ""}, 0, "ក្រខខ្រគឃងចកគឃងច", id="and the mark, not the letter"),
        pytest.param({"X": "\ufffd"}, 0, "\ufffdកខ\ufffdខគឃងចកគឃងច", id="by none"),
        pytest.param(_NAMED, 1, "ក្រខខគឃងចក្រគឃងច", id="in a font of other numbers"),
    ],
)
def test_a_glyph_that_is_called_by_its_cluster(
    names: dict[str, str], shift: int, text: str
) -> None:
    """A part of a font, as some writers bring it, has the table of letters and no rules."""
    letters = sorted("កខគឃងចX")
    codes = {letter: number for number, letter in enumerate(letters, 0x21)}
    font = TTFont(BytesIO(_font(set(), 0x22 + len(letters))))
    cmap = {ord(one): f"g{code + shift}" for one, code in codes.items() if one != "X"}
    for table in font["cmap"].tables:
        table.cmap = cmap
    out = BytesIO()
    font.save(out)
    shown = "".join(f"{codes[one]:04x}" for one in "XកខXខគឃងចកគឃងច")
    stream = f"BT /F 10 Tf 50 700 Td <{shown}> Tj ET".encode()
    body = made.pdf([letters], names=names, stream=stream)
    found = read(Kind.PDF, _embedded(body, out.getvalue()), "", Most())
    assert found.text == text
    assert (found.quality or 0.0) < 1.0


@pytest.mark.parametrize("text", ["กข ขก กข", "ab ba ab"])
def test_a_glyph_without_a_name_that_draws_nothing_is_a_blank(text: str) -> None:
    letters = sorted(set(text))
    font = TTFont(BytesIO(_font(set(), 0x21 + len(letters))))
    font["glyf"]["g33"] = TTGlyphPen(None).glyph()  # the first of them is the blank
    out = BytesIO()
    font.save(out)
    body = made.pdf([[text]], names={" ": ""})
    found = read(Kind.PDF, _embedded(body, out.getvalue()), "", Most())
    assert (found.text, found.quality) == (text, 1.0)
