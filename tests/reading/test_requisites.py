"""What a page needs besides: found wherever HTML and CSS name it, whatever they are made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language import Identifier
from lswc.language.document import Document
from lswc.language.registry import language
from lswc.outcomes import Outcome
from lswc.reading.page import PageReader
from lswc.reading.requisites import (
    MAX_DEPTH,
    Needed,
    Place,
    Requisite,
    RequisiteReader,
    of_document,
    of_page,
    of_script,
    of_style,
)
from lswc.reading.scope import Scope
from lswc.strategy import PageLanguage
from lswc.urls import parse
from tests.scenarios.site import ENGLISH, THAI

PAGE = "http://a.example/b/c.html"

ELEMENTS = {
    '<img src="x">': "image",
    '<img alt="" data-src="x">': "image",
    '<img src="data:image/gif;base64,R0" data-original=x>': "image",
    '<img srcset="x">': "image",
    '<img data-srcset=" x 480w">': "image",
    '<picture><source srcset="x 2x"></picture>': "image",
    '<video poster="x"></video>': "image",
    '<video><source src="x"></video>': "media",
    '<audio src="x"></audio>': "media",
    '<video><track src="x"></video>': "media",
    '<input type="image" src="x">': "image",
    '<svg><image href="x"/></svg>': "image",
    '<svg><use xlink:href="x#icon"/></svg>': "image",
    '<body background="x">': "image",
    '<table><tr><td background="x"></table>': "image",
    '<link rel="stylesheet" href="x">': "style",
    '<link rel="alternate stylesheet" href="x">': "style",
    '<link rel="SHORTCUT ICON" href="x">': "icon",
    '<link rel="apple-touch-icon" href="x">': "icon",
    '<link rel="manifest" href="x">': "manifest",
    '<link rel="preload" as="font" href="x">': "font",
    '<link rel="preload" as="image" imagesrcset="x 1x" href="x">': "image",
    '<script src="x"></script>': "script",
    '<frameset><frame src="x"></frameset>': "frame",
    '<iframe src="x"></iframe>': "frame",
    '<iframe srcdoc="&lt;img src=x&gt;"></iframe>': "image",
    '<object data="x"></object>': "object",
    '<embed src="x">': "object",
    '<p style="background: url(x)">': "image",
    '<style>@import "x";</style>': "style",
    "<style>p { background: image-set('x' 1x) }</style>": "image",
    "<noscript><img src=x></noscript>": "image",
    '<link rel="preload" as="fetch" href="x">': "data",
    '<script type="importmap">{"imports": {"a": "./x", "b": "./folder/"}}</script>': "script",
    '<script type="module">import {a} from "./x"; import b from "b"</script>': "script",
    '<div data-bg="x.png"></div>': "image",
    '<div data-background-image="url(x.webp?v=1)"></div>': "image",
    "<!-- <img src=y> --><img src=x>": "image",
}


@pytest.mark.parametrize("element", ELEMENTS)
def test_an_element_names_what_it_shows(element: str) -> None:
    (found,) = of_page(element.encode(), PAGE)
    assert found.url.partition(".png")[0].partition(".webp")[0] == "http://a.example/b/x"
    assert found.kind == ELEMENTS[element]


@pytest.mark.parametrize(
    "element",
    [
        "<a href=x>",
        "<link rel=next href=x>",
        "<link rel=preload href=x>",
        '<img src="">',
        '<img src="#x">',
        '<img src="c.html">',
        "<img src=data:image/gif;base64,R0lG>",
        "<iframe src=about:blank></iframe>",
        "<iframe src=javascript:x()></iframe>",
        "<script>var x = 'url(x)';</script>",
        "<script>Array.from('./x'); var from = './x'; important('./x')</script>",
        "<script type=importmap>{'imports': [</script>",
        "<script type=importmap>[1]</script>",
        '<script type=importmap>{"imports": {"a": null}}</script>',
        "<p data-bg=dark>",
        "<p data-background='#fff'>",
    ],
)
def test_other_elements_need_nothing(element: str) -> None:
    assert of_page(element.encode(), PAGE) == []


def urls(found: list[Requisite]) -> list[str]:
    return [requisite.url.removeprefix("http://a.example/") for requisite in found]


def test_each_is_named_once_relative_to_the_base() -> None:
    html = (
        b'<img src=0><base href="/z/"><base href="/y/"><img src=1><img src="1#part">'
        b'<img src="/2?a=1&amp;b">'
    )
    assert urls(of_page(html, PAGE)) == ["b/0", "z/1", "2?a=1&b"]


def test_candidates_are_divided_as_the_standard_says() -> None:
    html = b"<img srcset='a 1x, b,c 2x,d , e 100w , data:image/png,x 3x,https://f.example/g 4x'>"
    assert urls(of_page(html, PAGE)) == ["b/a", "b/b,c", "b/d", "b/e", "https://f.example/g"]


STYLES = {
    '@import "1.css" screen; @import url(2.css); @import url("3.css");': [
        "1.css",
        "2.css",
        "3.css",
    ],
    "@IMPORT '1.css';": ["1.css"],
    "p { background: url( 'a b.png' ) }": ["a%20b.png"],
    r"p { background: url(a\29 b.png) }": ["a)b.png"],
    "p { background: URL(1.png), url(2.png) no-repeat }": ["1.png", "2.png"],
    "@media print { p { background: url(1.png) } q { src: url(2.png) } }": ["1.png", "2.png"],
    "@font-face { src: local(x), url(1.woff2) format('woff2') }": ["1.woff2"],
    "p { background: -webkit-image-set(url(1.png) 1x, '2.png' 2x) }": ["1.png", "2.png"],
    "/* url(0.png) */ p { background: url(1.png) }": ["1.png"],
    "p::before { content: 'url(0.png)' } p { background: url(1.png) }": ["1.png"],
    "p { background: url(data:image/svg+xml;utf8,<svg>) } q { mask: url(#m) }": [],
    "p { background: url(1.png": ["1.png"],
    "p { fill: url(1.svg#a); stroke: url(1.svg#b) }": ["1.svg"],
    "@charset 'utf-8'; @namespace 'http://www.w3.org/1999/xhtml'; p {}": [],
    "p { --x: url(1.png); width: calc(1px + (2px * var(--y))) }": ["1.png"],
}


@pytest.mark.parametrize("style", STYLES)
def test_what_a_style_sheet_names(style: str) -> None:
    found = urls(of_style(style, "http://a.example/x.css"))
    assert found == STYLES[style]


def test_kinds_within_a_style_sheet() -> None:
    style = "@import 'a.css'; @font-face { src: url(b.woff) } p { background: url(c.png) }"
    assert [r.kind for r in of_style(style, PAGE)] == ["style", "font", "image"]


SCRIPTS = {
    'import "./a.js"; import b from "../b.js"; export * from "/c.js"': ["b/a.js", "b.js", "c.js"],
    'import{x as y,z}from"./a.js";import("./b.js").then(go)': ["b/a.js", "b/b.js"],
    'new Worker(new URL("./w.js", import.meta.url))': ["b/w.js"],
    'import "react"; import x from "@scope/x"': [],
    'new URL("./x", location)': [],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_a_script_imports(script: str) -> None:
    assert urls(of_script(script, PAGE)) == [
        url.removeprefix("http://a.example/") for url in SCRIPTS[script]
    ]


def test_an_image_in_svg_and_its_styles_are_needed() -> None:
    svg = (
        b'<?xml version="1.0"?><svg><image xlink:href="1.png"/><style>@import "2.css"</style></svg>'
    )
    needed = reader().read(svg, "image/svg+xml", PAGE, 1)
    assert urls(list(needed.requisites)) == ["b/1.png", "b/2.css"]


HOSTILE_SCRIPTS = {
    "words": "import from " * 50_000,
    "blanks": "import" + " " * 500_000,
    "quotes": "from './" * 60_000,
    "addresses": "URL('./" + "x" * 500_000,
    "imports": "import './x';" * 40_000,
}


@pytest.mark.parametrize("name", HOSTILE_SCRIPTS)
@pytest.mark.usefixtures("brake")
def test_no_script_holds_the_reader(name: str) -> None:
    found = urls(of_script(HOSTILE_SCRIPTS[name], PAGE))
    assert found == (["b/x"] if name == "imports" else [])


HOSTILE = {
    "braces": "{" * 400_000 + "url(x)",
    "open": "url(" * 100_000,
    "parts": "a{b:url(1)}" * 40_000,
    "nested functions": "a{b:" + "f(" * 20_000 + "url(x)",
    "nested blocks": "a{b:url(x) " + "([" * 20_000,
    "nested strings": "a{b:url('" + "\\" * 100_000,
    "escapes": "a{b:url(" + r"\a" * 100_000 + ")}",
    "imports": "@import 'x';" * 30_000,
    "one import": "@import " * 50_000 + "'x'",
    "comments": "a{b:url(x)" + "/*" * 100_000,
    "a part": "a{b:" + "url(x) " * 60_000 + "}",
    "nothing": "\0" * 200_000 + "url(x)",
    "quotes": "a{b:url(\"'" * 20_000,
    "dashes": "a{b:url(x)" + "<!--" * 100_000,
    "numbers": "a{b:url(x) " + "9" * 200_000 + "e" + "9" * 9,
    "surrogates": "a{b:url(\ud800)}",
}
NOTHING = (
    "open",
    "nested functions",
    "nested strings",
    "escapes",
    "one import",
    "nothing",
    "numbers",
)
FOUND = dict.fromkeys(NOTHING, "") | {
    "parts": "b/1", "quotes": "b/'a", "surrogates": "b/%EF%BF%BD",
}  # fmt: skip
"""What is needed by those that don't need b/x."""


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.usefixtures("brake")
def test_no_style_sheet_holds_the_reader(name: str) -> None:
    expected = FOUND.get(name, "b/x")
    assert urls(of_style(HOSTILE[name], PAGE)) == [expected] * bool(expected)
    html = f"<style>{HOSTILE[name]}".encode(errors="replace")
    expected = "b/c.html?" if name == "surrogates" else expected  # which no bytes can have
    assert urls(of_page(html, PAGE)) == [expected] * bool(expected)


