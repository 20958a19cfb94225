"""One try to download a URL, as the crawl log and the archive know it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

_OVERHEAD = 50  # bytes of a Python object


@dataclass(slots=True)
class Exchange:
    """The bytes of a request and its response as they were on the wire.

    ``head`` is the response's status line and headers, the empty line included; ``body`` comes
    in pieces, chunked if the server chunked it.
    """

    request: bytes = b""
    head: bytearray = field(default_factory=bytearray)
    body: list[bytes] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """Bytes of memory that it takes, roughly, with the attempt that it is of."""
        pieces = sum(len(piece) + _OVERHEAD for piece in self.body)
        return len(self.request) + len(self.head) + pieces + 20 * _OVERHEAD


class Original(NamedTuple):
    """Where a payload is stored: its URL, date (WARC's form) and digest (base 32 of SHA-1)."""

    url: str
    date: str
    digest: str


class Rendered(NamedTuple):
    """A page as its scripts left it: HTML in UTF-8, its URL then, and where they wanted to go."""

    html: bytes
    url: str
    led_to: tuple[str, ...]


@dataclass(slots=True)
class Attempt:
    """A request that was sent, or that failed on its way.

    ``time`` (UTC) is when it began; ``status`` 0 without a response, or without a status in it;
    ``size`` that of the body in bytes, still compressed; ``mime`` the media type that the server
    said, without parameters; ``error`` the name of what failed. ``exchange`` is None if nothing
    is archived or nothing came; ``truncated`` says why its body isn't whole, as WARC-Truncated
    does. ``rendered`` is the page as a browser showed it, if one did. ``unchanged`` is what an
    earlier crawl stored, if the server says that it still holds.
    """

    url: str
    time: datetime
    status: int = 0
    mime: str = ""
    size: int = 0
    ip: str = ""
    error: str | None = None
    exchange: Exchange | None = None
    truncated: str = ""
    unchanged: Original | None = None
    rendered: Rendered | None = None
