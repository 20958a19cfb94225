"""Links made absolute; tests/test_whatwg.py has the standard's own cases."""

from __future__ import annotations

from urllib.parse import urljoin

import can_ada
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language.base_url import Base

BASE = "http://a.test/b/c/d.html"


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
    assert Base(base).join(href) == urljoin(with_slash, href)


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
        assert Base(BASE).join(href) == (can_ada.parse(BASE) + href).href


@given(
    st.sampled_from(
        ["a.test", "A.test", "0x7f.1", "1.2.3.4", "xn--a.test", "xn--zz.test", "a.b:80"]
    ),
    st.lists(
        st.sampled_from(
            ["/", ".", "..", "x", "%41", "%2e", "~u", "?q=1", "#f", "?", " ", "ก", ";"]
        ),
        max_size=6,
    ),
)
def test_a_page_is_where_the_standard_puts_it(host: str, parts: list[str]) -> None:
    page = f"http://{host}/{''.join(parts)}"
    try:
        expected = (can_ada.parse(page) + "x").href
    except ValueError:
        expected = "x"
    assert Base(page).join("x") == expected


@pytest.mark.parametrize(
    ("base", "href", "url"),
    [
        ("http://a.test\\b\\c", "x", "http://a.test/b/x"),
        ("http://a.test/a/b/%2e%2E/c", "../x", "http://a.test/x"),
        ("http://a.test/a/\tb/../c", "../x", "http://a.test/x"),
        ("HTTP://A.test", "x", "http://a.test/x"),
        (BASE, "", BASE),
        (BASE, "#x", f"{BASE}#x"),
        (BASE, " \n/x\0", "http://a.test/x"),
        (BASE, "\u3000x", "http://a.test/b/c/%E3%80%80x"),
    ],
)
def test_odd_bases_and_links(base: str, href: str, url: str) -> None:
    assert Base(base).join(href) == url


@pytest.mark.parametrize(
    ("charset", "query", "encoded"),
    [
        # WHATWG URL Standard §1.3, the examples of percent-encode after encoding.
        ("shift_jis", "≡", "%81%DF"),
        ("shift_jis", "‽", "%26%238253%3B"),
        ("utf-8", "≡", "%E2%89%A1"),
        # A page in UTF-16, and one in what no standard knows, has its queries in UTF-8.
        ("utf-16-le", "≡", "%E2%89%A1"),
        ("viscii", "≡", "%E2%89%A1"),
        # Other characters are as they are without a charset, and so one canonical URL.
        ("windows-874", "ก‽{x}|^`'\"&=%41", "%A1%26%238253%3B{x}|^`%27%22&=%41"),
        ("windows-874", "ก\r\n\tข  ", "%A1%A2"),
        ("big5", "功&x", "%A5\\&x"),
        ("iso-2022-jp", "あx", "%1B$B$%22%1B(Bx"),
    ],
)
def test_queries_in_the_charset_of_the_page(charset: str, query: str, encoded: str) -> None:
    assert Base(BASE, charset).join(f"?{query}") == f"{BASE}?{encoded}"


@given(st.text(), st.sampled_from(["windows-874", "big5", "iso-2022-jp", "gb18030", "tcvn", "?"]))
def test_any_text_in_any_charset_gets_an_answer(text: str, charset: str) -> None:
    assert Base(BASE, charset).join(f"?{text}")
    assert Base(text, charset).join(text) is not None


@pytest.mark.usefixtures("brake")
def test_blanks_without_end_are_read_once() -> None:
    href = f"?ก{' ' * 500_000}x"
    assert Base("http://a.test/", "windows-874").join(href).startswith("http://a.test/?%A1%20")
