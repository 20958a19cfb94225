"""Requests that come back to the scheduler; whole crawls are in tests/crawl."""

from __future__ import annotations

from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

import pytest

from lswc.crawl import commits, leases, retries
from lswc.crawl.close_reasons import CANNOT_WRITE
from lswc.crawl.requests import visit_of
from lswc.crawl.retries import HELD, PATIENCE, WAITING
from lswc.crawl.scheduler import TierScheduler
from lswc.errors import StorageError
from lswc.frontier.rules.visit import Attempt, Exchange
from lswc.outcomes import Outcome
from tests.crawl.running import SetUp
from tests.loop import in_loop

if TYPE_CHECKING:
    from pathlib import Path


def finished(crawl: SetUp) -> dict[str, int]:
    counts = crawl.parts.frontier.counts().tally.get("finished", {})
    return dict(counts)


@in_loop
async def test_so_many_wait_and_the_longest_is_given_up(tmp_path: Path) -> None:
    rests = [3_600.0, *map(float, range(WAITING)), 7_200.0]
    crawl = SetUp(tmp_path, *(f"http://h{number}.example/" for number in range(len(rests))))
    scheduler = TierScheduler.from_crawler(crawl.crawler)
    scheduler.open(crawl.spider)
    visits = [crawl.visit() for _ in rests]
    for visit, rest in zip(visits, rests, strict=True):
        visit.rest = rest
        visit.attempts = [Attempt(visit.url, datetime.now(UTC))]  # else it only waits its turn
        assert scheduler.enqueue_request(crawl.request(visit))
    assert finished(crawl) == {"too many wait": 2}
    assert list(crawl.parts.commits.visits.values()) == visits[1:-1]
    again = scheduler.next_request()
    assert again is not None
    assert visit_of(again) is visits[1]
    scheduler.close("finished")


@in_loop
async def test_however_many_wait_for_one_machine_others_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "PARKED", 50)  # so many that none is due before all wait
    hosts = retries.PARKED + 3
    crawl = SetUp(tmp_path, *(f"http://h{number}.example/" for number in range(hosts)))
    scheduler = TierScheduler.from_crawler(crawl.crawler)
    scheduler.open(crawl.spider)
    long, *visits, retried, more = [crawl.visit(monotonic()) for _ in range(hosts - 1)]
    retried.attempts = [Attempt(retried.url, datetime.now(UTC))]
    for visit, rest in (
        (long, PATIENCE + 60), *((visit, 5.0) for visit in visits), (retried, 99.0), (more, 5.0)
    ):  # fmt: skip
        visit.rest = rest
        assert scheduler.enqueue_request(crawl.request(visit))
    assert list(crawl.parts.commits.visits.values()) == [*visits, retried]
    free = scheduler.next_request()
    assert free is not None
    assert free.url == f"http://h{hosts - 1}.example/"
    assert scheduler.next_request() is None
    assert crawl.parts.frontier.pending == 2
    again = crawl.visit(monotonic() + 6.0)
    assert again.url == more.url, "each in its turn"
    scheduler.close("finished")


