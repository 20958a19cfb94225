from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.safety.content_types import (
    by_extension,
    declared_type,
    file_name,
    is_html,
    is_other_xml,
    is_xhtml,
    kind_of,
    may_be_html,
    may_begin_document,
)


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html", b"<p>", True),
        ("Text/HTML; charset=tis-620", b"", True),
        ("application/xhtml+xml", b"<?xml version='1.0'?>", True),
        ("text/html", "ไม่มีแท็ก".encode(), True),
        ("", b"  <!DOCTYPE html>", True),
        ("", b"\xef\xbb\xbf<html>", True),
        ("unknown/unknown", b"words first <table border=1>", True),
        ("", b"only words", False),
        ("", b"x" * 1439 + b"<body>", True),
        ("", b"x" * 1440 + b"<body>", False),
        ("", b"", False),
        ("text/plain", b"<html>", False),
        ("image/png", b"<html>", False),
        ("text/html", b"%PDF-1.7", False),
        ("text/html", b"PK\x03\x04", False),
        ("text/html", b"\x89PNG\r\n\x1a\n", False),
        ("text/html", b"\x00\x00\x00\x18ftypmp42", False),
        ("text/html", b"RIFF\x01\x02\x03\x04WAVE", False),
        ("text/html", b"MZ\x90\x00\x03\x00\x00\x00", False),
        ("text/html", gzip.compress(b"<html>", mtime=0), False),
        ("text/html", b"MZ is how this page begins", True),
    ],
)
def test_is_html(content_type: str, body: bytes, expected: bool) -> None:
    assert is_html(content_type, body) is expected


XHTML = b"<html xmlns='http://www.w3.org/1999/xhtml'><head/>"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'>"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["text/html"], "text/html"),
        (["\tText/HTML ;\tcharset=tis-620"], "text/html; charset=tis-620"),
        (["text/html;;charset=tis-620"], "text/html; charset=tis-620"),
        (["text/html; x=1; charset=a; charset=b"], "text/html; charset=a"),
        (['text/html; charset="a;b,c"; x'], "text/html; charset=a;b,c"),
        (["text/html;charset="], "text/html"),
        (["text/html charset=utf-8"], "text/html"),
        (["text/html,charset=utf-8"], "text/html"),
        (["text/html (of x)"], "text/html"),
        (["text/html, text/html; charset=utf-8"], "text/html; charset=utf-8"),
        (["text/html; charset=a, text/html; charset=b"], "text/html; charset=b"),
        (["text/html; charset=a", "text/html"], "text/html; charset=a"),
        (["text/plain; charset=a", "text/html"], "text/html"),
        (["text/html", "text/plain"], "text/plain"),
        (["text/html, */*"], "text/html"),
        (["html"], ""),
        (["text"], ""),
        (["charset=utf-8"], ""),
        (["*/*"], ""),
        (['"text/html"'], ""),
        (["text/html/"], ""),
        ([""], ""),
        ([], ""),
    ],
)
def test_what_headers_say_together(headers: list[str], expected: str) -> None:
    """As Fetch has it, and Chromium where that finds nothing."""
    assert declared_type({"content-type": headers}) == expected


@given(st.lists(st.text(max_size=60), max_size=3))
def test_any_header_is_a_type_or_none(headers: list[str]) -> None:
    told = declared_type({"content-type": headers})
    assert declared_type({"content-type": [told]}).partition(";")[0] == told.partition(";")[0]


@pytest.mark.parametrize("hostile", ['"' * 9_000, "text/html" + ";a=" * 9_000, "," * 9_000])
def test_no_header_holds_the_reader(hostile: str) -> None:
    declared_type({"content-type": [hostile] * 9})


@pytest.mark.parametrize("media_type", ["text/xml", "application/xml; charset=utf-8"])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (XHTML, True),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- > -- -->" + XHTML, True),
        (b"<!DOCTYPE html [<!ENTITY a 'b'>]>" + XHTML, True),
        (XHTML.replace(b"html", b"h:html", 1).replace(b"xmlns", b"xmlns:h"), True),
        (b"<html><head/>", False),
        (b"<!-- " + XHTML + b" -->" + SVG, False),
        (b"<urlset>" + XHTML, False),
        (b"<?xml version='1.0'?>", False),
        (b"", False),
    ],
)  # fmt: skip
def test_xml_is_a_page_by_its_root(media_type: str, body: bytes, expected: bool) -> None:
    assert is_html(media_type, body) is expected
    assert may_be_html(media_type)
    assert not (expected and is_other_xml(media_type, body))


def test_other_xml_is_told_as_soon_as_its_root_came() -> None:
    assert is_other_xml("text/xml", b"<?xml version='1.0'?><rss version='2.0'>")
    assert not is_other_xml("text/xml", b"<?xml version='1.0'?><rss vers")
    assert not is_other_xml("text/xml", b"<?xml version='1.0'?>")
    assert not is_other_xml("text/html", b"<rss>")


@pytest.mark.parametrize(
    ("media_type", "body", "expected"),
    [
        ("application/xhtml+xml", b"", True),
        ("text/xml; charset=utf-8", b"", True),
        ("text/html", b"<?xml version='1.0'?>", False),
        ("", b"\n<?xml version='1.0'?>", True),
        ("", b"<html>", False),
    ],
)
def test_what_is_read_as_xml(media_type: str, body: bytes, expected: bool) -> None:
    assert is_xhtml(media_type, body) is expected


WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
OPEN = "application/vnd.oasis.opendocument.text"
BYTES = "application/octet-stream"
ZIP = b"PK\x03\x04" + bytes(26)
IN_ZIP = ZIP + b"[Content_Types].xml ... word/document.xml"
SHEETS = ZIP + b"[Content_Types].xml ... xl/workbook.xml"
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
PAGE = b"\n <!DOCTYPE html><html>"


