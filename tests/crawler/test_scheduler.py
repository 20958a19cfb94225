"""Requests that wait to be sent again; whole crawls are in tests/crawl."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from scrapy.http import Request
from scrapy.utils.test import get_crawler

from lswc.crawler.scheduler import HELD, LEASE, SINCE, WAITING, TierScheduler
from lswc.frontier.contract import Lease
from lswc.strategy import PageLanguage
from lswc.visit.attempt import Attempt, Exchange


def lease(number: int, rest: float) -> Lease:
    server = f"h{number}.example"
    leased = Lease(
        number, f"http://{server}/", server, server, 0, 0, PageLanguage.TARGET, 0, 0, None
    )
    leased.rest = rest
    return leased


def test_so_many_wait_and_the_longest_is_given_up() -> None:
    rests = [3_600.0, *range(WAITING), 7_200.0]
    leases = {number: lease(number, rest) for number, rest in enumerate(rests)}
    ended: list[tuple[int, str]] = []
    scheduler: Any = TierScheduler(get_crawler())
    scheduler.frontier = SimpleNamespace(leases=leases)
    scheduler.finish = lambda *end: ended.append(end)
    for each in leases.values():
        scheduler.enqueue_request(Request(each.url, meta={LEASE: each.id, SINCE: 0.0}))
    assert ended == [(0, "too many wait"), (WAITING + 1, "too many wait")]
    assert len(scheduler._retries) == WAITING
    assert scheduler.next_request().meta[LEASE] == 1


def test_a_long_answer_is_not_held_until_then() -> None:
    scheduler: Any = TierScheduler(get_crawler())
    scheduler.frontier = SimpleNamespace(leases={1: lease(1, 0.0)})
    short = Exchange(b"GET", bytearray(b"HTTP"), [b"x" * (HELD // 2)])
    bodies = [short, Exchange(body=[b"x" * HELD]), Exchange(head=bytearray(HELD))]
    tried = [Attempt("http://h1.example/", datetime.now(UTC), exchange=body) for body in bodies]
    scheduler._attempts[1] = tried
    scheduler.enqueue_request(Request("http://h1.example/", meta={LEASE: 1, SINCE: 0.0}))
    assert [attempt.exchange for attempt in tried] == [short, None, None]
