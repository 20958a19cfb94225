"""Servers that notice how their guest behaves: when it came, over what, and how often at once."""

from __future__ import annotations

import gzip
import os
import socket
import ssl
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from scrapy.resolver import CachingHostnameResolver
from typing_extensions import override

from lswc.crawl.web.certificate import self_signed
from lswc.guest.server_rules import TDMREP_PATH
from tests.resolvers import ToLoopback, resolve
from tests.scenarios.site import THAI, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PORTS = "GUEST_WEB_PORTS"
"""The environment variable with the ports of loopback for http, https, and one that refuses."""

HTTPS_ONLY = "tls-only.example"
"""A host whose port 80 refuses connections."""


@dataclass(frozen=True)
class Answer:
    """A response, sent after ``takes`` seconds; status 0 hangs up instead.

    ``coded`` is its Content-Encoding. It ``claims`` to have so many bytes, if more than it has.
    """

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    takes: float = 0.0
    coded: str = ""
    claims: int = 0


@dataclass(frozen=True)
class Negotiated:
    """Answers by language; the first of those that the guest accepts, else the first of all."""

    answers: Mapping[str, Answer]

    def choose(self, accepted: str) -> Answer:
        """Choose by an Accept-Language without weights, but for the last."""
        asked = [part.partition(";")[0].strip() for part in accepted.split(",")]
        first = next((name for name in asked if name in self.answers), next(iter(self.answers)))
        answer = self.answers[first]
        headers = {"Content-Language": first, "Vary": "Accept-Language", **answer.headers}
        return replace(answer, headers=headers)


Given = Answer | Negotiated | Callable[[int], Answer]
"""What is answered: always, by language, or by the number of the visit."""


@dataclass
class Visit:
    """A request: its URL, and when it came (monotonic and Unix time, seconds).

    ``ended`` is when its answer began to be sent, ``address`` the one that it came to.

    ``at_once`` requests were being answered by its host then and ``in_all`` by all, this included.
    ``headers`` are those of the request.
    """

    url: str
    at: float
    clock: float
    at_once: int
    in_all: int
    headers: Mapping[str, str]
    address: str = ""
    ended: float = 0.0

    @property
    def path(self) -> str:
        """The path and query asked for."""
        return "/" + self.url.split("/", 3)[3]


class GuestWeb:
    """Answers by the absolute URL; others are 404. Thai pages have words of their host's own.

    ``of`` and ``urls`` leave out tdmrep.json, which each server with a page to keep is asked for.
    """

    def __init__(self, answers: Mapping[str, Given]) -> None:
        self.visits: list[Visit] = []
        self._answers = answers
        self._busy: Counter[str] = Counter()
        self._lock = Lock()

    def of(self, host: str, *, robots: bool = False) -> list[Visit]:
        """Return the visits to a host in order, those for robots.txt only if wanted."""
        visits = [visit for visit in self.visits if visit.url.split("/")[2] == host]
        visits = [visit for visit in visits if visit.path != TDMREP_PATH]
        return [v for v in visits if robots or v.path != "/robots.txt"]

    @property
    def urls(self) -> Counter[str]:
        """How often each URL was asked for."""
        return Counter(visit.url for visit in self.visits if visit.path != TDMREP_PATH)

    def visit(self, url: str, host: str, headers: Mapping[str, str], address: str = "") -> Answer:
        """Note a request and wait as long as its answer takes."""
        with self._lock:
            self._busy[host] += 1
            times = self.urls[url]
            in_all = self._busy.total()
            visit = Visit(url, monotonic(), time(), self._busy[host], in_all, headers, address)
            self.visits.append(visit)
        answer = self._answers.get(url, Answer(status=404))
        if isinstance(answer, Negotiated):
            answer = answer.choose(headers.get("Accept-Language", ""))
        answer = answer if isinstance(answer, Answer) else answer(times)
        if THAI in answer.body:
            answer = replace(
                answer, body=answer.body.replace("</body>", f"<p>{words(host)}</body>")
            )
        sleep(answer.takes)
        with self._lock:
            # Before it is sent: whoever has the answer may come again.
            self._busy[host] -= 1
            visit.ended = monotonic()
        return answer


@contextmanager
def serving(web: GuestWeb, folder: Path, addresses: Sequence[str] = ()) -> Iterator[dict[str, str]]:
    """Serve a web by http and https while the block lasts; gives the environment of a crawl.

    It is served by http at further addresses of this machine too.
    """
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # never listens
        servers = [_Server(web, None), _Server(web, _tls(folder / "key.pem"))]
        port = servers[0].server_port
        servers += [_Server(web, None, address, port) for address in addresses]
        for server in servers:
            Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        ports = [*(server.server_port for server in servers[:2]), closed.getsockname()[1]]
        try:
            yield {PORTS: " ".join(map(str, ports))}
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()


def _tls(file: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + self_signed(key).public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        web: GuestWeb,
        tls: ssl.SSLContext | None,
        address: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        super().__init__((address, port), _Handler)
        self.web, self.tls = web, tls

    @override
    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        if self.tls is not None:
            connection = self.tls.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        return connection, address

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # the guest hung up
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece
    server: _Server

    def do_GET(self) -> None:
        scheme = "http" if self.server.tls is None else "https"
        host = self.headers["Host"]
        name, headers = host.partition(":")[0], dict(self.headers)
        answer = self.server.web.visit(
            f"{scheme}://{host}{self.path}", name, headers, self.connection.getsockname()[0]
        )
        if not answer.status:
            raise ConnectionAbortedError
        body = answer.body.encode()
        if answer.coded:
            body = gzip.compress(body)
        self.send_response(answer.status)
        for name, value in {"Content-Type": "text/html; charset=utf-8", **answer.headers}.items():
            self.send_header(name, value)
        if answer.coded:
            self.send_header("Content-Encoding", answer.coded)
        self.send_header("Content-Length", str(max(len(body), answer.claims)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = answer.claims > len(body)

    def log_message(self, *_: Any) -> None:
        pass


class Resolver(ToLoopback):
    """For ``TWISTED_DNS_RESOLVER``: every name leads to the web, by the scheme of its port."""

    @override
    def port(self, name: str, port: int) -> int:
        http, https, closed = map(int, os.environ[PORTS].split())
        return https if port == 443 else closed if name == HTTPS_ONLY else http


class ByName(CachingHostnameResolver):
    """For ``TWISTED_DNS_RESOLVER``: a name leads to the address that its first label ends with.

    So "h1-3.example" and "h2-3.example" are at 127.0.0.3.
    """

    @override
    def resolveHostName(
        self, resolutionReceiver: Any, hostName: str, portNumber: int = 0, *_: Any, **__: Any
    ) -> Any:
        number = hostName.partition(".")[0].rpartition("-")[2]
        address = f"127.0.0.{number if number.isdecimal() else 1}"
        port = int(os.environ[PORTS].split()[0])
        return resolve(resolutionReceiver, hostName, [address], port)
