"""Digests of WARC records: SHA-1 in base 32, of a block or of a payload."""

from __future__ import annotations

import re
from base64 import b32encode
from hashlib import sha1

from lswc.archive.http_message import LARGEST, HttpResponse

_TRANSFERRED = re.compile(rb"^transfer-encoding[ \t]*:", re.IGNORECASE | re.MULTILINE)


def digest_of(data: bytes) -> str:
    """Return a digest as WARC files have it."""
    return b32encode(sha1(data, usedforsecurity=False).digest()).decode()


def payload_digest(head: bytes | bytearray, body: bytes) -> str:
    """Return the digest of a response's payload: its body without a Transfer-Encoding.

    A server may divide the same body into other chunks each time, and a payload is the entity
    body (ISO 28500:2017 §5.9; RFC 9110 §6.4).
    """
    if _TRANSFERRED.search(head):
        body = HttpResponse.of(bytes(head) + body).transferred(len(body) + LARGEST)
    return digest_of(body)
