"""The webs of ``farms`` over HTTP, all of them on this machine, and crawls of them."""

from __future__ import annotations

import os
from hashlib import blake2b
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, Self

from typing_extensions import override

from tests import forks
from tests.hostile.farms import SEEDS, host_of, kind_of
from tests.resolvers import OverNames
from tests.scenarios.site import ENGLISH, ROOT, THAI, environment, page, words
from tests.web_server import QuietHandler, WebServer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.hostile.farms import Page, Web

PORT = "LSWC_TEST_FARM_PORT"


class FarmResolver(OverNames):
    """Gives each name an address of its own; what the crawl's filter passes leads to the web."""

    @override
    def addresses(self, name: str) -> Sequence[str]:
        one, two, three = blake2b(name.encode(), digest_size=3).digest()
        return [f"93.{one}.{two}.{three}"]

    @override
    def leads(self, name: str, port: int, address: str) -> int:
        return int(os.environ[PORT])


class FarmWeb:
    """Serves a web, and notes the URLs of pages that are ``asked`` for, in order.

    The first relevant page after so many, ``since``, also links to ``entry``: one that wasn't asked
    for before. A crawl asks for some pages again, to see whether the network lies, and what these
    link to then isn't read.
    """

    def __init__(self, web: Web, entry: str = "", since: int = 0) -> None:
        self.asked: list[str] = []
        asked, entries, one_at_a_time = self.asked, [entry] if entry else [], Lock()

        class Handler(QuietHandler):
            @override
            def do_GET(self) -> None:
                url = f"http://{self.headers['Host']}{self.path}"
                is_page = self.path == "/" or self.path[1:].isdecimal()
                found = web[kind_of(host_of(url))](url, Random(url)) if is_page else None
                if found:
                    with one_at_a_time:
                        is_new = url not in asked
                        asked.append(url)
                        if entries and is_new and found.relevant and len(asked) > since:
                            found.links.append(entries.pop())
                self.send_response(200 if found else 404)
                body = _body(url, found) if found else b""
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)

        self._server = WebServer(Handler)

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop()

    def crawl(self, folder: Path, **settings: object) -> None:
        """Crawl the web to its end, or as far as the settings say."""
        seeds = folder / "seeds.txt"
        seeds.write_text("\n".join(SEEDS))
        given = {
            "LSWC_CRAWL": folder / "crawl",
            "LSWC_PROFILE": "adaptive",
            "LSWC_CONTACT": "crawl@library.example",
            "LSWC_TRY_AGAIN": "",
            "LSWC_READERS": 0,
            "TWISTED_DNS_RESOLVER": "tests.hostile.farm_web.FarmResolver",
            "CONCURRENT_REQUESTS": 16,
            "DOWNLOAD_DELAY": 0,
            "LSWC_DELAY_FACTOR": 0,  # however slow this machine is, no honest host rests
            **settings,
        }
        lines = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
        command = ["crawl", "lswc", "-a", "lang=th", "-a", f"seeds={seeds}", *lines]
        done = forks.run(command, ROOT, {**environment(), PORT: str(self._server.server_port)})
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr

    def kinds(self) -> list[str]:
        """Return the kinds of the hosts that were asked, in order."""
        return [kind_of(host_of(url)) for url in self.asked]


def _body(url: str, made: Page) -> bytes:
    about = "farm" if "same-" in url else url
    text = THAI + words(about) if made.relevant else f"{ENGLISH} {Random(url).random()}"
    return page(text, *made.links).encode()
