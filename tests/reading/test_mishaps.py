"""An error of the reader costs what it touches: a link, a requisite, an answer; not the page."""

from __future__ import annotations

import pytest

from lswc.language import Identifier
from lswc.language.default_method import Auto
from lswc.language.registry import language
from lswc.mishaps import LANGUAGE, LINK, REQUISITE, TEXT, Mishaps, what_of
from lswc.outcomes import Outcome
from lswc.reading import page as page_module
from lswc.reading import requisites
from lswc.reading.page import PageReader, PageReading
from lswc.reading.requisites import RequisiteReader
from lswc.reading.scope import Scope
from lswc.strategy import PageLanguage
from lswc.urls import parse

THAI = "ภาษาไทยเป็นภาษาที่มีผู้พูดมากที่สุดในประเทศไทย และข่าววันนี้มีเรื่องน่าสนใจหลายเรื่อง"
PAGE = f"<p>{THAI}<a href=/one>x</a><a href=/bad>y</a><img src=/bad.png><img src=/good.png>"
LINKS = ["http://a.example/one", "http://a.example/bad"]


def read(html: str = PAGE, *, clean: bool = False) -> PageReading:
    scope, here = Scope(0, 0), parse("http://a.example/")
    assert here is not None
    reader = PageReader(
        Identifier(language("th")),
        scope,
        frozenset(),
        RequisiteReader(frozenset(PageLanguage), scope),
        clean_text=clean,
    )
    found = reader.read(html.encode(), {"content-type": ["text/html; charset=utf-8"]}, here, 0)
    assert found is not None
    return found


def links(found: PageReading) -> list[str]:
    return [link.url.href for link in found.links]


def costs(found: PageReading) -> list[tuple[str, int]]:
    return [(what_of(mishap), number) for mishap, number in found.mishaps]


def fails(*_: object, **__: object) -> None:
    raise KeyError("x")


def test_nothing_is_counted_where_nothing_failed() -> None:
    found = read()
    assert (links(found), found.mishaps) == (LINKS, ())


def test_a_link_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    check_all = Scope.check_all

    def bad(scope: Scope, addresses: list[str], depth: int) -> object:
        if any("bad" in address for address in addresses):
            raise KeyError(addresses)
        return check_all(scope, addresses, depth)

    monkeypatch.setattr(Scope, "check_all", bad)
    found = read(PAGE.partition("<img")[0])
    assert links(found) == LINKS[:1]
    assert [(left.url, left.reason) for left in found.left] == [(LINKS[1], Outcome.SPIDER_ERROR)]
    assert costs(found) == [(LINK, 1)]


def test_a_requisite_costs_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    absolute = requisites._absolute

    def bad(found: object, base: object, own: str) -> object:
        taken = list(absolute(found, base, own))  # type: ignore[arg-type]
        if any("bad" in one.url for one in taken):
            raise KeyError(own)
        return taken

    monkeypatch.setattr(requisites, "_absolute", bad)
    found = read()
    assert [one.url for one in found.needed.requisites if one.kind == "image"] == [
        "http://a.example/good.png"
    ]
    assert costs(found) == [(REQUISITE, 1)]
    assert links(found) == LINKS


def test_all_requisites_cost_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RequisiteReader, "of_page", fails)
    found = read()
    assert (links(found), costs(found)) == (LINKS, [(REQUISITE, 1)])


def test_a_language_that_cannot_be_told_costs_no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Auto, "identify", fails)
    found = read()
    assert (links(found), found.identified) == (LINKS, PageLanguage.UNKNOWN)
    assert costs(found) == [(LANGUAGE, 1)]


def test_a_link_s_language_costs_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Auto, "anchor", fails)
    found = read(PAGE.replace(">x<", ">ข่าว<").replace(">y<", ">กีฬา<"))
    assert (links(found), costs(found)) == (LINKS, [(LINK, 2)])


def test_clean_text_costs_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "of_page", fails)
    found = read(clean=True)
    assert (links(found), costs(found)) == (LINKS, [(TEXT, 1)])


def test_a_page_is_none_where_there_is_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Auto, "identify", ends)
    with pytest.raises(MemoryError):
        read()


def test_an_error_is_kept_without_words_of_the_page() -> None:
    mishaps = Mishaps()
    for word in ("one", "two"):
        try:
            fails(word)
        except KeyError as error:
            mishaps.take(LINK, error)
    ((name, number),) = mishaps.items()
    assert number == 2
    assert name.startswith("link: KeyError in test_mishaps.py:")
