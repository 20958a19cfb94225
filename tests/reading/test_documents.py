"""Documents give their text and links; those that are hostile or broken give what can be had."""

from __future__ import annotations

import itertools
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from lswc.reading.documents import deadline, epub, packed, read, separate_process
from lswc.reading.documents.separate_process import DocumentProcess
from lswc.reading.documents.text import Most, Text
from lswc.safety.content_types import Kind
from tests.reading import made
from tests.reading.hostile_documents import CUT, documents
from tests.reading.old_files import workbook
from tests.scenarios.site import THAI

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINE = THAI[:60].strip()
LAST = "http://shown.example/(a), www.shown.example."
ADDRESSES = [("http://shown.example/(a)", ""), ("http://www.shown.example", "")]


def of(kind: Kind, body: bytes, content_type: str = "", **most: int) -> Text:
    return read(kind, body, content_type, Most(**most))


def test_a_pdf() -> None:
    lines = [LINE, LINE[:50] + "ก" * 8, LINE[:20]]
    body = made.pdf([lines, [LAST]], title="ชื่อ", lang="th-TH", links=["http://a.example/", "b"])
    text = of(Kind.PDF, body)
    assert text.text == f"{''.join(lines)}\n{LAST}"
    assert (text.title, text.lang, text.is_cut) == ("ชื่อ", "th-th", False)
    assert list(text.references) == [("http://a.example/", LINE), ("b", lines[1]), *ADDRESSES]


def test_no_font_of_this_machine_has_a_part_in_a_text() -> None:
    """A font that isn't embedded is looked up among the machine's: then a text depended on them."""
    from pypdfium2 import raw

    asked: list[bytes] = []
    fonts = raw.FPDF_SYSFONTINFO(version=1)
    map_font = dict(raw.FPDF_SYSFONTINFO._fields_)["MapFont"]
    fonts.MapFont = map_font(lambda *arguments: asked.append(arguments[5]))
    raw.FPDF_SetSystemFontInfo(fonts)
    assert of(Kind.PDF, made.pdf([["a"]])).text == "a"
    assert asked == []


def japanese(places: Iterable[tuple[str, int, int]], way: str = "H") -> Text:
    """Read a PDF as older programs write it: a font by its name, and texts where each is put."""
    font = (
        f"<< /Type /Font /Subtype /Type0 /BaseFont /Ryumin-Light /Encoding /90ms-RKSJ-{way}"
        " /DescendantFonts [<< /Type /Font /Subtype /CIDFontType0 /BaseFont /Ryumin-Light /DW 1000"
        " /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >>"
        " /FontDescriptor 6 0 R >>] >>"
    )
    shown = "\n".join(
        f"BT /G 10 Tf {x} {y} Td <{text.encode('cp932').hex()}> Tj ET" for text, x, y in places
    )
    body = made.pdf(stream=shown.encode()).replace(b"/F 3 0 R >>", f"/G {font} >>".encode())
    return of(Kind.PDF, body)


def test_a_letter_alone_of_a_font_that_is_not_there_is_read() -> None:
    written = "日本語の日"
    row = ((letter, 50 + 10 * place, 700) for place, letter in enumerate(written))
    assert japanese(row).text == written


def test_a_page_in_columns_is_read_from_the_right() -> None:
    """PDFium has columns that begin at one height from left to right."""
    columns = ["これは縦に書かれた文です。", "次の行は左にあります。また", "終わり"]
    places = [(column, 300 - 20 * number, 700) for number, column in enumerate(columns)]
    assert japanese(places, "V").text == "".join(columns)


def test_a_word_file() -> None:
    link = '<w:hyperlink r:id="a"><w:r><w:t>{}</w:t></w:r></w:hyperlink>'
    fallback = "<mc:Fallback xmlns:mc='m'><w:r><w:t>again</w:t></w:r></mc:Fallback>"
    field = '<w:r><w:instrText> HYPERLINK "http://field.example/" </w:instrText></w:r>'
    deleted = "<w:r><w:delText>gone</w:delText></w:r>"
    rest = f"<w:p>{link.format('here')}{fallback}{deleted}{field}</w:p>"
    thai = '<w:lang w:val="en-US" w:bidi="th-TH"/>'
    body = made.docx(
        made.paragraph(LINE, thai) + rest + made.paragraph(LAST, thai),
        title="ชื่อ",
        links={"a": "http://a.example/?x=1&y=2"},
    )
    text = of(Kind.WORD, body)
    assert text.text == f"{LINE}\nhere\n{LAST}"
    assert (text.title, text.lang, text.is_cut) == ("ชื่อ", "th-th", False)
    targets = [("http://a.example/?x=1&y=2", "here"), ("http://field.example/", "")]
    assert list(text.references) == [*targets, *ADDRESSES]
    assert of(Kind.WORD, made.docx(made.paragraph(LINE, thai), lang="lo")).lang == "lo"


