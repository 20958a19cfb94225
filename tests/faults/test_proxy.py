"""A crawl by a proxy that dies for a while, or wants a login: no page is lost for it."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection
from time import sleep
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from tests.faults.lies import GOOD, PORT, Crawl, LyingWeb, result, url, web
from tests.ports import free_port
from tests.web_server import QuietHandler, WebServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SERVERS = 20
SEEDS = [url(number, SERVERS) for number in range(SERVERS)]


class Proxy:
    """Passes requests on to a web on loopback, or says ``status`` to all; ``asked`` counts them.

    While it is ``mute`` it closes each connection at once.
    """

    def __init__(self, web: LyingWeb) -> None:
        self.port, self.status, self.asked = free_port(), 0, 0
        self.mute = False
        self._server: WebServer | None = None
        proxy, to = self, int(web.environment[PORT])

        class Handler(QuietHandler):
            @override
            def do_GET(self) -> None:
                proxy.asked += 1
                if proxy.mute:
                    self.close_connection = True
                    return
                if proxy.status:
                    self.send_response(proxy.status)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                with closing(HTTPConnection("127.0.0.1", to, timeout=10)) as server:
                    path = "/" + self.path.split("/", 3)[3]
                    server.request("GET", path, headers=dict(self.headers.items()))
                    answer = server.getresponse()
                    body = answer.read()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)

        self._handler = Handler

    def start(self) -> None:
        self._server = WebServer(self._handler, self.port)
        self._server.start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None


class Proxied(Crawl):
    """A crawl that goes by a proxy."""

    def __init__(self, web: LyingWeb, folder: Path, proxy: Proxy) -> None:
        super().__init__(
            web, folder, *SEEDS, DOWNLOAD_DELAY=0.3, HTTPPROXY_ENABLED=1, LSWC_TRY_AGAIN="",
            LSWC_ALLOWED_NETWORKS="127.0.0.0/8", LSWC_ALLOWED_PORTS=f"80,{proxy.port}",
        )  # fmt: skip
        # Nothing but the proxy is to be connected to, whatever name is looked up.
        self._environment = {PORT: str(proxy.port), "http_proxy": f"http://127.0.0.1:{proxy.port}"}


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[tuple[Proxied, Proxy]]:
    with LyingWeb(web(SERVERS, 4)) as served:
        proxy = Proxy(served)
        with closing(Proxied(served, tmp_path / "crawl", proxy)) as crawl:
            yield crawl, proxy
        proxy.stop()


def test_a_proxy_that_is_away_for_a_while(proxy: tuple[Proxied, Proxy]) -> None:
    crawl, by = proxy
    by.start()
    crawl.start()
    crawl.wait_until(lambda: by.asked > 60)
    by.stop()
    crawl.wait_until(lambda: "offline" in crawl.log)
    sleep(2.5)  # it is knocked at some times, and nobody listens there
    by.start()
    assert result(crawl.finish(), crawl) == GOOD, crawl.log
    assert "online again" in crawl.log


def test_a_proxy_that_opens_its_port_and_says_nothing(proxy: tuple[Proxied, Proxy]) -> None:
    crawl, by = proxy
    by.start()
    crawl.start()
    crawl.wait_until(lambda: by.asked > 60)
    by.mute = True
    crawl.wait_until(lambda: "offline" in crawl.log)
    by.mute = False
    assert result(crawl.finish(), crawl) == GOOD, crawl.log
    assert "online again" in crawl.log


def test_a_crawl_begins_before_its_proxy(proxy: tuple[Proxied, Proxy]) -> None:
    crawl, by = proxy
    crawl.start()
    crawl.wait_until(lambda: "offline" in crawl.log)
    by.start()
    assert result(crawl.finish(), crawl) == GOOD, crawl.log


def test_a_proxy_that_wants_a_login_ends_the_crawl(proxy: tuple[Proxied, Proxy]) -> None:
    crawl, by = proxy
    by.start()
    crawl.start()
    crawl.wait_until(lambda: by.asked > 60)
    by.status = 407
    assert crawl.finish() == 1, crawl.log
    assert "the proxy http://127.0.0.1" in crawl.log
    assert "wants a login (status 407)" in crawl.log
    assert "Traceback" not in crawl.log
    by.status = 0
    crawl.start()
    assert result(crawl.finish(), crawl) == GOOD, crawl.log
