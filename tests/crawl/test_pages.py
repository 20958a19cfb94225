"""What a crawl makes of an answer, and what it counts; whole crawls are in tests/scenarios."""

from __future__ import annotations

import dataclasses
from asyncio import run
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from scrapy.http import HtmlResponse, Response

from lswc.crawl.pages import NOT_MODIFIED
from lswc.frontier.rules.visit import Attempt, Exchange
from lswc.language.default_method import Auto
from lswc.language.document import Document
from lswc.language.html import BOUNDS
from lswc.outcomes import Outcome
from lswc.strategy import PageLanguage
from tests.archive.reading import records
from tests.crawl.running import SetUp
from tests.scenarios.site import THAI, page

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.crawl.pages import Page
    from lswc.frontier.rules.visit import Visit


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def read(crawl: SetUp, body: str, flag: str = "") -> tuple[Visit, Page | None]:
    visit = crawl.visit()
    response = HtmlResponse(
        visit.url, body=body.encode(), encoding="utf-8", request=crawl.request(visit),
        flags=[flag] if flag else None,
    )  # fmt: skip
    return visit, run(crawl.parts.pages.read(response))


def test_what_is_counted_of_pages(tmp_path: Path) -> None:
    seeds = [f"http://{name}.example/" for name in "abc"]
    settings = {"LSWC_EXCLUDE": ["path:/closed/*"], "URLLENGTH_LIMIT": 60}
    long = "x" * 60
    text = page(THAI, "/open", "/closed/1", "/closed/2", f"/{long}")
    with SetUp(tmp_path, *seeds, **settings) as crawl:
        visit, first = read(crawl, text)
        discards: dict[tuple[str, str], int] = {
            ("discarded", Outcome.EXCLUDED): 2,
            ("discarded", Outcome.URL_TOO_LONG): 1,
        }
        assert visit.tally == discards
        assert first is not None
        assert (first.near_duplicate, first.status) == (False, 200)
        assert [link.url.href for link in first.links] == [f"{visit.url}open"]
        assert [(link.url, link.discarded) for link in visit.links] == [
            (f"{visit.url}closed/1", Outcome.EXCLUDED),
            (f"{visit.url}closed/2", Outcome.EXCLUDED),
            (f"{visit.url}{long}"[:60], Outcome.URL_TOO_LONG),
        ]
        visit, again = read(crawl, text, NOT_MODIFIED)
        assert again is not None
        assert (again.near_duplicate, again.status) == (True, 304)
        assert visit.tally == {
            ("content", "near-duplicate"): 1, ("content", NOT_MODIFIED): 1, **discards
        }  # fmt: skip


def test_what_is_no_page_has_ended(tmp_path: Path) -> None:
    with SetUp(tmp_path) as crawl:
        visit = crawl.visit()
        image = Response(
            visit.url, headers={"Content-Type": "image/png"}, body=b"\x89PNG\r\n\x1a\n",
            request=crawl.request(visit),
        )  # fmt: skip
        assert run(crawl.parts.pages.read(image)) is None
        assert visit.outcome == Outcome.NOT_HTML
        assert run(crawl.parts.pages.read(Response(visit.url))) is None, "of another component"


@pytest.mark.parametrize(
    ("seed", "text", "unread"),
    [
        ("http://a.example/", THAI, 0),
        ("http://a.example/", "English words, and no others.", 5),
        ("http://a.example/list", THAI, 5),
    ],
)
def test_a_relevant_front_page_with_many_links_is_read_whole(
    tmp_path: Path, seed: str, text: str, unread: int
) -> None:
    with SetUp(tmp_path, seed) as crawl:
        links = [f"/{number}" for number in range(BOUNDS.links + 5)]
        visit, found = read(crawl, page(text * 9, *links))
        assert found is not None
        assert found.record().unread == unread
        assert len(found.links) == len(links) - unread
        assert visit.tally["content", "front page read whole"] == (unread == 0)
        visit.url = "http://a.example/other"
        assert len(crawl.parts.listings.of_cut(visit)) == (text != THAI)


def test_what_errors_of_ours_have_cost_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise KeyError

    with SetUp(tmp_path) as crawl:
        monkeypatch.setattr(Auto, "identify", fails)
        visit, found = read(crawl, page(THAI, "/open"))
        assert found is not None
        assert [link.url.href for link in found.links] == [f"{visit.url}open"]
        assert visit.tally["content", "error: language"] == 1


