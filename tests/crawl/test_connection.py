"""Connections lead where they may, are used again, and don't stay open for nothing."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
)
from twisted.internet.address import IPv4Address

from lswc.crawl.transport.answer import Answer, Bounds, NoAnswerError
from lswc.crawl.transport.connection import Connection, Connections, Place
from lswc.crawl.web.certificate import self_signed
from tests.loop import in_loop
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path
    from typing import Self

    from lswc.crawl.transport.connection import LookUp

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
REQUEST = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"

CLIENT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
CLIENT.check_hostname = False
CLIENT.verify_mode = ssl.CERT_NONE


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    return server_context(tmp_path_factory.mktemp("certificate") / "both.pem")


def server_context(file: Path) -> ssl.SSLContext:
    key, encoding = ec.generate_private_key(ec.SECP256R1()), serialization.Encoding.PEM
    kind, none = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    certificate = self_signed(key).public_bytes(encoding)
    file.write_bytes(key.private_bytes(encoding, kind, none) + certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


class Server:
    """A server on loopback that says the same to every request, and what came to it."""

    def __init__(self, says: bytes = OK) -> None:
        self.says = says
        self.heads: list[bytes] = []
        self.connections = self.open = 0

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(self.says)
                if not self.says:
                    break

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        with suppress(ConnectionError):
            await self.talk(reader, writer)
        self.open -= 1
        writer.transport.abort()


@asynccontextmanager
async def serving(server: Server, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serve while the block lasts, and until all have left."""
    listening = await asyncio.start_server(server.connected, "127.0.0.1", ssl=context)
    try:
        yield listening.sockets[0].getsockname()[1]
        await settled(lambda: server.open == 0)
    finally:
        listening.close()
        await asyncio.sleep(0)


class Closed(Connections):
    """Connections that are all closed in the end."""

    def __init__(self, look_up: LookUp, idle: int = 1) -> None:
        super().__init__(look_up, CLIENT, idle)
        self.opened: list[Connection] = []

    async def to(self, place: Place, login: bytes | None = None, after: float = 0.0) -> Connection:
        self.opened.append(await super().to(place, login, after))
        return self.opened[-1]

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()
        for connection in self.opened:
            connection.close()
        await asyncio.sleep(0)


def to(*ports: int) -> LookUp:
    """Return a resolver that leads every name to ports of loopback."""

    async def look_up(name: str, port: int) -> list[IPv4Address]:
        return [IPv4Address("TCP", "127.0.0.1", there) for there in ports]

    return look_up


async def asked(connection: Connection) -> Answer:
    answer = Answer(REQUEST, Bounds(heads=9_999, body=9_999))
    connection.ask(answer)
    await answer.head()
    body = b""
    while piece := await answer.piece():
        body += piece
    assert body == b"ok"
    return answer


async def settled(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(BRAKE):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("scheme", ["http", "https"])
@in_loop
async def test_a_connection_is_used_again(scheme: str, secure: ssl.SSLContext) -> None:
    server, place = Server(), Place(scheme, "a.example", 80)
    async with serving(server, secure if scheme == "https" else None) as port:
        connections = Connections(to(port), CLIENT, 1)
        for _ in range(3):
            connection = await connections.to(place)
            answer = await asked(connection)
            assert str(answer.address) == "127.0.0.1"
            assert (answer.certificate is not None) is (scheme == "https")
            connections.keep(place, connection)
        assert (server.connections, len(server.heads)) == (1, 3)
        connections.close()


@in_loop
async def test_few_connections_stay_open() -> None:
    server = Server()
    async with serving(server) as port, Closed(to(port), 2) as connections:
        for number in range(5):
            place = Place("http", f"{number}.example", 80)
            connection = await connections.to(place)
            await asked(connection)
            connections.keep(place, connection)
        await settled(lambda: server.open == 2)
        for number in (3, 4):
            await asked(await connections.to(Place("http", f"{number}.example", 80)))
        assert server.connections == 5


@in_loop
async def test_what_comes_unasked_closes_a_connection() -> None:
    server, place = Server(OK + b" "), Place("http", "a.example", 80)
    async with serving(server) as port, Closed(to(port)) as connections:
        connection = await connections.to(place)
        await asked(connection)
        await settled(lambda: not connection.is_open)
        connections.keep(place, connection)
        assert await connections.to(place) is not connection


@in_loop
async def test_a_server_that_hangs_up_gave_no_answer() -> None:
    async with serving(Server(b"")) as port, Closed(to(port)) as connections:
        connection = await connections.to(Place("http", "a.example", 80))
        with pytest.raises(NoAnswerError):
            await asked(connection)


@in_loop
async def test_the_next_address_is_tried() -> None:
    place, server = Place("http", "a.example", 80), Server()
    async with serving(Server()) as closed:
        pass
    async with serving(server) as port, Closed(to(closed, port)) as connections:
        await asked(await connections.to(place))
    assert len(server.heads) == 1
    with pytest.raises(DownloadConnectionRefusedError):
        await Closed(to(closed)).to(place)
    with pytest.raises(CannotResolveHostError):
        await Closed(to()).to(place)


@pytest.mark.parametrize("name", ["a.example", "a.example.", "a_b.example", "127.0.0.1", "::1"])
@in_loop
async def test_tls_is_spoken_with_names_of_all_kinds(name: str, secure: ssl.SSLContext) -> None:
    async with serving(Server(), secure) as port, Closed(to(port)) as connections:
        await asked(await connections.to(Place("https", name, 443)))


@pytest.mark.parametrize("name", ["a" * 64 + ".example", "a..example"])
@in_loop
async def test_a_name_that_tls_cannot_say_is_no_error_of_the_crawl(
    name: str, secure: ssl.SSLContext
) -> None:
    async with serving(Server(), secure) as port:
        with pytest.raises(DownloadFailedError):
            await Closed(to(port)).to(Place("https", name, 443))


@in_loop
async def test_a_server_without_tls_failed_but_answered() -> None:
    async with serving(Loud()) as port:
        with pytest.raises(DownloadFailedError) as raised:
            await Closed(to(port)).to(Place("https", "a.example", 443))
    assert not isinstance(raised.value, NoAnswerError)


class Loud(Server):
    """Says something that isn't TLS."""

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"what?\r\n\r\n")
        await reader.read()


class Proxy(Server):
    """Passes on to a server what comes after CONNECT."""

    def __init__(self, port: int, status: int) -> None:
        super().__init__()
        self.port = port
        self.status = status

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 %d Well\r\n\r\n" % self.status)
        there, back = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(9_999):
            writer.write(data)
    writer.transport.abort()


@pytest.mark.parametrize("status", [200, 407])
@pytest.mark.parametrize("hidden", [False, True])
@in_loop
async def test_a_proxy_passes_tls_on(status: int, hidden: bool, secure: ssl.SSLContext) -> None:
    server, place = Server(), Place("https", "a.example", 443, ("proxy.example", 3128, hidden))
    async with serving(server, secure) as port:
        proxy, by = Proxy(port, status), secure if hidden else None
        async with serving(proxy, by) as through, Closed(to(through)) as connections:
            if status == 407:
                with pytest.raises(DownloadFailedError, match="407"):
                    await connections.to(place, b"Basic eA==")
            else:
                answer = await asked(await connections.to(place, b"Basic eA=="))
                assert answer.certificate is not None
                assert server.heads == [REQUEST]
    assert proxy.heads == [
        b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n"
        b"Proxy-Authorization: Basic eA==\r\n\r\n"
    ]
