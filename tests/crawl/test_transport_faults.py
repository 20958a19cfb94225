"""What servers get wrong, by accident and on purpose, and what browsers make of it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from itertools import repeat
from typing import TYPE_CHECKING, Any

import aiohappyeyeballs
import pytest
from scrapy import Request
from scrapy.exceptions import DownloadFailedError
from twisted.internet.address import IPv4Address

from lswc.crawl.transport.answer import FRAMES, Answer, Bounds, BrokenBodyError, NoAnswerError
from lswc.crawl.transport.connection import Connections, Place
from lswc.crawl.transport.handler import AttemptHandler
from tests.crawl.running import SetUp
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from scrapy.http import Response

    from lswc.crawl.transport.connection import LookUp

BOUNDS = Bounds(heads=65_536, body=20_000_000)
OK = b"HTTP/1.1 200 OK\r\n"
LENGTH = b"Content-Length: 2\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
CHUNKS = b"2\r\nok\r\n0\r\n\r\n"


def fed(pieces: Iterable[bytes]) -> Answer:
    """Return an answer that took pieces, as far as it wanted them."""
    answer = Answer(b"", BOUNDS)
    for piece in pieces:
        if not answer.feed(piece):
            break
    return answer


async def body(answer: Answer) -> bytes:
    async with asyncio.timeout(BRAKE):  # else a test would wait for ever
        await answer.head()
        came = b""
        while piece := await answer.piece():
            came += piece
        return came


HEADS = {
    "two blanks": b"HTTP/1.1  200 OK\r\n" + LENGTH,
    "a version of two digits": b"HTTP/1.10 200 OK\r\n" + LENGTH,
    "small letters": b"http/1.1 200 OK\r\n" + LENGTH,
    "a glued reason": b"HTTP/1.1 200OK\r\n" + LENGTH,
    "CR in the reason": b"HTTP/1.1 200 O\rK\r\n" + LENGTH,
    "CR in a value": OK + b"X: a\rb\r\n" + LENGTH,
    "NUL in a value": OK + b"X: a\0b\r\n" + LENGTH,
    "a name with a blank": OK + b"Content Type: a\r\n" + LENGTH,
    "a name that isn't ASCII": OK + b"\xe0\xb8\x81: a\r\n" + LENGTH,
    "a name with a blank after it": OK + b"X : a\r\n" + LENGTH,
    "no name": OK + b": a\r\n" + LENGTH,
    "equal lengths": OK + LENGTH + b"Content-Length: 02\r\n",
    "a length with zeros": OK + b"Content-Length: 0002 \r\nContent-Length: 2\r\n",
    "identity": OK + b"Transfer-Encoding: identity\r\n" + LENGTH,
    "a length of an early answer": b"HTTP/1.1 103 Soon\r\nContent-Length: 9\r\n\r\n" + OK + LENGTH,
    "chunks of an early answer": b"HTTP/1.1 103 Soon\r\n" + CHUNKED + b"\r\n" + OK + LENGTH,
    "a blank after chunked": OK + CHUNKED.replace(b"\r", b" \t\r"),
    "chunked twice": OK + CHUNKED + CHUNKED,
    "chunked and more": OK + b"Transfer-Encoding: chunked, identity\r\n",
    "chunked before more": OK + CHUNKED + b"Transfer-Encoding: identity\r\n",
}


@pytest.mark.parametrize("case", HEADS)
@pytest.mark.parametrize("size", [1, 10_000])
def test_heads_are_read_as_browsers_read_them(case: str, size: int) -> None:
    sent = HEADS[case] + b"\r\n" + (CHUNKS if "chunked" in case else b"ok")
    answer = fed(sent[n : n + size] for n in range(0, len(sent), size))
    assert asyncio.run(body(answer)) == b"ok"
    assert answer.status == 200
    assert answer.is_chunked is ("chunked" in case)
    assert answer.keeps_alive is (b"HTTP/1.1" in sent or b"http/1.1" in sent)
    assert b"".join(answer.exchange.body) == sent[-len(CHUNKS if "chunked" in case else b"ok") :]
    assert sent.endswith(bytes(answer.exchange.head) + b"".join(answer.exchange.body))


@pytest.mark.parametrize("line", [b"Location: /x \t\r\n", b"Location:\r\n /x\r\n"])
def test_blanks_around_a_value_are_not_its_own(line: bytes) -> None:
    assert fed([OK + line + b"\r\n"]).headers == [(b"Location", b"/x")]


@pytest.mark.parametrize(
    "head",
    [OK + CHUNKED, OK + CHUNKED + b"X\x80: y\r\n", b"HTTP/1.1 304 As it was\r\n"],
)
def test_a_length_that_does_not_count_is_none(head: bytes) -> None:
    assert fed([head + b"Content-Length: 99999999999\r\n\r\n"]).length is None


def test_a_server_that_changes_to_no_protocol_is_not_waited_for() -> None:
    answer = fed([b"HTTP/1.1 101 Switching\r\n\r\n"])
    with pytest.raises(DownloadFailedError):
        asyncio.run(body(answer))


@pytest.mark.parametrize("begin", [b"0\r\nX: ", b"0\r\nX", b"0\r\n", b"1;"])
def test_what_brings_nothing_of_a_body_is_bounded(begin: bytes) -> None:
    came = 0

    def pieces() -> Iterable[bytes]:
        nonlocal came
        yield OK + CHUNKED + b"\r\n2\r\nok\r\n" + begin
        for piece in repeat(b"y" * 1_000, 10_000):
            came += len(piece)
            yield piece

    answer = fed(pieces())
    with pytest.raises(BrokenBodyError):
        asyncio.run(body(answer))
    assert came <= FRAMES + 2_000


def test_an_error_cuts_a_body_that_only_the_end_ends() -> None:
    answer = fed([OK + b"\r\nsome of it"])
    answer.end(OSError("a record that TLS can't read"))
    with pytest.raises(BrokenBodyError):
        asyncio.run(body(answer))


def to(port: int) -> LookUp:
    async def look_up(name: str, _: int) -> list[IPv4Address]:
        return [IPv4Address("TCP", "127.0.0.1", port)]

    return look_up


CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_is_gone_once_it_is_there_gave_no_answer(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A socket that was reset has no peer any more."""

    async def reset(*arguments: Any, **options: Any) -> socket.socket:
        connected = await aiohappyeyeballs.start_connection(*arguments, **options)
        accepted = listening.accept()[0]
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        accepted.close()
        return connected

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, error: errors.append(error))
        place = Place(scheme, "a.example", 80)
        with pytest.raises(NoAnswerError):
            await Connections(to(listening.getsockname()[1]), CONTEXT, 1).to(place)

    errors: list[object] = []
    monkeypatch.setattr("lswc.crawl.transport.connection.start_connection", reset)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        asyncio.run(run())
    assert not errors


