"""Readers: other processes read the pages, on all cores, and so that none can hurt the crawl."""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import TYPE_CHECKING, cast

import msgspec

from lswc.errors import LswcError
from lswc.outcomes import Outcome
from lswc.processes import MAX_ANSWER, Letters, in_time, letter, started
from lswc.reading.reader_messages import Answer, Asked, answered, protocol
from lswc.safety.content_types import Kind, declared_type, file_name, kind_of
from lswc.urls import Url

if TYPE_CHECKING:
    from lswc.crawl.configuration import Crawl
    from lswc.reading.page import PageReading
    from lswc.reading.reader_messages import AnyAsked, AskedListing, AskedRequisite

_START_SECONDS = 120  # of a process that isn't asked for anything yet, on a machine at its limits

STARTS = 3
"""Times that a process is started before the crawl can't go on without it."""

AGAIN = 1.0
"""Seconds between two starts."""

_Letter = tuple[bytes, bytes]

MAX_READING = 60.0
"""Seconds that a process has to read a page: a page that takes one is rare."""

logger = logging.getLogger(__name__)
_answer = msgspec.msgpack.Decoder(Answer)
_HARMLESS = Url("http://a.example/", "http", "a.example", "a.example", 80, "/")
_OURS = Asked({"content-type": ["text/html"]}, _HARMLESS, 0, ""), b"<p>A page that harms none.</p>"


class ReaderError(LswcError):
    """No process can be started that reads pages, or none reads any."""


class PageError(Exception):
    """Reading a page raised an error; the message is its traceback."""


class Unread(Exception):
    """A page cost its reader: ``outcome`` says how."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Readers:
    """Reads the pages of a crawl in ``crawl.readers`` processes, or in this one if there are none.

    A process is started when a page comes and no other is free, and replaced when it died. Its page
    is read once more then: the machine may have ended it, for its memory or by a mistake. A page
    that a second process dies of has cost it, if processes can read one of ours; else the crawl
    can't go on: its package was changed, say.
    ``pages`` counts those that were read. Documents are never read in this one: for them there is
    one in any case. A page has so many ``seconds``.
    """

    def __init__(self, crawl: Crawl, seconds: float = MAX_READING) -> None:
        self._crawl, self._seconds = crawl, seconds
        self._free = asyncio.Semaphore(max(1, crawl.readers))
        self._all: set[_Reader] = set()
        self._idle: list[_Reader] = []
        self.pages = 0
        if not crawl.readers:
            crawl.reader.identifier.load()

    async def read(self, asked: Asked, body: bytes) -> PageReading | None:
        """Read a page; None if it is neither HTML nor a document.

        Raises Unread, PageError and ReaderError.
        """
        if not self._crawl.readers and not self._is_document(asked, body):
            reading = self._read_here(asked, body)
        else:
            reading = (await self._answer(asked, body)).reading
        self.pages += reading is not None
        return reading

    def _read_here(self, asked: Asked, body: bytes) -> PageReading | None:
        """Read a page in this process. Raises PageError."""
        headers, url, depth, base = asked.headers, asked.url, asked.depth, asked.base
        try:
            reader, is_large = self._crawl.reader, asked.is_large
            return reader.read(body, headers, url, depth, base, is_large=is_large)
        except MemoryError:
            raise
        except Exception as error:
            raise PageError(traceback.format_exc()) from error

    async def ask(self, asked: AskedRequisite | AskedListing, body: bytes) -> Answer:
        """Read what isn't a page. Raises Unread, PageError and ReaderError."""
        if not self._crawl.readers:
            try:
                return answered(self._crawl.reader, asked, body)
            except MemoryError:
                raise
            except Exception as error:
                raise PageError(traceback.format_exc()) from error
        return await self._answer(asked, body)

    async def _answer(self, asked: AnyAsked, body: bytes) -> Answer:
        async with self._free:
            try:
                answer = await self._answer_of_one(asked, body)
            except Unread as error:
                if error.outcome != Outcome.READER_DIED:
                    raise
                try:
                    answer = await self._answer_of_one(asked, body)
                except Unread as second:
                    if second.outcome == Outcome.READER_DIED:
                        await self._try_one()
                    raise
        if answer.error:
            raise PageError(answer.error)
        return answer

    async def _try_one(self) -> None:
        """Let processes read a page of ours. Raises ReaderError if each of them dies of it, too."""
        for _ in range(STARTS):
            try:
                await self._answer_of_one(*_OURS)
                return
            except Unread as error:
                logger.warning("a process that reads pages died at a harmless page: %s", error)
            await asyncio.sleep(AGAIN)
        raise ReaderError("the processes that read pages die at every page: start the crawl again")

    async def _answer_of_one(self, asked: AnyAsked, body: bytes) -> Answer:
        reader = self._living() or await self._started()
        try:
            return await reader.read(asked, body)
        finally:
            if reader.is_alive:
                self._idle.append(reader)
            else:
                self._all.discard(reader)

    def _living(self) -> _Reader | None:
        """Return an idle process that lives; those that died meanwhile are forgotten."""
        while self._idle:
            reader = self._idle.pop()
            if reader.lives():
                return reader
            self._all.discard(reader)
        return None

    def _is_document(self, asked: Asked, body: bytes) -> bool:
        kind = kind_of(declared_type(asked.headers), body, file_name(asked.headers, asked.url.path))
        return self._crawl.reading.documents and kind not in (None, Kind.HTML)

    async def _started(self) -> _Reader:
        """Start a process, and again if that fails. Raises ReaderError."""
        first = letter((protocol(), self._crawl.reading, self._seconds))
        for _ in range(STARTS - 1):
            try:
                return await self._start(first)
            except (OSError, Unread) as error:
                logger.warning("can't start a process that reads pages, trying again: %s", error)
            await asyncio.sleep(AGAIN)
        try:
            return await self._start(first)
        except (OSError, Unread) as error:
            raise _not_started(error) from error

    async def _start(self, first: bytes) -> _Reader:
        reader = _Reader(self._seconds)
        self._all.add(reader)
        try:
            await reader.start(first)
        finally:
            if not reader.is_alive:
                self._all.discard(reader)
        return reader

    def close(self) -> None:
        """End the processes."""
        for reader in self._all:
            reader.end()
        self._all.clear()
        self._idle.clear()