@pytest.mark.parametrize(
    ("written", "lang"), [("Xin chào", "vi-vn"), ("ภาษาไทย", "th-th"), ("日本語", "ja-jp")]
)
def test_a_run_of_a_word_file_has_a_language_for_each_kind_of_script(
    written: str, lang: str
) -> None:
    said = '<w:lang w:val="vi-VN" w:bidi="th-TH" w:eastAsia="ja-JP"/>'
    assert of(Kind.WORD, made.docx(made.paragraph(written, said))).lang == lang


@pytest.mark.parametrize(
    ("written", "lang"), [("Xin chào", "vi-VN"), ("ภาษาไทย", "th-TH"), ("日本語", "ja-JP")]
)
def test_a_run_of_a_slide_has_one_language_for_all_scripts(written: str, lang: str) -> None:
    assert of(Kind.POWERPOINT, made.pptx(written, lang=lang)).lang == lang.lower()


def test_a_tab_and_a_break_divide_words() -> None:
    run = "<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:tab/><w:t>c</w:t><w:cr/><w:t>d</w:t></w:r>"
    assert of(Kind.WORD, made.docx(f"{run}</w:p>")).text == "a\nb\tc\nd"


def test_an_opendocument_file() -> None:
    styles = (
        b"<o xmlns:style='s' xmlns:fo='f'><style:default-style><style:text-properties"
        b" fo:language='en' style:language-complex='th'/></style:default-style></o>"
    )
    note = "<office:annotation><text:p>note</text:p></office:annotation>"
    body = made.odt(
        f'<text:h>{LINE}{note}</text:h>\n<text:p>a<text:s/>b <text:a xlink:href="../c">c</text:a>'
        f"</text:p><text:p>{LAST}</text:p>",
        title="ชื่อ",
        parts={"styles.xml": styles},
    )
    text = of(Kind.OPENDOCUMENT, body)
    assert text.text == f"{LINE}\na b c\n{LAST}"
    assert (text.title, text.lang, text.is_cut) == ("ชื่อ", "th", False)
    assert list(text.references) == [("../c", "c"), *ADDRESSES]


def test_a_powerpoint_file() -> None:
    body = made.pptx(LINE, LAST, *"c" * 9, title="ชื่อ", links={"a": "http://a.example/"})
    text = of(Kind.POWERPOINT, body)
    assert text.text.splitlines() == [LINE, LAST, *"c" * 9]
    assert (text.title, text.lang, text.is_cut) == ("ชื่อ", "th-th", False)
    assert list(text.references) == [("http://a.example/", ""), *ADDRESSES]


def test_an_excel_file() -> None:
    body = made.xlsx(LINE, "b", inline=LAST, title="ชื่อ", links={"a": "http://a.example/"})
    text = of(Kind.EXCEL, body)
    assert (text.title, text.text, text.is_cut) == ("ชื่อ", f"{LAST}\n{LINE}", False)
    assert list(text.references) == [("http://a.example/", ""), *ADDRESSES]
    text = of(Kind.EXCEL, made.xlsx(inline=LINE, formula="of it"))
    assert (text.text, text.is_cut) == (f"{LINE}\nof it", False)


def test_a_book() -> None:
    links = '<p><a href="http://a.example/">out</a><a href="page1.xhtml">in</a></p>'
    text = of(
        Kind.EPUB, made.epub(f"<p>{LINE}&nbsp;</p>", links, f"<p>{LAST}", title="ชื่อ", lang="th")
    )
    assert (text.text, text.title, text.lang) == (f"{LINE}\noutin\n{LAST}", "ชื่อ", "th")
    assert list(text.references) == [("http://a.example/", "out"), *ADDRESSES]
    assert not text.is_cut


