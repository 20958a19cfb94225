"""Reader process: reads pages for a crawl, so that one which breaks it harms nothing else.

``python -m lswc.reading.reader_process``, its standard input a socket. The first letter holds the
version of the messages, ReaderSettings and seconds; it answers once it can read, or why it can't.
Each letter after that is a page. It ends with the socket: with the crawl, however that ends.
"""

from __future__ import annotations

import gc
import signal
import socket
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from lswc.errors import LswcError
from lswc.processes import MAX_LETTER, Letters, letter
from lswc.reading.confinement import confine
from lswc.reading.reader_messages import Answer, AnyAsked, answered, protocol
from lswc.reading.reader_settings import ReaderSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.reading.page import PageReader

_PIECE = 1 << 20
_asked: msgspec.msgpack.Decoder[AnyAsked] = msgspec.msgpack.Decoder(AnyAsked)


def main() -> None:
    """Read pages until the socket ends."""
    with suppress(ConnectionError):  # the crawl was killed
        _serve()


def _serve() -> None:
    confine()
    with socket.socket(fileno=0) as crawl:
        letters = _received(crawl)
        first, _ = next(letters)
        try:
            settings, seconds = _told(first)
            reader = settings.reader()
            reader.identifier.load()
        except Exception as error:
            crawl.sendall(letter(f"{type(error).__name__}: {error}"))
            return
        gc.freeze()  # what is loaded stays: to look through it takes a sixth of a page's time
        crawl.sendall(letter(""))
        for asked, body in letters:
            # By default the signal ends the process, whatever it does: a page that would hold it
            # for ever can't outlive its crawl, which ends it sooner.
            signal.setitimer(signal.ITIMER_REAL, 2 * seconds)
            answer = _read(reader, asked, body)
            signal.setitimer(signal.ITIMER_REAL, 0)
            crawl.sendall(answer)


def _told(first: bytes) -> tuple[ReaderSettings, float]:
    """Return what the first letter says. Raises LswcError if its crawl is of another version."""
    version = "another version"
    with suppress(msgspec.ValidationError):
        version, said, seconds = msgspec.msgpack.decode(first, type=tuple[str, msgspec.Raw, float])
        if version == protocol():
            return msgspec.msgpack.decode(said, type=ReaderSettings), seconds
    raise LswcError(
        f"the crawl runs lswc {version}, and {protocol()} is installed now: start it again, and it "
        "goes on"
    )


def _received(crawl: socket.socket) -> Iterator[tuple[bytes, bytes]]:
    letters = Letters(MAX_LETTER)
    while piece := crawl.recv(_PIECE):
        yield from letters.add(piece)


def _read(reader: PageReader, letter_in: bytes, body: bytes) -> bytes:
    try:
        return letter(answered(reader, _asked.decode(letter_in), body))
    except MemoryError:
        raise  # who knows what is left half done: another process takes over
    except Exception:
        return letter(Answer(error=traceback.format_exc().encode(errors="replace").decode()))


if __name__ == "__main__":
    main()
