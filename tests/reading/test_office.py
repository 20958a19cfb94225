"""What an Office file shows is read, in its order; what it hides, moved or deleted isn't."""

from __future__ import annotations

import pytest

from lswc.reading.documents import packed, read
from lswc.reading.documents.text import Most, Reference, Text
from lswc.safety.content_types import Kind, kind_of
from tests.reading import made

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def word(body: str, **parts: bytes) -> str:
    files = {f"word/{name}.xml": part for name, part in parts.items()}
    return read(Kind.WORD, made.docx(body, parts=files), "", Most()).text


def run(text: str, within: str = "") -> str:
    return f"<w:r><w:rPr>{within}</w:rPr><w:t>{text}</w:t></w:r>"


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (run("a") + run("b", "<w:vanish/>") + run("c"), "ac"),
        (run("a") + run("b", '<w:vanish w:val="0"/>'), "ab"),
        (run("a") + run("b", '<w:vanish w:val="true"/>'), "a"),
        (f"<w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{run('a')}", "a"),
        (f"<w:moveFrom>{run('a')}<w:r><w:tab/></w:r></w:moveFrom>{run('b')}", "b"),
        (f"<w:moveTo>{run('a')}</w:moveTo><w:ins>{run('b')}</w:ins>", "ab"),
        (f"<w:del><w:r><w:noBreakHyphen/></w:r></w:del>{run('b')}", "b"),
        (f"<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{run('b')}", "b"),
        ("<w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t></w:r>", "a-b"),
        ("<w:r><w:t>a</w:t><w:softHyphen/><w:t>b</w:t></w:r>", "ab"),
    ],
)
def test_what_a_word_file_shows(runs: str, text: str) -> None:
    assert word(f"<w:p>{runs}</w:p>") == text


def boxed(text: str) -> str:
    return f"<w:pict><w:txbxContent>{made.paragraph(text)}</w:txbxContent></w:pict>"


def control(inner: str, within: str = "") -> str:
    return f"<w:sdt><w:sdtPr>{within}</w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(
            f"<w:p>{run('a')}<w:r>{boxed('b')}</w:r>{run('c')}</w:p>", "a\nb\nc", id="a box"
        ),
        pytest.param(
            f"<w:p><w:r><w:rPr><w:vanish/></w:rPr>{boxed('b')}<w:t>c</w:t></w:r></w:p>", "b",
            id="a box in what is hidden",
        ),
        pytest.param(control(made.paragraph("a")), "a", id="a control"),
        pytest.param(
            control(made.paragraph("Click here"), "<w:showingPlcHdr/>") + made.paragraph("a"), "a",
            id="one that says what to fill in",
        ),
        pytest.param(
            f"<w:p><w:r><w:ruby><w:rt>{run('かん')}</w:rt><w:rubyBase>{run('漢')}</w:rubyBase>"
            "</w:ruby></w:r></w:p>", "漢",
            id="how it is read aloud",
        ),
        pytest.param(f"<w:p><w:smartTag>{run('a')}</w:smartTag>{run('b')}</w:p>", "ab", id="a tag"),
    ],
)  # fmt: skip
def test_what_is_within_others(body: str, text: str) -> None:
    assert word(body) == text


def test_notes_come_after_the_text() -> None:
    notes = {
        name: f"<w:x {W}><w:x>{made.paragraph(name)}</w:x></w:x>".encode()
        for name in ("endnotes", "footnotes")
    }
    assert word(made.paragraph("a"), **notes) == "a\nfootnotes\nendnotes"
    broken = word(made.paragraph("a"), footnotes=b"<w:x xmlns:w='w'><w:p><w:t>b</w:t></w:p></w:")
    assert broken == "a\nb"


def nested(times: int) -> bytes:
    """Return a Word file with a Word file in it, and so on."""
    inner = {"word/b.docx": nested(times - 1)} if times else {}
    body = '<w:altChunk r:id="c"/>' + made.paragraph(str(times))
    return made.docx(body, chunks={"c": "b.docx"}, parts=inner)


MESSAGE = (
    b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\n"
    b"Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    b"PHA+aW5uZXI8L3A+\r\n--x--\r\n"
)


@pytest.mark.parametrize(
    ("name", "chunk", "text", "is_cut"),
    [
        ("b.html", b"<html><p>in<a id=x>n</a>er</p></html>", "inner", False),
        ("b.xhtml", b"<?xml version='1.0'?><html><title/><p>inner</p></html>", "inner", False),
        ("b.rtf", made.rtf("inner"), "inner", False),
        ("b.txt", b"inner", "inner", False),
        ("b.docx", nested(0), "0", False),
        ("b.docx", nested(9), "9", True),
        ("b.mht", MESSAGE, "inner", False),
        ("b.mht", b"Content-Type: multipart/x; boundary=x\n\n" + b"--x\n" * 90_000, "", True),
        ("b.html", b"\x89PNG\r\n\x1a\n", "", True),
        ("b.docx", b"PK\x03\x04word/", "", False),
    ],
)
def test_a_file_in_a_word_file_stands_where_it_does(
    name: str, chunk: bytes, text: str, is_cut: bool
) -> None:
    body = made.paragraph("a") + '<w:altChunk r:id="c"/>' + made.paragraph("b")
    made_of = made.docx(body, chunks={"c": name}, parts={f"word/{name}": chunk})
    found = read(Kind.WORD, made_of, "", Most())
    assert (found.text.split(), found.is_cut) == (["a", *text.split(), "b"], is_cut)


