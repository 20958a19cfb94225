"""Crawls of odd hosts: each is had whole, once, in whatever order its links come."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.scenarios.odd_web import PAGES, OddWeb
from tests.scenarios.site import Site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

WHOLE = PAGES + 1
HOSTS = {  # and how many requests each may take beyond its pages
    "absolute": 8, "wide": 8, "hops": 8, "coded": 8, "queries": 8, "probing": 8,
    "entry": 4, "yesno": 4, "consent": 8, "referer": 4, "direct": 4, "types": 0,
    "amp": WHOLE, "slashes": WHOLE + 10, "paged": 4, "cookieless": 4, "tokens": 4,
}  # fmt: skip


@pytest.fixture(scope="module", params=[1, 2])
def crawled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[OddWeb, Site]:
    folder: Path = tmp_path_factory.mktemp("odd")
    site = Site(folder / "web", folder / "crawl")
    with OddWeb(request.param) as web:
        web.crawl(site, [*HOSTS, "later", "www.later"], LSWC_MAX_DUPLICATES=0)
    return web, site


def host(url: str) -> str:
    return str(urlsplit(url).hostname).removesuffix(".example")


def test_each_host_is_had_whole_and_once(crawled: tuple[OddWeb, Site]) -> None:
    web, site = crawled
    pages = Counter(host(url) for url in site.urls)
    texts = {host(url): set[str]() for url in site.urls}
    for record in site.records:
        texts[host(record["url"])].add(record["simhash"])
    for name, more in HOSTS.items():
        assert len(texts[name]) >= WHOLE - 1, name
        assert pages[name] <= WHOLE + 3, name
        assert web.asked[f"{name}.example"] <= WHOLE + more, name
    assert {record["language"] for record in site.records} == {"th"}


def test_names_that_part_late_are_both_had(crawled: tuple[OddWeb, Site]) -> None:
    _, site = crawled
    shown = {(host(url), urlsplit(url).path) for url in site.urls}
    for number in range(12, PAGES):
        assert {("later", f"/p{number}"), ("www.later", f"/p{number}")} <= shown
