"""A server that answers with given bytes, whatever HTTP says of them, and a way to it."""

from __future__ import annotations

import os
import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from tests.resolvers import ToLoopback

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HOST = "raw.example"
PORT = "LSWC_TEST_PORT"


class ToRawServer(ToLoopback):
    """Leads every name and port to the port in the environment."""

    @override
    def port(self, name: str, port: int) -> int:
        return int(os.environ[PORT])


@contextmanager
def serving(answers: Mapping[str, bytes]) -> Iterator[dict[str, Any]]:
    """Serve the bytes of each path in the block; yields the port, and what was asked first.

    A path without answer, or with an empty one, closes the connection.
    """
    seen: dict[str, Any] = {}

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while request := self._request():
                path = request.split(b" ", 2)[1].decode()
                seen.setdefault(path, request)
                self.wfile.write(answers.get(path, b""))
                if not answers.get(path) or path.startswith("/close"):
                    return

        def _request(self) -> bytes:
            lines = b""
            while line := self.rfile.readline():
                lines += line
                if line == b"\r\n":
                    return lines
            return b""

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        seen["port"] = server.server_address[1]
        try:
            yield seen
        finally:
            server.shutdown()
            thread.join()
