"""How much a server may send before the body; whole crawls are in tests/hostile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from twisted.internet.testing import StringTransport
from twisted.web._newclient import Request
from twisted.web.http_headers import Headers

from lswc.safety.handler import BoundedProtocol, HeadersTooLargeError

HEAD = b"HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 1\r\n\r\n"


UNTYPED: Any = SimpleNamespace(
    protocol=BoundedProtocol, request=Request._construct, transport=StringTransport
)
"""Twisted's own have half their types."""


def received(limit: int, *reads: bytes) -> object:
    """Return what a request ends with: a response's status, or the failure behind it."""
    protocol = UNTYPED.protocol(lambda _: None)
    protocol.limit = limit
    protocol.makeConnection(UNTYPED.transport())
    ends: list[Any] = []
    request = UNTYPED.request(b"GET", b"/", Headers({b"Host": [b"a.example"]}), None)
    protocol.request(request).addBoth(ends.append)
    for read in reads:
        protocol.dataReceived(read)
    (end,) = ends
    return getattr(end, "code", None) or end.value.reasons[0].type


def bytewise(text: bytes) -> list[bytes]:
    return [text[n : n + 1] for n in range(len(text))]


@pytest.mark.parametrize(
    ("limit", "end"),
    [(len(HEAD), 200), (len(HEAD) - 1, HeadersTooLargeError), (0, 200), (1, HeadersTooLargeError)],
)
def test_headers_are_bounded(limit: int, end: object) -> None:
    assert received(limit, *bytewise(HEAD), b"x") == end


def test_the_body_does_not_count() -> None:
    assert received(len(HEAD), HEAD + b"x") == 200


def test_informational_responses_count() -> None:
    again = b"HTTP/1.1 100 Continue\r\n\r\n"
    assert received(len(HEAD) + len(again), again, HEAD, b"x") == 200
    assert received(len(again) * 3, *[again] * 4) is HeadersTooLargeError