@pytest.mark.parametrize("inherited", [PageLanguage.TARGET, PageLanguage.OTHER])
def test_a_page_of_which_nothing_can_be_read_is_an_error_and_its_bytes_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inherited: PageLanguage
) -> None:
    def fails(*_: object) -> None:
        raise KeyError

    with SetUp(tmp_path) as crawl:
        monkeypatch.setattr(Document, "page", property(fails))
        visit = crawl.visit()
        visit.lease = replace(visit.lease, inherited=inherited)
        attempt = Attempt(visit.url, datetime.now(UTC), status=200, ip="192.0.2.1")
        attempt.exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", bytearray(HEAD), [b"<p>x"])
        visit.attempts.append(attempt)
        body = HtmlResponse(visit.url, body=b"<p>x", request=crawl.request(visit))
        assert run(crawl.parts.pages.read(body)) is None
        assert visit.outcome == Outcome.SPIDER_ERROR
    stored = [one.url for one in records(tmp_path / "crawl") if one.type == "response"]
    assert stored == (["http://a.example/"] if inherited == PageLanguage.TARGET else [])


COPY = page(THAI, "/") + "<link rel=canonical href=/main>"


def test_what_gave_way_is_asked_for_if_its_canonical_url_isn_t_had(tmp_path: Path) -> None:
    seed, settings = "http://a.example/copy", {"LSWC_FRONTIER": "sqlite", "DOWNLOAD_DELAY": 0}
    with SetUp(tmp_path, seed, **settings) as crawl:
        copy, first = read(crawl, COPY)
        assert first is not None
        assert first.reading.unwanted == Outcome.CANONICAL
        assert [offer.url for offer in copy.offers] == ["http://a.example/main"]
        crawl.parts.commits.commit(copy, Outcome.CANONICAL)
    with SetUp(tmp_path, seed, **settings) as crawl:
        main = crawl.visit()
        assert main.url == "http://a.example/main"
        crawl.parts.commits.commit(main, "status 404")
    with SetUp(tmp_path, seed, **settings) as crawl:
        again, second = read(crawl, COPY)
        assert again.url == copy.url, "also after a restart"
        assert second is not None
        assert second.reading.unwanted is None
        assert not second.near_duplicate, "it came once"


@pytest.mark.parametrize("route", ["#!/a", "#/a"])
def test_a_canonical_url_that_is_a_route_of_the_page_s_scripts_names_no_other(
    tmp_path: Path, route: str
) -> None:
    with SetUp(tmp_path, "http://a.example/app", DOWNLOAD_DELAY=0) as crawl:
        body = page(THAI, "/") + f"<link rel=canonical href=/app{route}>"
        visit, found = read(crawl, body)
        assert found is not None
        assert found.reading.unwanted is None
        assert not visit.offers


def test_what_the_frontier_has_no_more_is_waited_for_by_nothing(tmp_path: Path) -> None:
    with SetUp(tmp_path, "http://a.example/copy", DOWNLOAD_DELAY=0) as crawl:
        copy, _ = read(crawl, COPY)
        copy.offers = ()
        crawl.parts.commits.commit(copy, Outcome.CANONICAL)
        assert crawl.parts.leases.stays()
        assert crawl.visit().url == copy.url


def test_a_front_page_that_was_cut_is_known_in_the_next_run(tmp_path: Path) -> None:
    settings = {"LSWC_FRONTIER": "sqlite", "DOWNLOAD_DELAY": 0, "LSWC_ARCHIVE": "all"}
    seeds = "http://a.example/", "http://b.example/x", "http://c.example/"
    with SetUp(tmp_path, *seeds, **settings) as crawl:
        for unread in (5, 5, 0):
            visit, found = read(crawl, page(THAI, "/1"))
            assert found is not None
            visit.relevant = True
            visit.record = dataclasses.replace(found.record(), unread=unread)
            crawl.parts.commits.commit(visit, Outcome.HTML)
    with SetUp(tmp_path, *seeds, **settings) as crawl:
        assert crawl.parts.listings.cut_fronts == {"a.example": "http://a.example/"}