MARKUP = {
    "candidates": "<img srcset='" + "x 1x, " * 200_000 + "'>",
    "one candidate": "<img srcset='" + "x" * 500_000 + "'>",
    "spaces": "<img srcset='x " + " " * 300_000 + "'>",
    "commas": "<img srcset='" + "," * 300_000 + "'>",
    "brackets": "<img srcset='x " + "(" * 300_000 + "'>",
    "frames in frames": '<iframe srcdoc="' + "&lt;iframe srcdoc='" * 5_000,
    "styles": "<p style='background:url(x)'>" * 10_000,
    "import maps": "<script type=importmap>" + "[" * 90_000,
    "images": "".join(f"<img src={number}>" for number in range(12_000)),
}


@pytest.mark.parametrize("name", MARKUP)
@pytest.mark.usefixtures("brake")
def test_no_markup_holds_the_reader(name: str) -> None:
    found = urls(of_page(MARKUP[name].encode(), PAGE))
    match name:
        case "images":
            assert found == [f"b/{number}" for number in range(12_000)]
        case "one candidate":
            assert found == [f"b/{'x' * 100_000}"], "the attribute is cut"
        case "commas" | "frames in frames" | "import maps":
            assert found == []
        case _:
            assert found == ["b/x"]


@given(st.text("url(@import){}[]'\"\\;:,/*-<!> \n\x00aé", max_size=200))
def test_any_style_sheet_names_absolute_addresses(style: str) -> None:
    for requisite in of_style(style, PAGE):
        assert requisite.url.startswith(("http://", "https://"))
        assert "#" not in requisite.url


