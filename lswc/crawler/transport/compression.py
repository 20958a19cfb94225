"""Scrapy's decompression, with a bound on the pieces that a body is compressed in."""

from __future__ import annotations

import re

from scrapy.downloadermiddlewares import httpcompression
from typing_extensions import override

from lswc.crawler.transport.refused import Refused
from lswc.outcomes import Outcome

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
    """Refuses bodies in too many pieces."""

    @staticmethod
    @override
    def _decode(body: bytes, encoding: bytes, max_size: int) -> bytes:
        starts = _STARTS.get(encoding)
        if starts is not None and len(starts.findall(body)) > MAX_PIECES:
            raise Refused(Outcome.TOO_MANY_PIECES)
        return httpcompression.HttpCompressionMiddleware._decode(body, encoding, max_size)
