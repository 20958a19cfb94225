"""HTTP response as a WARC record holds it: its head, and its body without its codings.

A record has the bytes of the wire (ISO 28500:2017 §6.3): in chunks (RFC 9112 §7.1), compressed, or
both. What was cut short, or isn't coded as its head says, is read as far as it goes.
"""

from __future__ import annotations

import re
import zlib
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import brotli
from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable

BODY_BYTES = 100_000_000
"""Bytes of a body that are read: more than any page, or document, that a crawl keeps."""

MAX_CODINGS = 4
"""Codings of a body that are taken off, one after the other."""

MAX_PIECES = 1_000
"""Members of gzip (RFC 1952 §2.2) or frames of Zstandard (RFC 8878 §3.1) that are read."""

_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)? +(\d{3})(?!\d)")
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]{0,4096})?\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_AT_ONCE = 1_024
_BROKEN = (zlib.error, brotli.error, zstd.ZstdError)


class HttpResponse(NamedTuple):
    """A response: ``status`` is 0 if it has none; ``payload`` is the body as it came."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    payload: bytes

    @classmethod
    def of(cls, block: bytes) -> HttpResponse:
        """Read the block of a record. Never fails."""
        found = _END_OF_HEAD.search(block)
        head, payload = (block[: found.start()], block[found.end() :]) if found else (block, b"")
        first, *lines = head.splitlines() or [b""]
        match = _STATUS.match(first)
        status = int(match[1]) if match else 0
        if 100 <= status < 200 and payload.startswith(b"HTTP/"):
            return cls.of(payload)  # an interim response came first (RFC 9110 §15.2)
        return cls(status, _headers(lines), payload)

    def get(self, name: str) -> str | None:
        """Return the first value of a header, None if it isn't there."""
        return next(iter(self._values(name)), None)

    def _values(self, name: str) -> list[str]:
        wanted = name.lower().encode()
        return [value.decode("latin-1") for key, value in self.headers if key.lower() == wanted]

    def _codings(self, name: str) -> list[str]:
        """Return codings, the one that was put on last first."""
        named = ",".join(self._values(name)).lower().split(",")
        return [coding.strip() for coding in reversed(named)][:MAX_CODINGS]

    def transferred(self, most: int) -> bytes:
        """Return the body without its Transfer-Encoding, of up to ``most`` bytes."""
        return _without(self.payload, self._codings("Transfer-Encoding"), most)[:most]

    def content(self, most: int) -> bytes:
        """Return the body without any coding, of up to ``most`` bytes."""
        codings = self._codings("Transfer-Encoding") + self._codings("Content-Encoding")
        return _without(self.payload, codings, most)[:most]


def _headers(lines: list[bytes]) -> tuple[tuple[bytes, bytes], ...]:
    found: list[tuple[bytes, bytes]] = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if line[:1] in (b" ", b"\t") and found:  # folded (RFC 9112 §5.2)
            found[-1] = found[-1][0], found[-1][1] + b" " + line.strip()
        elif colon:
            found.append((name.strip(), value.strip()))
    return tuple(found)


def _without(body: bytes, codings: list[str], most: int) -> bytes:
    most = max(most, len(body))  # in between a body may be longer than at last
    for coding in codings:
        decode = _DECODERS.get(coding)
        if decode is not None:
            body = decode(body, most)
    return body


def _dechunked(body: bytes, _: int) -> bytes:
    """Return what is in chunks, without a trailer; a body that has none as it is.

    Many that store pages take the chunks away, and leave the header.
    """
    found, at = [], 0
    while line := _CHUNK.match(body, at):
        length = int(line[1], 16)
        at = line.end() + length
        ends = _LINE_END.match(body, at)
        if ends is None and length and at < len(body):
            break
        found.append(body[line.end() : at])
        if not length:
            break
        at = ends.end() if ends else at
    return b"".join(found) if found else body


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _unpacked(body: bytes, most: int, new: Callable[[], _Decompressor]) -> bytes | None:
    """Return what is in members or frames, one after the other; None if it isn't one."""
    found, size = [], 0
    for _ in range(MAX_PIECES):
        piece, rest = _member(body, most - size, new)
        if piece is None:
            break
        found.append(piece)
        size += len(piece)
        body = rest
        if not body or size >= most:
            break
    return b"".join(found) if found else None


def _member(body: bytes, most: int, new: Callable[[], _Decompressor]) -> tuple[bytes | None, bytes]:
    """Return what one member holds, None if it is none, and what follows it."""
    one = new()
    try:
        piece = one.decompress(body, most)
    except _BROKEN:
        return _as_far_as_it_goes(body, most, new()), b""
    return piece, one.unused_data if one.eof else b""


def _as_far_as_it_goes(body: bytes, most: int, one: _Decompressor) -> bytes | None:
    """Return what a damaged member holds before the damage; None if that is nothing."""
    found = bytearray()
    try:
        for at in range(0, len(body), _AT_ONCE):
            found += one.decompress(body[at : at + _AT_ONCE], most)
            if len(found) >= most or one.eof:
                break
    except _BROKEN:
        pass
    return bytes(found) or None


def _gunzipped(body: bytes, most: int) -> bytes:
    found = _unpacked(body, most, partial(zlib.decompressobj, 31))
    return body if found is None else found


def _inflated(body: bytes, most: int) -> bytes:
    """Return what is in a zlib stream (RFC 1950), or in a raw one, as some servers send it."""
    for bits in (15, -15):
        found = _unpacked(body, most, partial(zlib.decompressobj, bits))
        if found is not None:
            return found
    return body


def _unbrotlied(body: bytes, most: int) -> bytes:
    found = _unpacked(body, most, _Brotli)
    return body if found is None else found


class _Brotli:
    """Brotli's decompressor, called as zlib's."""

    unused_data = b""

    def __init__(self) -> None:
        self._one = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._one.is_finished())

    def decompress(self, data: bytes, most: int, /) -> bytes:
        found: bytes = self._one.process(data, output_buffer_limit=most)
        return found


def _unzstandard(body: bytes, most: int) -> bytes:
    found = _unpacked(body, most, zstd.ZstdDecompressor)
    return body if found is None else found


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "chunked": _dechunked,
    "gzip": _gunzipped,
    "x-gzip": _gunzipped,
    "deflate": _inflated,
    "br": _unbrotlied,
    "zstd": _unzstandard,
}
"""Codings that are taken off; others stay, as in browsers."""
