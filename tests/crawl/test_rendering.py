"""What is fetched for a page in the browser: by the crawl's own rules, or not at all."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import Request, Response

from lswc.crawl import rendering as rendering_of_pages
from lswc.crawl.browser_budget import AT_FIRST
from lswc.crawl.checked_settings import BrowserPages
from lswc.crawl.guest_middleware import GuestMiddleware
from lswc.crawl.rendering import OF_PROVEN, WAITING, Needs, Scripts
from lswc.crawl.requests import RENDERING, headers_of
from lswc.crawl.transport.refused import Refused
from lswc.errors import ConfigError
from lswc.frontier.rules.visit import Attempt
from lswc.outcomes import Outcome
from lswc.reading.browser.installed import chromium
from lswc.reading.browser.messages import Shown, Wanted
from lswc.reading.reader_messages import Asked
from lswc.reading.requisites import Needed
from lswc.strategy import PageLanguage
from lswc.urls import Url
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.crawl.rendering import Rendering
    from lswc.frontier.rules.visit import Visit
    from lswc.reading.page import PageReading

PAGE = "http://a.example/"
URL = Url(PAGE, "http", "a.example", "a.example", 80, "/")
SCRIPT = "http://cdn.example/app.js"


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[SetUp]:
    with SetUp(tmp_path, PAGE, DOWNLOAD_DELAY=0, LSWC_MAX_PER_ADDRESS=0) as crawl:
        yield crawl


class Server:
    """Answers requests, and notes them."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def __call__(self, request: Request) -> Response:
        self.asked.append(request)
        if "broken" in request.url:
            raise Refused(Outcome.ROBOTS)
        headers = {"Content-Type": "text/javascript", "X-A": "1", "Set-Cookie": "a=1"}
        return Response(request.url, headers=headers, body=b"x" * 10)


def needs(crawl: SetUp, visit: Visit, server: Server, scripts: Scripts | None = None) -> Needs:
    headers, refusal = crawl.parts.crawl.headers, crawl.parts.rendering.refusal_of_file
    return Needs(visit, refusal, headers, scripts or Scripts(), 100, server)


def asked(needed: Needs, url: str, kind: str = "script") -> tuple[int, dict[str, str]]:
    answered, _ = asyncio.run(needed.answer(Wanted(1, url, kind, {"accept": "*/*"}), b""))
    return answered.status, answered.headers


def test_an_answer_has_what_a_page_may_see_and_the_request_what_a_crawl_says(crawl: SetUp) -> None:
    server = Server()
    status, headers = asked(needs(crawl, crawl.visit(), server), SCRIPT)
    assert (status, headers) == (200, {"content-type": "text/javascript", "x-a": "1"})
    [request] = server.asked
    assert b"th" in (request.headers["Accept-Language"] or b"")
    assert b"Cookie" not in request.headers


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1/", Outcome.ADDRESS_NOT_PUBLIC),
        ("http://[::1]/", Outcome.ADDRESS_NOT_PUBLIC),
        ("http://169.254.169.254/latest/meta-data/", Outcome.ADDRESS_NOT_PUBLIC),
        ("http://2130706433/", Outcome.ADDRESS_NOT_PUBLIC),
        ("http://0x7f.1/", Outcome.ADDRESS_NOT_PUBLIC),
        ("http://a.example:22/", Outcome.PORT),
        ("file:///etc/passwd", Outcome.SCHEME),
        ("ftp://a.example/", Outcome.SCHEME),
        (f"http://a.example/{'a' * 3_000}", Outcome.URL_TOO_LONG),
        ("http://a.example/broken", Outcome.ROBOTS),
    ],
)
def test_what_the_crawl_may_not_ask_for_a_page_does_not_get(
    crawl: SetUp, url: str, reason: Outcome
) -> None:
    server, visit = Server(), crawl.visit()
    assert asked(needs(crawl, visit, server), url) == (0, {})
    assert dict(visit.tally) == {("not given to browser", reason): 1}
    assert len(server.asked) == (reason == Outcome.ROBOTS)


def test_a_page_has_so_many_bytes_in_all_and_none_once_it_is_over(crawl: SetUp) -> None:
    server, visit = Server(), crawl.visit()
    needed = needs(crawl, visit, server)
    visit.fetched = [Attempt(SCRIPT, datetime.now(UTC), size=99)]
    assert asked(needed, "http://a.example/1")[0] == 200
    visit.fetched *= 2
    assert asked(needed, "http://a.example/2")[0] == 0
    visit.fetched = []
    needed.is_over = True
    assert asked(needed, "http://a.example/3")[0] == 0
    assert len(server.asked) == 1


