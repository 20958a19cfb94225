"""One parse of a page: text, links, and what it says of itself."""

from __future__ import annotations

import time
from urllib.parse import urljoin

import ada_url
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.langid.page import parse

BASE = "http://a.test/b/c/d.html"


def only_link(html: str, url: str = BASE, charset: str = "utf-8") -> str:
    (link,) = parse(html.encode(), url, charset).links
    return link.url


@pytest.mark.parametrize(
    "href",
    [
        *("x", "x.html", "x/y", "./x", "../x", "../../x", "../../../x", "/x", "/x/../y", "x/../y"),
        *("?q=1", "x?q=../y", "//b.test/x", "https://b.test/x", "x;p=1", "a:b/c"),
        *(
            "/~x/",
            "x%20y",
            "..",
            ".",
            "../",
            "./",
            "/",
            ".hidden",
            "x#f",
            "/#f",
            "../#a/../b",
            "x#a:b",
        ),
    ],
)
@pytest.mark.parametrize("base", [BASE, "http://a.test", "http://a.test/?x=/y/", "http://a.test/b"])
def test_links_resolve_as_the_standard_has_it(href: str, base: str) -> None:
    with_slash = base if base.count("/") > 2 else base + "/"
    assert only_link(f'<a href="{href}">', base) == urljoin(with_slash, href)


@given(
    st.lists(
        st.sampled_from(["..", ".", "x", "y.html", "", ".z", "~u", "a=b", "x#f"]),
        min_size=1,
        max_size=5,
    )
)
def test_fast_resolution_equals_the_slow(parts: list[str]) -> None:
    href = "/".join(parts)
    if href and not href.startswith("//"):
        assert only_link(f'<a href="{href}">') == ada_url.join_url(BASE, href)


def test_the_first_base_counts() -> None:
    html = '<base href="/first/"><base href="/second/"><a href="x">'
    assert only_link(html) == "http://a.test/first/x"


def test_a_query_goes_in_the_charset_of_the_page() -> None:
    assert only_link('<a href="?q=ก">', charset="windows-874").endswith("?q=%A1")


def test_numeric_references_are_text() -> None:
    page = parse(b"<title>&#3585;</title><p>&#x0E01;&#3586;<a href='/&#3585;'>&#3587;</a>", BASE)
    assert (page.title, page.content.strip(), page.anchors) == ("ก", "กข", "ฃ")
    assert page.links[0].url == "http://a.test/%E0%B8%81"


def test_content_is_without_links_menus_scripts_and_choices() -> None:
    html = b"""<nav>menu</nav>
        <p>own<a href=x>linked</a></p><script>code()</script><style>css</style>
        <select><option>choice</select><footer>small print</footer><noscript>kept</noscript>"""
    page = parse(html, BASE)
    assert page.content.split() == ["own", "kept"]
    assert page.anchors == "linked"


def test_kinds_of_links() -> None:
    html = b"""<link rel=stylesheet href=no.css><link rel="alternate" hreflang=th href=/th>
        <link rel=next href=2><map><area href=map alt="Map text"></map><iframe src=frame></iframe>
        <meta http-equiv=Refresh content="0;URL='moved'"><meta http-equiv=refresh content=30>"""
    links = [
        (link.url.removeprefix("http://a.test"), link.text) for link in parse(html, BASE).links
    ]
    assert links == [
        *(("/th", ""), ("/b/c/2", ""), ("/b/c/map", "Map text")),
        *(("/b/c/frame", ""), ("/b/c/moved", "")),
    ]


def test_robots_and_lang() -> None:
    html = b'<html lang=TH><meta name=robots content="NONE"><meta name=ROBOTS content="noarchive">'
    html += b"<meta name=lswc content=NoFollow><meta name=otherbot content=noindex>"
    page = parse(html, BASE)
    assert page.robots == {"none", "noarchive", "nofollow"}
    assert page.lang == "th"


@pytest.mark.parametrize(
    "unit",
    [
        *(b"<div>", b"<b><p>", b"<ul><li>", b"<a href=x>", b"<nav>", b"<", b"<table>"),
        *(b"<font size=1>", b"</p>", b"<!--", b"<div></p>", b"<a><div>"),
    ],
)
def test_hostile_nesting_is_bounded(unit: bytes) -> None:
    # The parser alone needs minutes for some of these; the generous limit only tells that apart.
    start = time.process_time()
    parse(unit * (500_000 // len(unit)), BASE)
    assert time.process_time() - start < 5


@pytest.mark.parametrize("separator", [b" ", b"='>' "])
def test_hostile_attributes_are_bounded(separator: bytes) -> None:
    start = time.process_time()
    parse(b"<a " + separator.join(b"a%d" % n for n in range(60_000)), BASE)
    assert time.process_time() - start < 5


def test_links_survive_in_a_page_nested_too_deep() -> None:
    html = b"<div>" * 5_000 + b'<a href="/here">text</a>' + b"<p title='>'>after"
    assert [link.url for link in parse(html, BASE).links] == ["http://a.test/here"]


@settings(deadline=None)
@given(st.binary(), st.text())
def test_anything_parses(source: bytes, url: str) -> None:
    parse(source, url)
    parse(b"<base href='" + source + b"'><a href='" + source + b"'>" + source, url)