def test_files_in_a_word_file_have_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MAX_UNPACKED", 200_000)
    body = made.paragraph("a") + '<w:altChunk r:id="c"/>' * 900
    chunk = b"<html><p>" + b"b" * 50_000
    found = read(
        Kind.WORD, made.docx(body, chunks={"c": "b.html"}, parts={"word/b.html": chunk}), "",
        Most(text=1_000_000),
    )  # fmt: skip
    assert (found.text.count("b") <= 200_000, found.is_cut) == (True, True)


CELL = '<c t="s"><v>{}</v></c>'


def excel(**options: object) -> Text:
    return read(Kind.EXCEL, made.workbook(**options), "", Most())  # type: ignore[arg-type]


def test_cells_come_in_their_order() -> None:
    rows = "<row>{}{}</row><row>{}{}</row>".format(*map(CELL.format, (2, 0, 1, 2)))
    found = excel(sheets={"worksheets/sheet.xml": rows}, shared=["a", "b", "c", "of no cell"])
    assert found.text.splitlines() == ["c", "a", "b", "c"]


def test_sheets_come_in_the_order_of_the_workbook_but_those_that_it_hides() -> None:
    sheets = {f"worksheets/{name}.xml": CELL.format(n) for n, name in enumerate("zyx")}
    found = excel(sheets=sheets, shared=["a", "b", "c"], hidden=["worksheets/y.xml"])
    assert (found.text.splitlines(), found.is_cut) == (["a", "c"], False)
    assert excel(sheets=sheets, shared=["a", "b", "c"], hidden=list(sheets)).text == ""


@pytest.mark.parametrize("number", ["-1", "99", "1e5", "9" * 5_000, "", "\u0e51", "0x0"])
def test_a_text_that_is_not_there_is_none(number: str) -> None:
    sheets = {"worksheets/sheet.xml": CELL.format(number) + CELL.format(0)}
    assert excel(sheets=sheets, shared=["a"]).text == "a"


def test_a_text_that_a_million_cells_share_is_bounded() -> None:
    sheets = {"worksheets/sheet1.xml": CELL.format(0) * 200_000}
    found = excel(sheets=sheets, shared=["a" * 30_000])
    assert (len(found.text), found.is_cut) == (200_000, True)


def test_a_formula_leads_to_its_page() -> None:
    formula = '<c t="str"><f>HYPERLINK("http://a.example/","b")</f><v>b</v></c>'
    found = excel(sheets={"worksheets/sheet1.xml": formula})
    assert (found.text, found.references) == ("b", (Reference("http://a.example/"),))


def test_slides_come_in_the_order_of_the_presentation() -> None:
    r = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    listed = "".join(f'<p:sldId id="{n}" r:id="r{n}"/>' for n in (3, 1))
    relations = "".join(
        f'<Relationship Id="r{n}" Type="{r}/slide" Target="/ppt/slides/slide{n}.xml"/>'
        for n in (1, 2, 3)
    )
    body = made.pptx("a", "b", "c", parts={
        "ppt/presentation.xml": f'<p:x xmlns:p="p" xmlns:r="{r}">{listed}</p:x>'.encode(),
        "ppt/_rels/presentation.xml.rels": f"<Relationships>{relations}</Relationships>".encode(),
    })  # fmt: skip
    assert read(Kind.POWERPOINT, body, "", Most()).text.splitlines() == ["c", "a"]


def test_what_is_drawn_on_a_slide_is_of_it() -> None:
    """The texts of a diagram, and what a chart is called, are in parts of their own."""
    listed = "".join(
        f'<Relationship Id="r{kind}" Type="x/{kind}" Target="../{kind}.xml"/>'
        for kind in ("diagramData", "chart", "image")
    )
    parts = {
        "ppt/slides/_rels/slide1.xml.rels": f"<Relationships>{listed}</Relationships>".encode(),
        **{
            f"ppt/{kind}.xml": f'<x xmlns:a="a"><a:p><a:t>{kind}</a:t></a:p></x>'.encode()
            for kind in ("diagramData", "chart", "image")
        },
    }
    found = read(Kind.POWERPOINT, made.pptx("a", "b", parts=parts), "", Most())
    assert (found.text.splitlines(), found.is_cut) == (["a", "diagramData", "chart", "b"], False)


def test_shared_texts_are_where_the_workbook_says() -> None:
    book = made.workbook({"worksheets/a.xml": CELL.format(0)}, ["a"])
    files = made.unzipped(book)
    files["xl/Texts.xml"] = files.pop("xl/sharedStrings.xml")
    told = b'<Relationship Id="t" Type="x/sharedStrings" Target="Texts.xml"/></Relationships>'
    relations = "xl/_rels/workbook.xml.rels"
    files[relations] = files[relations].replace(b"</Relationships>", told)
    assert read(Kind.EXCEL, made.zipped(files), "", Most()).text == "a"


def test_a_file_in_another_does_not_say_what_that_is() -> None:
    inner = {"xl/embeddings/a.docx": made.docx(made.paragraph("a"))}
    outer = made.zipped({"docProps/app.xml": b"<x/>", "xl/workbook.xml": b"<x/>", **inner})
    assert kind_of("", outer, "a.xlsx") is Kind.EXCEL
    assert kind_of("application/octet-stream", outer) is Kind.EXCEL
