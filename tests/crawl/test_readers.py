"""Processes that read pages: they say what the crawl would, and a page can cost one, no more."""

from __future__ import annotations

import asyncio
import os
import resource
import shlex
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from lswc.crawl.readers import PageError, ReaderError, Readers, Unread, _Reader
from lswc.language.html import Bounds
from lswc.outcomes import Outcome
from lswc.processes import Letters, letter
from lswc.reading.reader_messages import Asked, AskedListing, AskedRequisite, protocol
from lswc.reading.reader_settings import ReaderSettings
from lswc.strategy import PageLanguage
from lswc.urls import Url, parse
from tests.reading.made import pdf
from tests.scenarios.site import BRAKE, ENGLISH, THAI, page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lswc.crawl.configuration import Crawl
    from lswc.reading.page import PageReader

# Without bounds a page of open tags holds the parser for many seconds.
SETTINGS = ReaderSettings(
    language="th", own_languages="", identifier="auto", min_share=0.15, relevant="contains",
    bounds=Bounds(nesting=10**9, tags=10**9), depth=9, length=200, domains=(),
    networks=(), ports=(), obeyed=("nofollow", "noindex"),
)  # fmt: skip
HOLDS_THE_PARSER = b"<html><body>" + b"<div>" * 90_000
HERE = "http://www.a.example/folder/"


@dataclass
class Few:
    """What readers need of a crawl."""

    readers: int = 1
    max_reading: float = 20.0
    reading: ReaderSettings = SETTINGS

    @property
    def reader(self) -> PageReader:
        return self.reading.reader()


def during(use: Callable[[Readers], Awaitable[None]], crawl: Few) -> None:
    """Use readers, and end them."""

    async def used() -> None:
        readers = Readers(cast("Crawl", crawl), crawl.max_reading)
        try:
            await use(readers)
        finally:
            readers.close()
            await asyncio.sleep(0)

    asyncio.run(used())


def asked(content_type: str = "text/html", *more: tuple[str, list[str]]) -> Asked:
    headers = {"content-type": [content_type], **dict(more)}
    return Asked(headers, cast("Url", parse(HERE)), 3, HERE)


def children() -> list[int]:
    """Return the processes that this one started to read pages."""
    command = shlex.split(f"ps -o pid=,command= --ppid {os.getpid()}")
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in told.splitlines() if "lswc.reading" in line]


PAGES: list[tuple[Asked, bytes]] = [
    (asked(), page(THAI, "/b", "http://c.example:81/x?a=1", "mailto:a", "x/" * 20).encode()),
    (
        asked("text/html", ("x-robots-tag", ["nofollow"]), ("vary", ["a", "b"])),
        page(ENGLISH, "/b").encode(),
    ),
    (asked("text/html; charset=tis-620"), page(THAI, "ก").encode("tis-620")),
    (asked(), b"<title>\xed\xa0\x80&#xD800;</title><a href='/\xed\xa0\x80'>\xed\xa0\x80</a>"),
    (asked(), b""),
    (asked("image/png"), b"\x89PNG"),
    (asked(), page(THAI * 200, *(f"/{n}" for n in range(500))).encode()),
]


def test_readers_say_what_the_crawl_itself_would() -> None:
    reader = SETTINGS.reader()
    expected = [reader.read(body, a.headers, a.url, a.depth, a.base) for a, body in PAGES]
    assert sum(reading is not None for reading in expected) == len(PAGES) - 1

    async def use(readers: Readers) -> None:
        found = await asyncio.gather(*(readers.read(a, body) for a, body in PAGES))
        assert found == expected
        both = children()
        assert len(both) == 2
        of_no_url = Asked({}, cast("Url", None), 0, "")
        with pytest.raises(PageError, match="Traceback"):
            await readers.read(of_no_url, b"<html>")
        assert children() == both

    during(use, Few(readers=2))
    assert not children()


