"""Links that a page gives otherwise than by its elements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language.base_url import Base
from lswc.language.html import ParsedLink
from lswc.reading.other_links import OTHER_LINKS, of_headers, of_scripts
from tests.reading.test_page import THAI, page

HERE = "http://www.one.co.th/news/"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("refresh", "0; url=/next", [("/next", "")]),
        ("refresh", "5;URL='next'", [("/news/next", "")]),
        ("refresh", "30", []),
        ("refresh", "", []),
        ("link", "</2>; rel=next", [("/2", "")]),
        ("link", '<th>; hreflang=TH; rel="alternate"', [("/news/th", "th")]),
        ("link", '<a,b>; rel="x canonical" , </c>;rel=prev', [("/news/a,b", ""), ("/c", "")]),
        ("link", "</s.css>; rel=preload; as=style, </x>; rel=stylesheet", []),
        ("link", "</x>; rel=next; anchor='#y'", []),
        ("link", "</x>", []),
        ("link", "no", []),
    ],
)
def test_links_of_headers(name: str, value: str, expected: list[tuple[str, str]]) -> None:
    found = of_headers({name: [value]}, Base(HERE))
    assert [
        (link.url.removeprefix("http://www.one.co.th"), link.hreflang) for link in found
    ] == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<tr data-href='/row?a=1&amp;b=2'>", ["/row?a=1&b=2"]),
        ("<div onclick=\"location='/x'\">", ["/x"]),
        ("<div onclick='window.location.href = \"/x\";'>", ["/x"]),
        ("<div onclick='location.assign(&quot;x/y&quot;)'>", ["/news/x/y"]),
        ("<div onClick='document.location=\"//b.test/\"'>", ["http://b.test/"]),
        ("<div ONCLICK=\"location='/x'\"><div\nonclick=\"location='/y'\">", ["/x", "/y"]),
        ("<div xonclick=\"location='/x'\"><div onclick>location='/x'", []),
        ("<div onclick=\"location='/x/' + id\">", []),
        ("<div onclick=\"alert('/x')\">", []),
        ("<div onclick=\"window.open('/x', 'w')\"><div onclick=\"x.open('/y')\">", ["/x"]),
        ("<div data-href='#a'><div data-href=''><div data-href='{{url}}'>", []),
        ("<div data-href='javascript:x()'><div data-href=modal><div data-href='tab1'>", []),
        ("<div data-href='/had'><div data-href='/had#x'>", []),
        ("<div data-href='/x'><div data-href='/x#y'>", ["/x"]),
    ],
)
def test_links_that_only_scripts_read(html: str, expected: list[str]) -> None:
    found = of_scripts(
        html.encode(), Base(HERE), [ParsedLink("http://www.one.co.th/had", "", False)]
    )
    assert [link.url.removeprefix("http://www.one.co.th") for link in found] == expected


def test_scripts_name_no_links_without_end() -> None:
    many = b"".join(b"<p data-href='/%d'>" % number for number in range(9_000))
    assert len(of_scripts(many, Base(HERE), [])) == OTHER_LINKS


@pytest.mark.parametrize(
    "hostile",
    ["<" * 9_000, "<a>" * 3_000, "<a>" + "; a=b" * 9_000, "<a>" + ';a="' * 9_000, "<a" * 9_000],
)
@pytest.mark.usefixtures("brake")
def test_no_header_holds_the_reader(hostile: str) -> None:
    list(of_headers({"link": [hostile], "refresh": [hostile]}, Base(HERE)))
    of_scripts((" onclick='" + hostile).encode() * 50, Base(HERE), [])


@given(st.text(), st.binary())
def test_anything_is_a_link_or_none(value: str, markup: bytes) -> None:
    list(of_headers({"link": [value], "refresh": [value]}, Base(HERE)))
    of_scripts(b"<p data-href='" + markup + b"'>", Base(HERE), [])


def test_a_header_may_say_which_url_is_the_page_s_own() -> None:
    own = '<https://www.one.co.th/2>; rel="canonical next"'
    assert page(THAI, link=["</1>; rel=next", own]).canonical == "https://www.one.co.th/2"
    assert page(THAI, link=[f"{own}; anchor='/x'"]).canonical == ""
    said = f"<link rel=canonical href=/3>{THAI}"
    assert page(said, link=[own]).canonical == "http://www.one.co.th/3"


def test_a_page_s_links_are_all_of_these() -> None:
    html = f"<base href=/b/><p>{THAI}<a href=x>y</a><p data-href='z/1'><p data-href='/b/x'>"
    found = page(html, link=["<next>; rel=next"], refresh=["1; /r"])
    assert [link.url.href.removeprefix("http://www.one.co.th") for link in found.links] == [
        "/b/x", "/r", "/news/next", "/b/z/1",
    ]  # fmt: skip
    assert found.other_links == 3
    assert found.canonical == ""
    assert not page(html + "<meta name=robots content=nofollow>").links