def reader(most: int = 0, *of: PageLanguage) -> RequisiteReader:
    return RequisiteReader(frozenset(of), Scope(0, 60), most)


def test_it_is_bounded_and_what_is_left_is_counted() -> None:
    html = "".join(f"<img src={n}>" for n in range(5))
    html += "<img src=http://127.0.0.1/>" + f"<img src={'x' * 60}>"
    needed = reader(3).read(html.encode(), "text/html", PAGE, 1)
    assert urls(list(needed.requisites)) == ["b/0", "b/1", "b/2"]
    assert dict(needed.discarded) == {
        Outcome.TOO_MANY_REQUISITES: 2,
        Outcome.ADDRESS_NOT_PUBLIC: 1,
        Outcome.URL_TOO_LONG: 1,
    }


def test_what_a_requisite_needs_itself_ends() -> None:
    style = b"p { background: url(1.png) }"
    assert urls(list(reader().read(style, "text/css", PAGE, 1).requisites)) == ["b/1.png"]
    last = reader().read(style, "text/css; charset=utf-8", PAGE, MAX_DEPTH)
    assert last == Needed((), ((Outcome.TOO_MANY_REQUISITES, 1),))
    assert not reader().read(style, "text/plain", PAGE, 1).requisites
    assert not reader().read(b"\x89PNG\r\n\x1a\n<img src=x>", "text/html", PAGE, 1).requisites


