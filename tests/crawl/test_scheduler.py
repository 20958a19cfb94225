"""Requests that come back to the scheduler; whole crawls are in tests/crawl."""

from __future__ import annotations

from asyncio import sleep
from datetime import UTC, datetime
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from redis import Redis

from lswc.crawl import commits, leases, retries
from lswc.crawl.close_reasons import CANNOT_WRITE
from lswc.crawl.requests import visit_of
from lswc.crawl.retries import HELD, PATIENCE, WAITING
from lswc.crawl.scheduler import TierScheduler
from lswc.errors import AwayError, StorageError
from lswc.frontier.visit import Attempt, Exchange
from lswc.outcomes import Outcome
from tests.crawl.running import SetUp
from tests.loop import in_loop

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer


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

        monkeypatch.setattr(type(crawl.parts.frontier), "held", property(number))
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


def of_redis(folder: Path, server: RedisServer, name: str, **settings: object) -> SetUp:
    seeds = ("http://a.example/", "http://b.example/")
    store = {"LSWC_FRONTIER": server.url, "LSWC_REDIS_KEY": name}
    return SetUp(folder, *seeds, **store, DOWNLOAD_DELAY=0, CONCURRENT_REQUESTS=1, **settings)


async def until_answered(crawl: SetUp) -> None:
    while crawl.parts.leases.is_waiting:
        await sleep(0)


