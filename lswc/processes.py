"""Processes of lswc's own, and the letters between them: MessagePack, and bytes as they are.

A letter is plain values: nothing in it can be run, and what isn't of the declared types is refused.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from struct import Struct
from subprocess import DEVNULL, Popen
from typing import IO, TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LETTER = 2 * (2**32 - 1)
"""Bytes of a letter that its lengths allow, with what goes with it."""

MAX_ANSWER = 100_000_000
"""Bytes of an answer at most: a page of DOWNLOAD_MAXSIZE and its links are far fewer."""

_STEPS = 6

_LENGTHS = Struct("<II")


class Letters:
    """Letters out of a stream of bytes, that comes in pieces of any size.

    A letter has at most so many bytes as ``most`` says: MAX_ANSWER from a process that a page may
    have taken over, MAX_LETTER from the crawl.
    """

    def __init__(self, most: int) -> None:
        self._data = bytearray()
        self._most = most

    def add(self, piece: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield the letters that are whole now, each with the bytes that go with it.

        Raises ValueError once a larger letter is announced than may be.
        """
        self._data += piece
        while len(self._data) >= _LENGTHS.size:
            length, size = _LENGTHS.unpack_from(self._data)
            if length + size > self._most:
                raise ValueError(f"a letter of {length + size} bytes")
            end = _LENGTHS.size + length + size
            if len(self._data) < end:
                return
            letter = bytes(self._data[_LENGTHS.size : _LENGTHS.size + length])
            with_it = bytes(self._data[_LENGTHS.size + length : end])
            del self._data[:end]
            yield letter, with_it


def letter(content: object, with_it: bytes = b"") -> bytes:
    """Return a letter. Raises UnicodeEncodeError for a surrogate."""
    packed = msgspec.msgpack.encode(content)
    return b"".join((_LENGTHS.pack(len(packed), len(with_it)), packed, with_it))


async def in_time(answer: asyncio.Future[Any], seconds: float) -> bool:
    """Wait for so many seconds at most (any time at 0); tell whether the answer has come.

    In steps: a machine or a process that stands still has passed one of them only when it goes on,
    and who is asked stood still as well, or has answered meanwhile.
    """
    if not seconds:
        await asyncio.wait([answer])
    for _ in range(_STEPS):
        if not answer.done():
            await asyncio.wait([answer], timeout=seconds / _STEPS)
    return answer.done()


def started(
    module: str, *arguments: str, errors: IO[bytes] | None = None, **variables: str
) -> tuple[Popen[bytes], socket.socket]:
    """Start a module as a process whose standard input is a socket; return it, and our end of that.

    ``variables`` are added to its environment; ``errors`` takes what it writes to its standard
    error, which else is ours. Raises OSError.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            # In a session of its own: Ctrl-C is for the crawl, which then ends in order.
            process = Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=theirs.fileno(),
                stdout=DEVNULL,
                stderr=errors,
                env={**environment(), **variables},
                start_new_session=True,
            )
    except OSError:
        ours.close()
        raise
    return process, ours


def lives(number: int) -> bool:
    """Tell whether a process with this number runs on this machine, whoever's it is."""
    try:
        os.kill(number, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def environment() -> dict[str, str]:
    """Return this process's environment, in which another finds lswc where this one has it.

    scrapyd has the project in an egg that only its own process knows.
    """
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
