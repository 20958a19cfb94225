"""What a server may send, and how long its connection is held on to."""

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

from lswc.crawler.handles import IDLE
from lswc.crawler.transport.handler import (
    LINES,
    BoundedPool,
    BoundedProtocol,
    HeadersTooLargeError,
)
from lswc.web.certificate import ServerContext

# None of these has types.
Transport: Any = testing.StringTransport
Request: Any = _newclient.Request
Tls: Any = tls.TLSMemoryBIOProtocol
TlsFactory: Any = tls.TLSMemoryBIOFactory

HEAD, LARGEST = 1_000, 10_000
SETTINGS = Settings(
    {"LSWC_MAX_HEADERS_SIZE": HEAD, "DOWNLOAD_MAXSIZE": LARGEST, "LSWC_MAX_DOCUMENT": 1}
)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def pool(clock: Clock) -> Any:
    return BoundedPool(clock, SETTINGS, BoundedProtocol, IDLE)


def connected(transport: Any, quiescent: Any = lambda _: None) -> Any:
    """Return a protocol that has sent a request over a transport."""
    protocol = pool(Clock())._factory(quiescent, "").buildProtocol(None)
    protocol.makeConnection(transport)
    request(protocol)
    return protocol


def request(protocol: Any) -> list[Any]:
    """Send a request; return the list that takes how it ends."""
    headers = Headers({b"host": [b"a.example"]})
    ends: list[Any] = []
    protocol.request(Request(b"GET", b"/", headers, None, True)).addBoth(ends.append)
    return ends


@pytest.mark.parametrize(("note", "given_up"), [(b"", False), (b";" + b"x" * 1_000, True)])
def test_a_body_with_little_in_its_chunks_is_given_up(note: bytes, given_up: bool) -> None:
    transport = Transport()
    protocol = connected(transport)
    protocol.dataReceived(CHUNKED)
    for _ in range(100):
        protocol.dataReceived(b"1" + note + b"\r\nx\r\n")
    assert transport.disconnecting is given_up
    assert protocol._received <= 2 * LARGEST + HEAD + len(note) + 6


PAGE = b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 1\r\n\r\n"


@pytest.mark.parametrize(
    ("head", "piece", "given_up"),
    [
        (CHUNKED, b"1\r\nx\r\n", True),
        (CHUNKED, b"2\r\nxx\r\n" + b"20\r\n" + b"x" * 32 + b"\r\n", False),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x\r\nx\r\n", False),
    ],
)
def test_a_body_in_too_many_chunks_is_given_up(head: bytes, piece: bytes, given_up: bool) -> None:
    transport = Transport()
    protocol = connected(transport)
    protocol.body = 0
    protocol.dataReceived(head)
    for _ in range(10):
        protocol.dataReceived(piece * (LINES * 6 // 100 // len(piece)))
    assert transport.disconnecting is False
    for _ in range(60):
        protocol.dataReceived(piece * (LINES * 6 // 100 // len(piece)))
    assert transport.disconnecting is given_up


def received(limit: int, *reads: bytes) -> object:
    """Return what a request ends with: a response's status, or the failure behind it."""
    protocol = pool(Clock())._factory(lambda _: None, "").buildProtocol(None)
    protocol.head = limit
    protocol.makeConnection(Transport())
    ends = request(protocol)
    for read in reads:
        protocol.dataReceived(read)
    (end,) = ends
    return getattr(end, "code", None) or end.value.reasons[0].type


@pytest.mark.parametrize(
    ("limit", "end"),
    [(len(PAGE), 200), (len(PAGE) - 1, HeadersTooLargeError), (0, 200), (1, HeadersTooLargeError)],
)
def test_headers_are_bounded(limit: int, end: object) -> None:
    assert received(limit, *(PAGE[n : n + 1] for n in range(len(PAGE))), b"x") == end


def test_the_body_does_not_count_as_headers() -> None:
    assert received(len(PAGE), PAGE + b"x") == 200


def test_informational_responses_count() -> None:
    again = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert received(len(PAGE) + len(again), again, PAGE, b"x") == 200
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
