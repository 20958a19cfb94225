"""Answer of a server while it comes: llhttp reads it, in bounds, and its bytes are kept."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httptools
from scrapy.exceptions import DownloadFailedError

from lswc.crawl.transport.encryption import NO_ENCRYPTION
from lswc.frontier.rules.visit import Exchange

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

CHUNKS = 400_000
"""Chunks of a body at most: each takes a microsecond."""

FRAMES = 65_536
"""Bytes that bring nothing of the body, one after the other, at most: what follows the last chunk.
A header there that never ends would be copied with each piece of it that comes."""

_START = b"HTTP/"
_HEAD_END = re.compile(rb"\n\r?\n")
_PACKED = frozenset({b"gzip", b"x-gzip", b"deflate"})  # codings of RFC 9112 §7.2
_FOLD = re.compile(rb"\r?\n[ \t]+")
_STATUS = re.compile(rb"HTTP/(\d)\.(\d)\d*[ \t]+(\d{3})(?!\d)[ \t]*", re.IGNORECASE)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token, RFC 9110 §5.6.2
_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_LAST_CHUNK = b"0\r\n\r\n"


class NoAnswerError(DownloadFailedError):
    """No byte of an answer came: the server hung up, or there is no way to it."""


class HeadersTooLargeError(DownloadFailedError):
    """An answer's headers are larger than MAX_HEADS."""


class BrokenBodyError(Exception):
    """A body ended, or stopped making sense, before it was whole."""


class CutBodyError(BrokenBodyError):
    """The connection was closed, or broke, within a body."""


class _OddHeadError(Exception):
    """A head is to be mended."""


MAX_HEADS = 65_536
"""Bytes of all heads of an answer; servers themselves send and take less than a quarter of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """Bytes on the wire: of all heads of an answer, and of what follows them. No bound at 0."""

    heads: int
    body: int


class Answer:
    """An answer to a request, fed with bytes as they come.

    ``status`` (three digits, RFC 9112 §4), ``version``, ``headers`` and ``length`` (that the
    body should have, if said) hold once ``has_head``;
    ``is_whole`` once its body has come, ``keeps_alive`` if another request may follow then.
    ``exchange`` has its bytes: the last head, after any 1xx, and the body as it was sent.
    A ``bare`` answer has no body, whatever its headers say: that of HEAD, and of CONNECT.
    ``address`` and ``certificate`` (DER) are those of who answers, ``encryption`` that of the
    connection.
    """

    address: IPv4Address | IPv6Address
    certificate: bytes | None = None
    encryption = NO_ENCRYPTION

    def __init__(self, request: bytes, bounds: Bounds, bare: bool = False) -> None:
        self.exchange = Exchange(request)
        self.status = 0
        self.version = ""
        self.headers: list[tuple[bytes, bytes]] = []
        self.has_head = self.is_whole = self.keeps_alive = False
        self._bounds = bounds
        self._bare = bare
        self._error: Exception | None = None
        self._head, self._searched, self._left = bytearray(), 0, bounds.heads
        self._received = self._chunks = self._frames = 0
        self._pieces: list[bytes] = []
        self.is_chunked = False
        self.length: int | None = None
        self._waiting: asyncio.Future[None] | None = None

    async def head(self) -> None:
        """Wait for the head. Raises DownloadFailedError."""
        while not self.has_head:
            await self._news()

    async def piece(self) -> bytes:
        """Wait for more of the body, without its chunks' frames; return what came, b"" at its end.

        Raises BrokenBodyError.
        """
        while not self._pieces and not self.is_whole:
            await self._news()
        pieces, self._pieces = self._pieces, []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def _news(self) -> None:
        if self._error is not None:
            raise self._error
        self._waiting = asyncio.get_running_loop().create_future()
        await self._waiting

    def _tell(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def feed(self, data: bytes) -> bool:
        """Take what came; tell whether more may come."""
        try:
            if not self.has_head:
                data = self._read_heads(data)
            if data and not self.is_whole:
                self._read_body(data)
            elif data:
                self.keeps_alive = False
        except (DownloadFailedError, BrokenBodyError) as error:
            self._error = error
        if self.is_whole:
            self.leave()
        self._tell()
        return self._error is None and not self.is_whole

    def end(self, error: Exception | None) -> None:
        """Take notice that nothing more comes, as the connection was closed, or broke."""
        self.keeps_alive = False
        if self.is_whole or self._error is not None:
            return
        if not self.has_head:
            kind = DownloadFailedError if self._head or self.exchange.head else NoAnswerError
            self._error = kind(f"the connection was closed before an answer: {error}")
        elif self.is_chunked or self.length is not None or error is not None:
            self._error = CutBodyError("the connection was closed within the body")
        else:
            self._end_body()
        self._tell()

    def leave(self) -> None:
        """Take nothing more. The parser knows its answer: they would hold each other."""
        vars(self).pop("_parser", None)

    def _read_heads(self, data: bytes) -> bytes:
        """Read heads up to the last one; return what of the body came with it."""
        self._head += data
        while self._head:
            if self._head[: len(_START)].upper() != _START[: len(self._head)]:
                raise DownloadFailedError("what the server answers isn't HTTP/1")
            end = _HEAD_END.search(self._head, self._searched)
            size = len(self._head) if end is None else end.end()
            if self._bounds.heads > 0 and self._left < size:
                raise HeadersTooLargeError
            if end is None:
                self._searched = max(0, size - 2)
                return b""
            self._left -= size
            head, rest = bytes(self._head[:size]), bytes(self._head[size:])
            self._head, self._searched = bytearray(rest), 0
            self._read_head(head)
            if self.has_head:
                return rest
        return b""

    def _read_head(self, head: bytes) -> None:
        self.exchange.head = bytearray(head)
        try:
            self._parse_head(head)
        except httptools.HttpParserError:
            try:
                self._parse_head(_mended(head))
            except httptools.HttpParserError as error:
                raise DownloadFailedError(f"the answer's head can't be read: {error}") from error
        if self.has_head and self._bare:
            self.is_whole = self.keeps_alive = True

    def _parse_head(self, head: bytes) -> None:
        self.headers.clear()
        self.is_chunked, self.length = False, None
        self._parser = _parser(self)
        try:
            self._parser.feed_data(head)
        except httptools.HttpParserUpgrade:
            if not self.has_head:
                raise DownloadFailedError("the server changes to no protocol") from None
            self._end_body()

    def _read_body(self, data: bytes) -> None:
        self._received += len(data)
        if 0 < self._bounds.body < self._received or self._chunks > CHUNKS or self._frames > FRAMES:
            raise BrokenBodyError("the body is too large on the wire, or has too many chunks")
        self._frames += len(data)
        if self.is_chunked:
            self.exchange.body.append(data)
        followed = False
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if not self.is_whole:
                raise BrokenBodyError(str(error)) from error
            followed = True
            self.keeps_alive = False
        if self.is_whole and self.is_chunked and (followed or not data.endswith(_LAST_CHUNK)):
            self._cut()

    def _cut(self) -> None:
        """Take off what came after the body's end: llhttp doesn't say where that is."""
        *before, last = self.exchange.body
        end = _End()
        parser = _parser(end)
        for piece in (_mended(bytes(self.exchange.head)), *before):
            parser.feed_data(piece)
        for place in range(len(last)):
            parser.feed_data(last[place : place + 1])
            if end.is_reached:
                self.exchange.body = [*before, last[: place + 1]]
                self.keeps_alive = self.keeps_alive and place + 1 == len(last)
                return

    def _end_body(self) -> None:
        self.is_whole = True
        self.keeps_alive = False

    # What llhttp calls.

    def on_message_begin(self) -> None:
        """Refuse what follows the answer."""
        if self.is_whole:
            raise BrokenBodyError("there is more than an answer")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those that follow a body in chunks aren't wanted."""
        if self.has_head:
            return
        self.headers.append((name, value.strip()))
        match name.lower():
            case b"content-length":
                self.length = int(value)
            case b"transfer-encoding":
                if value.lower() != b"chunked":
                    raise _OddHeadError
                self.is_chunked = True

    def on_headers_complete(self) -> None:
        """Take the head, unless it announces another."""
        self.status = self._parser.get_status_code()
        self.version = self._parser.get_http_version()
        self.has_head = self.status // 100 != 1 or self._parser.should_upgrade()
        if self.is_chunked or self._bare or self.status in (204, 304):
            self.length = None  # it doesn't count then (RFC 9112 §6.3)

    def on_body(self, data: bytes) -> None:
        """Take a piece of the body, without its frame."""
        self._chunks += 1
        self._frames = 0
        self._pieces.append(data)
        if not self.is_chunked:
            self.exchange.body.append(data)

    def on_message_complete(self) -> None:
        """Take notice that the answer is whole."""
        if self.has_head:
            self.is_whole = True
            self.keeps_alive = self._parser.should_keep_alive()


