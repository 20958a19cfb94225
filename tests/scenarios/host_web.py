"""Webs of many hosts, each a method, and crawls that start at their front pages."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from typing_extensions import override

from tests.resolvers import ToLoopback
from tests.scenarios.site import Site, run
from tests.web_server import QuietHandler, WebServer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Self

_PORT = "HOST_WEB_PORT"

Answered = tuple[int, str | bytes, list[tuple[str, str]]]
"""Status, body, and headers; a page is HTML in UTF-8 if these don't say what it is."""


class Asked:
    """A request for a page; ``cookie`` is what it said as such."""

    def __init__(self, host: str, method: str, target: str, body: str, cookie: str) -> None:
        self.host, self.method, self.target = host, method, target
        self.body, self.cookie = body, cookie
        self.path, _, self.query = target.partition("?")


class HostWeb(ABC):
    """A web on loopback. ``asked`` counts the requests for pages by host."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.targets: defaultdict[str, list[str]] = defaultdict(list)
        self.cookies: defaultdict[str, list[str]] = defaultdict(list)
        self.lock = Lock()
        web = self

        class Handler(QuietHandler):
            @override
            def do_GET(self) -> None:
                size = int(self.headers["Content-Length"] or 0)
                host = self.headers["Host"].partition(":")[0]
                said = self.headers["Cookie"] or ""
                body = self.rfile.read(size).decode()
                asked = Asked(host, self.command, self.path, body, said)
                status, text, headers = web.counted(asked)
                content = text.encode() if isinstance(text, str) else text
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                if not any(name == "Content-Type" for name, _ in headers):
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def do_POST(self) -> None:  # noqa: N802
                self.do_GET()

        self._server = WebServer(Handler)

    def counted(self, asked: Asked) -> Answered:
        """Count a request for a page, and answer."""
        if asked.path == "/robots.txt":
            return self.robots(asked.host)
        if asked.path.startswith("/.well-known"):
            return 404, "", []
        with self.lock:
            self.asked[asked.host] += 1
            self.targets[asked.host].append(asked.target)
            self.cookies[asked.host].append(asked.cookie)
        return self.answer(asked)

    @abstractmethod
    def answer(self, asked: Asked) -> Answered:
        """Answer a request for a page."""

    def robots(self, host: str) -> Answered:
        """Return a host's robots.txt: none."""
        return 404, "", []

    def __enter__(self) -> Self:
        self._server.start()
        os.environ[_PORT] = str(self._server.server_port)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        del os.environ[_PORT]

    def crawl(self, site: Site, hosts: Iterable[str], **settings: object) -> None:
        """Crawl hosts from their front pages; expect no error."""
        done = run(self.command(site, hosts, **settings))
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr

    def command(self, site: Site, hosts: Iterable[str], **settings: object) -> list[str]:
        """Return the command that crawls hosts from their front pages."""
        site.folder.parent.mkdir(exist_ok=True)
        seeds: Path = site.folder.parent / "seeds.txt"
        seeds.write_text("\n".join(f"http://{host}.example/" for host in hosts))
        command = site.command(
            "-a", f"seeds={seeds}",
            LSWC_CONTACT="https://library.example/",
            TWISTED_DNS_RESOLVER="tests.scenarios.host_web.Resolver",
            LSWC_MAX_PER_ADDRESS=0,
            LSWC_REQUISITES="none",
            **settings,
        )  # fmt: skip
        at = command.index(f"LSWC_WEB={site.web}")
        del command[at - 1 : at + 1]
        return command


class Resolver(ToLoopback):
    """Leads each name to this web."""

    @override
    def port(self, name: str, port: int) -> int:
        return int(os.environ[_PORT])


def by_host(records: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the records of each host, by the first label of its name."""
    found = defaultdict(list)
    for record in records:
        found[str(urlsplit(record["url"]).hostname).partition(".")[0]].append(record)
    return found
