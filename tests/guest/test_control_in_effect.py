"""What is said to a crawl: of what waits, of what is under way, and of what is new."""

from __future__ import annotations

import gzip
from asyncio import run
from datetime import UTC, datetime
from os import mkfifo
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from scrapy.http import HtmlResponse

from lswc.crawl.guest_middleware import GuestMiddleware
from lswc.crawl.requests import request_for, visit_of
from lswc.crawl.scheduler import TierScheduler
from lswc.crawl.transport.handler import Expected, Files
from lswc.crawl.transport.refused import Refused
from lswc.errors import ConfigError
from lswc.frontier.rules.visit import Attempt, Exchange, Offer, Visit
from lswc.guest.control import InFolder, change
from lswc.guest.control_in_effect import at_start
from lswc.outcomes import Outcome
from lswc.safety.server_limits import Taken
from lswc.strategy import PageLanguage
from tests.crawl.running import SetUp
from tests.scenarios.site import THAI, page

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path
    from typing import Any


SEEDS = ("http://a.example/1", "http://a.example/2", "http://a.example/3", "http://b.example/1")


class Steered:
    """A crawl that is said something to."""

    def __init__(self, folder: Path, *seeds: str, **settings: object) -> None:
        self.set_up = SetUp(folder, *seeds, DOWNLOAD_DELAY=0, **settings)
        self.where = InFolder(folder / "crawl")
        self.parts = self.set_up.parts
        self.scheduler = TierScheduler.from_crawler(self.set_up.crawler)
        self.scheduler.open(self.set_up.spider)

    def say(self, key: str, value: object, place: str = "") -> None:
        """Say something, and let the crawl hear it."""
        change(self.where, key, value, place)
        assert [self.parts.upkeep.look(), self.parts.upkeep.look()] == [False, True]

    def asked(self) -> list[str]:
        """Return the URLs that would be asked for now, each of which is a page."""
        urls = []
        while (request := self.scheduler.next_request()) is not None:
            visit = visit_of(request)
            assert visit is not None
            urls.append(visit.url)
            self.parts.commits.commit(visit, "html")
        return urls

    @property
    def tally(self) -> dict[str, dict[str, int]]:
        """What is finished, and what was postponed."""
        tally = self.parts.frontier.counts().tally
        return {kind: dict(tally[kind]) for kind in ("finished", "postponed") if kind in tally}


def in_loop(test: Callable[[Path], Coroutine[Any, Any, None]]) -> Callable[[Path], None]:
    def wrapped(tmp_path: Path) -> None:
        run(test(tmp_path))

    return wrapped


@in_loop
async def test_a_blocked_family_is_discarded_and_comes_back(folder: Path) -> None:
    crawl = Steered(folder, "http://a.example/")
    for name in ("b", "c"):  # b is proven, as a seed's site links to it, and introduces c
        request = crawl.scheduler.next_request()
        visit = visit_of(request)
        assert visit is not None
        server = f"{name}.example"
        visit.offers = [Offer(f"http://{server}/", server, server, 1, PageLanguage.TARGET, 1)]
        crawl.parts.commits.commit(visit, "html")
    crawl.say("block_family", True, "b.example")
    assert crawl.asked() == []
    assert crawl.tally == {"finished": {"blocked": 1, "html": 2}}
    crawl.say("block_family", None, "b.example")
    assert crawl.asked() == ["http://c.example/"]
    crawl.scheduler.close("finished")


@in_loop
async def test_a_blocked_site_is_discarded_and_comes_back(folder: Path) -> None:
    crawl = Steered(folder, *SEEDS, LSWC_ARCHIVE="all")
    request = crawl.scheduler.next_request()
    assert request is not None
    visit = visit_of(request)
    assert visit is not None
    visit.attempts = [Attempt(visit.url, datetime.now(UTC), exchange=Exchange(b"GET", body=[b"x"]))]
    robots = Attempt("http://a.example/robots.txt", datetime.now(UTC), exchange=Exchange(b"GET"))
    crawl.parts.archive.add(robots, "robots.txt")
    crawl.say("block", True, "a.example")
    assert crawl.tally == {"finished": {"blocked": 1}}
    assert crawl.asked() == ["http://b.example/1"]
    assert crawl.tally == {"finished": {"blocked": 3, "html": 1}}
    assert Expected(request, visit, None, Files((), 0, False)).refuses(b"<html>")
    body = page(THAI).encode()
    response = HtmlResponse(
        visit.url, body=body, request=request, headers={"Content-Type": "text/html"}
    )
    assert await crawl.parts.pages.read(response) is None, "it came too late"
    assert not crawl.scheduler.has_pending_requests()
    crawl.say("block", False, "a.example/2")
    assert crawl.asked() == ["http://a.example/2"]
    crawl.say("block", None, "a.example")
    assert sorted(crawl.asked()) == ["http://a.example/1", "http://a.example/3"]
    assert crawl.tally == {"finished": {"html": 4}}
    crawl.scheduler.close("finished")
    kept = [path.read_bytes() for path in (folder / "crawl").glob("warc/*")]
    assert not any(b"a.example" in decompressed(body) for body in kept)


