"""What a server may send, and how long it is held on to; whole crawls are in tests/hostile."""

from __future__ import annotations

from typing import Any

import pytest
from OpenSSL import SSL
from scrapy.settings import Settings
from twisted.internet import testing
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.ssl import ContextFactory
from twisted.internet.task import Clock
from twisted.protocols import tls
from twisted.web import _newclient
from twisted.web.http_headers import Headers
from typing_extensions import override

from lswc.safety.handler import IDLE, BoundedPool, BoundedProtocol, HeadersTooLargeError
from lswc.web.certificate import ServerContext

# None of these has types.
Transport: Any = testing.StringTransport
Request: Any = _newclient.Request
Tls: Any = tls.TLSMemoryBIOProtocol
TlsFactory: Any = tls.TLSMemoryBIOFactory

HEAD, LARGEST = 1_000, 10_000
SETTINGS = Settings({"LSWC_MAX_HEADERS_SIZE": HEAD, "DOWNLOAD_MAXSIZE": LARGEST})
ONE = b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 1\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def pool(clock: Clock) -> Any:
    return BoundedPool(clock, SETTINGS, BoundedProtocol)


def connected(transport: Any, quiescent: Any = lambda _: None) -> Any:
    """Return a protocol that has sent a request over a transport."""
    protocol = pool(Clock())._factory(quiescent, "").buildProtocol(None)
    protocol.makeConnection(transport)
    request(protocol)
    return protocol


def request(protocol: Any) -> None:
    headers = Headers({b"host": [b"a.example"]})
    sent = Request(b"GET", b"/", headers, None, True)
    protocol.request(sent).addErrback(lambda _: None)


@pytest.mark.parametrize(("note", "given_up"), [(b"", False), (b";" + b"x" * 1_000, True)])
def test_a_body_with_little_in_its_chunks_is_given_up(note: bytes, given_up: bool) -> None:
    transport = Transport()
    protocol = connected(transport)
    protocol.dataReceived(CHUNKED)
    for _ in range(100):
        protocol.dataReceived(b"1" + note + b"\r\nx\r\n")
    assert transport.disconnecting is given_up
    assert protocol._received <= 2 * LARGEST + HEAD + len(note) + 6


def received(limit: int, *reads: bytes) -> object:
    """Return what a request ends with: a response's status, or the failure behind it."""
    protocol: Any = BoundedProtocol(lambda _: None)
    protocol.head = limit
    protocol.makeConnection(Transport())
    ends: list[Any] = []
    headers = Headers({b"host": [b"a.example"]})
    protocol.request(Request(b"GET", b"/", headers, None)).addBoth(ends.append)
    for read in reads:
        protocol.dataReceived(read)
    (end,) = ends
    return getattr(end, "code", None) or end.value.reasons[0].type


def bytewise(text: bytes) -> list[bytes]:
    return [text[n : n + 1] for n in range(len(text))]


@pytest.mark.parametrize(
    ("limit", "end"),
    [(len(ONE), 200), (len(ONE) - 1, HeadersTooLargeError), (0, 200), (1, HeadersTooLargeError)],
)
def test_headers_are_bounded(limit: int, end: object) -> None:
    assert received(limit, *bytewise(ONE), b"x") == end


def test_the_body_does_not_count() -> None:
    assert received(len(ONE), ONE + b"x") == 200


def test_informational_responses_count() -> None:
    again = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert received(len(ONE) + len(again), again, ONE, b"x") == 200
    assert received(len(again) * 3, *[again] * 4) is HeadersTooLargeError


def test_few_connections_stay_open_and_none_is_remembered() -> None:
    clock = Clock()
    kept = pool(clock)
    opened = []
    for number in range(3 * IDLE):
        protocol = connected(Transport(), lambda it, key=number: kept._putConnection(key, it))
        opened.append(protocol)
        protocol.dataReceived(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    assert [protocol.transport.disconnecting for protocol in opened] == [True] * (2 * IDLE) + [
        False
    ] * IDLE
    assert len(kept._connections) == len(kept._timeouts) == len(clock.getDelayedCalls()) == IDLE
    kept.getConnection(3 * IDLE - 1, None)
    assert len(kept._connections) == IDLE - 1
    clock.advance(kept.cachedConnectionTimeout)
    assert not kept._connections
    assert not kept._timeouts


class ClientContext(ContextFactory):
    @override
    def getContext(self) -> SSL.Context:
        return SSL.Context(SSL.TLS_CLIENT_METHOD)


def test_a_server_that_never_ends_tls_is_left() -> None:
    protocol = pool(Clock())._factory(lambda _: None, "").buildProtocol(None)
    near, far, factory = Transport(), Transport(), Factory()
    client = Tls(TlsFactory(ClientContext(), True, factory), protocol)
    server = Tls(TlsFactory(ServerContext(), False, factory), Protocol())

    near.setTcpNoDelay = lambda _: None

    def exchange() -> None:
        server.dataReceived(near.value())
        near.clear()
        client.dataReceived(far.value())
        far.clear()

    client.makeConnection(near)
    server.makeConnection(far)
    exchange()
    exchange()
    request(protocol)
    server.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    client.dataReceived(far.value())
    assert near.disconnecting
    assert near.value()  # the farewell is sent
