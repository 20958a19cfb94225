"""A page as ``scrapy shell`` shows it."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse, TextResponse
from scrapy.settings import Settings

from lswc import settings as defaults
from lswc.crawl.shown_page import read
from lswc.errors import ConfigError
from tests.scenarios.site import ENGLISH, THAI, page


def settings(**given: object) -> Settings:
    made = Settings()
    made.setmodule(defaults)
    made.setdict(given, "cmdline")
    return made


def answer(text: str, *links: str) -> HtmlResponse:
    body = page(text, *links).encode()
    headers = {"Content-Type": "text/html; charset=utf-8"}
    return HtmlResponse("http://www.one.co.th/a/", body=body, headers=headers)


def test_links_have_their_tiers_or_why_they_are_left_out() -> None:
    response = answer(THAI, "/a/b", "http://two.example.com/", "mailto:me@one.co.th")
    shown = read(response, "th", settings(LSWC_PROFILE="soft_focused"))
    assert dict(shown.links) == {
        "http://www.one.co.th/a/b": "tier 0",
        "http://two.example.com/": "tier 0",
        "mailto:me@one.co.th": "scheme",
    }
    said = "\n".join(shown.lines())
    assert "language    th, by " in said
    assert "relevant    yes" in said


def test_what_the_strategy_discards_says_so() -> None:
    shown = read(answer(ENGLISH, "/a/b"), "th", settings(LSWC_PROFILE="hard_focused"))
    assert "relevant    no" in shown.lines()
    assert [said for _, said in shown.links] == ["strategy"]


def test_a_learned_order_shows_its_cells_in_words() -> None:
    shown = read(answer(THAI, "/a/b"), "th", settings())
    assert [said for _, said in shown.links] != ["tier 0"]
    assert len(shown.links) == 1


PICTURE = TextResponse(
    "http://a.example/x.png", body=b"\x89PNG\r\n\x1a\n", headers={"Content-Type": "image/png"}
)


@pytest.mark.parametrize(
    ("response", "lang", "line"),
    [(answer(THAI), "xx", "'xx'"), (PICTURE, "th", "neither HTML nor a document")],
)
def test_what_cannot_be_read_is_a_line(response: TextResponse, lang: str, line: str) -> None:
    with pytest.raises(ConfigError, match=line):
        read(response, lang, settings())