def _not_started(why_not: object) -> ReaderError:
    return ReaderError(f"a process that reads pages doesn't start: {why_not}")


class _Reader(asyncio.Protocol):
    """A process that reads one page at a time, in so many ``seconds`` (any time at 0)."""

    is_alive = True
    _transport: asyncio.Transport | None = None

    def __init__(self, seconds: float) -> None:
        """Start the process. Raises OSError."""
        self._seconds = seconds
        self._letters = Letters(MAX_ANSWER)
        self._said: asyncio.Future[_Letter | None] | None = None
        # One thread: a library's others would take the cores from other readers.
        self._process, self._socket = started(
            "lswc.reading.reader_process", OPENBLAS_NUM_THREADS="1"
        )

    async def start(self, first: bytes) -> None:
        """Return once it can read. Raises ReaderError if it says why not, Unread if it died."""
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: self, sock=self._socket)
        answer = await self._answer_to(first, _START_SECONDS)
        try:
            why_not = msgspec.msgpack.decode(answer, type=str)
        except msgspec.DecodeError as error:
            self.end()
            raise Unread(Outcome.READER_DIED) from error
        if why_not:
            self.end()
            raise _not_started(why_not)

    def lives(self) -> bool:
        """Tell whether the process lives; what is left of one that doesn't is ended."""
        if self.is_alive and self._process.poll() is not None:
            self.end()
        return self.is_alive

    async def read(self, asked: AnyAsked, body: bytes) -> Answer:
        """Read a page. Raises Unread; the process has ended then."""
        answer = await self._answer_to(letter(asked, body), self._seconds)
        try:
            return _answer.decode(answer)
        except msgspec.DecodeError as error:
            self.end()
            raise Unread(Outcome.READER_DIED) from error

    async def _answer_to(self, question: bytes, seconds: float) -> bytes:
        said: asyncio.Future[_Letter | None] = asyncio.get_running_loop().create_future()
        self._said = said
        if self._transport is None or not self.lives():
            said.set_result(None)
        else:
            self._transport.write(question)
        try:
            has_come = await in_time(said, seconds)
        except asyncio.CancelledError:
            self.end()
            raise
        if not has_come:
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
        try:
            for answer in self._letters.add(data):
                if self._said is None or self._said.done():
                    self.end()  # nothing was asked
                    return
                self._said.set_result(answer)
        except ValueError:  # more than an answer: a page made it write what it wants
            self.end()
            self.connection_lost(None)

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