@pytest.mark.parametrize(
    ("content_type", "name", "body", "kind"),
    [
        ("application/pdf", "", b"%PDF-1.7", "pdf"),
        ("application/pdf", "", b"junk\n" * 99 + b"%PDF-1.7", "pdf"),
        ("application/pdf", "", b"junk", None),
        ("application/pdf", "", PAGE, "html"),
        ("text/html", "", b"%PDF-1.7", "pdf"),
        ("text/html", "", b"\r\n%PDF-1.7", "pdf"),
        ("text/plain", "", b"%PDF-1.7", "pdf"),
        ("text/plain", "", b"\n\n\n%PDF-1.7", "pdf"),
        ("text/plain", "", b"\n\n\n\n%PDF-1.7", "text"),
        ("", "", b"%PDF-1.7", "pdf"),
        (BYTES, "/a.PDF", b"%PDF-1.7", "pdf"),
        (BYTES, "/a.pdf", PAGE, "html"),
        (BYTES, "/a.exe", b"MZ\x90\x00\x03\x00\x00\x00", None),
        (BYTES, "/a.png", b"\x89PNG\r\n\x1a\n", None),
        (BYTES, "", PAGE, None),
        (WORD, "", IN_ZIP, "word"),
        (WORD, "", ZIP + b"docProps/app.xml", "word"),
        ("text/html", "", IN_ZIP, "word"),
        ("text/html", "", ZIP + b"word/document.xml", "word"),
        ("text/html", "", ZIP + b"[Content_Types].xml" + bytes(200) + b"word/x.xml", "word"),
        ("text/html", "", ZIP + b"readme" + bytes(200) + b"word/x.xml", None),
        ("application/zip", "/a.docx", IN_ZIP, "word"),
        ("application/zip", "/a.zip", ZIP + b"readme", None),
        ("application/pdf", "", ZIP + b"readme", None),
        ("text/html", "", ZIP + b"readme", None),
        (BYTES, "/a.xlsx", SHEETS, "excel"),
        ("text/html", "", SHEETS, "excel"),
        ("application/vnd.ms-powerpoint", "", ZIP + b"ppt/presentation.xml", "powerpoint"),
        (BYTES, "/a.ppt", OLD, "powerpoint"),
        ("application/vnd.ms-excel", "", OLD, "excel"),
        ("application/vnd.ms-excel", "", PAGE, "html"),
        (f"{SHEET_TYPE}.sheet", "", ZIP + b"docProps/app.xml", "excel"),
        ("text/csv", "", b"a;b", "csv"),
        ("text/csv", "", PAGE, "csv"),
        ("text/csv", "", b"a\x00b", None),
        (BYTES, "/a.csv", b"a;b", "csv"),
        ("application/msword", "", OLD, "word"),
        ("text/plain", "/a.doc", OLD, None),
        (BYTES, "/a.doc", OLD, "word"),
        (BYTES, "/a.xls", OLD, "excel"),
        (OPEN, "", ZIP + b"mimetype" + OPEN.encode(), "opendocument"),
        ("text/html", "", ZIP + b"mimetype" + OPEN.encode(), "opendocument"),
        ("text/html", "", ZIP + b"mimetypeapplication/epub+zip", "epub"),
        ("application/epub+zip", "", ZIP + b"META-INF/container.xml", "epub"),
        ("application/rtf", "", b"{\\rtf1", "rtf"),
        ("application/msword", "", b"{\\rtf1", "rtf"),
        ("text/plain", "", b"words", "text"),
        ("text/plain", "", PAGE, "text"),
        ("text/plain", "", b"\xff\xfew\x00", "text"),
        ("text/plain", "", b"w\x00\x01", None),
        ("text/plain", "", gzip.compress(b"words", mtime=0), None),
        ("text/css", "", b"a {}", None),
    ],
)
def test_kind_of(content_type: str, name: str, body: bytes, kind: str | None) -> None:
    assert kind_of(content_type, body, name) == kind


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        ("Text/HTML; charset=tis-620", True),
        ("application/xhtml+xml", True),
        ("", True),
        ("unknown/unknown", True),
        ("application/pdf", False),
        ("text/plain", False),
    ],
)
def test_what_a_header_says_before_the_body_comes(content_type: str, expected: bool) -> None:
    assert may_be_html(content_type) is expected


@pytest.mark.parametrize(
    ("content_type", "name", "first", "expected"),
    [
        ("application/pdf", "", b"junk\n%PDF-1.7", True),
        ("text/html", "", b"junk\n%PDF-1.7", False),
        (BYTES, "/a.doc", OLD, True),
        (BYTES, "/a", OLD, False),
        (BYTES, "", ZIP + b"[Content_Types].xml", True),
        (BYTES, "", ZIP + b"readme", False),
    ],
)
def test_first_bytes_that_may_be_a_documents(
    content_type: str, name: str, first: bytes, expected: bool
) -> None:
    assert may_begin_document(content_type, name, first) is expected


def test_the_name_of_a_file() -> None:
    said = {"content-disposition": ['attachment; filename="a b.pdf"; size=3']}
    assert by_extension(file_name(said, "/download")) == "pdf"
    assert by_extension(file_name({}, "/a.docx")) == "word"
    assert by_extension("/a.pdf/b") is None


@given(st.text(), st.text(), st.binary())
def test_any_bytes_get_an_answer(content_type: str, name: str, body: bytes) -> None:
    kind = kind_of(content_type, body, name)
    assert (kind == "html") or not is_html(content_type, body)
    if kind not in (None, "html", "text"):
        # What is read as a document isn't given up at its first bytes.
        assert may_begin_document(content_type, name, body)
