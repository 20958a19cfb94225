"""Web of the machine: servers that answer as it decides, in this process, without a network."""

from __future__ import annotations

import asyncio
import random
import socket
from collections import Counter, defaultdict
from typing import Any
from urllib.parse import urlsplit

from twisted.internet.address import IPv4Address
from typing_extensions import override

from lswc.crawl.web.shapes import Shape
from lswc.outcomes import Outcome
from tests.scenarios.site import ENGLISH, THAI
from tests.scenarios.site import words as only_words
from tests.scenarios.test_wire_shapes import CUT, WHOLE

HOSTS = 6
LATENCY = 1.0
"""Seconds that a server takes to answer."""

DELAY, REST, CRAWL_DELAY, RETRY_AFTER, BACKOFF = 1.0, 5 * LATENCY, 15.0, 40.0, 25.0
"""Seconds that a server rests at least: where it hangs up, after an answer, and as it asks for."""

_TURNS = 0.05  # seconds of latency that the turns of the loop may take

SHAPES = {name: Shape(**{**given, "codings": tuple(given["codings"])})
          for name, given in (WHOLE | CUT).items()}  # fmt: skip

IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(40)


def host(number: int) -> str:
    """Return the host of a page."""
    return f"www.h{number % HOSTS}.co.th"


def url(number: int) -> str:
    """Return the URL of a page."""
    return f"http://{host(number)}/{number}.html"


