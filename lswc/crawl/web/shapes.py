"""Shape of a page on the wire: codings, framing, HTTP version, and a cut."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import brotli
from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

CHUNK = 700
"""Bytes of a chunk: a page has some, and their borders are within its characters."""

FRAMINGS = ("length", "chunked", "close")
VERSIONS = ("1.0", "1.1")


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("x-gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", _raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
}
"""Codings by their names in a rule: what Content-Encoding says, and what is done for it.

``deflate`` is a zlib stream (RFC 9110 §8.4.1.2); some servers send a ``raw deflate`` by that name.
"""


@dataclass(frozen=True)
class Shape:
    """How the pages of a host are sent (RFC 9112 §6 and §7).

    ``codings`` are put on one after the other. A ``framing`` of "length" or "chunked" ends by
    itself, "close" with the connection. ``extension`` is that of each chunk, ``trailers`` follow
    the last one. Of the framed body the first ``share`` is sent; the rest is cut off.
    Raises ValueError for what can't be sent.
    """

    codings: tuple[str, ...] = ()
    framing: str = "length"
    version: str = "1.1"
    extension: str = ""
    trailers: Mapping[str, str] = field(default_factory=dict)
    share: float = 1.0

    def __post_init__(self) -> None:
        unknown = set(self.codings) - CODINGS.keys()
        if unknown or self.framing not in FRAMINGS or self.version not in VERSIONS:
            raise ValueError(f"not a shape of the wire: {self}")
        if not 0 <= self.share <= 1:
            raise ValueError(f"not a share of a body: {self.share}")

    @property
    def closes(self) -> bool:
        """Whether the connection ends with the page."""
        return self.framing == "close" or self.version == "1.0" or self.share < 1

    def written(self, headers: Iterable[tuple[bytes, bytes]], body: bytes) -> bytes:
        """Return a response of status 200, as many of its bytes as are sent.

        ``headers`` name neither the body's length nor a coding.
        """
        for name in self.codings:
            body = CODINGS[name][1](body)
        own: dict[str, str] = {}
        if self.codings:
            own["Content-Encoding"] = ", ".join(CODINGS[name][0] for name in self.codings)
        if self.closes:
            own["Connection"] = "close"
        if self.framing == "length":
            own["Content-Length"] = str(len(body))
        if self.framing == "chunked":
            own["Transfer-Encoding"] = "chunked"
            body = self._chunked(body)
        lines = [b"%b: %b\r\n" % header for header in headers]
        head = f"HTTP/{self.version} 200 OK\r\n".encode() + b"".join(lines) + _lines(own)
        return head + b"\r\n" + body[: round(self.share * len(body))]

    def _chunked(self, body: bytes) -> bytes:
        extension = f";{self.extension}".encode() if self.extension else b""
        parts = [body[at : at + CHUNK] for at in range(0, len(body), CHUNK)]
        chunks = (b"%x%b\r\n%b\r\n" % (len(part), extension, part) for part in parts)
        return b"".join(chunks) + b"0%b\r\n" % extension + _lines(self.trailers) + b"\r\n"


def _lines(headers: Mapping[str, str]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
