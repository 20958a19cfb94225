"""Ports of loopback for servers that are told their port."""

from __future__ import annotations

import random
import socket
from pathlib import Path

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """Return a port that nobody listens at, and that no connection of this machine is given.

    The system takes ports of its own range for connections: one that was free a moment ago is
    taken then, by a connection of another test, or by one that looks for the server itself.
    """
    first = int(_RANGE.read_text("utf-8").split()[0]) if _RANGE.exists() else 32_768
    while True:
        port = random.SystemRandom().randrange(max(first // 2, 1_024), first)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:  # somebody listens there
            continue