def test_the_next_page_has_the_scripts_of_the_one_before_and_nothing_else(crawl: SetUp) -> None:
    server, scripts, visit = Server(), Scripts(25), crawl.visit()
    for kind in ("script", "script", "xhr", "xhr"):
        assert asked(needs(crawl, visit, server, scripts), SCRIPT, kind)[0] == 200
    assert len(server.asked) == 3
    assert visit.scripts == [SCRIPT]
    for number in range(3):
        asked(needs(crawl, visit, server, scripts), f"{SCRIPT}{number}")
    assert [scripts.get(f"{SCRIPT}{number}") is not None for number in range(3)] == [
        False, True, True,
    ]  # fmt: skip


@pytest.mark.parametrize(("wanted", "offered"), [("all", [f"{SCRIPT}1"]), ("none", [])])
def test_scripts_of_others_are_asked_for_anew_if_the_archive_needs_them(
    tmp_path: Path, wanted: str, offered: list[str]
) -> None:
    with SetUp(tmp_path, PAGE, LSWC_REQUISITES=wanted) as crawl:
        visit = crawl.visit()
        visit.scripts = [f"{SCRIPT}1", SCRIPT, SCRIPT]
        visit.fetched = [Attempt(SCRIPT, datetime.now(UTC))]
        crawl.parts.requisites.need(visit, Needed(), 1)
        assert [offer.url for offer in visit.offers] == offered
        assert visit.requisites == [*offered, SCRIPT]


def test_a_request_of_a_page_waits_till_its_server_has_rested(
    crawl: SetUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts, visit = crawl.parts, crawl.visit()
    needed = needs(crawl, visit, Server())
    engine: Any = SimpleNamespace(download_async=Server(), _slot=None)
    crawl.crawler.engine = engine
    guest = GuestMiddleware.from_crawler(crawl.crawler)
    waits: list[float] = []

    async def rested(seconds: float) -> None:
        waits.append(seconds)
        parts.guest.rests.end("a.example", 0)

    monkeypatch.setattr(parts.guest, "sleep", rested)

    async def sent() -> object:
        parts.guest.rests.begin("a.example")
        return await guest.process_request(Request(f"{PAGE}x", meta={RENDERING: needed}))

    assert asyncio.run(sent()) is None
    assert waits.pop(0) > 0
    waits.clear()
    needed.is_over = True
    with pytest.raises(Refused):
        asyncio.run(sent())
    assert len(waits) == 1


def test_what_lacks_is_said_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="'/no/chromium': there is no such program"):
        chromium("/no/chromium")
    monkeypatch.setenv("PATH", "/none")
    with pytest.raises(ConfigError, match=r"LSWC_BROWSER=auto needs Chromium.*apt install"):
        chromium("auto")
    monkeypatch.setitem(sys.modules, "playwright", None)
    with pytest.raises(ConfigError, match=r"needs playwright: pip install .*\[browser\]"):
        chromium("auto")


SHELL = b"<title>%s</title><div id=root></div><script src=/app.js></script>"
TITLE = "ข่าววันนี้ของประเทศไทย เรื่องน่าสนใจหลายเรื่อง".encode()


def read(crawl: SetUp, visit: Visit, rendering: Rendering | None = None) -> PageReading:
    """Read a page that is empty until its scripts run, as it is shown if it is."""
    parts = crawl.parts
    rendering = rendering or parts.rendering
    response = Response(PAGE, headers={"Content-Type": "text/html"}, body=SHELL % TITLE)
    asked = Asked(headers_of(response), URL, 0, PAGE)

    async def found() -> PageReading:
        shell = await parts.readers.read(asked, response.body)
        assert shell is not None
        assert shell.is_empty
        visit.attempts = [Attempt(PAGE, datetime.now(UTC))]
        return await rendering.read(visit, response, asked, shell)

    return asyncio.run(found())


def test_a_page_that_is_not_shown_is_unknown_whatever_its_title_says(crawl: SetUp) -> None:
    visit = crawl.visit()
    assert read(crawl, visit).identified == PageLanguage.UNKNOWN
    assert visit.unshown == Outcome.NOT_RENDERED
    assert dict(visit.tally) == {("shells", Outcome.NOT_RENDERED): 1}
    assert crawl.parts.rendering.wanted() is None


