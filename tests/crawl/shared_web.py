"""One web that several workers crawl through a proxy, with a log of who was asked when."""

from __future__ import annotations

from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self


class SharedWeb:
    """Serves ``pages`` (absolute URL to HTML) on loopback as an HTTP proxy; others are 404."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        asked = self.asked = list[tuple[float, str, str]]()
        """When, which server, which URL; robots.txt included."""
        lock = Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with lock:
                    asked.append((monotonic(), self.path.split("/")[2], self.path))
                body = pages.get(self.path, "").encode()
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.proxy = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def fetched(self) -> list[str]:
        """The URLs of pages asked for, in order."""
        return [url for _, _, url in self.asked if not url.endswith("/robots.txt")]

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
