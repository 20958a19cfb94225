"""Readers: other processes read the pages, on all cores, and so that none can hurt the crawl."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from subprocess import DEVNULL, Popen
from typing import TYPE_CHECKING, cast

import msgspec

from lswc.errors import LswcError
from lswc.outcomes import Outcome
from lswc.processes import Letters, environment, letter
from lswc.reading.messages import Answer, answered
from lswc.safety.content_types import Kind, file_name, kind_of

if TYPE_CHECKING:
    from lswc.crawl.configuration import Crawl
    from lswc.reading.messages import AnyAsked, Asked, AskedListing, AskedRequisite
    from lswc.reading.page import PageReading

_START_SECONDS = 120  # of a process that isn't asked for anything yet, on a machine at its limits

_Letter = tuple[bytes, bytes]

MAX_READING = 60.0
"""Seconds that a process has to read a page: a page that takes one is rare."""

logger = logging.getLogger(__name__)
_answer = msgspec.msgpack.Decoder(Answer)


class ReaderError(LswcError):
    """No process can be started that reads pages."""


class PageError(Exception):
    """Reading a page raised an error; the message is its traceback."""


class Unread(Exception):
    """A page cost its reader: ``outcome`` says how."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Readers:
    """Reads the pages of a crawl in ``crawl.readers`` processes, or in this one if there are none.

    A process is started when a page comes and no other is free, and replaced when a page cost it.
    Documents are never read in this one: for them there is one in any case. A page has so many
    ``seconds``.
    """

    def __init__(self, crawl: Crawl, seconds: float = MAX_READING) -> None:
        self._crawl, self._seconds = crawl, seconds
        self._free = asyncio.Semaphore(max(1, crawl.readers))
        self._all: set[_Reader] = set()
        self._idle: list[_Reader] = []
        if not crawl.readers:
            crawl.reader.identifier.load()

    async def read(self, asked: Asked, body: bytes) -> PageReading | None:
        """Read a page; None if it is neither HTML nor a document.

        Raises Unread, PageError and ReaderError.
        """
        if not self._crawl.readers and not self._is_document(asked, body):
            return answered(self._crawl.reader, asked, body).reading
        return (await self._answer(asked, body)).reading

    async def ask(self, asked: AskedRequisite | AskedListing, body: bytes) -> Answer:
        """Read what isn't a page. Raises Unread, PageError and ReaderError."""
        if not self._crawl.readers:
            return answered(self._crawl.reader, asked, body)
        return await self._answer(asked, body)

    async def _answer(self, asked: AnyAsked, body: bytes) -> Answer:
        async with self._free:
            reader = self._idle.pop() if self._idle else await self._started()
            try:
                answer = await reader.read(asked, body)
            finally:
                if reader.is_alive:
                    self._idle.append(reader)
                else:
                    self._all.discard(reader)
        if answer.error:
            raise PageError(answer.error)
        return answer

    def _is_document(self, asked: Asked, body: bytes) -> bool:
        content_type = next(iter(asked.headers.get("content-type", ())), "")
        kind = kind_of(content_type, body, file_name(asked.headers, asked.url.path))
        return self._crawl.reading.documents and kind not in (None, Kind.HTML)

    async def _started(self) -> _Reader:
        reader = _Reader(self._seconds)
        self._all.add(reader)
        await reader.start(letter((self._crawl.reading, self._seconds)))
        return reader

    def close(self) -> None:
        """End the processes."""
        for reader in self._all:
            reader.end()
        self._all.clear()
        self._idle.clear()


class _Reader(asyncio.Protocol):
    """A process that reads one page at a time, in so many ``seconds`` (any time at 0)."""

    is_alive = True
    _transport: asyncio.Transport | None = None

    def __init__(self, seconds: float) -> None:
        """Start the process. Raises ReaderError."""
        self._seconds = seconds or None
        self._letters = Letters()
        self._said: asyncio.Future[_Letter | None] | None = None
        command = [sys.executable, "-m", "lswc.reading.reader_process"]
        try:
            self._socket, theirs = socket.socketpair()
            with theirs:
                # In a session of its own: Ctrl-C is for the crawl, which then ends in order.
                self._process = Popen(
                    command,
                    stdin=theirs.fileno(),
                    stdout=DEVNULL,
                    # One thread: a library's others would take the cores from other readers.
                    env={**environment(), "OPENBLAS_NUM_THREADS": "1"},
                    start_new_session=True,
                )
        except OSError as error:
            raise ReaderError(f"can't start a process that reads pages: {error}") from error

    async def start(self, first: bytes) -> None:
        """Return once it can read. Raises ReaderError."""
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: self, sock=self._socket)
        try:
            why_not = msgspec.msgpack.decode(await self._answer_to(first, _START_SECONDS), type=str)
        except Unread as error:
            why_not = error.outcome.value
        if why_not:
            self.end()
            raise ReaderError(f"a process that reads pages doesn't start: {why_not}")

    async def read(self, asked: AnyAsked, body: bytes) -> Answer:
        """Read a page. Raises Unread; the process has ended then."""
        answer = await self._answer_to(letter(asked, body), self._seconds)
        try:
            return _answer.decode(answer)
        except msgspec.DecodeError as error:
            self.end()
            raise Unread(Outcome.READER_DIED) from error

    async def _answer_to(self, question: bytes, seconds: float | None) -> bytes:
        said: asyncio.Future[_Letter | None] = asyncio.get_running_loop().create_future()
        self._said = said
        if self._transport is not None:
            self._transport.write(question)
        try:
            # Not wait_for: what has come counts, even if this process itself stood still.
            await asyncio.wait([said], timeout=seconds)
        except asyncio.CancelledError:
            self.end()
            raise
        if not said.done():
            self.end()
            raise Unread(Outcome.READING_TOO_LONG)
        answer = said.result()
        if answer is None:
            self.end()
            raise Unread(Outcome.READER_DIED)
        return answer[0]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        for answer in self._letters.add(data):
            if self._said is None or self._said.done():
                self.end()  # nothing was asked
                return
            self._said.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_alive = False
        if self._said is not None and not self._said.done():
            self._said.set_result(None)

    def end(self) -> None:
        """End the process, whatever it does."""
        self.is_alive = False
        self._process.kill()
        self._process.wait()
        if self._transport is None:
            self._socket.close()
        else:
            self._transport.abort()
