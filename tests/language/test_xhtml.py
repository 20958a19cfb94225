"""XHTML that is served as XML is read as XML."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language.document import Document
from lswc.language.xhtml import as_html

HERE = "http://a.test/"
ROOT = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">'
PAGE = '<head><title>ชื่อ</title><script src="x"/></head><body><a href="/x">ข่าว</a></body></html>'


def paths(body: str, content_type: str) -> list[str]:
    page = Document(body.encode(), content_type, HERE).page
    return [link.url.removeprefix(HERE) for link in page.links]


@pytest.mark.parametrize("content_type", ["application/xhtml+xml", "text/xml", "application/xml"])
def test_an_empty_element_swallows_nothing(content_type: str) -> None:
    assert paths(ROOT + PAGE, content_type) == ["x"]


def test_html_is_read_as_html() -> None:
    assert paths(ROOT + PAGE, "text/html") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p/><div id='a'/><a name=\"b\"/>", "<p></p><div id='a'></div><a name=\"b\"></a>"),
        ("<br/><img src='a>b/'/>", "<br/><img src='a>b/'/>"),
        ("<a href='x/>y'>z</a><a href=x/y />", "<a href='x/>y'>z</a><a href=x/y ></a>"),
        ("<![CDATA[<b> & c]]><i>", "&lt;b> &amp; c<i>"),
        ("<![CDATA[<b>", "&lt;b>"),
        ('<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:p/></h:html>',
         '<html xmlns:h="http://www.w3.org/1999/xhtml"><p></p></html>'),
        ("< /><x", "< /><x"),
    ],
)  # fmt: skip
def test_what_is_written_otherwise(body: str, expected: str) -> None:
    assert as_html(body.encode()).decode() == expected


@pytest.mark.parametrize(
    "hostile",
    [b'<b" "' * 90_000, b"<a b='c' " * 50_000, b"<a " + b"b='c' " * 80_000, b"<a/" * 150_000,
     b"<![CDATA[" * 50_000, b"xmlns:a='http://www.w3.org/1999/xhtml'" * 10_000,
     b"".join(b"xmlns:a%d='http://www.w3.org/1999/xhtml'" % n for n in range(10_000))],
)  # fmt: skip
@pytest.mark.usefixtures("brake")
def test_no_page_holds_the_reader(hostile: bytes) -> None:
    as_html(hostile)


@given(st.binary(max_size=200))
def test_any_bytes_are_written_so(body: bytes) -> None:
    as_html(body)