@pytest.mark.parametrize(
    ("page", "text"),
    [
        pytest.param('<p>a<a id="x"/>b</p><p>c</p>', "ab\nc", id="an anchor that closes itself"),
        pytest.param('<script src="x"/><p>a</p><style/><p>b</p>', "a\nb", id="a script that does"),
        pytest.param("<p><![CDATA[1 < 2]]></p>", "1 < 2", id="CDATA"),
        pytest.param(
            "<p>It is <i>very</i> good,<br/>so.</p>", "It is very good,\nso.", id="inline"
        ),
        pytest.param('<p>a <a href="n.xhtml">b</a> c</p>', "a b c", id="a link in a sentence"),
        pytest.param("<p>a<p>b", "a\nb", id="no XML"),
    ],
)
def test_a_page_of_a_book_is_xml(page: str, text: str) -> None:
    assert of(Kind.EPUB, made.epub(page)).text == text


def test_the_head_of_a_page_of_a_book_is_no_text() -> None:
    page = f"<?xml version='1.0'?><html><head><title/></head><body>{LINE}</body></html>"
    for coded in (page.encode("utf-16"), page.encode(), page.encode("cp874")):
        book = made.epub("", parts={"OPS/page0.xhtml": coded})
        assert of(Kind.EPUB, book).text == LINE


def test_what_a_book_encrypts_is_not_read() -> None:
    said = "<e><CipherReference URI='OPS/page0.xhtml'/></e>"
    book = made.epub("a", "b", parts={"META-INF/encryption.xml": said.encode()})
    assert (of(Kind.EPUB, book).text, of(Kind.EPUB, book).is_cut) == ("b", True)


def test_a_page_of_a_book_is_read_once() -> None:
    order = b'<itemref idref="page0.xhtml"/>'
    with ZipFile(BytesIO(made.epub("a", "b"))) as archive:
        package = archive.read("OPS/package.opf").replace(order, order * 10_000)
    text = of(Kind.EPUB, made.epub("a", "b", parts={"OPS/package.opf": package}))
    assert (text.text, text.is_cut) == ("a\nb", False)


@pytest.mark.parametrize(
    ("href", "name"),
    [
        ("a%20b.xhtml", "OPS/a b.xhtml"), ("a%20b.xhtml", "OPS/a%20b.xhtml"),
        ("../a.xhtml?b#c", "a.xhtml"), ("/OPS/a.xhtml", "OPS/a.xhtml"),
        ("i%CC%82.xhtml", "OPS/\u00ee.xhtml"), ("Text/A.xhtml", "OPS/text/a.xhtml"),
        ("b/a.xhtml", "OPS\\b\\a.xhtml"),
    ],
)  # fmt: skip
def test_a_page_of_a_book_is_found_however_its_name_is_spelled(href: str, name: str) -> None:
    package = f'<x><item id="a" href="{href}"/><itemref idref="a"/></x>'.encode()
    parts = {"OPS/package.opf": package, name: b"<html><p>a"}
    assert of(Kind.EPUB, made.epub(parts=parts)).text == "a"


def test_a_picture_in_the_order_of_a_book_is_no_text() -> None:
    picture = b"\x89PNG\r\n\x1a\n" + b"abc " * 100
    assert of(Kind.EPUB, made.epub("", "b", parts={"OPS/page0.xhtml": picture})).text == "b"