@in_loop
async def test_the_next_request_comes_when_the_store_has_answered(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    crawl, woken = of_redis(tmp_path, redis_server, "next"), list[object]()
    scheduler = TierScheduler.from_crawler(crawl.crawler)
    scheduler.open(crawl.spider)
    engine = SimpleNamespace(scheduler=scheduler, crawl=woken.append)
    crawl.crawler.engine = cast("Any", engine)
    commits = crawl.parts.commits
    assert scheduler.next_request() is None
    assert scheduler.has_pending_requests(), "though nothing is known to be left"
    await until_answered(crawl)
    assert len(woken) == 1
    for _ in range(2):
        assert scheduler.has_pending_requests(), "it isn't lost, but wasn't asked for yet"
    first = scheduler.next_request()
    assert first is not None
    visit = visit_of(first)
    assert visit is not None
    commits.commit(visit, "html")
    assert commits.ending is not None
    assert scheduler.next_request() is None
    assert len(woken) == 1, "nothing is leased before it is known what ended"
    for number in (2, 3):
        await until_answered(crawl)
        assert len(woken) == number
        if number == 2:
            assert scheduler.next_request() is None
    second = scheduler.next_request()
    assert second is not None
    assert {first.url, second.url} == {"http://a.example/", "http://b.example/"}
    scheduler.close("finished")


@in_loop
async def test_that_no_url_is_there_is_not_asked_again_at_once(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """Else the store is always asked, and the crawl never seems idle."""
    with of_redis(tmp_path, redis_server, "none") as crawl:
        leases = crawl.parts.leases
        leases.answered = lambda: None
        taken = [crawl.visit() for _ in range(2)]
        leases.offer_seeds([f"{visit.url}other" for visit in taken])  # so it isn't known of itself
        assert leases.next(0.0) is None
        assert leases.is_waiting
        await until_answered(crawl)
        assert leases.next(0.0) is None
        assert not leases.is_waiting
        crawl.parts.commits.commit(taken[0], "html")
        crawl.parts.commits.settle()
        assert leases.next(0.0) is None
        assert leases.is_waiting, "what ended may have brought one"


@in_loop
async def test_what_was_leased_for_a_crawl_that_is_paused_then_is_given_back(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    with of_redis(tmp_path, redis_server, "paused") as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        leases, network = crawl.parts.leases, crawl.parts.guest.network
        leases.answered = lambda: None
        assert scheduler.next_request() is None
        await until_answered(crawl)
        assert leases.ready is not None
        network.paused = True
        assert scheduler.next_request() is None
        assert not crawl.parts.commits.visits
        assert crawl.parts.frontier.pending == 2


@in_loop
async def test_what_was_leased_while_the_store_went_away_is_nobodys(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    with of_redis(tmp_path, redis_server, "lost") as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        leases, commits = crawl.parts.leases, crawl.parts.commits
        leases.answered = lambda: None
        assert scheduler.next_request() is None
        commits.fail(AwayError("it can't be reached"))
        await until_answered(crawl)
        assert leases.ready is None
        assert not commits.visits


@in_loop
async def test_what_was_leased_and_expired_before_it_was_asked_for_is_not(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    with of_redis(tmp_path, redis_server, "expired") as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        scheduler.open(crawl.spider)
        leases, commits = crawl.parts.leases, crawl.parts.commits
        leases.answered = lambda: None
        assert scheduler.next_request() is None
        await until_answered(crawl)
        ready = leases.ready
        assert ready is not None
        with Redis.from_url(redis_server.url) as client:
            client.hset("{expired}:leases", ready.lease.server, "another's")
        commits.renew(monotonic())
        assert not commits.visits
        assert scheduler.next_request() is None
        await until_answered(crawl)
        request = scheduler.next_request()
        assert request is not None
        assert visit_of(request) is not ready
        crawl.parts.upkeep.stop()


@in_loop
async def test_what_was_leased_before_a_long_sleep_is_not_asked_for_if_it_expired(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    with of_redis(tmp_path, redis_server, "slept", LSWC_LEASE_SECONDS=0.05) as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        leases = crawl.parts.leases
        leases.answered = lambda: None
        assert scheduler.next_request() is None
        await until_answered(crawl)
        ready = leases.ready
        assert ready is not None
        with Redis.from_url(redis_server.url) as client:
            client.hset("{slept}:leases", ready.lease.server, "another's")
        await sleep(0.1)
        assert scheduler.next_request() is None
        assert ready.is_over


@in_loop
async def test_what_expired_before_its_answer_was_read_is_not_asked_for(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    with (
        of_redis(tmp_path, redis_server, "unread") as crawl,
        Redis.from_url(redis_server.url) as client,
    ):
        leases, commits = crawl.parts.leases, crawl.parts.commits
        assert leases.next(0.0) is None
        while not (leased := client.hkeys("{unread}:leases")):
            pass
        client.hset("{unread}:leases", leased[0], "another's")
        assert leases.is_waiting
        commits.renew(monotonic())
        assert not leases.is_waiting
        assert not commits.visits
        assert leases.ready is not None
        assert leases.ready.is_over


@in_loop
async def test_what_was_leased_is_given_back_when_the_crawl_is_to_end(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    with of_redis(tmp_path, redis_server, "ends") as crawl:
        leases, commits = crawl.parts.leases, crawl.parts.commits
        reasons = list[str]()
        leases.answered = lambda: None
        commits.stop = reasons.append
        for is_answered in (False, True):
            assert leases.next(0.0) is None
            if is_answered:
                await until_answered(crawl)
                assert leases.ready is not None
            leases.finish("enough", None if is_answered else lambda: False)
            assert not commits.visits
            assert crawl.parts.frontier.pending == 2
        assert reasons == ["enough"]


@in_loop
async def test_of_a_crawl_that_closes_while_it_leases_nothing_stays_leased(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    crawl = of_redis(tmp_path, redis_server, "closes_leasing")
    scheduler = TierScheduler.from_crawler(crawl.crawler)
    scheduler.open(crawl.spider)
    leases = crawl.parts.leases
    assert scheduler.next_request() is None
    assert leases.is_waiting
    scheduler.close("shutdown")  # the answer comes now, and nothing more is asked for
    assert not leases.is_waiting
    with Redis.from_url(redis_server.url) as client:
        assert not client.hlen("{closes_leasing}:leases")


@in_loop
async def test_a_store_that_is_back_knows_nothing_of_what_was_being_leased(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    with of_redis(tmp_path, redis_server, "back") as crawl:
        scheduler = TierScheduler.from_crawler(crawl.crawler)
        leases, commits, upkeep = crawl.parts.leases, crawl.parts.commits, crawl.parts.upkeep
        leases.answered = upkeep.changed = lambda: None
        assert scheduler.next_request() is None
        commits.fail(AwayError("it can't be reached"))
        upkeep.look()
        assert not commits.away
        await sleep(0)
        assert not leases.is_waiting
        assert leases.ready is None
        assert not commits.visits
