"""One web on loopback that others answer for, as long as a test says so, and crawls of it."""

from __future__ import annotations

import os
import socket
import struct
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Event
from time import sleep
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from lswc.crawl.transport.resolver import Resolver
from tests.faults.running import RunningCrawl
from tests.resolvers import resolve
from tests.scenarios.site import THAI, Site, words
from tests.web_server import QuietHandler, WebServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Self

PORT = "LIES_PORT"
OTHERS = 10.0
"""Seconds for which answers wait until all workers ask. One can't give sites that it is asking."""
PORTAL = "login.portal.test"
LOGIN = f"<html><title>Wi-Fi</title><p>{'Please log in to use this network. ' * 5}</p>"


class Names(Resolver):
    """For ``TWISTED_DNS_RESOLVER``: each name leads to the web."""

    @override
    def resolveHostName(
        self, resolutionReceiver: Any, hostName: str, portNumber: int = 0, *_: Any, **__: Any
    ) -> Any:
        return resolve(resolutionReceiver, hostName, ["127.0.0.1"], int(os.environ[PORT]))


@dataclass
class Answer:
    """What is answered: a ``cut`` body is reset in its middle."""

    status: int
    body: bytes
    location: str = ""
    cut: bool = False


def portal(address: str, truth: Answer) -> Answer:
    return Answer(200, LOGIN.encode())


def redirect(address: str, truth: Answer) -> Answer:
    if address.startswith(f"http://{PORTAL}/"):
        return portal(address, truth)
    return Answer(302, b"", f"http://{PORTAL}/?from={len(address)}")


def empty(address: str, truth: Answer) -> Answer:
    return Answer(200, b"")


def parking(address: str, truth: Answer) -> Answer:
    name = address.split("/")[2]
    text = f"{name} may be for sale. " + "Related searches: flights, hotels, insurance, loans. " * 9
    return Answer(200, f"<html><title>{name}</title><p>{text}</p>".encode())


def reset(address: str, truth: Answer) -> Answer:
    return Answer(truth.status, truth.body, cut=bool(truth.body))


LIES = {lie.__name__: lie for lie in (portal, redirect, empty, parking, reset)}