class _End:
    """Whether an answer's end was read."""

    is_reached = False

    def on_message_complete(self) -> None:
        self.is_reached = True


def _parser(protocol: Answer | _End) -> httptools.HttpResponseParser:
    """Return llhttp, as lenient as browsers are."""
    parser = httptools.HttpResponseParser(protocol)
    parser.set_dangerous_leniencies(
        lenient_chunked_length=True,
        lenient_transfer_encoding=True,
        lenient_version=True,
        lenient_optional_cr_before_lf=True,
        lenient_spaces_after_chunk_size=True,
    )
    return parser


def _mended(head: bytes) -> bytes:
    """Return a head as llhttp reads it, which is stricter than browsers are.

    Lines end in CR LF; there are no other CRs and NULs (RFC 9112 §2.2); folded lines are unfolded
    (§5.2), and those without a name left out. Equal lengths are one (§6.3). Of transfer codings
    ``chunked`` counts as one; what else the body was packed by counts as packed by its server.
    """
    start, *lines = _FOLD.sub(b" ", head).split(b"\n")
    fields = [_STATUS.sub(rb"HTTP/\1.\2 \3 ", start)]
    lengths: set[bytes] = set()
    codings: set[bytes] = set()
    for line in lines:
        name, colon, value = line.partition(b":")
        match (name := name.rstrip()).lower():
            case b"content-length" if colon:
                lengths |= {v.lstrip(b"0") or v[-1:] for v in _listed(value)}
            case b"transfer-encoding":
                codings |= _listed(value.lower())
            case _ if colon and _NAME.fullmatch(name):
                fields.append(name + b":" + value)
    fields += [b"content-length:" + length for length in lengths]
    fields += [b"content-encoding:" + coding for coding in sorted(codings & _PACKED)]
    if b"chunked" in codings:
        fields.append(b"transfer-encoding:chunked")
    return b"".join(_CONTROLS.sub(b" ", field.strip()) + b"\r\n" for field in fields) + b"\r\n"


def _listed(value: bytes) -> set[bytes]:
    return {part.strip() for part in value.split(b",")}
