"""Headers that a crawl doesn't obey, and bodies in many pieces; whole crawls: tests/hostile."""

from __future__ import annotations

import gzip
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import brotli
import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from lswc.crawl.guest_middleware import RedirectMiddleware
from lswc.crawl.transport.refused import (
    MAX_ENCODINGS,
    MAX_PIECES,
    CompressionMiddleware,
    RefusalMiddleware,
    Refused,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Ours(Spider):
    """It has parts, as a spider of lswc's."""

    parts = None


LONGEST = 2083
FRAME = b"\x28\xb5\x2f\xfd\x20\x01\x09\0\0x"
SKIPPED = b"\x5a\x2a\x4d\x18\0\0\0\0"


def seen(headers: dict[str, Any], status: int = 200) -> Response:
    crawler: Any = SimpleNamespace(settings=Settings({"URLLENGTH_LIMIT": LONGEST}), spidercls=Ours)
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


@pytest.mark.parametrize(
    ("asked", "to", "referrer"),
    [
        ("http://a.example/1", "/2", b"http://a.example/1"),
        ("http://a.example/1", "https://b.example/", b"http://a.example/1"),
        ("https://a.example/1", "http://b.example/", None),
    ],
)
def test_a_redirect_is_followed_with_its_referrer(
    asked: str, to: str, referrer: bytes | None
) -> None:
    redirecting = RedirectMiddleware.from_crawler(get_crawler(Ours))
    request = Request(asked, headers={"Referer": "http://before.example/"})
    found = redirecting.process_response(request, Response(asked, 302, {"Location": to}))
    assert isinstance(found, Request)
    assert found.headers.get("Referer") == referrer


def unpacked(body: bytes, *encodings: str) -> bytes:
    unpacking = CompressionMiddleware.from_crawler(get_crawler(Ours))
    response = Response("http://a.example/", 200, {"Content-Encoding": list(encodings)}, body)
    found = unpacking.process_response(Request(response.url), response)
    assert isinstance(found, Response)
    return found.body


@pytest.mark.parametrize(
    ("encoding", "piece", "text"),
    [
        ("gzip", gzip.compress(b"x", mtime=0), b"x"),
        ("x-gzip", gzip.compress(b"x", mtime=0), b"x"),
        ("zstd", FRAME, b"x"),
        ("zstd", SKIPPED, b""),
    ],
)
def test_so_many_pieces_are_opened(encoding: str, piece: bytes, text: bytes) -> None:
    assert unpacked(piece * MAX_PIECES, encoding) == text * MAX_PIECES
    with pytest.raises(Refused, match="too many pieces"):
        unpacked(piece * (MAX_PIECES + 1), encoding)
    with pytest.raises(Refused, match="too many pieces"):
        unpacked(gzip.compress(piece * (MAX_PIECES + 1)), encoding, "gzip")


@pytest.mark.parametrize(("encoding", "pack"), [("br", brotli.compress), ("gzip", gzip.compress)])
def test_what_is_packed_counts_nothing(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    text = (SKIPPED + gzip.compress(b"")) * (MAX_PIECES + 1)
    assert unpacked(pack(text), encoding) == text
