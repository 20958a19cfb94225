"""Decompression as Scrapy does it, with a bound on the pieces that a body is compressed in."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import brotli
from backports import zstd
from scrapy.downloadermiddlewares import httpcompression
from typing_extensions import override

from lswc.crawl.requests import RULES
from lswc.crawl.transport.refused import Refused
from lswc.guest.robots_txt import MAX_SIZE
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response

MAX_PIECES = 1_000
"""Members of gzip (RFC 1952 §2.2) or frames of Zstandard (RFC 8878 §3.1) in a body.

One takes longer to open than a thousand bytes to unpack, and empty ones never reach a size.
"""

_STARTS = {
    b"gzip": re.compile(rb"\x1f\x8b\x08"),
    b"x-gzip": re.compile(rb"\x1f\x8b\x08"),
    b"zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
}


class CompressionMiddleware(httpcompression.HttpCompressionMiddleware):
    """Refuses bodies in too many pieces; of a robots.txt it unpacks what counts."""

    @override
    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        if RULES in request.meta:
            body = response.body
            named = b",".join(response.headers.getlist("Content-Encoding")).split(b",")
            for encoding in reversed(named):
                body = _first_bytes(body, encoding.strip().lower(), MAX_SIZE)
            response.headers.pop("Content-Encoding", None)
            return response.replace(body=body)
        return super().process_response(request, response)

    @staticmethod
    @override
    def _decode(body: bytes, encoding: bytes, max_size: int) -> bytes:
        starts = _STARTS.get(encoding)
        if starts is not None and len(starts.findall(body)) > MAX_PIECES:
            raise Refused(Outcome.TOO_MANY_PIECES)
        return httpcompression.HttpCompressionMiddleware._decode(body, encoding, max_size)


def _first_bytes(body: bytes, encoding: bytes, most: int) -> bytes:
    """Unpack the first bytes of a body. Raises the libraries' errors for a broken one."""
    match encoding:
        case b"gzip" | b"x-gzip" | b"deflate":
            return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(body, most)
        case b"br":
            unpacked: bytes = brotli.Decompressor().process(body, output_buffer_limit=most)
            return unpacked[:most]
        case b"zstd":
            return zstd.ZstdDecompressor().decompress(body, most)
    return body[:most]
