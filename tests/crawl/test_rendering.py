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
from lswc.crawl.guest_middleware import GuestMiddleware
from lswc.crawl.rendering import AT_FIRST, ROUTES, Needs, Scripts
from lswc.crawl.requests import RENDERING
from lswc.crawl.transport.refused import Refused
from lswc.errors import ConfigError
from lswc.frontier.rules.visit import Attempt
from lswc.outcomes import Outcome
from lswc.reading.browser.installed import chromium
from lswc.reading.browser.messages import Wanted
from lswc.reading.requisites import Needed
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.crawl.rendering import Rendering
    from lswc.frontier.rules.visit import Visit

PAGE = "http://a.example/"
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
    answered, _ = asyncio.run(needed.answer(Wanted(1, url, kind, {"accept": "*/*"})))
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


@pytest.fixture
def rendering(crawl: SetUp) -> Rendering:
    return crawl.parts.rendering


def test_without_a_browser_a_shell_is_counted(crawl: SetUp, rendering: Rendering) -> None:
    visit = crawl.visit()
    assert asyncio.run(rendering.of(visit, Response(PAGE))) is None
    assert dict(visit.tally) == {("shells", Outcome.NOT_RENDERED): 1}


class Shows:
    """A browser that shows every page at once."""

    def __init__(self, *_: object) -> None:
        pass

    async def render(self, *_: object) -> tuple[bytes, SimpleNamespace]:
        return b"<p>shown</p>", SimpleNamespace(refused={}, url=PAGE, led_to=(), routes=3, named=())

    def close(self) -> None:
        pass


def test_pages_wait_for_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = asyncio.Lock()

    class OneByOne(Shows):
        async def render(self, *asked: object) -> tuple[bytes, SimpleNamespace]:
            async with turn:
                await asyncio.sleep(0.01)
                return await super().render(*asked)

    monkeypatch.setattr(rendering_of_pages, "Browser", OneByOne)
    with SetUp(tmp_path, PAGE, DOWNLOAD_DELAY=0, LSWC_BROWSER=sys.executable) as crawl:
        visit = crawl.visit()

        async def show() -> None:
            shown = (crawl.parts.rendering.of(visit, Response(PAGE)) for _ in range(AT_FIRST))
            await asyncio.gather(*shown)

        asyncio.run(show())
        expected = {("shells", "rendered"): AT_FIRST, ("shells", ROUTES): AT_FIRST * 3}
        assert dict(visit.tally) == expected


def test_a_share_of_the_pages_is_shown_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering_of_pages, "Browser", Shows)
    with SetUp(tmp_path, PAGE, DOWNLOAD_DELAY=0, LSWC_BROWSER=sys.executable) as crawl:
        visit = crawl.visit()

        async def show() -> None:
            for _ in range(AT_FIRST + 5):
                await crawl.parts.rendering.of(visit, Response(PAGE))

        asyncio.run(show())
        expected = {
            ("shells", "rendered"): AT_FIRST,
            ("shells", ROUTES): AT_FIRST * 3,
            ("shells", Outcome.RENDERED_ENOUGH): 5,
        }
        assert dict(visit.tally) == expected
