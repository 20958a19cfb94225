"""The crawl's downloader does what Scrapy's does."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request, Spider, signals
from scrapy.core.downloader import Downloader
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.defer import deferred_to_future
from scrapy.utils.test import get_crawler

from lswc.crawl.downloader import DirectDownloader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

URL = "http://a.example/"


def answered(name: str) -> Any:
    """Return what a middleware's method, or the network, answers by this name."""
    match name.removeprefix("awaited "):
        case "response":
            return Response(f"{URL}made")
        case "request":
            return Request(f"{URL}else")
        case "nothing":
            return None
        case "refusal":
            raise IgnoreRequest
        case "cancelled":
            raise asyncio.CancelledError
    return name


class Said:
    """A middleware that answers as it is told, and takes note of what it is asked."""

    def __init__(self, notes: list[str], **answers: str) -> None:
        self._notes, self._answers = notes, answers

    def _answer(self, kind: str, otherwise: Any) -> Any:
        self._notes.append(kind)
        name = self._answers.get(kind, "")
        if name.startswith("awaited "):
            return self._awaited(name)
        return answered(name) if name else otherwise

    async def _awaited(self, name: str) -> Any:
        await asyncio.sleep(0)
        return answered(name)

    def process_request(self, request: Request) -> Any:
        return self._answer("request", None)

    def process_response(self, request: Request, response: Response) -> Any:
        return self._answer("response", response)

    def process_exception(self, request: Request, exception: Exception) -> Any:
        return self._answer("exception", None)


class Network:
    """A handler that answers as its class is told, and says in ``notes`` what it sends.

    ``most`` is how many requests to one server were under way at a time.
    """

    lazy = False
    notes: list[str]
    answer: str
    most: list[int]
    under_way: Counter[str]

    async def download_request(self, request: Request) -> Any:
        server = request.url.split("/")[2]
        self.under_way[server] += 1
        self.most.append(self.under_way[server])
        self.notes.append(f"{request.url} is sent")
        await asyncio.sleep(0.01)
        self.under_way[server] -= 1
        return answered(self.answer)

    async def close(self) -> None:
        pass


SIGNALS = (
    "request_reached_downloader",
    "response_downloaded",
    "request_left_downloader",
)


def downloaded(
    downloader: type[Downloader],
    *requests: Request,
    network: str = "response",
    delay: float = 0.0,
    answers: Sequence[dict[str, str]] = (),
) -> tuple[list[str], list[str]]:
    """Return what happened to requests that are fetched at once, and how they ended.

    The last note is how many were sent to one server at a time.
    """
    notes: list[str] = []
    most: list[int] = []

    async def fetched() -> list[str]:
        made = downloader(crawler)
        ends = [deferred_to_future(made.fetch(request)) for request in requests]
        results = await asyncio.gather(*ends, return_exceptions=True)
        assert not made.active
        assert not any(slot.active or slot.transferring for slot in made.slots.values())
        made.close()
        return [
            f"{type(result).__name__} {getattr(result, 'url', '')}"
            if not isinstance(result, TypeError)
            else "TypeError"
            for result in results
        ]

    told = {"notes": notes, "answer": network, "most": most, "under_way": Counter()}
    crawler = get_crawler(
        Spider,
        {
            "DOWNLOAD_HANDLERS": {"http": type("Told", (Network,), told), "https": None},
            "DOWNLOADER_MIDDLEWARES_BASE": {},
            "DOWNLOADER_MIDDLEWARES": {
                made(notes, said): number for number, said in enumerate(answers)
            },
            "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
            "DOWNLOAD_DELAY": delay,
            "DOWNLOAD_DELAY_JITTER": 0,
        },
    )
    crawler.spider = crawler._create_spider("s")
    for name in SIGNALS:
        crawler.signals.connect(noting(notes, name), getattr(signals, name), weak=False)
    ends = asyncio.run(fetched())
    return [*notes, f"{max(most, default=0)} at a time"], ends


def noting(notes: list[str], name: str) -> Callable[[Request], None]:
    def note(request: Request) -> None:
        notes.append(f"{name} {request.url}")

    return note


def made(notes: list[str], said: dict[str, str]) -> type[Said]:
    class Middleware(Said):
        def __init__(self) -> None:
            super().__init__(notes, **said)

    return Middleware


WAYS: list[tuple[str, list[dict[str, str]]]] = [
    ("response", []),
    ("response", [{}, {}]),
    ("refusal", [{}]),
    *(
        ("response", [{}, {kind: f"{when}{name}"}, {}])
        for kind in ("request", "response")
        for when in ("", "awaited ")
        for name in ("response", "request", "nothing", "refusal", "cancelled", "a word")
    ),
    *(
        ("refusal", [{}, {"exception": f"{when}{name}"}, {}])
        for when in ("", "awaited ")
        for name in ("response", "request", "nothing", "refusal", "a word")
    ),
]


@pytest.mark.parametrize(("network", "answers"), WAYS)
def test_middlewares_are_asked_as_by_scrapy(network: str, answers: list[dict[str, str]]) -> None:
    ways = [
        downloaded(each, Request(URL), network=network, answers=answers)
        for each in (Downloader, DirectDownloader)
    ]
    assert ways[0] == ways[1]


def test_a_download_that_is_cancelled_ends() -> None:
    _, ends = downloaded(DirectDownloader, Request(URL), network="cancelled")
    assert ends == ["CancelledError "]


@pytest.mark.parametrize(("delay", "most"), [(0.0, 2), (0.03, 1)])
def test_a_server_gets_its_requests_in_turn(delay: float, most: int) -> None:
    requests = [Request(f"{URL}{number}") for number in range(5)]
    requests.insert(3, Request("http://b.example/"))
    (theirs, ends), (ours, own_ends) = (
        downloaded(each, *requests, delay=delay) for each in (Downloader, DirectDownloader)
    )
    assert own_ends == ends
    assert sorted(ours[:-1]) == sorted(theirs[:-1])
    assert [note for note in ours if "//a" in note and "is sent" in note] == [
        f"{URL}{number} is sent" for number in range(5)
    ]
    assert ours[-1] == f"{most} at a time"  # Scrapy's sends five
