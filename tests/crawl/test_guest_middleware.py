"""Requests that ask the guest, and tell it how they ended; whole crawls are in tests/scenarios."""

from __future__ import annotations

from asyncio import run
from ipaddress import ip_address
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadTimeoutError
from scrapy.http import Request, Response

from lswc.crawl.guest_middleware import GuestMiddleware, RetryMiddleware
from lswc.crawl.requests import GO
from lswc.crawl.transport.refused import Refused
from lswc.outcomes import Outcome
from lswc.urls import parse
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from ipaddress import IPv4Address
    from pathlib import Path


def response(**headers: str) -> Response:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response("http://a.example/", headers=fields)


class Asked(SetUp):
    """A request for a leased URL of a server with this robots.txt, in a crawl."""

    def __init__(
        self, folder: Path, robots: str = "", status: int = 200, **settings: object
    ) -> None:
        given = {"LSWC_MAX_PER_ADDRESS": 0, **settings}
        super().__init__(folder, **given)
        self.lease = self.visit(monotonic())
        self.asked = self.request(self.lease)

        async def download(request: Request) -> Response:
            assert request.url == "http://a.example/robots.txt"
            return Response(request.url, status, body=robots.encode())

        engine: Any = SimpleNamespace(download_async=download, _slot=None)
        self.crawler.engine = engine

    def sent(self) -> GuestMiddleware:
        """Send the request once robots.txt is known; return what its end is told."""
        middleware = GuestMiddleware.from_crawler(self.crawler)
        first = run(middleware.process_request(self.asked))
        assert isinstance(first, Request), "it waits for robots.txt"
        assert run(middleware.process_request(self.asked)) is None
        assert GO in self.asked.meta
        return middleware

    def rests(self, seconds: float) -> bool:
        """Tell whether the server is left alone for so long from now on."""
        elapsed = monotonic() - self.lease.since
        return seconds <= self.lease.rest <= seconds + elapsed


@pytest.mark.parametrize(("delay", "rest"), [("", 1.0), ("0.5", 1.0), ("2", 2), ("300", 300)])
def test_crawl_delay_is_kept_in_full(tmp_path: Path, delay: str, rest: float) -> None:
    with Asked(tmp_path, f"User-agent: *\nCrawl-delay: {delay}") as asked:
        asked.sent().process_response(asked.asked, response())
        assert asked.rests(rest)


@pytest.mark.parametrize(("rule", "allowed"), [("/*/private", True), ("/$", False), ("/p", True)])
def test_rules_are_of_what_a_server_is_asked_for_and_not_of_its_scripts_routes(
    tmp_path: Path, rule: str, allowed: bool
) -> None:
    with Asked(tmp_path, f"User-agent: *\nDisallow: {rule}") as asked:
        asked.asked = asked.asked.replace(url=f"{asked.asked.url}#/private")
        if allowed:
            asked.sent()
        else:
            with pytest.raises(Refused, match="robots"):
                asked.sent()


@pytest.mark.parametrize("delay", ["300.5", "1e300"])
def test_crawl_delay_beyond_the_limit(tmp_path: Path, delay: str) -> None:
    with (
        Asked(tmp_path, f"User-agent: *\nCrawl-delay: {delay}") as asked,
        pytest.raises(Refused, match="Crawl-delay too long"),
    ):
        asked.sent()


@pytest.mark.parametrize(
    ("headers", "before", "wait"),
    [({"Retry-After": "3600"}, 0, 3600), ({}, 0, 60), ({}, 1, 120), ({}, 20, 86_400)],
)
def test_an_overloaded_server_is_asked_later(
    tmp_path: Path, headers: dict[str, str], before: int, wait: float
) -> None:
    with Asked(tmp_path) as asked:
        middleware = asked.sent()
        for _ in range(before):
            asked.parts.guest.backoff.overloaded("a.example", 0.0)
        answer = Response(asked.asked.url, status=429, headers=headers)
        middleware.process_response(asked.asked, answer)
        again = RetryMiddleware.from_crawler(asked.crawler).process_response(asked.asked, answer)
        assert isinstance(again, Request)
        assert GO not in again.meta
        assert asked.rests(wait)


def test_a_page_waits_while_its_server_rests(tmp_path: Path) -> None:
    with Asked(tmp_path) as asked:
        middleware = GuestMiddleware.from_crawler(asked.crawler)
        asked.parts.guest.rests.end("a.example", 30.0)
        assert isinstance(run(middleware.process_request(asked.asked)), Request)
        assert asked.rests(30.0)