class LyingWeb:
    """Serves ``pages`` by their URLs, and robots.txt that disallows all below /no/.

    While ``lie`` is set, it makes of each true answer what is said instead. ``asked`` are the URLs
    asked for in order, and whether they were answered truly. Answers wait until so many
    ``workers`` have asked, each with a User-Agent of its own: none is done before another begins.
    """

    def __init__(self, pages: dict[str, str], workers: int = 1) -> None:
        self.lie: Callable[[str, Answer], Answer] | None = None
        self.pages = pages
        self.asked: list[tuple[str, bool]] = []
        self.asked_by: Counter[str] = Counter()
        self._lies: Callable[[], bool] = lambda: False
        self._next_lie: Callable[[str, Answer], Answer] | None = None
        self._workers, self._all_ask = workers, Event()
        web = self

        class Handler(QuietHandler):
            @override
            def do_GET(self) -> None:
                address = f"http://{self.headers['Host']}{self.path}"
                answer = web.answer(address, self.headers["User-Agent"])
                self.send_response(answer.status)
                if answer.location:
                    self.send_header("Location", answer.location)
                kind = "text/plain" if answer.body.startswith(b"User") else "text/html"
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(answer.body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(answer.body[: len(answer.body) // (2 if answer.cut else 1)])
                if answer.cut:
                    self.wfile.flush()
                    sleep(0.05)  # so that what was sent is read before the reset
                    linger = struct.pack("ii", 1, 0)
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    self.close_connection = True

        class Server(WebServer):
            @override
            def shutdown_request(self, request: Any) -> None:
                request.close()  # no end of sending before: a reset is one

        self._server = Server(Handler)

    def answer(self, address: str, agent: str) -> Answer:
        self.asked_by[agent] += 1
        if len(self.asked_by) >= self._workers:
            self._all_ask.set()
        self._all_ask.wait(OTHERS)
        if self._next_lie is not None and self._lies():
            self.lie, self._next_lie = self._next_lie, None
        lie = self.lie
        truth = self._truth(address)
        answer = truth if lie is None else lie(address, truth)
        self.asked.append((address, answer == truth))
        return answer

    def _truth(self, address: str) -> Answer:
        if address.endswith("/robots.txt"):
            return Answer(200, b"User-agent: *\nDisallow: /no/\n")
        if address.startswith(f"http://{PORTAL}/"):
            return Answer(200, LOGIN.encode())
        body = self.pages.get(address)
        return Answer(404, b"<p>Not Found") if body is None else Answer(200, body.encode())

    def disallowed(self) -> int:
        """Return how many URLs were asked for that robots.txt disallows, of the true servers."""
        return sum("/no/" in address and is_true for address, is_true in self.asked)

    def lie_once(self, holds: Callable[[], bool], lie: Callable[[str, Answer], Answer]) -> None:
        """Lie from the request on at which something holds."""
        self._lies, self._next_lie = holds, lie

    def lie_after(self, asked: int, lie: Callable[[str, Answer], Answer]) -> None:
        """Lie once so many requests were answered."""
        self.lie_once(lambda: len(self.asked) >= asked, lie)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._all_ask.set()
        self._server.stop()

    @property
    def environment(self) -> dict[str, str]:
        return {PORT: str(self._server.server_port)}


def page(number: int, *links: str, said: str = "") -> str:
    listed = "".join(f'<li><a href="{link}">{number}</a>' for link in links)
    said = THAI + (said or words(number))
    return f"<html><title>t{number}</title><p>{said}</p><ul>{listed}</ul></html>"


def url(number: int, servers: int) -> str:
    return f"http://www.s{number % servers}.test/{number // servers}.html"


def web(servers: int = 40, of_each: int = 12) -> dict[str, str]:
    """Return pages by URL, each reachable from the first.

    A third links to what is disallowed, another one to what isn't there: all say that alike.
    """
    total = servers * of_each
    pages = {}
    for n in range(total):
        links = [url(m, servers) for m in (2 * n + 1, 2 * n + 2) if m < total]
        if n % 3 == 0:
            links.append(f"http://www.s{n % servers}.test/no/{n}.html")
        if n % 3 == 1:
            links.append(f"http://www.s{n % servers}.test/none/{n}.html")
        pages[url(n, servers)] = page(n, *links)
    return pages


class Crawl(RunningCrawl):
    """A crawl of a web in a process of its own."""

    def __init__(self, web: LyingWeb, folder: Path, *seeds: str, **settings: object) -> None:
        self.web = web
        given = {
            "DOWNLOAD_DELAY": 2,  # an answer is held as long, and a busy machine is slow
            "LSWC_DELAY_FACTOR": 0,
            "TWISTED_DNS_RESOLVER": "tests.faults.lies.Names",
        }
        super().__init__(web, folder, seeds, given | settings)

    @property
    def records(self) -> list[dict[str, Any]]:
        return Site(self.folder.parent, self.folder).records


@contextmanager
def crawl_of(folder: Path, pages: dict[str, str], *seeds: str) -> Iterator[Crawl]:
    """Serve pages for a crawl that is to be started."""
    with LyingWeb(pages) as served, closing(Crawl(served, folder / "crawl", *seeds)) as crawl:
        yield crawl


@dataclass(frozen=True)
class Result:
    """Pages lost, recorded wrong, and recorded twice; disallowed ones asked for; the exit code."""

    lost: int
    wrong: int
    doubled: int
    disallowed: int
    code: int


GOOD = Result(0, 0, 0, 0, 0)


def result(code: int, *crawls: Crawl) -> Result:
    """Return what became of the pages of the web that crawls shared."""
    web = crawls[0].web
    records = [record for crawl in crawls for record in crawl.records]
    found = Counter(record["url"] for record in records)
    wrong = sum(not _is_right(record, web) for record in records)
    lost = sum(address not in found for address in web.pages)
    doubled = sum(number - 1 for number in found.values())
    return Result(lost, wrong, doubled, web.disallowed(), code)


def _is_right(record: dict[str, Any], web: LyingWeb) -> bool:
    body = web.pages.get(record["url"], "")
    said = not record.get("truncated", "")
    return bool(body) and f"<title>{record['title']}</title>" in body and said
