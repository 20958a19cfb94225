"""Name lookups of a peer's process: each name leads to loopback, to an address of its own.

Python runs this at its start, if the folder is on PYTHONPATH. The port is BENCHMARK_PORT. Some
clients take an address from a lookup, and keep their port, so connections to such an address are
led, too. Addresses are those of ``benchmarks/addresses.py``, which needs what a peer doesn't have.
"""

import os
import socket
from hashlib import sha256

_look_up = socket.getaddrinfo


def _led(host, port, family=0, type=0, proto=0, flags=0):  # noqa: A002
    """Look up nothing but this machine."""
    if host in {None, "127.0.0.1", "localhost"}:
        return _look_up(host, port, family, type, proto, flags)
    kind = type or socket.SOCK_STREAM
    name = host.decode() if isinstance(host, bytes) else host
    first, second, third = sha256(name.encode()).digest()[:3]
    address = f"20.{first}.{second}.{1 + third % 254}"
    return [(socket.AF_INET, kind, socket.IPPROTO_TCP, "", (address, int(port or 0)))]


def _to_server(connect):
    def led(self, address):
        if self.family == socket.AF_INET and address[0].startswith("20."):
            loopback = f"127.{address[0].partition('.')[2]}"
            address = (loopback, int(os.environ["BENCHMARK_PORT"]))
        return connect(self, address)

    return led


socket.getaddrinfo = _led
socket.socket.connect = _to_server(socket.socket.connect)
socket.socket.connect_ex = _to_server(socket.socket.connect_ex)
