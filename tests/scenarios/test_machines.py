"""One machine, one queue: however many names it has, and however many workers ask."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.guest_web import Answer, GuestWeb, serving
from tests.scenarios.server_view import address, before_robots, domain, server, too_many
from tests.scenarios.site import BRAKE, ROOT, THAI, Site, environment, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

pytestmark = pytest.mark.slow

HUB = "http://hub-1.example/"
DELAY = 0.3
SHARED = [
    f"http://www-2.shared{number}.example{path}" for number in range(6) for path in ("/", "/1")
]
ONE_DOMAIN = [f"http://h{number}-{3 + number % 4}.one.example/" for number in range(12)]
FREE = [f"http://www-{number}.free{number}.example/" for number in range(7, 10)]
PAGES = [*SHARED, *ONE_DOMAIN, *FREE]
ADDRESSES = [f"127.0.0.{number}" for number in range(2, 10)]


@pytest.fixture
def web() -> GuestWeb:
    pages = {url: Answer(page(THAI), takes=0.1) for url in PAGES}
    return GuestWeb({HUB: Answer(page(THAI, *PAGES)), **pages})


def crawl(web: GuestWeb, folder: Path, workers: int, **settings: object) -> list[str]:
    """Crawl with so many workers, and return the URLs that they recorded."""
    sites = [Site(folder / "web", folder / f"crawl{number}") for number in range(workers)]
    sites[0].add("never.example/", "a web needs a host")
    sites[0].seeds(HUB)
    given = {
        "LSWC_PROFILE": "bfs", "DOWNLOAD_DELAY": DELAY, "LSWC_DELAY_FACTOR": 0,
        "LSWC_MAX_DUPLICATES": 0, "TWISTED_DNS_RESOLVER": "tests.scenarios.guest_web.ByName",
    }  # fmt: skip
    with serving(web, folder, ADDRESSES) as ports:
        started = [
            subprocess.Popen(
                site.command(**given, **settings), cwd=ROOT, env={**environment(), **ports},
                stderr=subprocess.DEVNULL,
            )
            for site in sites
        ]  # fmt: skip
        try:
            assert [process.wait(timeout=BRAKE) for process in started] == [0] * workers
        finally:
            for process in started:
                process.kill()
    return [url for site in sites for url in site.urls]


def check(web: GuestWeb) -> None:
    assert too_many(web.visits, server, 1, DELAY) == []
    assert too_many(web.visits, address, 2, DELAY) == []
    assert too_many(web.visits, domain, 4, 0.0) == []
    assert before_robots(web.visits) == []


def test_machines_and_domains_are_spared(web: GuestWeb, tmp_path: Path) -> None:
    assert sorted(crawl(web, tmp_path, 1)) == sorted([HUB, *PAGES])
    check(web)
    assert too_many(web.visits, address, 1, DELAY), "two at a time come to a machine"


def test_by_two_workers_too(web: GuestWeb, tmp_path: Path, redis_server: RedisServer) -> None:
    found = crawl(web, tmp_path, 2, LSWC_FRONTIER=redis_server.url)
    assert sorted(found) == sorted([HUB, *PAGES])
    check(web)


def test_a_machine_that_fails_is_asked_on(tmp_path: Path) -> None:
    """Each failure to get robots.txt gives back what it holds of the machine."""

    def robots(times: int) -> Answer:
        return Answer(status=404 if times else 0)

    servers = [f"http://www-2.{kind}{n}.example/" for kind in ("fails", "never") for n in range(3)]
    pages: dict[str, Answer | Callable[[int], Answer]] = {
        url: Answer(page(THAI)) for url in servers
    }
    for url in servers:
        pages[f"{url}robots.txt"] = robots if "fails" in url else Answer(status=0)
    web = GuestWeb({HUB: Answer(page(THAI, *servers)), **pages})
    # So many fail in a row that the network is doubted: what fails meanwhile is tried again later.
    found = crawl(web, tmp_path, 1, LSWC_TRY_AGAIN="1")
    assert sorted(found) == sorted([HUB, *servers[:3]])