def test_a_rich_text_file() -> None:
    in_font = "".join(f"\\'{byte:02x}" for byte in LINE.encode("cp874"))
    coded = "".join(f"\\u{ord(one)}?" for one in LINE)
    field = '{\\field{\\*\\fldinst{HYPERLINK "http://a.example/?x=1&y=2"}}{\\fldrslt here}}'
    picture = "{\\pict " + "0f" * 500_000 + "}"
    about = "{\\info{\\title \\u3594?\\u3639?\\u3656?\\u3629?}}"
    body = made.rtf(
        f"{about}{picture}{in_font}\\par {coded}\\par {{{field}}}\\par \\u-10179?\\u-8704?"
    )
    text = of(Kind.RTF, body)
    assert text.text.splitlines() == [LINE, LINE, "here", "\U0001f600"]
    assert (text.title, text.is_cut) == ("ชื่อ", False)
    assert list(text.references) == [("http://a.example/?x=1&y=2", "")]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("a{\\deleted b}c", "ac"),
        ("a{\\deleted b{\\b c}\\'e1\\u3594?\\par d}e", "ae"),
        ("a\\deleted b\\deleted0 c", "ac"),
        ("a{\\v b}c\\v d\\plain e", "ace"),
        ("a\\viewkind4 b\\deletedx c", "abc"),
        ("{\\deleted a", ""),
        ("a}}}{\\deleted b}", "a"),
    ],
)
def test_what_was_deleted_from_a_rich_text_is_not_there(written: str, text: str) -> None:
    assert of(Kind.RTF, made.rtf(written)).text == text


@pytest.mark.parametrize(
    "title",
    ["Microsoft Word - ประกาศ.doc", "untitled", "Untitled-1", "report_2560.pdf", "ประกาศ.docx",
     "Document1", "Slide 1", "PowerPoint Presentation", "ภาพนิ่ง 1", "無題", "Book1", "doc (2)",
     "????"],
)  # fmt: skip
def test_a_name_of_a_file_is_no_title(title: str) -> None:
    assert of(Kind.PDF, made.pdf([["a"]], title=title)).title == ""
    assert of(Kind.WORD, made.docx(title=title)).title == ""


@pytest.mark.parametrize(
    "title", ["Document of the year", "Slide guitar", "a.b", "ประกาศ 1", "Node.js"]
)
def test_a_title_is_kept(title: str) -> None:
    assert of(Kind.WORD, made.docx(title=title)).title == title


def with_form(*fields: str) -> Text:
    """Read a PDF with annotations of a form, each the inner of a dictionary."""
    kids = " ".join(f"{90 + number} 0 R" for number in range(len(fields)))
    form = made.pdf([["a"]], extra=f"/AcroForm << /Fields [{kids}] >>", links=["http://x.test/"])
    form = form.replace(b"/Annots [", f"/Annots [{kids} ".encode())
    objects = "".join(
        f"{90 + number} 0 obj << /Type /Annot /Rect [0 0 99 20] {one} >> endobj\n"
        for number, one in enumerate(fields)
    )
    return of(Kind.PDF, form.replace(b"xref\n", objects.encode() + b"xref\n", 1))


FIELD = "/Subtype /Widget /FT /Tx /T (x)"
SCRIPT = "/A << /S /JavaScript /JS (app.alert\\(1\\); while \\(1\\);) >>"


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (f"{FIELD} /V (b)", "a\nb"),
        (f"{FIELD} /V <feff0e010e02>", "a\nกข"),
        (f"{FIELD} /V (b) /F 2", "a"),
        (f"{FIELD} /V (b) /Ff 8192", "a"),
        ("/Subtype /Widget /FT /Ch /T (x) /Ff 131072 /Opt [(b) (c)] /V (c)", "a\nc"),
        ("/Subtype /Widget /FT /Btn /T (x) /V /Yes", "a"),
        ("/Subtype /FreeText /Contents (b\\r\\rc)", "a\nb\nc"),
        ("/Subtype /Text /Contents (a comment)", "a"),
        (f"{FIELD} /V (b) {SCRIPT} /AA << /O {SCRIPT[3:]} >>", "a\nb"),
        (f"{FIELD} /Parent 90 0 R", "a"),
    ],
)
def test_what_is_written_into_a_pdf_is_read(field: str, text: str) -> None:
    found = with_form(field)
    assert (found.text, found.is_cut) == (text, False)
    assert [one.target for one in found.references] == ["http://x.test/"]


def test_a_table_as_text() -> None:
    assert of(Kind.CSV, f"a;{LINE}\r\n".encode("cp874"), "text/csv").text == f"a;{LINE}\n"


