"""Crawls of hosts that other crawlers lost: each is had whole, and ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.odd_web import LISTINGS
from tests.scenarios.reported_web import PAGES, ReportedWeb
from tests.scenarios.site import Site
from tests.scenarios.test_odd_hosts import host

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

WHOLE = PAGES + 1
HOSTS = {  # and how many requests each may take beyond its pages
    "ticket": 8, "visited": 8, "header": 4, "waiting": 6, "stairs": 14, "values": 6, "turning": 6,
    "clicked": 6, "foreign": 6, "quiet": 6,
    "stamped": 4 * WHOLE, "growing": 4 * WHOLE, "chain": 3 * WHOLE, "barred": 12,
    "missing": 2 * WHOLE, "said": WHOLE, "folder": 2 * WHOLE, "times": 20, "sources": 30,
}  # fmt: skip
TWICE = {"times", "sources"}  # before it is known what changes nothing


@pytest.fixture(scope="module", params=[1, 2])
def crawled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ReportedWeb, Site]:
    folder: Path = tmp_path_factory.mktemp("reported")
    site = Site(folder / "web", folder / "crawl")
    with ReportedWeb(request.param) as web:
        web.crawl(site, [*HOSTS, "megabyte"], LSWC_MAX_DUPLICATES=0, CLOSESPIDER_PAGECOUNT=2_000)
    return web, site


def test_each_host_is_had_whole(crawled: tuple[ReportedWeb, Site]) -> None:
    web, site = crawled
    pages = Counter(host(url) for url in site.urls)
    texts, languages = defaultdict(set), defaultdict(set)
    for record in site.records:
        texts[host(record["url"])].add(record["simhash"])
        languages[host(record["url"])].add(record["language"])
    for name, more in HOSTS.items():
        assert len(texts[name]) == WHOLE, name
        assert languages[name] == {"th"}, name
        assert pages[name] <= (2 * WHOLE + 4 if name in TWICE else WHOLE + 3), name
        assert web.asked[f"{name}.example"] <= WHOLE + more, name


def test_what_only_broken_listings_name_is_had(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    with ReportedWeb() as web:
        web.crawl(site, ["named", "again"], LSWC_MAX_DUPLICATES=0, LSWC_SITEMAPS=1)
    pages = Counter(host(url) for url in site.urls)
    assert pages == {"named": 1 + 3 * len(LISTINGS), "again": WHOLE}
    assert web.asked["again.example"] == WHOLE + 1


def test_cookies_for_others_are_never_sent(crawled: tuple[ReportedWeb, Site]) -> None:
    web, _ = crawled
    assert set(web.cookies["foreign.example"]) <= {"", "ok=1"}


def test_a_cookie_as_long_as_no_browser_takes_it_has_its_reason(
    crawled: tuple[ReportedWeb, Site],
) -> None:
    web, site = crawled
    told = {one["name"]: one["reasons"] for one in site.summary["without_page"]["first"]}
    assert told["megabyte.example"] == {"headers too large": 1}
    assert web.asked["megabyte.example"] == 1
