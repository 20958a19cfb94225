"""Documents read in a process of their own, for whoever isn't a crawl: a corpus, a trace.

``python -m lswc.reading.documents.separate_process``, its standard input a socket. Each letter is a
document that is to be read, or a page of one that is to be drawn; it ends with the socket.
"""

from __future__ import annotations

import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from lswc.processes import MAX_ANSWER, MAX_LETTER, Letters, letter, started
from lswc.reading import documents
from lswc.reading.confinement import confine
from lswc.reading.documents.text import DAMAGED, Most, Text
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from subprocess import Popen
    from types import TracebackType
    from typing import Self

DOCUMENT_SECONDS = 60.0
"""A document that takes longer costs the process, and is read as one without text."""

_PIECE = 1 << 20


class _Read(msgspec.Struct, frozen=True, tag=True):
    """Asks what a document says; the answer is a Text."""

    kind: Kind
    content_type: str
    most: Most
    scans: dict[int, str]


class _Draw(msgspec.Struct, frozen=True, tag=True):
    """Asks how a page of a PDF looks; the picture goes with the answer."""

    page: int


_asked = msgspec.msgpack.Decoder(_Read | _Draw)
_text = msgspec.msgpack.Decoder(Text)


class DocumentProcess:
    """Reads documents as ``lswc.reading.documents.read`` does; what isn't read has no text."""

    def __init__(self, seconds: float = DOCUMENT_SECONDS) -> None:
        self._seconds = seconds
        self._process: Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def read(
        self,
        kind: Kind,
        body: bytes,
        content_type: str,
        most: Most,
        scans: Mapping[int, str] | None = None,
    ) -> Text:
        """Return what a document says; nothing if it cost the process, or took too long."""
        answer, _ = self._ask(_Read(kind, content_type, most, dict(scans or {})), body)
        try:
            return _text.decode(answer)
        except ValueError:  # msgspec's error is one
            self._end()
            return Text(reason=DAMAGED)

    def draw(self, body: bytes, page: int) -> bytes:
        """Return how a page of a PDF looks, from 0 on, as ``pdf_pictures.drawn`` does."""
        return self._ask(_Draw(page), body)[1]

    def _ask(self, asked: _Read | _Draw, body: bytes) -> tuple[bytes, bytes]:
        """Return the answer, and what goes with it; empty ones if it cost the process."""
        theirs = self._socket or self._start()
        try:
            theirs.sendall(letter(asked, body))
            return next(_received(theirs, MAX_ANSWER))
        except (OSError, StopIteration, ValueError):
            self._end()
            return b"", b""

    def _start(self) -> socket.socket:
        self._process, self._socket = started("lswc.reading.documents.separate_process")
        self._socket.settimeout(self._seconds)
        return self._socket

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._socket is not None:
            self._socket.close()
        self._process = self._socket = None


def _received(other: socket.socket, most: int) -> Iterator[tuple[bytes, bytes]]:
    letters = Letters(most)
    while piece := other.recv(_PIECE):
        yield from letters.add(piece)


def _answered(asked: _Read | _Draw, body: bytes) -> bytes:
    if isinstance(asked, _Draw):
        from lswc.reading.documents.pdf_pictures import drawn

        return letter(None, drawn(body, asked.page))
    return letter(documents.read(asked.kind, body, asked.content_type, asked.most, asked.scans))


def main() -> None:
    """Read documents until the socket ends."""
    confine()
    with socket.socket(fileno=0) as other, suppress(ConnectionError):
        for asked, body in _received(other, MAX_LETTER):
            # Who asked has given up by then, or is gone.
            signal.setitimer(signal.ITIMER_REAL, 2 * DOCUMENT_SECONDS)
            other.sendall(_answered(_asked.decode(asked), body))
            signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
