"""WARC records made by hand, of responses as servers send them."""

from __future__ import annotations

import gzip
import zlib

import brotli
from backports import zstd


def chunked(body: bytes, size: int = 7, trailer: bytes = b"") -> bytes:
    """Return a body in chunks (RFC 9112 §7.1)."""
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    sent = b"".join(b"%x;name=value\r\n%b\r\n" % (len(part), part) for part in parts)
    return sent + b"0\r\n" + trailer + b"\r\n"


def raw_deflate(body: bytes) -> bytes:
    """Return a body as servers send "deflate" that take it for what it isn't."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(body) + packer.flush()


CODINGS = {
    "": bytes,
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "gzip, br": lambda body: brotli.compress(gzip.compress(body)),
    "gzip, gzip": lambda body: gzip.compress(gzip.compress(body)),
    "identity": bytes,
    "unknown": bytes,
}
"""What servers name as Content-Encoding, and what they do for it."""


def response(body: bytes, *headers: str, start: str = "HTTP/1.1 200 OK") -> bytes:
    """Return the block of a response."""
    lines = [start, "Content-Type: text/html; charset=utf-8", *headers]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body


def shapes(body: bytes) -> dict[str, bytes]:
    """Return responses with a body in all shapes that the wire has."""
    found = {}
    for name, pack in CODINGS.items():
        packed = pack(body)
        own = [f"Content-Encoding: {name}"] if name else []
        found[f"{name or 'plain'}"] = response(packed, *own)
        found[f"{name or 'plain'} in chunks"] = response(
            chunked(packed), *own, "Transfer-Encoding: chunked"
        )
        found[f"{name or 'plain'} in chunks with a trailer"] = response(
            chunked(packed, trailer=b"X-Sum: 1\r\nY: 2\r\n"), "transfer-encoding: Chunked", *own
        )
    chunks = "Transfer-Encoding: chunked"
    return found | {
        "HTTP/1.0": response(body, start="HTTP/1.0 200 OK"),
        "HTTP/1.0 in chunks": response(chunked(body), chunks, start="HTTP/1.0 200 OK"),
        "no reason": response(body, start="HTTP/1.1 200"),
        "bare line feeds": response(body).replace(b"\r\n", b"\n"),
        "an interim response": b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + response(body),
        "chunks that were taken away": response(body, chunks),
        "a coding that was taken away": response(body, "Content-Encoding: gzip"),
        "transferred in gzip": response(
            chunked(gzip.compress(body)), "Transfer-Encoding: gzip, chunked"
        ),
        "two members": response(
            gzip.compress(body[:50]) + gzip.compress(body[50:]), "Content-Encoding: gzip"
        ),
        "two frames": response(
            zstd.compress(body[:50]) + zstd.compress(body[50:]), "Content-Encoding: zstd"
        ),
        "a wrong length": response(body, "Content-Length: 5"),
        "chunks with a length": response(chunked(body), "Content-Length: 5", chunks),
        "no last chunk": response(chunked(body).removesuffix(b"0\r\n\r\n"), chunks),
        "one chunk": response(chunked(body, 10**6), chunks),
        "chunks that end in line feeds": response(chunked(body).replace(b"\r\n", b"\n"), chunks),
        "a folded header": response(body, "X: a\r\n b"),
        "headers of bytes": response(body, "X\xff\xfe", "Set-Cookie: \xe0"),
    }


def record(url: str, block: bytes, kind: str = "response", **headers: str) -> bytes:
    """Return a record."""
    media_type = "application/warc-fields" if kind == "metadata" else "application/http"
    lines = [
        "WARC/1.1", f"WARC-Type: {kind}", f"WARC-Target-URI: {url}",
        "WARC-Date: 2026-01-01T00:00:00Z", f"WARC-Record-ID: <urn:lswc:{hash((url, kind))}>",
        f"Content-Type: {media_type}", f"Content-Length: {len(block)}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]  # fmt: skip
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + block + b"\r\n\r\n"