OLDER_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1_000)
LOCKED_FILE = OLDER_FILE + "EncryptedPackage".encode("utf-16-le")


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        (Kind.WORD, OLDER_FILE, "older format"),
        (Kind.POWERPOINT, OLDER_FILE, "older format"),
        (Kind.EXCEL, OLDER_FILE, "damaged"),
        (Kind.WORD, LOCKED_FILE, "locked"),
        (Kind.EXCEL, LOCKED_FILE, "locked"),
        (Kind.WORD, b"PK\x03\x04", "damaged"),
        (Kind.WORD, made.zipped({"a.txt": b"a"}), "damaged"),
        (Kind.EPUB, b"PK\x03\x04", "damaged"),
        (Kind.PDF, b"%PDF-1.4", "damaged"),
        (Kind.PDF, made.pdf([["a"]]), ""),
    ],
)
def test_what_has_no_text_has_a_reason(kind: Kind, body: bytes, reason: str) -> None:
    assert of(kind, body).reason == reason


def test_plain_text_in_its_charset() -> None:
    text = of(Kind.TEXT, f"{LINE}\r\n{LAST}".encode("cp874"), "text/plain; charset=tis-620")
    assert text.text == f"{LINE}\n{LAST}"
    assert list(text.references) == ADDRESSES
    assert text.decoded is not None
    assert (text.decoded.encoding, text.decoded.how) == ("windows-874", "header")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(made.pdf([[LINE]], mapped=False), id="no letters said"),
        pytest.param(
            made.pdf([[LINE]], names={one: chr(0xE000 + ord(one) % 256) for one in LINE}),
            id="private use",
        ),
        pytest.param(
            made.pdf([[LINE]], names={one: chr(0xA0 + ord(one) % 128) for one in LINE}),
            id="as a Latin charset's",
        ),
    ],
)
def test_letters_that_no_one_can_know_are_none(body: bytes) -> None:
    assert of(Kind.PDF, body).text == ""


def unnamed(text: str, shift: int = 0) -> Text:
    """Read a PDF whose font says of no glyph which letter it is, and whose codes are letters."""
    codes = "".join(f"{ord(letter) + shift:04x}" for letter in text)
    shown = f"BT /F 10 Tf 9 700 Td <{codes}> Tj ET"
    return of(Kind.PDF, made.pdf([["a"]], stream=shown.encode(), mapped=False))


ENGLISH = "The students go to school every day and read the books in the library of the town. "


JAPANESE = "これは日本語の文章です。学校へ行って本を読みます。" * 3


@pytest.mark.parametrize("text", [THAI.strip(), ENGLISH.strip(), JAPANESE])
def test_what_can_hardly_be_other_letters_is_kept_though_no_font_says_so(text: str) -> None:
    found = unnamed(text)
    assert (found.text, found.quality) == (text, 0.0)


@pytest.mark.parametrize(
    ("text", "shift"),
    [
        (ENGLISH, 29),
        (ENGLISH, -3),
        *[(THAI, n) for n in (1, 2, 3, 5, 7)],
        ("a b", 0),
        ("1 " * 99, 0),
    ],
)
def test_what_may_be_others_is_not(text: str, shift: int) -> None:
    assert unnamed(text, shift).text == ""


@pytest.mark.parametrize(
    ("unnamed", "text"), [("X", "the ofice of a kind"), ("f", "the oXice o a kind")]
)
def test_the_number_of_a_glyph_is_no_letter(unnamed: str, text: str) -> None:
    body = made.pdf([["the oXfice of a kind"]], names={unnamed: ""})
    found = of(Kind.PDF, body)
    assert found.text == text
    assert (found.quality or 0.0) < 0.96


def test_thai_glyphs_of_private_use_are_their_letters() -> None:
    shown = of(Kind.PDF, made.pdf([["ก่อน"]], names={"\u0e48": "\uf70a"}))
    assert shown.text == "ก่อน"


def _shown(*drawn: tuple[str, float]) -> bytes:
    """Return a PDF with texts in one line, by where each is put."""
    letters = sorted({letter for text, _ in drawn for letter in text})
    parts = []
    for text, at in drawn:
        codes = "".join(f"{0x21 + letters.index(one):04x}" for one in text)
        parts.append(f"BT /F 10 Tf {at} 700 Td <{codes}> Tj ET")
    return made.pdf([letters], stream="\n".join(parts).encode())