class Server:
    """A server on loopback that takes a request at a time, and what is said to each."""

    def __init__(self, *says: bytes) -> None:
        self.says = list(says)
        self.heads: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.says.pop(0))
        writer.close()


async def downloaded(server: Server, folder: Path, *requests: Request) -> list[Response]:
    """Return what the crawl's handler makes of a server's answers, one after the other."""
    listening = await asyncio.start_server(server, "127.0.0.1")
    look_up = to(listening.sockets[0].getsockname()[1])
    with SetUp(folder) as crawl, pytest.MonkeyPatch.context() as patch:
        patch.setattr("lswc.crawl.transport.handler.addresses_of", look_up)
        handler = AttemptHandler(crawl.crawler)
        try:
            return [await handler.download_request(request) for request in requests]
        finally:
            await handler.close()
            listening.close()
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("url", "line", "host"),
    [
        ("http://a.example:80/x", b"GET /x ", b"a.example"),
        ("http://a.example:8080//x/?", b"GET //x/ ", b"a.example:8080"),
        ("http://user:word@a.example?q=/y#z", b"GET /?q=/y ", b"a.example"),
        ("http://[2001:db8::80]/", b"GET / ", b"[2001:db8::80]"),
        ("http://[2001:db8::80]:80", b"GET / ", b"[2001:db8::80]"),
        ("http://a_b.example./a b\r\nX: y\u0e01", b"GET /a%20bX:%20y%E0%B8%81 ", b"a_b.example."),
    ],
)
def test_a_request_says_what_browsers_say(
    url: str, line: bytes, host: bytes, tmp_path: Path
) -> None:
    """Whatever earlier answers held, nothing in it ends a line."""
    server = Server(b"HTTP/1.1 204 None\r\n\r\n")
    odd = {"If-None-Match": b'"a\r\nX-A: 1"', "Referer": b"http://b.example/\n\nX-B: 1"}
    asyncio.run(downloaded(server, tmp_path, Request(url, headers=odd)))
    first, *lines = server.heads[0].splitlines()
    assert first == line + b"HTTP/1.1"
    assert b"Host: " + host in lines
    assert not [said for said in lines if said.startswith(b"X-")]


def test_a_length_that_does_not_count_is_not_too_large(tmp_path: Path) -> None:
    large = b"Content-Length: 9999999999\r\n"
    server = Server(
        b"HTTP/1.1 304 As it was\r\nConnection: close\r\n" + large + b"\r\n",
        OK + CHUNKED + large + b"\r\n" + CHUNKS,
    )
    requests = [Request("http://a.example/"), Request("http://a.example/")]
    responses = asyncio.run(downloaded(server, tmp_path, *requests))
    assert [(response.status, response.body) for response in responses] == [
        (304, b""),
        (200, b"ok"),
    ]
