"""HTTP servers of tests whose crawls are stopped, killed, or have had enough."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override


class QuietHandler(BaseHTTPRequestHandler):
    """Answers in one piece, and logs nothing."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer a request."""
        raise NotImplementedError

    @override
    def log_message(self, *_: Any) -> None:
        pass


class WebServer(ThreadingHTTPServer):
    """Serves on a port of loopback, in threads of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler: type[QuietHandler], port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), handler)

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a crawl was stopped."""

    def start(self) -> None:
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
