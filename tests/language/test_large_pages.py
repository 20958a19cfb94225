"""Of a large page what counts is read: no reader sees scripts, styles and images in attributes."""

from __future__ import annotations

import pytest

from lswc.language.document import Document
from lswc.language.html import BOUNDS, Bounds, parse
from lswc.language.large_pages import KEPT, TIMES_A_PAGE, reduced, without_ballast

HERE = "http://a.test/"
SIZE = BOUNDS.size
LINK = b"<p>text</p><a href=/last>link</a>"


def read(body: bytes, bounds: Bounds = BOUNDS, charset: str = "utf-8") -> Document:
    return Document(body, f"text/html; charset={charset}", HERE, bounds)


def paths(document: Document) -> list[str]:
    return [link.url.removeprefix(HERE) for link in document.page.links]


BALLAST = {
    "script": b"<script>var a = '<a href=/no>';%b</script>",
    "data": b"<script type='application/json' id=\"x>\">%b</script >",
    "style": b"<STYLE>%b</STYLE>",
    "comment": b"<!-- <script> %b -->",
    "image": b"<img src='data:image/png;base64,%b'>",
    "shape": b"<svg><path d='%b'/></svg>",
}


@pytest.mark.parametrize("kind", BALLAST)
def test_what_nobody_reads_takes_no_room(kind: str) -> None:
    document = read(b"<a href=/first>x</a>" + BALLAST[kind] % (b"QUJD" * SIZE) + LINK)
    assert paths(document) == ["first", "last"]
    page = document.page
    assert (page.content.split(), page.unread, page.is_cut) == (["text"], 0, False)


def test_a_small_page_is_as_it_is() -> None:
    body = BALLAST["script"] % b"x" + LINK
    assert reduced(body, SIZE).body is body


def test_a_script_s_beginning_stays() -> None:
    light = without_ballast(b"<script>" + b"x" * (KEPT + 9) + b"</script>")
    assert light == b"<script>" + b"x" * KEPT + b"</script>"


@pytest.mark.parametrize(
    "body", [b"<script>" + b"x" * 9_000, b"<style>x", b"<!-- x", b"<!-->x<p>", b"<scripts>x"]
)
def test_what_has_no_end_stays(body: bytes) -> None:
    assert without_ballast(body) == body.replace(b"<!-->", b"")


def test_links_beyond_the_bounds_of_tags_and_size_are_read() -> None:
    rows = b"".join(b"<tr><td><b>%d</b><a class=x href=/%d>y</a>" % (n, n) for n in range(2_900))
    many = read(b"<table>" + rows + b"<i></i>" * 20_000 + LINK)
    assert (len(paths(many)), paths(many)[-1], many.page.is_cut) == (2_901, "last", False)
    long = read(b"<p>word " * 100_000 + LINK)
    assert (paths(long), long.page.is_cut) == (["last"], False)
    assert long.page.content.split()[-1] == "text"


@pytest.mark.parametrize("opened", [b"<nav>", b"<textarea>", b"<select>", b"<svg>", b"<script>"])
def test_what_is_open_at_the_bound_swallows_nothing(opened: bytes) -> None:
    document = read(b"<i></i>" * 5_990 + opened + b"<b></b>" * 20 + LINK)
    assert paths(document) == ["last"]
    assert document.page.content.split()[-1] == "text"


def test_what_is_not_read_is_counted() -> None:
    rows = b"<a href=/a>x</a><p>" + b"word " * 100_000
    page = read(rows * 20, Bounds(size=50_000)).page
    assert page.is_cut
    assert 0 < page.unread < 20
    assert len(page.links) + page.unread == 20
    far = read(b"<p>" + b"x " * TIMES_A_PAGE * SIZE + LINK)
    assert (paths(far), far.page.unread) == ([], 1)


@pytest.mark.parametrize("charset", ["utf-16", "iso-2022-jp"])
def test_halves_of_letters_are_no_tags(charset: str) -> None:
    body = ("<p>日本語<a href=/first>x</a>" + "本" * SIZE).encode(charset)
    document = read(body, charset=charset)
    assert (paths(document), document.is_cut) == (["first"], True)


HOSTILE = {
    "comments": b"<!--" * 500_000,
    "scripts": b"<script>" * 300_000,
    "styles": b"<style x='" * 300_000,
    "data": b";base64," * 400_000,
    "shapes": b"<svg><path " * 300_000,
    "anchors": b"<a " * 1_000_000,
    "links": b"<a href=x>" * 400_000,
    "quotes": b"<a href='x\" " * 300_000,
    "opened": b"<" * 4_000_000,
    "tables": b"<table><a>" * 400_000,
    "references": b"<a href=/x title='" + b"&amp;" * 800_000,
    "ends": b"</p>" * 1_000_000,
    "forms": b"<b><a href=x>" * 300_000,
    "depth": b"<div>" * 800_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.usefixtures("brake")
def test_no_large_page_holds_the_reader(name: str) -> None:
    page = read(b"<title>t</title>" + HOSTILE[name]).page
    assert len(page.links) <= BOUNDS.links


def test_a_page_is_the_same_within_its_bounds() -> None:
    body = b"<!-- c --><style>s</style>" + LINK * 900
    larger = Bounds(tags=100_000, size=10**7)
    read = [parse(body, HERE, bounds=bounds)._replace(base=None) for bounds in (BOUNDS, larger)]
    assert read[0] == read[1]
