"""A name's address may change between two lookups: the one that is checked is connected to."""

from __future__ import annotations

import socketserver
import sqlite3
from contextlib import closing, contextmanager
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from tests.hostile.rebinding import LOOKUPS, PORTS, PRIVATE
from tests.scenarios.guest_web import PORTS as WEB_PORTS
from tests.scenarios.guest_web import Answer, GuestWeb, serving
from tests.scenarios.site import THAI, Site, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLOSE = {"Connection": "close"}  # so that each request looks its server up
OPEN = {**CLOSE, "TDM-Reservation": "0"}  # so that no tdmrep.json is asked for
PAGE = Answer(page(THAI), headers=OPEN)
EXPECTED = {
    **{f"http://{host}/": "html" for host in PRIVATE},
    **{f"http://{host}/1": "address not public" for host in PRIVATE},
    **{f"http://{host}/2": "html" for host in PRIVATE},
    "http://robots.example/": "address not public",
    "http://retry.example/": "address not public",
    "http://redirect.example/": "redirect",
    "http://target.example/": "address not public",
    "http://mixed.example/": "html",
    "http://mixed.example/1": "html",
    "http://mixed.example/2": "address not public",
}
"""How each URL's request ends; the redirect leads to ``target.example``."""

HUB = "http://hub.example/"


def web() -> GuestWeb:
    linked = [url for url in EXPECTED if url != "http://target.example/"]
    special = {
        HUB: Answer(page(THAI, *linked), headers=OPEN),
        "http://retry.example/": Answer(status=0),
        "http://redirect.example/": Answer(
            status=302, headers={**CLOSE, "Location": "http://target.example/"}
        ),
    }
    robots = {f"http://{host}/robots.txt": Answer(headers=CLOSE) for host in LOOKUPS}
    return GuestWeb({**dict.fromkeys(EXPECTED, PAGE), **robots, **special})


class Trap(socketserver.BaseRequestHandler):
    """Counts the connections that its server takes, and closes them."""

    connections = 0

    @override
    def handle(self) -> None:
        Trap.connections += 1


@contextmanager
def trap() -> Iterator[int]:
    """Listen on loopback while the block lasts; gives the port."""
    Trap.connections = 0
    with socketserver.TCPServer(("127.0.0.1", 0), Trap) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def crawl(folder: Path, **settings: object) -> tuple[dict[str, str], list[str]]:
    """Crawl the names; gives the outcomes and what was recorded."""
    site = Site(folder / "web", folder / "crawl")
    (folder / "seeds.txt").write_text(HUB)
    with (
        trap() as port,
        serving(web(), folder) as environment,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv(PORTS, f"{environment[WEB_PORTS].split()[0]} {port}")
        site.crawl(
            *("-a", f"seeds={folder / 'seeds.txt'}"),
            LSWC_WEB="",
            LSWC_CONTACT="crawl@library.example",
            TWISTED_DNS_RESOLVER="tests.hostile.rebinding.RebindingResolver",
            DNSCACHE_ENABLED=False,
            LSWC_MAX_DUPLICATES=0,
            RETRY_TIMES=1,
            **settings,
        )
    with closing(sqlite3.connect(site.folder / "frontier.db")) as db:
        return dict(db.execute("SELECT url, outcome FROM url")), site.urls


def test_no_name_leads_to_an_address_that_is_not_public(tmp_path: Path) -> None:
    outcomes, recorded = crawl(tmp_path)
    assert Trap.connections == 0
    assert outcomes == {HUB: "html", **EXPECTED}
    assert sorted(recorded) == sorted(url for url, end in outcomes.items() if end == "html")


def test_the_trap_is_there(tmp_path: Path) -> None:
    networks = "127.0.0.0/8,::1/128,::ffff:0:0/96,169.254.0.0/16,10.0.0.0/8,fd00::/8"
    crawl(tmp_path, LSWC_ALLOWED_NETWORKS=networks)
    assert Trap.connections >= len(PRIVATE)