def links(number: int, pages: int) -> list[str]:
    """Return where a page leads: deeper, back, and to what no crawl asks for."""
    inside = [url(n) for n in (2 * number + 1, 2 * number + 2, number // 3) if n < pages]
    return [*inside, f"http://{host(number)}:99/{number}", f"/a/{number}/a/{number}/a/a/a/a"]


def html(number: int, pages: int) -> str:
    """Return a page, unlike any other; every fifth is in another language."""
    words = (ENGLISH if number % 5 == 4 else THAI).split() * 12
    random.Random(number).shuffle(words)
    listed = "".join(f'<a href="{link}">{number}</a> ' for link in links(number, pages))
    text = " ".join([*(f"{word}{number}" for word in words), only_words(number)])
    return f'<title>t{number}</title><p>{text}<img src="/{number % 3}.png">{listed}'


PAGES_OF: dict[str, tuple[str, ...]] = {
    "html": ("page", "cut", "nofollow"),
    "redirect": ("redirect", "redirect out"),
    "redirect loop": ("redirect loop",),
    "status 404": ("404",),
    "status 500": ("500",),
    "status 503": ("503", "busy"),
    "status 429": ("429",),
    "timeout": ("hang", "slow body"),
    "download failed": ("reset", "garbage"),
    "not HTML": ("image",),
    "broken compression": ("broken gzip", "cut"),
    "reader died": ("page", "cut", "nofollow", "image"),
    "reading too long": ("page", "cut", "nofollow", "image"),
}
"""By outcome which answers end a page so."""

ANSWERS = ("page", "cut", "nofollow", "redirect", "redirect loop", "redirect out", "404", "500",
           "503", "429", "hang", "slow body", "reset", "garbage", "image",
           "broken gzip", "busy")  # fmt: skip
ROBOTS = ("none", "all", "some", "nothing", "500", "cut", "redirect", "hang", "slow crawl")
FORBIDDEN = "/1"
"""What the paths begin with that the robots.txt "some" forbids."""
NAMES = ("found", "none", "unanswered", "refuses", "silent")


class Web:
    """Servers of ``pages`` pages; ``answers``, ``robots`` and ``names`` are what is planned.

    ``answered`` counts for each URL how it was answered.
    """

    def __init__(self, pages: int, salt: int) -> None:
        self.pages = pages
        self._shapes = random.Random(salt)
        self.answers: dict[str, str] = {}
        self.robots: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.online = True
        self.answered: dict[str, Counter[str]] = defaultdict(Counter)
        self.met: dict[str, set[str]] = defaultdict(set)  # names and robots, by host
        self.wrong: list[str] = []
        self.begin()

    def begin(self) -> None:
        """Forget what the process of before asked for."""
        self.open: Counter[str] = Counter()
        self.rules: dict[str, str] = {}
        self.rests: dict[str, float] = {}
        self.asked: list[tuple[float, str]] = []

    def heal(self) -> None:
        """Plan nothing but pages."""
        self.answers.clear()
        self.robots.clear()
        self.names.clear()
        self.online = True

    # What the transport finds: names, ports, servers.

    def state(self, name: str) -> str:
        """Return what becomes of a name or port."""
        found = self.names.get(name, "found") if self.online else "unanswered"
        self.met[name].add(found)
        return found

    def address(self, name: str) -> str:
        return f"93.184.1.{int(name[5]) + 1}"

    async def connect(self, infos: list[Any], **_: object) -> socket.socket:
        """Take the place of ``aiohappyeyeballs.start_connection``."""
        ip, port = infos[0][4]
        name = host(int(ip.rpartition(".")[2]) - 1)
        state = self.state(name)
        if state == "silent" or not self.online:
            await asyncio.sleep(1e6)
        if state == "refuses" or port != 80:
            raise ConnectionRefusedError(111, "refused")
        ours, theirs = socket.socketpair()
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: _Server(self), sock=theirs)
        return _Peer(ip, fileno=ours.detach())


class Resolving:
    """Names by the web, as Twisted asks for them."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self.refusals: Any = {}

    def resolveHostName(self, receiver: Any, name: str, port: int = 0, *_: Any, **__: Any) -> Any:
        state = self._web.state(name)
        receiver.resolutionBegan(None)
        if state == "none":
            self.refusals[name, port] = Outcome.NAME_NOT_RESOLVED
        elif state == "unanswered":
            self.refusals.pop((name, port), None)
        else:
            receiver.addressResolved(IPv4Address("TCP", self._web.address(name), port))
        receiver.resolutionComplete()


class _Peer(socket.socket):
    """An end of a pair of sockets that says it leads to an address."""

    def __init__(self, ip: str, **given: Any) -> None:
        super().__init__(**given)
        self._ip = ip

    @override
    def getpeername(self) -> Any:
        return self._ip, 80


class _Server(asyncio.Protocol):
    """A server's end of a connection."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._data = b""
        self._server = ""

    @override
    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        self._data += data
        while b"\r\n\r\n" in self._data:
            head, _, self._data = self._data.partition(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            name = next(line[6:] for line in lines if line.startswith("Host: "))
            self._ask(name, first.split()[1])

    def _ask(self, name: str, path: str) -> None:
        web, address, now = self._web, f"http://{name}{path}", _now()
        web.asked.append((now, address))
        if now < web.rests.get(name, 0.0):
            web.wrong.append(f"{address} was asked for while its server rests")
        if web.open[name]:
            web.wrong.append(f"{address} was asked for beside another URL of its server")
        web.open[name] += 1
        self._server = name
        asyncio.get_running_loop().call_later(LATENCY, self._answer, name, path, address)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._done()

    def _done(self) -> None:
        if self._server:
            self._web.open[self._server] -= 1
        self._server = ""

    def _answer(self, name: str, path: str, address: str) -> None:
        if self._transport.is_closing():
            return
        kind, said, closes = self._said(name, path, address)
        if kind == "hang":
            return
        self._transport.write(said)
        if kind == "slow body":
            return
        self._rest(name, kind)
        self._done()
        if closes:
            self._transport.close()

    def _rest(self, name: str, kind: str) -> None:
        asked = {"503": RETRY_AFTER, "429": RETRY_AFTER, "busy": BACKOFF}.get(kind, 0.0)
        slow = CRAWL_DELAY if self._web.rules.get(name) == "slow crawl" else 0.0
        least = DELAY if kind in ("reset", "garbage") else REST
        self._web.rests[name] = _now() + max(least, asked, slow) - _TURNS

    def _said(self, name: str, path: str, address: str) -> tuple[str, bytes, bool]:
        web = self._web
        if path == "/robots.txt":
            kind = web.robots.get(name, "none")
            web.met[name].add(f"robots {kind}")
            if kind != "hang":
                web.rules[name] = kind
            return kind, *_robots(kind)
        if path == "/sitemap.xml":
            return "listing", *_listing(name, web.pages)
        rules = web.rules.get(name, "never asked for")
        forbids = rules in ("nothing", "never asked for")
        if forbids or (rules == "some" and path.startswith(FORBIDDEN)):
            web.wrong.append(f"{address} was asked for, and robots.txt: {rules}")
        if path.endswith(".png"):
            return "image", *_plain("200 OK", IMAGE, "Content-Type: image/png")
        number = number_of(address)
        if number is None or number >= web.pages:  # as one that is asked for since there isn't one
            return "404", *_plain("404 Not Found")
        kind = web.answers.get(address, "page")
        web.answered[address][kind] += 1
        return kind, *self._page(kind, number)

    def _page(self, kind: str, number: int) -> tuple[bytes, bool]:
        web = self._web
        if kind in ("page", "cut", "nofollow"):
            names = sorted(CUT if kind == "cut" else WHOLE)
            shape = SHAPES[web._shapes.choice(names)]
            headers = [(b"Content-Type", b"text/html; charset=utf-8")]
            if kind == "nofollow":
                headers.append((b"X-Robots-Tag", b"nofollow"))
            return shape.written(headers, html(number, web.pages).encode()), shape.closes
        if kind in ("404", "500"):
            return _plain(f"{kind} No", b"<p>no")
        if kind == "busy":
            return _plain("503 Later", b"<p>no")
        if kind in ("503", "429"):
            return _plain(f"{kind} Later", b"<p>no", f"Retry-After: {RETRY_AFTER:.0f}")
        if kind.startswith("redirect"):
            to = {
                "redirect": url((number * 7 + 3) % web.pages),
                "redirect loop": url(number),
                "redirect out": f"http://{host(number)}:99/",
            }[kind]
            return _plain("302 Found", b"", f"Location: {to}")
        return {
            "hang": (b"", False),
            "slow body": (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", False),
            "reset": (b"", True),
            "garbage": (b"220 ftp here\r\n\r\n", True),
            "image": _plain("200 OK", IMAGE, "Content-Type: image/png"),
            "broken gzip": _plain("200 OK", b"no gzip at all",
                                  "Content-Type: text/html", "Content-Encoding: br"),
        }[kind]  # fmt: skip


def _now() -> float:
    return asyncio.get_running_loop().time()


def _plain(status: str, body: bytes = b"", *headers: str) -> tuple[bytes, bool]:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body, False


def _robots(kind: str) -> tuple[bytes, bool]:
    allowed = "User-agent: *\nDisallow: /private/\n"
    return {
        "none": _plain("404 Not Found"),
        "all": _plain("200 OK", allowed.encode()),
        "some": _plain("200 OK", f"User-agent: *\nDisallow: {FORBIDDEN}\n".encode()),
        "nothing": _plain("200 OK", b"User-agent: *\nDisallow: /\n"),
        "500": _plain("500 No"),
        "cut": (b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nUser-agent: *\nDis", True),
        "redirect": _plain("302 Found", b"", f"Location: http://{host(0)}/robots.txt"),
        "hang": (b"", False),
        "slow crawl": _plain("200 OK", f"{allowed}Crawl-delay: {CRAWL_DELAY:.0f}\n".encode()),
    }[kind]  # fmt: skip


def _listing(name: str, pages: int) -> tuple[bytes, bool]:
    """Return a server's sitemap, which every other server has; one isn't XML."""
    number = int(name[5])
    if number % 2:
        return _plain("404 Not Found")
    places = "".join(f"<url><loc>{url(n)}</loc></url>" for n in range(number, pages, HOSTS))
    xmlns = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<urlset xmlns="{xmlns}">{places}</urlset>' if number else "<p>no sitemap"
    return _plain("200 OK", text.encode(), "Content-Type: application/xml")


def number_of(address: str) -> int | None:
    """Return the number of a page, None of what is none."""
    name = urlsplit(address).path.removeprefix("/").removesuffix(".html")
    return int(name) if name.isdecimal() and url(int(name)) == address else None