def test_a_long_answer_is_not_held_until_then(tmp_path: Path) -> None:
    with SetUp(tmp_path) as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        visit = crawl.visit()
        short = Exchange(b"GET", bytearray(b"HTTP"), [b"x" * (HELD // 2)])
        bodies = [short, Exchange(body=[b"x" * HELD]), Exchange(head=bytearray(HELD))]
        visit.attempts = [Attempt(visit.url, datetime.now(UTC), exchange=body) for body in bodies]
        scheduler.enqueue_request(crawl.request(visit))
        assert [attempt.exchange for attempt in visit.attempts] == [short, None, None]


def test_a_request_whose_visit_has_ended_is_not_sent_again(tmp_path: Path) -> None:
    with SetUp(tmp_path) as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        visit = crawl.visit()
        crawl.parts.commits.commit(visit, "timeout")
        crawl.parts.commits.commit(visit, "html")
        assert not scheduler.enqueue_request(crawl.request(visit))
        assert finished(crawl) == {"timeout": 1}


def test_an_idle_crawl_that_visits_again_asks_once_a_second_if_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But at once if something ended: then it may be the end."""
    with SetUp(tmp_path, LSWC_REVISIT=1) as crawl:
        scheduler, clock = TierScheduler.from_crawler(crawl.crawler), [monotonic() + 100.0]
        held, asked = [1, 1, 0], []

        def number(_: object) -> int:
            asked.append(clock[0])
            return held.pop(0)

        monkeypatch.setattr(type(crawl.parts.frontier), "revisited", property(number))
        for module in (leases, commits):
            monkeypatch.setattr(module, "monotonic", lambda: clock[0])
        for _ in range(5):
            assert scheduler.has_pending_requests()
            clock[0] += 0.3
        assert len(asked) == 2
        crawl.parts.commits.commit(crawl.visit(), "status 404")
        assert not scheduler.has_pending_requests()
        assert held == []


def test_a_request_that_nobody_has_any_more_is_lost_once_it_was_missed_twice(
    tmp_path: Path,
) -> None:
    with SetUp(tmp_path, "http://a.example/", "http://b.example/") as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        lost, waiting = crawl.visit(), crawl.visit()
        waiting.rest = 3_600.0
        waiting.attempts = [Attempt(waiting.url, datetime.now(UTC))]
        scheduler.enqueue_request(crawl.request(waiting))
        assert scheduler.has_pending_requests()
        assert finished(crawl) == {}
        assert scheduler.has_pending_requests()
        assert finished(crawl) == {Outcome.LOST: 1}
        assert lost.is_over
        assert list(crawl.parts.commits.visits.values()) == [waiting]


@in_loop
async def test_a_page_that_leads_to_its_twin_is_asked_for_there_once(tmp_path: Path) -> None:
    with SetUp(tmp_path, DOWNLOAD_DELAY=0) as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        scheduler.open(crawl.spider)
        visit = crawl.visit()
        visit.attempts = [Attempt(visit.url, datetime.now(UTC))]
        twin = crawl.request(visit, redirect_times=1, redirect_urls=[visit.url])
        scheduler.enqueue_request(twin.replace(url="https://a.example/"))
        assert (visit.url, visit.redirects) == ("https://a.example/", 1)
        again = scheduler.next_request()
        assert again is not None
        assert (again.url, visit_of(again)) == ("https://a.example/", visit)
        back = crawl.request(visit, redirect_times=2, redirect_urls=[again.url])
        scheduler.enqueue_request(back.replace(url="https://a.example/"))
        assert finished(crawl) == {Outcome.REDIRECT_LOOP: 1}
        scheduler.close("finished")


def test_a_page_that_leads_elsewhere_offers_that(tmp_path: Path) -> None:
    with SetUp(tmp_path, DOWNLOAD_DELAY=0) as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        visit = crawl.visit()
        moved = crawl.request(visit, redirect_times=1, redirect_urls=[visit.url])
        scheduler.enqueue_request(moved.replace(url="http://b.example/"))
        assert finished(crawl) == {Outcome.REDIRECT: 1}
        assert visit.led_to == "http://b.example/"
        assert [(link.url, link.discarded) for link in visit.links] == [(visit.led_to, None)]
        target = crawl.visit()
        assert (target.url, target.lease.code) == (visit.led_to, visit.lease.code)
        assert target.redirects == 1
        out = crawl.request(target, redirect_times=2, redirect_urls=[target.url])
        scheduler.enqueue_request(out.replace(url="ftp://b.example/"))
        assert finished(crawl) == {Outcome.REDIRECT: 2}
        assert [link.discarded for link in target.links] == [Outcome.SCHEME]
        assert target.tally["discarded", Outcome.SCHEME] == 1


@pytest.mark.parametrize("asked", ["lease", "next_ready"])
@in_loop
async def test_a_store_that_fails_ends_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """Whichever question it fails at, when a URL is to be leased or when none is."""

    def fails(*_: object) -> None:
        raise StorageError("the store is full")

    with SetUp(tmp_path) as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        stopped: list[str] = []
        monkeypatch.setattr(crawl.parts.commits, "stop", stopped.append)
        monkeypatch.setattr(type(crawl.parts.frontier), "lease", lambda *_: None)
        monkeypatch.setattr(type(crawl.parts.frontier), asked, fails)
        assert scheduler.next_request() is None
        assert stopped == [CANNOT_WRITE]
