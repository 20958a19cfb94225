"""Connections to servers: a request at a time on each, and few of them open in between."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import OrderedDict
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import urlsplit

from aiohappyeyeballs import start_connection
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
)
from scrapy.utils.url import add_http_if_no_scheme
from typing_extensions import override

from lswc.crawl.transport.answer import Answer, Bounds, NoAnswerError
from lswc.crawl.transport.encryption import NO_ENCRYPTION, encryption_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from ipaddress import IPv4Address, IPv6Address

    from twisted.internet import address

    LookUp = Callable[[str, int], Awaitable[Sequence[address.IPv4Address | address.IPv6Address]]]

NEXT_ADDRESS = 0.3
"""Seconds until a name's next address is tried beside those that haven't answered (RFC 8305)."""

IDLE_SECONDS = 240.0
"""Seconds after which a connection that nothing is sent on isn't used any more."""

READ = 65_536
"""Bytes that are read of a connection at a time."""

_TUNNEL_HEAD = 65_536

PORTS = {"http": 80, "https": 443}
"""Usual ports, by scheme."""

LOGIN = 407
"""Status of a proxy that wants a login (RFC 9110 §15.5.8)."""


class ProxyLoginError(DownloadFailedError):
    """A proxy that opens tunnels wants a login."""


class Place(NamedTuple):
    """Where a connection leads: a server, and by which proxy, if any.

    A ``proxy`` is its name, its port, and whether it is spoken to by TLS. ``local`` is the address
    and port that it comes from, if that matters.
    """

    scheme: str
    host: str
    port: int
    proxy: tuple[str, int, bool] | None = None
    local: tuple[str, int] | None = None


