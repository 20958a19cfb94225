"""What servers ask for, and how long they are left to rest; whole crawls are in tests/hostile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Spider
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from lswc.frontier.contract import Lease
from lswc.politeness import (
    AdaptiveDelayMiddleware,
    RetryMiddleware,
    RobotsMiddleware,
    retry_after,
    robots_tag,
)
from lswc.safety.refused import Refused
from lswc.scheduler import LEASE, RETRY_AT, SINCE, TierScheduler
from lswc.strategy import PageLanguage


def response(**headers: str) -> Response:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response("http://a.example/", headers=fields)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("120", 120), (" 7 ", 7), ("Fri, 31 Dec 1999 23:59:59 GMT", 0), ("soon", None),
     ("-5", None), ("1.5", None), ("", None), ("99999-99-99", None)],
)  # fmt: skip
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after(response(Retry_After=value)) == seconds


def test_retry_after_a_date_to_come() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    asked = retry_after(response(Retry_After=later))
    assert asked is not None
    assert 3000 < asked <= 3600


def test_no_retry_after() -> None:
    assert retry_after(response()) is None


@given(st.text())
def test_any_value_gets_an_answer(value: str) -> None:
    answer = retry_after(response(Retry_After=value))
    assert answer is None or answer >= 0


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("noindex, NoFollow", {"noindex", "nofollow"}),
        ("lswc: noarchive", {"noarchive"}),
        ("LSWC : noarchive, nofollow", {"noarchive", "nofollow"}),
        ("otherbot: noindex", set()),
        ("otherbot: noindex, nofollow", set()),
        ("nofollow, otherbot: noindex, lswc: noarchive", {"nofollow", "noarchive"}),
        ("max-snippet: 20, noindex", {"max-snippet: 20", "noindex"}),
        (
            "unavailable_after: Wed, 25 Jun 2110 15:00:00 PST, none",
            {"unavailable_after: wed", "25 jun 2110 15:00:00 pst", "none"},
        ),
        ("", {""}),
    ],
)
def test_robots_tag(value: str, told: set[str]) -> None:
    assert robots_tag(response(X_Robots_Tag=value)) == told


class Asked:
    """A request for a leased URL, in a crawl with these settings."""

    def __init__(self, **settings: object) -> None:
        self.lease = Lease(
            1, "http://a.example/", "a.example", "a.example", 0, 0, PageLanguage.TARGET, 0, 0, None
        )
        self.request = Request(self.lease.url, meta={LEASE: 1, SINCE: monotonic()})
        scheduler = TierScheduler.__new__(TierScheduler)
        frontier: Any = SimpleNamespace(leases={1: self.lease})
        scheduler.frontier = frontier
        engine: Any = SimpleNamespace(scheduler=scheduler)
        given = {"LSWC_MAX_CRAWL_DELAY": 300, "LSWC_MAX_RETRY_AFTER": 3600, "DOWNLOAD_DELAY": 1.0,
                 "LSWC_DELAY_FACTOR": 5, "ROBOTSTXT_OBEY": True}  # fmt: skip
        self.crawler = get_crawler(settings_dict={**given, **settings})
        self.crawler.engine = engine
        self.crawler.spider = Spider.from_crawler(self.crawler, name="any")


@pytest.mark.parametrize(("delay", "rest"), [(None, None), (0.5, 1.0), (2, 2), (300, 300)])
def test_crawl_delay_is_kept_in_full(delay: float | None, rest: float | None) -> None:
    asked = Asked()
    rules: Any = SimpleNamespace(crawl_delay=lambda _: delay, allowed=lambda *_: True)
    RobotsMiddleware(asked.crawler).process_request_2(rules, asked.request)
    assert asked.lease.rest == rest


def test_crawl_delay_beyond_the_limit() -> None:
    asked = Asked()
    rules: Any = SimpleNamespace(crawl_delay=lambda _: 300.5, allowed=lambda *_: True)
    with pytest.raises(Refused, match="Crawl-delay too long"):
        RobotsMiddleware(asked.crawler).process_request_2(rules, asked.request)


@pytest.mark.parametrize(
    ("headers", "retries", "wait"),
    [({"Retry-After": "3600"}, 0, 3600), ({}, 0, 10), ({}, 1, 20)],
)
def test_an_overloaded_server_is_asked_later(
    headers: dict[str, str], retries: int, wait: float
) -> None:
    asked = Asked()
    asked.request.meta["retry_times"] = retries
    before = monotonic()
    again = RetryMiddleware.from_crawler(asked.crawler).process_response(
        asked.request, Response(asked.request.url, status=429, headers=headers)
    )
    assert isinstance(again, Request)
    assert before + wait <= again.meta[RETRY_AT] <= monotonic() + wait


@pytest.mark.parametrize(("delay", "rests"), [(1.0, True), (0, False)])
def test_a_server_rests_by_how_long_it_took(delay: float, rests: bool) -> None:
    asked = Asked(DOWNLOAD_DELAY=delay)
    asked.request.meta["download_latency"] = 2.0
    AdaptiveDelayMiddleware(asked.crawler).process_response(asked.request, response())
    elapsed = monotonic() - asked.request.meta[SINCE]
    if rests:
        assert asked.lease.rest is not None
        assert 10 <= asked.lease.rest <= 10 + elapsed
    else:
        assert asked.lease.rest is None