def test_a_frame_costs_itself_only_and_style_sheets_and_sitemaps_are_read() -> None:
    relevant = (PageLanguage.TARGET,)
    settings = replace(SETTINGS, requisites_of=relevant)
    style = AskedRequisite("text/css", HERE, 1), b"a { background: url(b.png) }"

    async def use(readers: Readers) -> None:
        with pytest.raises(Unread):
            await readers.ask(AskedRequisite("text/html", HERE, 1), HOLDS_THE_PARSER)
        answer = await readers.ask(*style)
        assert [one.url for one in answer.needed.requisites] == [f"{HERE}b.png"]
        answer = await readers.ask(AskedListing(HERE), b"http://b.example/1\n")
        assert [one.url for one in answer.listing.pages] == ["http://b.example/1"]
        assert len(children()) == 1

    during(use, Few(max_reading=4, reading=settings))


def test_a_document_is_read_by_a_process_even_if_pages_are_not() -> None:
    async def use(readers: Readers) -> None:
        page = await readers.read(*PAGES[0])
        assert page is not None
        assert not children()
        document = await readers.read(asked("application/pdf"), pdf([[THAI[:60]]]))
        assert document is not None
        assert (document.kind, document.identified) == ("pdf", PageLanguage.TARGET)
        assert len(children()) == 1

    during(use, Few(readers=0, reading=replace(SETTINGS, documents=True)))


def test_a_page_that_holds_the_parser_costs_itself_only() -> None:
    async def use(readers: Readers) -> None:
        await readers.read(*PAGES[0])
        pages = [PAGES[0], (asked(), HOLDS_THE_PARSER), PAGES[1]]
        found = await asyncio.gather(
            *(readers.read(*given) for given in pages), return_exceptions=True
        )
        assert [type(one).__name__ for one in found] == ["PageReading", "Unread", "PageReading"]
        assert vars(found[1])["outcome"] == Outcome.READING_TOO_LONG

    during(use, Few(max_reading=4))


