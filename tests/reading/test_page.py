"""What is read of a page: its words to robots, and its links in scope; no crawl is needed."""

from __future__ import annotations

import random
from typing import Any

import pytest

from lswc.language import Identifier
from lswc.language.registry import language
from lswc.outcomes import Outcome
from lswc.reading.page import EXAMINED, PageReader, PageReading, without_closed
from lswc.reading.scope import Scope
from lswc.safety.content_types import Kind
from lswc.safety.server_limits import Limits
from lswc.strategy import Anchor, Locality, Named, PageLanguage
from lswc.urls import Url, parse
from tests.reading import made

THAI = "ภาษาไทยเป็นภาษาที่มีผู้พูดมากที่สุดในประเทศไทย และข่าววันนี้มีเรื่องน่าสนใจหลายเรื่อง "
WORDS = frozenset({"nofollow", "noindex", "noarchive"})
HTML = {"content-type": ["text/html; charset=utf-8"]}


def url(address: str) -> Url:
    found = parse(address)
    assert found is not None
    return found


HERE = url("http://www.one.co.th/news/today.html")


def read(
    html: str, *, obeyed: frozenset[str] = WORDS, base: str = "", **headers: list[str]
) -> PageReading | None:
    """Read a page that is one link from the seeds, where two are the most."""
    reader = PageReader(Identifier(language("th")), Scope(2, 60), obeyed)
    given = HTML | {name.replace("_", "-"): values for name, values in headers.items()}
    return reader.read(html.encode(), given, HERE, 1, base)


def page(html: str, **given: Any) -> PageReading:
    found = read(html, **given)
    assert found is not None
    return found


def test_what_is_no_html_is_not_read() -> None:
    assert read("<p>x", content_type=["image/png"]) is None
    assert read("%PDF-1.4") is None
    assert read("<p>x", content_type=["text/html"]) is not None


def test_a_document_is_read_where_documents_are() -> None:
    link = '<w:p><w:hyperlink r:id="a"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>'
    body = made.docx(made.paragraph(THAI * 9) + link, title="ชื่อ", links={"a": "x.html"})
    for documents in (True, False):
        reader = PageReader(Identifier(language("th")), Scope(2, 60), WORDS, documents=documents)
        found = reader.read(body, {}, url("http://www.one.co.th/a.docx"), 1)
        assert (found is not None) is documents
        if found is not None:
            assert (found.kind, found.title, found.identification.language) == (
                Kind.WORD, "ชื่อ", "th",
            )  # fmt: skip
            assert [link.url.href for link in found.links] == ["http://www.one.co.th/x.html"]


_LINK = "http://www.two.co.th/x.html"


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("a.pdf", made.pdf([["a"]], links=[_LINK])),
        ("a.docx", made.docx('<w:hyperlink r:id="a"/>', links={"a": _LINK})),
        ("a.pptx", made.pptx("a", links={"a": _LINK})),
        ("a.xlsx", made.xlsx("a", links={"a": _LINK})),
        ("a.odt", made.odt(f'<text:p><text:a xlink:href="{_LINK}">a</text:a></text:p>')),
        ("a.epub", made.epub(f'<p><a href="{_LINK}">a</a></p>')),
        ("a.rtf", made.rtf(f'{{\\field{{\\*\\fldinst{{HYPERLINK "{_LINK}"}}}}{{\\fldrslt a}}}}')),
        ("a.txt", f"a {_LINK}".encode()),
        ("a.csv", f"a,{_LINK},b".encode()),
    ],
)
def test_links_of_documents_are_followed(name: str, body: bytes) -> None:
    reader = PageReader(Identifier(language("th")), Scope(2, 60), WORDS, documents=True)
    headers = {"content-type": ["text/plain"]} if name == "a.txt" else {}
    found = reader.read(body, headers, url(f"http://www.one.co.th/{name}"), 1)
    assert found is not None
    assert [link.url.href for link in found.links] == [_LINK]


def test_a_link_is_told_by_where_it_leads() -> None:
    found = page(
        "<a href=old.html>ข่าว</a><a href=/>news of the day</a><a href=http://mail.one.co.th/></a>"
        "<a href=http://www.two.co.th/>x</a>"
    )
    assert [
        (link.url.href, link.locality, link.anchor, link.same_folder) for link in found.links
    ] == [
        ("http://www.one.co.th/news/old.html", Locality.SAME_SERVER, Anchor.TARGET, True),
        ("http://www.one.co.th/", Locality.SAME_SERVER, Anchor.OTHER, False),
        ("http://mail.one.co.th/", Locality.SAME_SITE, Anchor.NONE, False),
        ("http://www.two.co.th/", Locality.ELSEWHERE, Anchor.OTHER, False),
    ]


def test_what_a_page_says_of_a_links_language_counts() -> None:
    found = page("<a href=/1 lang=th>x</a><a href=/2 hreflang=th>x</a><a href=/3>x</a>"
                 "<a href=/4 hreflang=de lang=th>x</a>")  # fmt: skip
    named = [Named.TARGET, Named.TARGET, Named.NONE, Named.OTHER]
    assert [link.named for link in found.links] == named


def test_a_link_to_the_page_itself_is_none() -> None:
    found = page("<a href=today.html>x</a><a href=#top>x</a><a href=today.html?page=2>x</a>")
    assert [link.url.href for link in found.links] == [f"{HERE.href}?page=2"]
    assert not found.left


