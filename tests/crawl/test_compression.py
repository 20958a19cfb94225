"""Bodies in many pieces; whole crawls are in tests/hostile."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import brotli
import pytest
from scrapy.http import Request, Response
from scrapy.utils.test import get_crawler

from lswc.crawl.transport.compression import MAX_PIECES, CompressionMiddleware
from lswc.crawl.transport.refused import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME = b"\x28\xb5\x2f\xfd\x20\x01\x09\0\0x"
SKIPPED = b"\x5a\x2a\x4d\x18\0\0\0\0"


def unpacked(body: bytes, *encodings: str) -> bytes:
    unpacking = CompressionMiddleware.from_crawler(get_crawler())
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
