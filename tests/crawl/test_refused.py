"""Headers that a crawl doesn't obey."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings

from lswc.crawl.transport.refused import MAX_ENCODINGS, RefusalMiddleware, Refused

LONGEST = 2083


def seen(headers: dict[str, Any], status: int = 200) -> Response:
    crawler: Any = SimpleNamespace(settings=Settings({"URLLENGTH_LIMIT": LONGEST}))
    response = Response("http://a.example/", status, headers)
    return RefusalMiddleware.from_crawler(crawler).process_response(
        Request("http://a.example/"), response
    )


@pytest.mark.parametrize("apart", [True, False])
def test_a_body_is_unpacked_so_many_times(apart: bool) -> None:
    names = ["gzip", "BR", " x-gzip", "zstd"][:MAX_ENCODINGS]
    value = names if apart else ",".join(names)
    assert seen({"Content-Encoding": value}).headers.getlist("Content-Encoding") == [
        *([name.encode() for name in names] if apart else [",".join(names).encode()])
    ]
    more = [*names, "deflate"]
    with pytest.raises(Refused, match="too many encodings"):
        seen({"Content-Encoding": more if apart else ",".join(more)})


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("utf-8", []),
        (b"\xff\xfe", []),
        ("\x1b[2J", []),
        ("", []),
        ("UTF-8, gzip", [b"gzip"]),
        ("identity", []),
        ("," * 10_000, []),
    ],
)
def test_unknown_encodings_are_passed_over(given: str | bytes, left: list[bytes]) -> None:
    assert seen({"Content-Encoding": given}).headers.getlist("Content-Encoding") == left


def test_a_redirect_to_a_long_url_is_not_parsed() -> None:
    with pytest.raises(Refused, match="URL too long"):
        seen({"Location": "x" * (LONGEST + 1)}, 301)
    assert seen({"Location": "x" * LONGEST}, 301)
    assert seen({"Location": "x" * (LONGEST + 1)}, 200)


def test_a_referrer_policy_is_not_looked_up() -> None:
    assert "Referrer-Policy" not in seen({"Referrer-Policy": "os.system"}).headers