def test_what_a_pdf_says_of_its_glyphs_is_there_once() -> None:
    """Its glyphs lie in one another, so that PDFium gives it again after the letter between."""
    mark = b"\xfe\xff".hex() + "กี่".encode("utf-16-be").hex()
    shown = (
        f"/Span << /ActualText <{mark}> >> BDC BT /F 10 Tf 50 700 Td <00210021> Tj ET "
        "BT /F 10 Tf 64 700 Td <00210021> Tj ET EMC BT /F 10 Tf 61 700 Td <00220022> Tj ET"
    )
    assert of(Kind.PDF, made.pdf([["กข"]], stream=shown.encode())).text == "กี่ขข"


def test_a_mark_stays_with_its_letter_wherever_it_is_drawn() -> None:
    assert of(Kind.PDF, _shown(("សស", 50), ("្ដ", 62), ("ពព", 61))).text == "សស្ដពព"


def test_what_is_drawn_later_in_a_line_is_read_in_its_place() -> None:
    assert of(Kind.PDF, _shown(("กี", 50), ("กก", 90), ("20", 70))).text == "กี 20 กก"


def test_a_radical_is_the_letter_whose_glyph_it_has() -> None:
    assert of(Kind.PDF, made.pdf([["日本"]], names={"日": "⽇"})).text == "日本"


def test_it_is_said_how_much_of_a_text_is_sure() -> None:
    assert of(Kind.PDF, made.pdf([[LINE]])).quality == 1.0
    assert of(Kind.PDF, made.pdf([[LINE]], mapped=False)).quality == 0.0
    private = {"ข": "\ue000", "ค": "\ue001"}
    half = of(Kind.PDF, made.pdf([["ก" * 40], ["ขค" * 20]], names=private))
    assert (half.text, half.quality) == ("ก" * 40, 0.5)
    assert of(Kind.PDF, made.pdf([["ก" * 40 + " ี" * 5]])).quality == pytest.approx(0.7, abs=0.01)
    assert of(Kind.PDF, made.pdf()).quality is None
    assert of(Kind.TEXT, b"good").quality is None


def test_what_is_read_has_bounds() -> None:
    links = [f"http://a.example/{number}" for number in range(5)]
    cut = of(Kind.PDF, made.pdf([["a" * 40]] * 5, links=links), text=60, links=3)
    assert cut.is_cut
    assert (len(cut.text), len(cut.references), cut.unread > 0) == (60, 3, True)
    cut = of(Kind.WORD, made.docx(made.paragraph("a" * 40) * 5), text=60)
    assert (len(cut.text), cut.is_cut) == (60, True)
    cut = of(Kind.TEXT, b"a" * 100, size=60)
    assert (len(cut.text), cut.is_cut) == (60, True)


@pytest.mark.parametrize("clock", ["process_time", "monotonic"])
def test_of_a_long_pdf_the_pages_are_read_that_fit(
    monkeypatch: pytest.MonkeyPatch, clock: str
) -> None:
    ticks = itertools.count(step=1 if clock == "process_time" else 4)
    monkeypatch.setattr(deadline, clock, lambda: next(ticks))
    body = made.pdf([["a" * 40]] * 9)
    text = read(Kind.PDF, body, "", Most(seconds=5))
    assert (text.text, text.is_cut) == ("\n".join(["a" * 40] * 5), True)
    whole = read(Kind.PDF, body, "", Most(seconds=9))
    assert (whole.text.count("\n"), whole.is_cut) == (8, False)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (Kind.EPUB, made.epub(*["a"] * 90)),
        (Kind.POWERPOINT, made.pptx(*["a"] * 90)),
        (Kind.PDF, made.pdf([["a"]] * 90)),
    ],
)
def test_time_that_others_take_of_the_machine_costs_a_document_nothing(
    monkeypatch: pytest.MonkeyPatch, kind: Kind, body: bytes
) -> None:
    now = itertools.chain([0.0], itertools.repeat(15.0))
    monkeypatch.setattr(deadline, "monotonic", now.__next__)
    whole = of(kind, body)
    assert (whole.text.count("a"), whole.is_cut) == (90, False)
    now = itertools.chain([0.0], itertools.repeat(900.0))
    monkeypatch.setattr(deadline, "monotonic", now.__next__)
    assert of(kind, body).text.count("a") < 90, "but it ends"


