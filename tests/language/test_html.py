"""One parse of a page: text, links, and what it says of itself."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from lswc.language.base_url import Base
from lswc.language.html import MAX_TITLE, Bounds, flattened, parse
from lswc.mishaps import LINK, what_of

BASE = "http://a.test/b/c/d.html"


def only_link(html: str, url: str = BASE, charset: str = "utf-8") -> str:
    (link,) = parse(html.encode(), url, charset).links
    return link.url


def test_a_base_counts_for_links_before_it() -> None:
    assert only_link('<a href="x"><base href="/first/">') == "http://a.test/first/x"


def test_the_first_base_counts() -> None:
    html = '<base href="/first/"><base href="/second/"><a href="x">'
    assert only_link(html) == "http://a.test/first/x"


def test_queries_go_in_the_charset_of_the_page() -> None:
    html = '<a href="?q=ก">'
    assert only_link(html, charset="windows-874").endswith("?q=%A1")
    based = f"<base href=/x/>{html}"
    assert only_link(based, charset="windows-874") == "http://a.test/x/?q=%A1"


@pytest.mark.parametrize("base", ["http://[", "data:text/html,x", " JavaScript:x/y/", "", "#x"])
def test_a_base_that_is_none_counts_as_the_page(base: str) -> None:
    html = f'<base href="{base}"><base href="/second/"><a href="?x">'
    assert only_link(html) == f"{BASE}?x"


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


@pytest.mark.parametrize(
    ("html", "hreflang", "lang"),
    [
        ("<a href=x hreflang=TH lang=zh-Hant>", "th", "zh-hant"),
        ("<a href=x hreflang=' th_TH '>", "th-th", ""),
        ("<a href=x xml:lang=ja>", "", "ja"),
        ("<a href=x xml:lang=ja lang=ko>", "", "ko"),
        ("<area href=x alt=y lang=my>", "", "my"),
        ("<link rel=alternate hreflang=lo href=x>", "lo", ""),
        ("<link rel='canonical alternate' hreflang=x-default href=x>", "x-default", ""),
        ("<link rel=next href=x lang=th>", "", "th"),
        ("<meta http-equiv=refresh content='0;url=x' lang=th>", "", ""),
        ("<html lang=th><a href=x>", "", ""),
        ("<a href=x hreflang lang=''>", "", ""),
        ("<a href=x hreflang='th, en' lang='English'>", "", "english"),
        (f"<a href=x hreflang='{'a' * 9}'>", "", ""),
        (f"<a href=x hreflang='abcdefgh{'-abcdefgh' * 7}'>", "", ""),
    ],
)
def test_what_a_page_says_of_a_links_language(html: str, hreflang: str, lang: str) -> None:
    (link,) = parse(html.encode(), BASE).links
    assert (link.hreflang, link.lang) == (hreflang, lang)


@pytest.mark.parametrize(
    ("html", "paths"),
    [
        ("<svg><a xlink:href=/x></a></svg>", ["/x"]),
        ("<svg><a href=/x></a><g><a href=/y xlink:href=/z></a></g></svg>", ["/x", "/y"]),
        ("<svg><a xlink:href></a><a xlink:href=#x></a></svg><a href=/y></a>", ["/y"]),
        ("<a xlink:href=/no></a><a href=/y></a>", ["/y"]),
        ("<svg><link xlink:href=/x rel=next><area xlink:href=/y></svg><a href=/z></a>", ["/z"]),
        ("<svg><base xlink:href=/x/></svg><base href=/y/><a href=z></a>", ["/y/z"]),
    ],
)
def test_links_of_graphics(html: str, paths: list[str]) -> None:
    page = parse(html.encode(), BASE)
    assert [link.url.removeprefix("http://a.test") for link in page.links] == paths
    assert not page.mishaps


def test_a_graphic_s_title_is_not_the_page_s() -> None:
    assert parse(b"<svg><g><title>icon</title></g></svg><title>page</title>", BASE).title == "page"
    assert parse(b"<svg><title>icon</title></svg>", BASE).title == ""


def test_an_error_costs_its_link(monkeypatch: pytest.MonkeyPatch) -> None:
    join = Base.join

    def fails(base: Base, href: str) -> str:
        if href == "/bad":
            raise KeyError(href)
        return join(base, href)

    monkeypatch.setattr(Base, "join", fails)
    page = parse(b"<a href=/one></a><a href=/bad></a><a href=/two></a>", BASE)
    assert [link.url for link in page.links] == ["http://a.test/one", "http://a.test/two"]
    assert [(what_of(one), number) for one, number in page.mishaps.items()] == [(LINK, 1)]


@pytest.mark.parametrize("rel", ["stylesheet", "alternate stylesheet", "", "icon"])
def test_a_resource_in_a_language_is_no_link(rel: str) -> None:
    assert parse(f"<link rel='{rel}' hreflang=th href=x>".encode(), BASE).links == []


@pytest.mark.parametrize("letters", ["ệ", "й", "が", "한글", "ά"])
def test_letters_are_composed(letters: str) -> None:
    decomposed = unicodedata.normalize("NFD", letters)
    page = parse(f"<p>{decomposed}<a href=x>{decomposed}</a>".encode(), BASE)
    assert (page.content, page.anchors) == (letters, letters)
    references = "".join(f"&#{ord(letter)};" for letter in decomposed)
    assert parse(f"<p>{references}".encode(), BASE).content == letters


def test_marks_without_end_are_no_work() -> None:
    marks = "\u0316\u0300" * 20_000
    assert len(parse(f"<p>a{marks}".encode(), BASE).content) > 39_000


def test_robots_and_lang() -> None:
    html = b'<html lang=TH><meta name=robots content="NONE"><meta name=ROBOTS content="noarchive">'
    html += b"<meta name=lswc content=NoFollow><meta name=otherbot content=noindex>"
    page = parse(html, BASE)
    assert page.robots == {"none", "noarchive", "nofollow"}
    assert page.lang == "th"


BEGIN = b"<title>t</title><a href=y>z</a>"


@pytest.mark.parametrize(
    "unit",
    [
        *(b"<div>", b"<b><p>", b"<ul><li>", b"<a href=x>", b"<nav>", b"<", b"<table>"),
        *(b"<font size=1>", b"</p>", b"<!--", b"<div></p>", b"<a><div>"),
    ],
)
@pytest.mark.usefixtures("brake")
def test_hostile_nesting_is_bounded(unit: bytes) -> None:
    found = parse(BEGIN + unit * (500_000 // len(unit)), BASE)
    assert (found.title, found.links[0].url) == ("t", "http://a.test/b/c/y")
    assert len(found.links) == (3_000 if b"href" in unit else 1)


@pytest.mark.parametrize("separator", [b" ", b"='>' ", b"/"])
@pytest.mark.parametrize("start_of_tag", [b"<a ", b"<a href='<>' "])
@pytest.mark.usefixtures("brake")
def test_hostile_attributes_are_bounded(start_of_tag: bytes, separator: bytes) -> None:
    attributes = separator.join(b"a%d" % n for n in range(60_000))
    found = parse(BEGIN + start_of_tag + attributes, BASE)
    assert found.title == "t"
    assert [link.url for link in found.links] == ["http://a.test/b/c/y"]


@pytest.mark.parametrize("closed", [b"", b"<!--</b>-->", b"<object></b></object>"])
def test_formatting_is_not_copied_into_each_block(closed: bytes) -> None:
    opened = b"".join(b"<b id=%d>" % n + closed for n in range(190))
    source = b"<li>" + opened + b"<li><a href=y>x</a>" * 2_000
    assert len(LexborHTMLParser(flattened(source, Bounds())).css("*")) < 20_000
    page = parse(source, BASE)
    assert (len(page.links), page.anchors[:3]) == (2_000, "x\nx")


def test_other_formatting_stays() -> None:
    source = b"<font size=1>a</font><i class=b>" * 100
    assert flattened(source, Bounds()) == source


NOTHING = b"<i></i>" * 2_000


def words(number: int) -> bytes:
    """Return different words, in lines of a large page."""
    return b" ".join(b"attribute-%06d" % n for n in range(number))


@pytest.mark.parametrize(
    ("source", "is_reduced"),
    [
        (NOTHING + b"<b>" * 200 + b"</b>" * 200, False),
        (NOTHING + b"<b>" * 201 + b"</b>" * 201, True),
        (b"<b>" * 2_998, False),  # and <nav> and </nav>: few tags may nest as they like
        (b"<b>" * 2_999, True),
        (b"<p x='>' " + words(3_999) + b">", False),
        (b"<p x='>' " + words(4_000) + b">", True),
        (b"<p x='>' " + words(4_000), True),
        (b"<p x='<>' y=\"<>\" " + words(3_998) + b">", False),
        (b"<p x='<>' y=\"<>\" " + words(3_999) + b">", True),
        (b"<!--<p x='-->" + words(4_001) + b"<b " + words(4_001) + b"'>", True),
        (b"<p " + b"a=b " * 4_000 + b">", False),
        (b"<p " + b"a=b " * 4_001 + b">", True),
        (b"<p " + b"a = 'b'" * 4_000 + b">", False),
        (b"<p " + b"a = 'b'" * 4_001 + b">", True),
        (b"<p>" + words(30_000) + b"</p>", False),
    ],
)
def test_a_page_that_would_hold_the_parser_is_reduced(source: bytes, is_reduced: bool) -> None:
    source += b"<nav>menu</nav>"
    assert (flattened(source, Bounds()) is not source) is is_reduced


RICH = [
    b"<img src='data:image/png;base64,%b' alt=x>" % (b"R0lGOD" * 9_000),
    b"<div data-state='%b'></div>" % (b'{"html":"<p class=a>x</p>","n":[1,2]},' * 900),
    b'<div data-state="%b"></div>' % (b"{&quot;url&quot;:&quot;/a?b=c&quot;}," * 900),
    b"<script>for(i=0;i<a;i++)%b</script>" % (b"x='y';" * 9_000),
    b"<p>%b</p>" % words(9_000),
]


@pytest.mark.parametrize("long", RICH)
def test_what_is_long_in_a_tag_costs_a_page_nothing(long: bytes) -> None:
    source = b"<p>text<nav>menu</nav>" + long + b"<a href=x>link</a><p>end"
    assert flattened(source, Bounds()) is source
    page = parse(source, BASE)
    assert (page.content.split()[0], page.content.split()[-1]) == ("text", "end")
    assert (page.anchors, page.is_cut, "menu" in page.content) == ("link", False, False)


@pytest.mark.usefixtures("brake")
def test_tags_that_seem_to_begin_in_each_other_are_not_read_for_each() -> None:
    source = BEGIN + words(5_000) + (b"<p!" + b"z" * 34) * 11_900
    assert parse(source, BASE).title == "t"


SHADOW = b"<p>light<template shadowrootmode=open><p>shadow<a href=x>y</a></template><p>end"


@pytest.mark.parametrize("name", [b"shadowrootmode", b"SHADOWROOTMODE", b"shadowRootMode"])
def test_a_shadow_root_is_part_of_the_page(name: bytes) -> None:
    page = parse(SHADOW.replace(b"shadowrootmode", name), BASE)
    assert (page.content.split(), page.anchors) == (["light", "shadow", "end"], "y")
    within = b"<template shadowrootmode=open><template>no</template>yes</template>after</template>"
    assert parse(within, BASE).content.split() == ["yes", "after"]
    other = b"<template>no" + SHADOW + b"</template>after<template>no</template>"
    assert parse(other, BASE).content.split() == ["after"]


@pytest.mark.parametrize(("length", "is_heeded"), [(8_000, True), (8_001, False)])
def test_a_base_without_end_is_passed_over(length: int, is_heeded: bool) -> None:
    html = f"<base href='{'/x'.ljust(length - 1, 'x')}/'><a href=../y>"
    assert (only_link(html) == "http://a.test/y") is is_heeded


def test_links_survive_in_a_page_nested_too_deep() -> None:
    html = b"<div>" * 5_000 + b'<a href="/here">text</a>' + b"<p title='>'>after"
    assert [link.url for link in parse(html, BASE).links] == ["http://a.test/here"]


@pytest.mark.parametrize(("links", "unread"), [(100, 0), (101, 1), (500, 400)])
def test_links_beyond_the_limit_are_counted(links: int, unread: int) -> None:
    others = b"<a href='#x'>x</a><a name=x>"
    source = b"<a href=x>" * (links - 1) + others + b"<area href=x>"
    page = parse(source, BASE, bounds=Bounds(links=100))
    assert (len(page.links), page.unread, page.is_cut) == (links - unread, unread, False)


def test_what_a_page_says_of_itself_counts_wherever_it_stands() -> None:
    page = parse(b"<a href=x>" * 3_001 + b"<meta name=robots content=nofollow>", BASE)
    assert page.robots == {"nofollow"}


@pytest.mark.parametrize(
    ("source", "is_cut"),
    [
        (b"<p>" * 11_999 + b"<a href=x>", False),
        (b"<p>" * 12_000 + b"<a href=x>", False),
        (b"<p>" * 12_000 + b"<img>" * 12_000 + b"<a href=x>", True),
        (b"<p>" * 12_000 + b"<abbr>" * 12_000 + b"<a href=x>", False),
        (b"<div>" * 5_000 + b"<a href=x title='a'>", False),
        (b"<div>" * 5_000 + b"<a href=x title='<b>'>", True),
        (b"<div>" * 5_000 + b"<a href=x " + b"a " * 30 + b">", True),
    ],
)
def test_a_page_whose_cut_may_lose_links_says_so(source: bytes, is_cut: bool) -> None:
    assert parse(source, BASE).is_cut is is_cut


@settings(deadline=None)
@given(st.binary(), st.text())
def test_anything_parses(source: bytes, url: str) -> None:
    parse(source, url)
    parse(b"<base href='" + source + b"'><a href='" + source + b"'>" + source, url)


def test_links_in_links_have_no_more_text_than_the_page_twice() -> None:
    text = "word " * 2_000
    html = "<a href=x><object>" * 200 + text
    found = parse(html.encode(), BASE)
    assert len(found.links) == 200
    assert sum(len(link.text) for link in found.links) <= 2 * len(html)
    assert found.links[0].text == text.strip()


def test_a_title_is_cut() -> None:
    title = parse(b"<title>" + b"x" * 5_000 + b"</title>", BASE).title
    assert title == "x" * MAX_TITLE