class Shows:
    """A browser that shows every page at once."""

    html = b"<p>shown</p>" * 50

    def __init__(self, *_: object) -> None:
        self.shown: list[str] = []

    async def render(self, *_: object) -> tuple[bytes, Shown]:
        return self.html, Shown(PAGE, (), {})

    def close(self) -> None:
        pass


@pytest.fixture
def with_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SetUp]:
    monkeypatch.setattr(rendering_of_pages, "Browser", Shows)
    with SetUp(tmp_path, PAGE, DOWNLOAD_DELAY=0, LSWC_BROWSER=sys.executable) as crawl:
        yield crawl


def test_a_page_that_stays_empty_is_unknown(
    with_browser: SetUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit = with_browser.visit()
    monkeypatch.setattr(Shows, "html", SHELL % TITLE)
    assert read(with_browser, visit).identified == PageLanguage.UNKNOWN
    assert visit.unshown == Outcome.STILL_EMPTY
    assert visit.rendered


def test_no_more_pages_wait_for_the_browser_than_leave_connections(
    with_browser: SetUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendering, visit = with_browser.parts.rendering, with_browser.visit()
    assert rendering.wanted() is not None
    monkeypatch.setattr(rendering, "_under_way", WAITING)
    assert rendering.wanted() is None
    read(with_browser, visit)
    assert visit.unshown == Outcome.RENDERED_ENOUGH


def test_pages_that_were_left_may_be_shown_once_there_is_room_and_one_of_a_site(
    with_browser: SetUp,
) -> None:
    rendering = with_browser.parts.rendering
    may = rendering.wanted()
    assert may is not None
    asked = [f"http://{host}.example/{path}" for host in "abcdefghijk" for path in "12"]
    assert [url for url in asked if may(url, 0)] == asked[:WAITING:2]


def test_many_pages_of_a_site_that_brought_some_are_asked_for_again(with_browser: SetUp) -> None:
    rendering, visit = with_browser.parts.rendering, with_browser.visit()
    read(with_browser, visit)
    rendering.took(visit, is_new=True)
    may = rendering.wanted()
    assert may is not None
    asked = [may(f"http://a.example/{number}", 0) for number in range(OF_PROVEN + 5)]
    assert asked == [True] * OF_PROVEN + [False] * 5
    assert may("http://b.example/", 0)


def test_a_site_that_brings_nothing_is_left(with_browser: SetUp) -> None:
    parts, tries = with_browser.parts, with_browser.parts.crawl.browser_pages.tries
    unshown, visit = [], with_browser.visit()
    for _ in range(tries + 1):
        visit.unshown = ""
        read(with_browser, visit)
        parts.rendering.took(visit, is_new=False)
        unshown.append(visit.unshown)
    assert unshown == [""] * tries + [Outcome.RENDERED_ENOUGH]


def test_pages_that_are_shown_by_choice_cost_none_that_need_it(
    with_browser: SetUp, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendering, visit = with_browser.parts.rendering, with_browser.visit()
    monkeypatch.setattr(rendering, "_pages", BrowserPages(1.0, (), 0.0, 1))
    for _ in range(AT_FIRST + 5):
        visit.attempts = [Attempt(PAGE, datetime.now(UTC))]
        assert rendering.chooses(visit, URL, is_wanted=True)
        read(with_browser, visit)
        rendering.took(visit, is_new=False)
    visit.unshown = ""
    read(with_browser, visit)
    assert not visit.unshown


@pytest.mark.parametrize(("shows", "learned"), [(b"<p>text</p>" * 50, True), (SHELL, False)])
def test_a_cookie_is_learned_only_if_it_let_in(
    with_browser: SetUp, monkeypatch: pytest.MonkeyPatch, shows: bytes, learned: bool
) -> None:
    async def render(*_: object) -> tuple[bytes, Shown]:
        return shows, Shown(PAGE, (), {}, cookie="seen=1; of=2")

    monkeypatch.setattr(Shows, "render", render)
    read(with_browser, with_browser.visit())
    walls = with_browser.parts.walls
    assert walls is not None
    sent = walls.cookies.jars.get("a.example")
    assert (sent is not None and sent.header(PAGE) == "seen=1; of=2") == learned