def test_a_part_of_a_packed_document_is_unpacked_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = made.docx(made.paragraph("a") * 20_000)
    whole = of(Kind.WORD, body)
    monkeypatch.setattr(packed, "MAX_UNPACKED", 100_000)
    cut = of(Kind.WORD, body)
    assert (whole.is_cut, cut.is_cut) == (False, True)
    assert 0 < len(cut.text) < len(whole.text) / 2
    slides = of(Kind.POWERPOINT, made.pptx(*["a" * 30_000] * 9))
    assert (len(slides.text) // 30_000, slides.is_cut) == (4, True)
    book = of(Kind.EPUB, made.epub(*["a" * 30_000] * 9))
    assert (len(book.text) // 30_000, book.is_cut) == (4, True)


def test_of_a_book_so_many_pages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub, "PAGES", 3)
    whole, cut = (of(Kind.EPUB, made.epub(*["a"] * number)) for number in (3, 4))
    assert (whole.text, whole.is_cut) == ("a\na\na", False)
    assert (cut.text, cut.is_cut) == ("a\na\na", True)


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        (Kind.PDF, made.pdf([[LINE]] * 9), "damaged"),
        (Kind.WORD, made.docx(made.paragraph(LINE) * 99), "damaged"),
        (Kind.POWERPOINT, made.pptx(*[LINE] * 9), "damaged"),
        (Kind.EXCEL, made.xlsx(*[LINE] * 9), "damaged"),
        (Kind.OPENDOCUMENT, made.odt(f"<text:p>{LINE}</text:p>" * 9), "damaged"),
        (Kind.EPUB, made.epub(*[LINE] * 9), "damaged"),
        (Kind.RTF, made.rtf("a" * 99), ""),
        (Kind.EXCEL, workbook({"a": [(0, 0, LINE)] * 99}), "damaged"),
        (Kind.WORD, OLDER_FILE, "older format"),
    ],
)
def test_a_document_that_is_cut_in_the_middle_is_read_as_far_as_that_goes(
    kind: Kind, body: bytes, reason: str
) -> None:
    found = of(kind, body[: len(body) // 2])
    assert found.reason == reason
    assert bool(found.text) is (found.reason == "")


def test_a_reservation_in_a_pdf_is_heeded() -> None:
    body = made.pdf([["a"]]) + b"<tdm:reservation>1</tdm:reservation>"
    assert of(Kind.PDF, body).robots == {"tdm-reservation=1"}


@pytest.mark.parametrize("declared", ["", "[<!ENTITY a 'b'>]", "SYSTEM 'file:///etc/passwd'"])
def test_what_may_declare_entities_is_refused(declared: str) -> None:
    part = f"<!DOCTYPE x {declared}><w:d xmlns:w='w'><w:p><w:t>text</w:t></w:p></w:d>"
    text = of(Kind.WORD, made.docx(parts={"word/document.xml": part.encode()}))
    assert (text.text, text.is_cut) == ("", True)


@pytest.fixture(scope="module")
def aside() -> Iterator[DocumentProcess]:
    with DocumentProcess() as reads:
        yield reads


@pytest.mark.parametrize("name", documents())
def test_a_hostile_one_harms_nothing(aside: DocumentProcess, name: str) -> None:
    kind, make = documents()[name]
    text = aside.read(kind, make(), "", Most())
    assert len(text.text) <= Most().text
    assert len(text.references) <= Most().links
    assert text.is_cut is (name in CUT)
    assert "root:" not in text.text
    assert "haha" not in text.text
    assert aside.read(Kind.TEXT, b"good", "", Most()).text == "good"


def test_one_that_takes_too_long_costs_its_process_only() -> None:
    with DocumentProcess(seconds=0.001) as reads:
        assert reads.read(Kind.PDF, made.pdf([["a"]]), "", Most()) == Text(reason="damaged")
    with DocumentProcess() as reads:
        assert reads.read(Kind.PDF, made.pdf([["a"]]), "", Most()).text == "a"


def test_an_answer_that_is_too_large_costs_its_process_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with DocumentProcess() as reads:
        with monkeypatch.context() as small:
            small.setattr(separate_process, "MAX_ANSWER", 100)
            assert reads.read(Kind.TEXT, b"a" * 200, "", Most()) == Text(reason="damaged")
        assert reads.read(Kind.TEXT, b"a" * 200, "", Most()).text == "a" * 200