class Connection(asyncio.BufferedProtocol):
    """A connection to a server, in the clear or by TLS.

    All read into one buffer, and copy what came: else asyncio takes 256 KB for every read.
    """

    _buffer = memoryview(bytearray(READ))

    certificate: bytes | None = None
    encryption = NO_ENCRYPTION
    since = 0.0
    """When the latest answer was whole."""
    _transport: asyncio.Transport

    def __init__(self, address: IPv4Address | IPv6Address) -> None:
        self.address = address
        self._answer: Answer | None = None
        self.is_open = True
        self.opened = monotonic()

    def ask(self, answer: Answer) -> None:
        """Send the request of an answer, which takes what comes from now on."""
        self._leave()  # of what a proxy answered
        self._answer = answer
        answer.address, answer.certificate = self.address, self.certificate
        answer.encryption = self.encryption
        if not self.is_open:
            answer.end(None)
        else:
            self._transport.write(answer.exchange.request)

    def rest(self) -> None:
        """Stay open for another request."""
        self._answer = None
        self.since = monotonic()

    def close(self) -> None:
        """Close the connection, without waiting for the server to end TLS."""
        self._leave()
        self.is_open = False
        self._transport.abort()

    def _leave(self) -> None:
        if self._answer is not None:
            self._answer.leave()
        self._answer = None

    async def secure(self, context: ssl.SSLContext, host: str) -> None:
        """Speak TLS from now on, with a server behind a tunnel. Raises OSError."""
        loop = asyncio.get_running_loop()
        secured = await loop.start_tls(self._transport, self, context, server_hostname=host)
        if secured is None:
            raise ConnectionResetError("the connection was closed before TLS")
        self._take(secured)

    def _take(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        secure = transport.get_extra_info("ssl_object")
        if secure is not None:
            self.certificate = secure.getpeercert(binary_form=True)
            self.encryption = encryption_of(secure)

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._take(cast("asyncio.Transport", transport))

    @override
    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    @override
    def buffer_updated(self, nbytes: int) -> None:
        answer = self._answer
        if answer is None or not (answer.feed(bytes(self._buffer[:nbytes])) or answer.keeps_alive):
            self.close()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if self._answer is not None:
            self._answer.end(exc)


class Connections:
    """Connections to many servers; between requests the ``idle`` latest used stay open.

    They lead to what ``look_up`` finds for a name and port, in its order.
    """

    def __init__(
        self,
        look_up: LookUp,
        context: ssl.SSLContext,
        idle: int,
    ) -> None:
        self._look_up = look_up
        self._context = context
        self._most = idle
        self._idle: OrderedDict[Place, Connection] = OrderedDict()

    async def to(self, place: Place, login: bytes | None = None, after: float = 0.0) -> Connection:
        """Return a connection that leads somewhere; ``login`` is what the proxy wants to hear.

        It was opened ``after`` that, in seconds of a monotonic clock.

        Raises CannotResolveHostError, DownloadConnectionRefusedError and DownloadFailedError.
        """
        idle = self._idle.pop(place, None)
        if idle is not None:
            is_fresh = idle.opened > after and monotonic() - idle.since < IDLE_SECONDS
            if idle.is_open and is_fresh:
                return idle
            idle.close()
        if place.proxy is None:
            target = place.host, place.port, place.scheme == "https"
            return await self._open(*target, place.local)
        connection = await self._open(*place.proxy, place.local)
        if place.scheme == "https":
            await self._tunnel(connection, place, login)
        return connection

    def keep(self, place: Place, connection: Connection) -> None:
        """Keep a connection whose latest answer was whole."""
        connection.rest()
        older = self._idle.pop(place, None)
        if older is not None:
            older.close()
        self._idle[place] = connection
        while len(self._idle) > self._most:
            self._idle.popitem(last=False)[1].close()

    def close(self) -> None:
        """Close all that stay open."""
        while self._idle:
            self._idle.popitem()[1].close()

    async def _open(
        self, host: str, port: int, secure: bool, local: tuple[str, int] | None
    ) -> Connection:
        addresses = await self._look_up(host, port)
        if not addresses:
            raise CannotResolveHostError(f"no address of {host} may be connected to")
        infos = [_info(found.host, found.port) for found in addresses]
        try:
            sock = await start_connection(
                infos,
                local_addr_infos=None if local is None else [_info(*local)],
                happy_eyeballs_delay=NEXT_ADDRESS,
            )
        except (OSError, RuntimeError) as error:  # uvloop may raise the latter
            raise _failure(error) from error
        return await self._greet(sock, host, secure)

    async def _greet(self, sock: socket.socket, host: str, secure: bool) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            address = ip_address(sock.getpeername()[0].partition("%")[0])
            _, connection = await loop.create_connection(
                lambda: Connection(address),
                sock=sock,
                ssl=self._context if secure else None,
                server_hostname=host.rstrip(".") if secure else None,
            )
        except (OSError, ValueError) as error:  # ValueError: a name that TLS can't say
            sock.close()
            spoke = isinstance(error, ssl.SSLError | ValueError)
            kind = DownloadFailedError if spoke else NoAnswerError
            raise kind(f"no connection with {host}: {error}") from error
        return connection

    async def _tunnel(self, connection: Connection, place: Place, login: bytes | None) -> None:
        """Have a proxy pass on what is sent to a server (RFC 9110 §9.3.6)."""
        host = f"[{place.host}]" if ":" in place.host else place.host
        authority = f"{host}:{place.port}".encode()
        said = b"" if login is None else b"Proxy-Authorization: " + login + b"\r\n"
        request = b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n%b\r\n" % (authority, authority, said)
        answer = Answer(request, Bounds(heads=_TUNNEL_HEAD, body=0), bare=True)
        try:
            connection.ask(answer)
            await answer.head()
            if answer.status == LOGIN:
                raise ProxyLoginError(f"the proxy says {LOGIN} to {place.host}: it wants a login")
            if answer.status // 100 != 2:
                raise DownloadFailedError(f"the proxy says {answer.status} to {place.host}")
            await connection.secure(self._context, place.host.rstrip("."))
        except (OSError, ValueError) as error:
            connection.close()
            raise DownloadFailedError(f"no TLS with {place.host}: {error}") from error
        except BaseException:
            connection.close()
            raise


def _info(host: str, port: int) -> tuple[int, int, int, str, tuple[str, int]]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port)


def _failure(error: Exception) -> DownloadFailedError | DownloadConnectionRefusedError:
    if isinstance(error, ConnectionRefusedError):
        return DownloadConnectionRefusedError(str(error))
    return NoAnswerError(str(error))


def proxy_of(address: str) -> tuple[str, int, bool]:
    """Return the name and the port of a proxy, and whether it is spoken to by TLS."""
    by = urlsplit(add_http_if_no_scheme(address))
    return by.hostname or "", by.port or PORTS.get(by.scheme, 80), by.scheme == "https"