@pytest.mark.parametrize(
    ("content_type", "body", "may"),
    [
        ("text/css; charset=utf-8", b"", True),
        ("Text/CSS", b"", True),
        ("image/svg+xml", b"", True),
        ("text/javascript", b"", True),
        ("application/json", b"", True),
        ("text/html", b"<p>x", True),
        ("text/plain", b' {"icons": []}', True),
        ("text/plain", b"icons", False),
        ("image/png", b"\x89PNG\r\n\x1a\n", False),
        ("font/woff2", b"wOF2", False),
    ],
)
def test_what_may_need_more_itself_is_read(content_type: str, body: bytes, may: bool) -> None:
    assert RequisiteReader.reads(body, content_type) is may


@pytest.mark.parametrize("turn", [1, -1])
def test_the_longest_name_of_an_import_map_wins(turn: int) -> None:
    """HTML Standard §8.1.6.2: a whole name before all folders, then the longest folder."""
    names = ("a/", "a/b/", "a/b/c/", "a/b/whole.js", "b/")
    place = Place(
        PAGE, tuple((name, f"http://{n}.example/") for n, name in enumerate(names))[::turn]
    )
    script = "import 'a/x.js'; import 'a/b/x.js'; import 'a/b/c/d/x.js'; import 'a/b/whole.js'"
    assert {one.url for one in of_script(script, PAGE, place)} == {
        "http://0.example/x.js", "http://1.example/x.js", "http://2.example/d/x.js",
        "http://3.example/",
    }  # fmt: skip


def test_an_image_that_is_preloaded_has_candidates() -> None:
    link = b'<link rel=preload as=image href=a imagesrcset="b 1x, c 2x">'
    assert urls(of_page(link, PAGE)) == ["b/a", "b/b", "b/c"]


@pytest.mark.parametrize(("text", "wanted"), [(THAI, True), (ENGLISH, False)])
def test_only_pages_that_are_archived_are_looked_through(text: str, wanted: bool) -> None:
    identifier = Identifier(language("th"))
    pages = PageReader(identifier, Scope(2, 0), frozenset(), reader(0, PageLanguage.TARGET))
    url = parse(PAGE)
    assert url is not None
    html = f"<p>{text * 4}</p><img src=x>".encode()
    headers = {"content-type": ["text/html; charset=utf-8"]}
    reading = pages.read(html, headers, url, 0)
    assert reading is not None
    assert bool(reading.needed.requisites) is wanted


def test_a_page_that_holds_the_parser_keeps_its_requisites() -> None:
    html = "<div>" * 5_000 + "<img src=a><video><source src=b></video><input type=image src=c>"
    document = Document(html.encode(), "text/html", PAGE)
    assert document.markup != document.utf8
    assert urls(of_document(document)) == ["b/a", "b/b", "b/c"]


def test_what_is_long_in_a_tag_costs_no_requisite() -> None:
    long = f"<img src='data:image/png;base64,{'R0lGOD' * 9_000}' data-src=a><p style='{' ' * 9_000}"
    document = Document(f"{long}background:url(b)'><img src=c>".encode(), "text/html", PAGE)
    assert urls(of_document(document)) == ["b/a", "b/b", "b/c"]


@pytest.mark.usefixtures("brake")
def test_a_hostile_page_in_an_attribute_does_not_hold_the_parser() -> None:
    inside = "&lt;dl>" * 25_000
    assert of_page(f'<iframe srcdoc="{inside}"></iframe>'.encode() * 10, PAGE) == []