def decompressed(body: bytes) -> bytes:
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


@in_loop
async def test_a_paused_site_waits(folder: Path) -> None:
    crawl = Steered(folder, *SEEDS)
    request = crawl.scheduler.next_request()
    assert request is not None
    crawl.say("pause", True, "a.example/")
    assert crawl.scheduler.enqueue_request(request), "it comes back to be sent later"
    assert crawl.asked() == ["http://b.example/1"]
    assert crawl.tally == {"finished": {"html": 1}, "postponed": {"paused": 3}}
    assert crawl.scheduler.has_pending_requests(), "somebody may let it go on"
    crawl.say("pause", None, "a.example/")
    assert len(crawl.asked()) == 3
    assert crawl.tally == {"finished": {"html": 4}}
    crawl.scheduler.close("finished")


@in_loop
async def test_the_whole_crawl_waits(folder: Path) -> None:
    crawl = Steered(folder, *SEEDS)
    crawl.say("pause", True)
    assert crawl.scheduler.next_request() is None
    assert crawl.scheduler.has_pending_requests()
    crawl.say("pause", None)
    crawl.say("requests", 1)
    assert crawl.scheduler.next_request() is not None
    assert crawl.scheduler.next_request() is None
    crawl.say("requests", None)
    assert crawl.scheduler.next_request() is not None
    hour = (datetime.now(UTC).hour + 2) % 24
    crawl.say("hours", f"{hour}:00-{hour}:30")
    assert crawl.scheduler.next_request() is None
    crawl.scheduler.close("finished")


@in_loop
async def test_links_and_depth(folder: Path) -> None:
    crawl = Steered(folder, "http://b.example/", DEPTH_LIMIT=0)
    crawl.say("block", True, "a.example")
    crawl.say("max_depth", 0, "c.example")
    assert await left_of_a_page(crawl) == {"a.example": "blocked", "c.example": "depth"}
    crawl.scheduler.close("finished")


@in_loop
async def test_links_to_what_is_left_alone_though_nothing_is_said(folder: Path) -> None:
    crawl = Steered(folder, "http://b.example/", "http://b.example/2", LSWC_MAX_SERVER_PAGES=1)
    admission = crawl.parts.guest.admission
    assert not admission.refuses
    assert await left_of_a_page(crawl) == {}
    lease = crawl.parts.frontier.lease(monotonic())
    assert lease is not None
    full = Visit(replace(lease, url="http://c.example/1", server="c.example", of_server=Taken(1)))
    assert admission.of_visit(full, monotonic()) == Outcome.SERVER_PAGES
    assert admission.refuses
    crawl.parts.guest.limits.close("a.example", Outcome.RETRY_AFTER_TOO_LONG)
    assert await left_of_a_page(crawl, Visit(lease)) == {
        "a.example": Outcome.RETRY_AFTER_TOO_LONG, "c.example": Outcome.SERVER_PAGES
    }  # fmt: skip
    crawl.scheduler.close("finished")


async def left_of_a_page(crawl: Steered, visit: Visit | None = None) -> dict[str, str]:
    """Return the servers of three that a page's links aren't followed to, and why."""
    if visit is None:
        request = crawl.scheduler.next_request()
        assert request is not None
        visit = visit_of(request)
        assert visit is not None
    else:
        crawl.parts.commits.visits[visit.lease.id] = visit
        request = request_for(visit, {}, print, print)
    body = page(THAI, "http://a.example/", "http://c.example/", "http://d.example/").encode()
    response = HtmlResponse(
        request.url, body=body, request=request, headers={"Content-Type": "text/html"}
    )
    read = await crawl.parts.pages.read(response)
    assert read is not None
    left = {link.url[7:-1]: link.discarded or "" for link in visit.links}
    followed = ["a.example", "c.example", "d.example"]
    assert [link.url.server for link in read.links] == [s for s in followed if s not in left]
    crawl.parts.commits.commit(visit, "html")
    return left