def test_links_are_relative_to_the_url_that_answered() -> None:
    reader = PageReader(Identifier(language("th")), Scope(0, 0), WORDS)
    found = reader.read(b"<a href=x>x</a>", HTML, HERE, 0, "https://www.one.co.th/a/b")
    assert found is not None
    assert [link.url.href for link in found.links] == ["https://www.one.co.th/a/x"]


def test_links_out_of_scope_are_left_with_the_reason_and_not_longer_than_a_url() -> None:
    long = f"http://www.one.co.th/{'x' * 100}"
    found = page(f"<a href=mailto:a@b.th>x</a><a href={long}>ข่าว</a><a rel=nofollow href=/>x</a>")
    assert [(link.url, link.anchor, link.reason) for link in found.left] == [
        ("mailto:a@b.th", Anchor.OTHER, Outcome.SCHEME),
        (long[:60], Anchor.TARGET, Outcome.URL_TOO_LONG),
        ("http://www.one.co.th/", Anchor.OTHER, Outcome.NOFOLLOW),
    ]
    assert not found.links


def test_links_are_one_deeper_than_their_page() -> None:
    reader = PageReader(Identifier(language("th")), Scope(2, 0), WORDS)
    for depth, reasons in ((1, []), (2, [Outcome.DEPTH])):
        found = reader.read(b"<a href=/>x</a>", HTML, HERE, depth)
        assert found is not None
        assert [link.reason for link in found.left] == reasons
        assert len(found.links) == 1 - len(reasons)


@pytest.mark.parametrize("way", ["meta", "header"])
@pytest.mark.parametrize(
    ("said", "obeyed", "unwanted", "followed"),
    [
        ("nofollow", WORDS, None, False),
        ("noindex", WORDS, "noindex", True),
        ("noarchive", WORDS, "noarchive", True),
        ("none", WORDS, "noindex", False),
        ("none", {"noarchive"}, None, True),
        ("none", {"nofollow"}, None, False),
        ("none", {"noindex"}, "noindex", True),
        ("noarchive, noindex", WORDS, "noindex", True),
        ("nofollow, noindex, noarchive", set(), None, True),
        ("all", WORDS, None, True),
    ],
)
def test_words_to_robots(
    way: str, said: str, obeyed: set[str], unwanted: str | None, followed: bool
) -> None:
    meta, headers = "", HTML
    if way == "meta":
        meta = f"<meta name=robots content='{said}'>"
    else:
        headers = HTML | {"x-robots-tag": [said]}
    reader = PageReader(Identifier(language("th")), Scope(0, 0), frozenset(obeyed))
    found = reader.read(f"{meta}<a href=/>x</a>".encode(), headers, HERE, 0)
    assert found is not None
    assert found.unwanted == unwanted
    assert bool(found.links) is followed
    assert [link.reason for link in found.left] == ([] if followed else [Outcome.NOFOLLOW])


def test_nofollow_of_a_link_counts_only_if_it_is_obeyed() -> None:
    link = "<a rel=nofollow href=/>x</a>"
    assert not page(link).links
    reader = PageReader(Identifier(language("th")), Scope(0, 0), frozenset({"noindex"}))
    found = reader.read(link.encode(), HTML, HERE, 0)
    assert found is not None
    assert found.links


def test_the_language_is_told_as_strategies_tell_it() -> None:
    assert page(f"<title>ข่าว</title><p>{THAI * 4}").identified is PageLanguage.TARGET
    assert page(f"<title>ข่าว</title><p>{THAI * 4}").title == "ข่าว"
    assert page("<p>" + "The news of the day and the weather of the week. " * 9).identified is (
        PageLanguage.ENGLISH
    )
    reader = PageReader(Identifier(language("th")), Scope(0, 0), WORDS)
    found = reader.read(b"", HTML, url("http://a.example/"), 0)
    assert found is not None
    assert found.identified is PageLanguage.UNKNOWN


def test_what_the_server_says_of_the_language() -> None:
    found = page("<p>x", content_language=["th", "en"], vary=["Accept-Language"])
    assert (found.content_language, found.vary) == ("th, en", "Accept-Language")
    assert page("<p>x").content_language == ""


def test_pages_are_compared_by_the_beginning_of_their_text() -> None:
    choose = random.Random(1)
    letters = choose.choices("กขคงจฉชซดตถทนบปผพฟมยรลวสหอ", k=EXAMINED * 2)
    whole = "".join(letters)
    first, same = page(f"<p>{whole}"), page(f"<p>{whole[: EXAMINED + 80]}")
    assert first.simhash == same.simhash
    assert first.simhash != page(f"<p>{whole[EXAMINED // 2 :]}").simhash


def test_links_to_what_is_left_alone_are_left() -> None:
    limits = Limits()
    limits.close("www.two.co.th", Outcome.RETRY_AFTER_TOO_LONG)
    found = page(
        "<a href=mailto:a@b.th>x</a><a href=http://www.two.co.th/>ข่าว</a><a href=http://a.th/>x</a>"
    )
    left = without_closed(found, limits.closed)
    assert [link.url.href for link in left.links] == ["http://a.th/"]
    assert [(link.url, link.anchor, link.reason) for link in left.left[1:]] == [
        ("http://www.two.co.th/", Anchor.TARGET, Outcome.RETRY_AFTER_TOO_LONG)
    ]
    assert left.left[0] == found.left[0]
    assert without_closed(found, Limits().closed) == found
