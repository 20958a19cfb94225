"""Crawls of hosts that want cookies: each is had whole, and no page depends on another."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.archive.reading import records
from tests.scenarios.cookie_web import PAGES, CookieWeb
from tests.scenarios.host_web import by_host
from tests.scenarios.site import Site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

WALLS = ("itself", "bounce", "probe", "added", "refresh", "expiring", "flood", "several", "splash")
DOORWAYS = ("post", "get", "gate", "enter")
LANGUAGES = ("param", "setlang")
OTHERS = ("leaky", "session", "login", "folders", "delete", "never", "mixed")
WHOLE = PAGES + 1


def crawl(site: Site, order: int, *hosts: str, **settings: object) -> CookieWeb:
    """Crawl hosts whose pages name their links in one of many orders."""
    with CookieWeb(order) as web:
        web.crawl(site, hosts, LSWC_MAX_DUPLICATES=0, **settings)
    return web


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[CookieWeb, Site]]:
    made = []
    for order in (1, 2):
        folder = tmp_path_factory.mktemp("cookies")
        site = Site(folder / "web", folder / "crawl")
        made.append((crawl(site, order, *WALLS, *DOORWAYS, *LANGUAGES, *OTHERS), site))
    return made


def test_hosts_are_had_whole_behind_their_walls(crawls: list[tuple[CookieWeb, Site]]) -> None:
    for web, site in crawls:
        pages = by_host(site.records)
        for host in WALLS + DOORWAYS:
            assert len(pages[host]) == WHOLE, host
            sent = [bool(record["cookies"]) for record in pages[host]]
            assert sent.count(True) >= WHOLE - (host == "enter"), host
            most = 2 * WHOLE if host == "expiring" else WHOLE + 10
            assert web.asked[f"{host}.example"] <= most, host


def test_a_language_that_a_cookie_sets_is_that_of_all_pages(
    crawls: list[tuple[CookieWeb, Site]],
) -> None:
    for web, site in crawls:
        pages = by_host(site.records)
        for host in LANGUAGES:
            assert Counter(record["language"] for record in pages[host]) == {"th": WHOLE}, host
            assert web.asked[f"{host}.example"] <= WHOLE + 4, host
        assert {record["language"] for record in pages["leaky"]} == {"th"}


def test_pages_are_the_same_in_whatever_order(crawls: list[tuple[CookieWeb, Site]]) -> None:
    one, other = (
        {record["url"]: (record["simhash"], record["language"]) for record in site.records}
        for _, site in crawls
    )
    assert one == other


def test_what_needs_no_cookie_is_sent_none(crawls: list[tuple[CookieWeb, Site]]) -> None:
    for web, site in crawls:
        pages = by_host(site.records)
        for host in ("leaky", "session", "login", "folders", "delete"):
            assert {record["cookies"] for record in pages[host]} == {""}, host
        assert len(pages["delete"]) == 2, "nobody pressed its button"
        assert set(web.cookies["leaky.example"]) == set(web.cookies["delete.example"]) == {""}
        assert all("seen" not in said for said in web.cookies["session.example"])


def test_a_wall_that_never_opens_is_tried_three_times_and_told(
    crawls: list[tuple[CookieWeb, Site]],
) -> None:
    for web, site in crawls:
        assert site.summary["finished"]["cookie wall"] == 1 + PAGES
        assert web.asked["mixed.example"] <= 3 + PAGES + 3 * 3
        [without] = site.summary["without_page"]["first"]
        assert (without["name"], without["reasons"]) == ("never.example", {"cookie wall": 1})


def test_the_request_of_the_archive_has_what_was_sent(
    crawls: list[tuple[CookieWeb, Site]],
) -> None:
    _, site = crawls[0]
    read = records(site.folder)
    asked = {r.url: dict(r.http).get("Cookie") for r in read if r.type == "request"}
    assert asked["http://itself.example/p1"] == "seen=1"
    answered = Counter(r.url for r in read if r.type == "response" and r.status.startswith("200"))
    assert set(answered.values()) == {1}, "no doorway stands for the page behind it"


def test_what_was_learned_is_kept_for_the_next_run(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    crawl(site, 1, "itself", CLOSESPIDER_PAGECOUNT=9)
    assert len(site.records) < WHOLE
    web = crawl(site, 1, "itself")
    assert len(site.records) == WHOLE
    assert all("seen=1" in said for said in web.cookies["itself.example"])


def test_without_cookies_a_wall_is_a_redirect(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    web = crawl(site, 1, "itself", "post", COOKIES_ENABLED=0)
    assert set(by_host(site.records)) == {"post"}
    assert {said for host in web.cookies.values() for said in host} == {""}