@in_loop
async def test_a_server_rests_as_long_as_is_said(folder: Path) -> None:
    crawl = Steered(folder, *SEEDS, ROBOTSTXT_OBEY=False, LSWC_MAX_PER_ADDRESS=0)
    crawl.say("delay", 30, "a.example")
    before = monotonic()
    request = crawl.scheduler.next_request()
    assert request is not None
    guest = GuestMiddleware.from_crawler(crawl.set_up.crawler)
    await guest.process_request(request)
    guest.process_response(request, HtmlResponse(request.url))
    visit = visit_of(request)
    assert visit is not None
    crawl.parts.commits.commit(visit, "html")
    assert crawl.asked() == ["http://b.example/1"]
    assert crawl.parts.leases.lease(before + 30) is None
    again = crawl.parts.leases.lease(monotonic() + 30)
    assert again is not None
    other = crawl.set_up.request(again)
    crawl.say("block", True, "a.example")
    with pytest.raises(Refused, match="blocked"):
        await guest.process_request(other)
    crawl.scheduler.close("finished")


@in_loop
async def test_another_scope_holds_for_the_queue_too(folder: Path) -> None:
    wide = Steered(folder, *SEEDS, LSWC_FRONTIER="sqlite")
    wide.scheduler.close("shutdown")
    narrow = Steered(folder, LSWC_FRONTIER="sqlite", LSWC_ALLOWED_DOMAINS="b.example")
    assert narrow.asked() == ["http://b.example/1"]
    assert narrow.tally == {"finished": {"domain not allowed": 3, "html": 1}}
    narrow.scheduler.close("finished")
    wide = Steered(folder, LSWC_FRONTIER="sqlite")
    assert len(wide.asked()) == 4
    wide.scheduler.close("finished")


@in_loop
async def test_a_server_without_relevant_pages_is_tolerated_so_long(folder: Path) -> None:
    crawl = Steered(folder, *(f"http://a.example/{n}" for n in range(4)), "http://b.example/")
    crawl.say("tolerate", 1, "a.example")

    def ended(relevant: bool, number: int) -> list[str]:
        urls = []
        for _ in range(number):
            visit = visit_of(crawl.scheduler.next_request())
            if visit is not None:
                visit.relevant = relevant
                crawl.parts.commits.commit(visit, "html")
                urls.append(visit.url)
        return urls

    assert len(ended(False, 9)) == 3
    assert crawl.tally == {"finished": {"html": 3, "not tolerated": 2}}
    crawl.say("tolerate", 2, "a.example")
    assert len(ended(True, 9)) == 2
    crawl.scheduler.close("finished")


@in_loop
async def test_what_has_priority_comes_first(folder: Path) -> None:
    crawl = Steered(folder, *SEEDS, "http://w.c.example/", "http://d.example/")
    crawl.say("priority", 1, "d.example/")
    crawl.say("priority", 2, "c.example")
    assert crawl.asked()[:3] == ["http://w.c.example/", "http://d.example/", SEEDS[0]]
    crawl.scheduler.close("finished")


@in_loop
async def test_the_last_that_was_right_stays_in_force(folder: Path) -> None:
    crawl = Steered(folder, *SEEDS)
    crawl.say("block", True, "a.example")
    (folder / "crawl" / "control.toml").write_text("pause = maybe", "utf-8")
    assert [crawl.parts.upkeep.look(), crawl.parts.upkeep.look()] == [False, True]
    assert crawl.set_up.crawler.stats.get_value("lswc/control/wrong") == 1
    assert crawl.asked() == ["http://b.example/1"]
    crawl.scheduler.close("finished")


@pytest.mark.parametrize("text", ["requests = " + "9" * 5_000, "a = " + "[" * 200_000, "pipe"])
def test_what_cannot_be_read_keeps_no_later_stop_from_being_heard(
    tmp_path: Path, text: str
) -> None:
    run(_stopped_after(tmp_path, text))


async def _stopped_after(folder: Path, text: str) -> None:
    crawl = Steered(folder, *SEEDS)
    heard: list[str] = []
    crawl.parts.commits.stop = heard.append
    file = folder / "crawl" / "control.toml"
    if text == "pipe":
        mkfifo(file)
    else:
        file.write_text(text, "utf-8")
    assert [crawl.parts.upkeep.look(), crawl.parts.upkeep.look()] == [False, True]
    assert crawl.set_up.crawler.stats.get_value("lswc/control/wrong") == 1
    file.unlink()
    file.write_text("stop = true", "utf-8")
    assert [crawl.parts.upkeep.look(), crawl.parts.upkeep.look()] == [False, True]
    assert heard == ["told to stop"]
    crawl.scheduler.close("finished")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stop = true", "says stop"),
        ("x = 1", "unknown key"),
        ("x = " + "[" * 200_000, "recursion"),
    ],
)
def test_a_crawl_begins_only_with_what_can_be_heard(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "control.toml").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=says):
        at_start(InFolder(tmp_path))


@in_loop
async def test_a_crawl_that_runs_is_stopped(folder: Path) -> None:
    crawl = Steered(folder, *SEEDS)
    heard: list[str] = []
    crawl.parts.commits.stop = heard.append
    crawl.say("stop", True)
    assert heard == ["told to stop"]
    crawl.scheduler.close("finished")
