"""One web that several processes crawl, with a log of which server was asked when."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from lswc.guest.server_rules import TDMREP_PATH
from tests.resolvers import ToLoopback

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

PORT = "SHARED_WEB_PORT"
"""The environment variable that tells a crawl where the web is."""


class Resolver(ToLoopback):
    """For ``TWISTED_DNS_RESOLVER``: every name leads to the shared web."""

    @override
    def port(self, name: str, port: int) -> int:
        return int(os.environ[PORT])


class Gate:
    """For ``before``: once it is shut it holds the answers to pages until it is opened again."""

    def __init__(self) -> None:
        self._free, self._hosts = 0, ""
        self._asked = 0
        self._lock, self._opened = Lock(), Event()
        self._opened.set()

    def shut(self, free: int, hosts: str = "") -> None:
        """Let so many more pages pass, and hold those after; only of hosts with this text."""
        self._free, self._hosts = self._asked + free, hosts
        self._opened.clear()

    def __call__(self, url: str) -> None:
        if url.endswith(("/robots.txt", TDMREP_PATH)) or self._hosts not in url:
            return
        with self._lock:
            self._asked += 1
            passes = self._asked <= self._free
        if not passes:
            self._opened.wait()

    @property
    def held(self) -> int:
        """How many pages were held so far."""
        return max(0, self._asked - self._free)

    def open(self) -> None:
        """Let all pass from now on."""
        self._opened.set()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # that of a killed crawl
            super().handle_error(request, client_address)


class SharedWeb:
    """Serves ``pages`` (absolute URL to HTML) on loopback by the Host header; others are 404.

    ``before`` is told of each URL before it is answered.
    """

    def __init__(
        self, pages: Mapping[str, str], before: Callable[[str], None] = lambda url: None
    ) -> None:
        asked = self.asked = list[tuple[float, str, str]]()
        """When, which server, which URL; robots.txt included."""
        lock = Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server = self.headers["Host"]
                url = f"http://{server}{self.path}"
                with lock:
                    asked.append((monotonic(), server, url))
                before(url)
                body = pages.get(url, "").encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def fetched(self) -> list[str]:
        """The URLs of pages asked for, in order."""
        return [url for _, _, url in self.asked if not url.endswith(("/robots.txt", TDMREP_PATH))]

    def shortest_gap(self) -> float:
        """Return the least time in seconds from a page to the next request to its server.

        Between robots.txt and the page that it was asked for, the worker's own downloader waits.
        """
        requests = defaultdict(list)
        for time, server, url in self.asked:
            requests[server].append((time, url))
        return min(
            after - before
            for of_server in requests.values()
            for (before, url), (after, _) in pairwise(of_server)
            if not url.endswith("/robots.txt")
        )