@pytest.mark.slow
def test_a_page_whose_readers_have_no_memory_costs_itself_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of them: one that dies is replaced, and the page is read once more."""
    read, large = _Reader.read, page(THAI * 2_000).encode()

    async def starved(reader: _Reader, *given: Any) -> Any:
        if given[1] is large:
            resource.prlimit(reader._process.pid, resource.RLIMIT_AS, (1, 1))
        return await read(reader, *given)

    monkeypatch.setattr(_Reader, "read", starved)

    async def use(readers: Readers) -> None:
        with pytest.raises((Unread, PageError)):  # where memory ends, a library may say so itself
            await readers.read(asked(), large)
        assert await readers.read(*PAGES[0]) is not None

    during(use, Few())


def test_readers_that_are_killed_cost_no_page_be_they_idle_or_at_work_or_starting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(*given: Any, **more: Any) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(*given, **more))
        if len(started) == 3:
            started[-1].send_signal(signal.SIGSTOP)  # so it is starting until it is killed
        return started[-1]

    monkeypatch.setattr("lswc.processes.Popen", start)

    async def use(readers: Readers) -> None:
        await readers.read(*PAGES[0])
        os.kill(started[0].pid, signal.SIGKILL)
        assert await readers.read(*PAGES[0]) is not None  # at once: the loop hasn't seen its end
        started[1].send_signal(signal.SIGSTOP)
        reading = asyncio.ensure_future(readers.read(*PAGES[0]))
        for _ in range(10):
            await asyncio.sleep(0)  # an idle process is asked at once
        started[1].kill()
        async with asyncio.timeout(BRAKE):
            while len(started) < 3:
                await asyncio.sleep(0.01)
        started[2].kill()
        assert await reading is not None
        assert len(started) == 4
        assert children() == [started[3].pid]

    during(use, Few())


def test_idle_readers_that_are_killed_are_no_lives_of_a_page() -> None:
    async def use(readers: Readers) -> None:
        await asyncio.gather(*(readers.read(*PAGES[0]) for _ in range(2)))
        killed = children()
        assert len(killed) == 2
        for process in killed:
            os.kill(process, signal.SIGKILL)
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        assert await readers.read(*PAGES[0]) is not None  # at once: the loop hasn't seen their end

    during(use, Few(readers=2))


def test_a_page_that_two_readers_die_of_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    died: list[int] = []
    read = _Reader.read

    async def dies(reader: _Reader, *given: Any) -> Any:
        if given[1] == b"deadly":
            died.append(reader._process.pid)
            os.kill(died[-1], signal.SIGKILL)
        return await read(reader, *given)

    monkeypatch.setattr(_Reader, "read", dies)

    async def use(readers: Readers) -> None:
        with pytest.raises(Unread) as raised:
            await readers.read(asked(), b"deadly")
        assert raised.value.outcome == Outcome.READER_DIED
        assert len(set(died)) == 2
        assert await readers.read(*PAGES[0]) is not None

    during(use, Few())


def test_readers_that_die_of_any_page_end_the_crawl_and_cost_no_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = _Reader.read

    async def dies(reader: _Reader, *given: Any) -> Any:
        os.kill(reader._process.pid, signal.SIGKILL)
        return await read(reader, *given)

    monkeypatch.setattr(_Reader, "read", dies)
    monkeypatch.setattr("lswc.crawl.readers.AGAIN", 0.0)

    async def use(readers: Readers) -> None:
        with pytest.raises(ReaderError, match="die at every page: start the crawl again"):
            await readers.read(*PAGES[0])
        assert children() == []

    during(use, Few())


def test_a_process_of_another_version_says_so_and_the_crawl_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lswc.crawl.readers.protocol", lambda: "0.1.0 (abc)")

    async def use(readers: Readers) -> None:
        with pytest.raises(ReaderError, match=r"runs lswc 0\.1\.0 \(abc\), and .* start it again"):
            await readers.read(*PAGES[0])

    during(use, Few())


def test_a_process_answers_a_crawl_of_before_there_were_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lswc.crawl.readers.letter", lambda said: letter(said[1:]))

    async def use(readers: Readers) -> None:
        with pytest.raises(ReaderError, match=r"runs lswc another version, and .* start it again"):
            await readers.read(*PAGES[0])

    during(use, Few())


def test_an_answer_that_is_too_large_is_not_kept() -> None:
    letters = Letters(100)
    assert [*letters.add(letter("a", b"b" * 90))] == [(msgspec.msgpack.encode("a"), b"b" * 90)]
    with pytest.raises(ValueError, match="a letter of"):
        list(letters.add(letter("a", b"b" * 100)[:8]))


def test_a_reader_outlives_no_crawl_even_while_a_page_holds_it() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-m", "lswc.reading.reader_process"]
        with subprocess.Popen(command, stdin=theirs.fileno()) as process:
            ours.settimeout(BRAKE)
            ours.sendall(letter((protocol(), SETTINGS, 0.1)))
            assert ours.recv(100) == letter("")
            ours.sendall(letter(asked(), HOLDS_THE_PARSER))
            ours.close()
            theirs.close()
            assert process.wait(BRAKE) == -signal.SIGALRM


def test_a_process_that_cannot_be_made_leaves_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs: list[tuple[socket.socket, socket.socket]] = []
    pair = socket.socketpair

    def kept() -> tuple[socket.socket, socket.socket]:
        pairs.append(pair())
        return pairs[-1]

    def full(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("lswc.processes.socket.socketpair", kept)
    monkeypatch.setattr("lswc.processes.Popen", full)
    with pytest.raises(BlockingIOError):
        _Reader(1.0)
    assert [one.fileno() for one in pairs[0]] == [-1, -1]


def test_a_process_is_started_three_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[str] = []

    def fails(module: str, **_: str) -> None:
        starts.append(module)
        raise OSError("no more processes")

    monkeypatch.setattr("lswc.crawl.readers.started", fails)
    monkeypatch.setattr("lswc.crawl.readers.AGAIN", 0.0)

    async def use(readers: Readers) -> None:
        with pytest.raises(ReaderError, match="doesn't start: no more processes"):
            await readers.read(asked(), b"<p>")
        assert len(starts) == 3

    during(use, Few())


def test_a_reader_that_does_not_start_is_told() -> None:
    async def use(readers: Readers) -> None:
        with pytest.raises(ReaderError, match="no such folder: missing"):
            await readers.read(*PAGES[0])

    during(use, Few(reading=ReaderSettings(**{**_fields(SETTINGS), "own_languages": "missing"})))


def _fields(settings: ReaderSettings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__struct_fields__}
