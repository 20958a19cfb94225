"""What a crawl makes of an answer, and what it counts; whole crawls are in tests/scenarios."""

from __future__ import annotations

from asyncio import run
from typing import TYPE_CHECKING

from scrapy.http import HtmlResponse, Response

from lswc.crawl.pages import NOT_MODIFIED
from lswc.outcomes import Outcome
from tests.crawl.running import SetUp
from tests.scenarios.site import THAI, page

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.crawl.pages import Page
    from lswc.frontier.visit import Visit


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
