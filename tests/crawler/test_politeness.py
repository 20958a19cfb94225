"""What servers ask for, and how long they are left to rest; whole crawls are in tests/hostile."""

from __future__ import annotations

from asyncio import run
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Spider
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from lswc.crawler.politeness import (
    DelayMiddleware,
    RetryMiddleware,
    RobotsMiddleware,
    retry_after,
    robots_tag,
)
from lswc.crawler.scheduler import LEASE, SINCE, TierScheduler
from lswc.crawler.transport.refused import Refused
from lswc.frontier.contract import Lease
from lswc.safety.limits import Limits
from lswc.strategy import PageLanguage
from lswc.urls import parse


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
    """A request for a leased URL of a server with this robots.txt, in a crawl."""

    def __init__(self, robots: str = "", **settings: object) -> None:
        self.lease = Lease(
            1, "http://a.example/", "a.example", "a.example", 0, 0, PageLanguage.TARGET, 0, 0, None
        )
        self.request = Request(self.lease.url, meta={LEASE: 1, SINCE: monotonic()})
        scheduler = TierScheduler.__new__(TierScheduler)
        frontier: Any = SimpleNamespace(leases={1: self.lease})
        scheduler.frontier = frontier
        self.limits = scheduler.limits = Limits()

        async def download(request: Request) -> Response:
            assert request.url == "http://a.example/robots.txt"
            return Response(request.url, body=robots.encode())

        engine: Any = SimpleNamespace(scheduler=scheduler, download_async=download)
        given = {"LSWC_MAX_CRAWL_DELAY": 300, "LSWC_MAX_RETRY_AFTER": 3600, "DOWNLOAD_DELAY": 1.0,
                 "LSWC_DELAY_FACTOR": 5, "ROBOTSTXT_OBEY": True}  # fmt: skip
        self.crawler = get_crawler(settings_dict={**given, **settings})
        self.crawler.engine = engine
        self.crawler.spider = Spider.from_crawler(self.crawler, name="any")

    def rests(self, seconds: float) -> bool:
        """Tell whether the server is left alone for so long from now on."""
        elapsed = monotonic() - self.request.meta[SINCE]
        return self.lease.rest is not None and seconds <= self.lease.rest <= seconds + elapsed


@pytest.mark.parametrize(("delay", "rest"), [("", 1.0), ("0.5", 1.0), ("2", 2), ("300", 300)])
def test_crawl_delay_is_kept_in_full(delay: str, rest: float) -> None:
    asked = Asked(f"User-agent: *\nCrawl-delay: {delay}")
    run(RobotsMiddleware(asked.crawler).process_request(asked.request))
    DelayMiddleware(asked.crawler).process_response(asked.request, response())
    assert asked.rests(rest)


@pytest.mark.parametrize("delay", ["300.5", "1e300"])
def test_crawl_delay_beyond_the_limit(delay: str) -> None:
    asked = Asked(f"User-agent: *\nCrawl-delay: {delay}")
    with pytest.raises(Refused, match="Crawl-delay too long"):
        run(RobotsMiddleware(asked.crawler).process_request(asked.request))


@pytest.mark.parametrize(
    ("headers", "retries", "wait"),
    [({"Retry-After": "3600"}, 0, 3600), ({}, 0, 10), ({}, 1, 20)],
)
def test_an_overloaded_server_is_asked_later(
    headers: dict[str, str], retries: int, wait: float
) -> None:
    asked = Asked()
    asked.request.meta["retry_times"] = retries
    again = RetryMiddleware.from_crawler(asked.crawler).process_response(
        asked.request, Response(asked.request.url, status=429, headers=headers)
    )
    assert isinstance(again, Request)
    assert asked.rests(wait)


def test_a_server_rests_by_how_long_it_took() -> None:
    asked = Asked()
    asked.request.meta["download_latency"] = 2.0
    DelayMiddleware(asked.crawler).process_response(asked.request, response())
    assert asked.rests(10)


def test_a_server_does_not_rest_without_a_delay() -> None:
    asked = Asked(DOWNLOAD_DELAY=0)
    asked.request.meta["download_latency"] = 2.0
    DelayMiddleware(asked.crawler).process_response(asked.request, response())
    assert asked.lease.rest is None


@pytest.mark.parametrize(("unanswered", "rest"), [(0, 300), (1, 600), (3, 2400), (4, 3600)])
def test_a_silent_server_rests_longer_and_longer(unanswered: int, rest: float) -> None:
    asked = Asked(DOWNLOAD_TIMEOUT=60)
    url = parse(asked.request.url)
    assert url is not None
    for _ in range(unanswered):
        asked.limits.answered(url, False)
    DelayMiddleware(asked.crawler).process_exception(asked.request, DownloadTimeoutError())
    assert asked.rests(rest)
