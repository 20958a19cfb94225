"""Sites that have two names, canonical URLs that are right or wrong, and sessions in links."""

from __future__ import annotations

import os
from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from typing_extensions import override

from tests.resolvers import ToLoopback
from tests.scenarios.site import THAI, words
from tests.web_server import QuietHandler, WebServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PORT = "TWIN_WEB_PORT"
"""The environment variable with the port of loopback that all hosts are on."""

PAGES = 60
"""Pages of a site, besides its front page."""

Answered = tuple[int, str, dict[str, str]]


def page(seed: str, links: Iterable[str], head: str = "") -> Answered:
    """Return a page whose text no other seed's has."""
    listed = "".join(f"<li><a href='{link}'>x</a>" for link in links)
    html = (
        f"<html lang=th><head>{head}<title>{seed}</title></head><p>{THAI}{words(seed)}<ul>{listed}"
    )
    return 200, html, {}


def number_of(path: str) -> int | None:
    name = path.removeprefix("/p")
    return int(name) if name.isdecimal() and int(name) < PAGES else None


class TwinWeb:
    """``asked`` counts the requests for pages by host."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._lock = Lock()
        self._visits = 0

        def answer(host: str, target: str) -> Answered:
            if target == "/robots.txt" or target.startswith("/.well-known"):
                return 404, "", {}
            with self._lock:
                self.asked[host] += 1
                self._visits += 1
            kind = host.removeprefix("www.").partition(".")[0]
            found: Callable[[str, str, str], Answered] = getattr(self, kind)
            path, _, query = target.partition("?")
            return found(host, path, query)

        class Handler(QuietHandler):
            @override
            def do_GET(self) -> None:
                host = self.headers["Host"].partition(":")[0]
                status, html, headers = answer(host, self.path)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(html.encode())))
                self.end_headers()
                self.wfile.write(html.encode())

        self._server = WebServer(Handler)

    def __enter__(self) -> TwinWeb:
        self._server.start()
        os.environ[PORT] = str(self._server.server_port)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()
        del os.environ[PORT]

    def _both(self, names: tuple[str, str], site: str, path: str, *more: str) -> Answered:
        links = [f"http://{name}/p{n}" for n in range(PAGES) for name in names]
        found = number_of(path)
        if path != "/" and found is None:
            return 404, "", {}
        return page(f"{site}{path}", [*links, *more])

    def pair(self, host: str, path: str, query: str) -> Answered:
        """One site with and without www."""
        return self._both(("pair.example", "www.pair.example"), "pair", path)

    def main(self, host: str, path: str, query: str) -> Answered:
        """A site that has a mirror under another name, which has a page more."""
        names = ("main.example", "mirror.example")
        return self._both(names, "main", path, "http://mirror.example/only")

    def mirror(self, host: str, path: str, query: str) -> Answered:
        if path == "/only":
            return page("only", [])
        return self.main(host, path, query)

    def moved(self, host: str, path: str, query: str) -> Answered:
        """A site whose bare name redirects to www, and whose pages link to the bare one."""
        if not host.startswith("www."):
            return 301, "", {"Location": f"http://www.moved.example{path}"}
        return self._both(("moved.example", "www.moved.example"), "moved", path)

    def parting(self, host: str, path: str, query: str) -> Answered:
        """Two names whose first pages are alike, and the others aren't."""
        names = ("parting.example", "www.parting.example")
        is_alike = path == "/" or (number_of(path) or 99) < 4
        return self._both(names, "parting" if is_alike else host, path)

    def canonical(self, host: str, path: str, query: str) -> Answered:
        """Pages with a parameter that changes nothing, as their canonical URL says."""
        links = [f"/p{n}{how}" for n in range(PAGES) for how in ("?view=list", "")]
        head = f"<link rel=canonical href='{path}'>"
        return page(f"canonical{path}", links, head)

    def wrong(self, host: str, path: str, query: str) -> Answered:
        """Pages that all say that the front page is their canonical URL."""
        head = "<link rel=canonical href='http://wrong.example/'>"
        return page(f"wrong{path}", [f"/p{n}" for n in range(PAGES)], head)

    def session(self, host: str, path: str, query: str) -> Answered:
        """Links with a session that is another one on each page, under a name nobody knows."""
        token = f"a{self._visits:06d}9z{self._visits * 7919:08d}"
        links = [f"/p{n}?zkid={token}&x=1" for n in range(PAGES)]
        return page(f"session{path}", links)

    def query(self, host: str, path: str, query: str) -> Answered:
        """Pages that are told apart by a parameter with long values."""
        number = (parse_qs(urlsplit(f"?{query}").query).get("id") or ["front"])[0]
        return page(f"query{number}", [f"/show?id=article{n:08d}x" for n in range(PAGES)])


class Resolver(ToLoopback):
    """Leads each name to this web."""

    @override
    def port(self, name: str, port: int) -> int:
        return int(os.environ[PORT])
