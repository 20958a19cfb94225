"""Addresses of loopback, one a host: a crawler that limits requests by address finds many.

All of 127.0.0.0/8 is this machine, so one server can have an address for each of its hosts.
"""

from __future__ import annotations

import socket
from hashlib import sha256
from typing import Any

from lswc.crawl.web.loopback_server import ServerFactory

PUBLIC, LOOPBACK = "20", "127"
"""First numbers of the public address that a name has, and of the one that it leads to."""


def public(name: str) -> str:
    """Return the address that a lookup of a name gives: some clients refuse those of loopback."""
    first, second, third = sha256(name.encode()).digest()[:3]
    return f"{PUBLIC}.{first}.{second}.{1 + third % 254}"


def of_loopback(address: str) -> str:
    """Return the address of this machine for a public one."""
    return f"{LOOPBACK}.{address.partition('.')[2]}"


def listen(reactor: Any, web: Any) -> int:
    """Serve a web on all addresses of loopback until the reactor stops; return the port.

    The socket is bound to the device, so no other machine reaches it (Linux 5.7 or later).
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
    listening.bind(("", 0))
    listening.listen(1_024)
    listening.setblocking(False)
    with listening:
        port = reactor.adoptStreamPort(
            listening.fileno(), socket.AF_INET, ServerFactory(reactor, web)
        )
    return int(port.getHost().port)