def test_a_server_rests_by_how_long_it_took(tmp_path: Path) -> None:
    with Asked(tmp_path) as asked:
        asked.asked.meta["download_latency"] = 2.0
        asked.sent().process_response(asked.asked, response())
        assert asked.rests(10)


def test_a_server_does_not_rest_without_a_delay(tmp_path: Path) -> None:
    with Asked(tmp_path, DOWNLOAD_DELAY=0) as asked:
        asked.asked.meta["download_latency"] = 2.0
        asked.sent().process_response(asked.asked, response())
        assert not asked.lease.rest


@pytest.mark.parametrize(("unanswered", "rest"), [(0, 300), (1, 600), (3, 2400), (4, 3600)])
def test_a_silent_server_rests_longer_and_longer(
    tmp_path: Path, unanswered: int, rest: float
) -> None:
    with Asked(tmp_path, DOWNLOAD_TIMEOUT=60) as asked:
        url = parse(asked.asked.url)
        assert url is not None
        for _ in range(unanswered):
            asked.parts.guest.limits.answered(url, False)
        asked.sent().process_exception(asked.asked, DownloadTimeoutError())
        assert asked.rests(rest)


@pytest.mark.parametrize(
    ("status", "tried", "settings", "is_retried"),
    [
        (503, 0, {}, True),
        (503, 1, {}, True),
        (503, 2, {}, False),
        (503, 2, {"RETRY_TIMES": 3}, True),
        (503, 0, {"RETRY_ENABLED": False}, False),
        (501, 0, {}, False),
    ],
)
def test_a_page_is_tried_again_while_its_server_fails_to_say_what_may_be_asked_for(
    tmp_path: Path, status: int, tried: int, settings: dict[str, object], is_retried: bool
) -> None:
    with Asked(tmp_path, "", status, **settings) as asked:
        middleware = GuestMiddleware.from_crawler(asked.crawler)
        asked.asked.meta["retry_times"] = tried
        if is_retried:
            failed = run(middleware.process_request(asked.asked))
            assert isinstance(failed, Response)
            assert failed.status == status
        else:
            with pytest.raises(Refused, match=Outcome.ROBOTS_UNAVAILABLE):
                run(middleware.process_request(asked.asked))


@pytest.mark.parametrize(
    ("url", "twin"),
    [
        ("http://a.example/b?c", "https://a.example/b?c"),
        ("http://a.example:80/b", "https://a.example/b"),
        ("http://a.example:8080/b", None),
        ("https://a.example/b", None),
        ("http://a.example:443/b", None),
    ],
)
def test_a_page_is_asked_for_by_https_where_nothing_answers_the_port_of_http(
    tmp_path: Path, url: str, twin: str | None
) -> None:
    with SetUp(tmp_path, url, RETRY_TIMES=0) as asked:
        visit = asked.visit()
        request, middleware = asked.request(visit), RetryMiddleware.from_crawler(asked.crawler)
        assert middleware.process_exception(request, DownloadTimeoutError()) is None
        again = middleware.process_exception(request, DownloadConnectionRefusedError())
        assert (again and again.url) == twin
        assert visit.url == (twin or request.url)


def test_a_proxy_that_refuses_says_nothing_of_a_server(tmp_path: Path) -> None:
    with SetUp(tmp_path, RETRY_TIMES=0) as asked:
        request = asked.request(asked.visit())
        request.meta["proxy"] = "http://127.0.0.1:9"
        middleware = RetryMiddleware.from_crawler(asked.crawler)
        assert middleware.process_exception(request, DownloadConnectionRefusedError()) is None


@pytest.mark.parametrize(("address", "heard"), [(ip_address("192.0.2.1"), 1), (None, 0)])
def test_only_an_answer_of_a_machine_says_that_the_network_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: IPv4Address | None, heard: int
) -> None:
    with Asked(tmp_path) as asked:
        middleware = asked.sent()
        answered: list[object] = []

        def note(url: object, since: float) -> None:
            assert monotonic() - 60 < since <= monotonic()
            answered.append(url)

        monkeypatch.setattr(asked.parts.guest.network, "answered", note)
        monkeypatch.setattr(asked.parts.guest.network, "silent", pytest.fail)
        answer = Response(asked.asked.url, ip_address=address)
        middleware.process_response(asked.asked, answer)
        assert answered == [parse(asked.asked.url)] * heard
