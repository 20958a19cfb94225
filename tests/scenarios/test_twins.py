"""Crawls of sites with several names: each page is asked for once, and what one name has is had."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.scenarios.site import Site, run
from tests.scenarios.twin_web import PAGES, TwinWeb

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

SEEDS = (
    "pair", "www.pair", "main", "mirror", "moved", "parting", "www.parting",
    "canonical", "wrong", "session", "query",
)  # fmt: skip
WHOLE = PAGES + 1


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[TwinWeb, Site]:
    folder: Path = tmp_path_factory.mktemp("twins")
    site = Site(folder / "web", folder / "crawl")
    with TwinWeb() as web:
        web.crawl(site, SEEDS)
    return web, site


def records_of(site: Site, *names: str) -> Counter[str]:
    """Return how often each path of these hosts is recorded."""
    hosts = {f"{name}.example" for name in names}
    return Counter(urlsplit(u).path for u in site.urls if urlsplit(u).hostname in hosts)


def asked(web: TwinWeb, *names: str) -> int:
    return sum(web.asked[f"{name}.example"] for name in names)


def test_a_site_with_two_names_is_had_once(crawled: tuple[TwinWeb, Site]) -> None:
    web, site = crawled
    for names, more in ((("pair", "www.pair"), 0), (("moved", "www.moved"), 0),
                        (("main", "mirror"), 1)):  # fmt: skip
        assert len(records_of(site, *names)) == WHOLE + more, names
        assert records_of(site, *names).total() <= WHOLE + more + 4, names
        assert asked(web, *names) <= WHOLE + more + 14, names
    assert "http://mirror.example/only" in site.urls


def test_names_that_show_other_pages_are_both_had(crawled: tuple[TwinWeb, Site]) -> None:
    _, site = crawled
    for name in ("parting", "www.parting"):
        assert len(records_of(site, name)) >= WHOLE - 5, "but for those that were alike"


def test_copies_are_left_by_their_canonical_urls(crawled: tuple[TwinWeb, Site]) -> None:
    web, site = crawled
    assert records_of(site, "canonical") == dict.fromkeys(records_of(site, "wrong"), 1)
    assert asked(web, "canonical") <= WHOLE + 6
    assert len(records_of(site, "wrong")) == WHOLE


def test_sessions_are_left_out_by_their_values(crawled: tuple[TwinWeb, Site]) -> None:
    web, site = crawled
    assert len(records_of(site, "session")) == WHOLE
    assert asked(web, "session") <= WHOLE + 6
    # One may be under way when it is found: on a busy machine it was, on an idle one never.
    assert asked(web, "query") in (WHOLE, WHOLE + 1)


def test_why_names_the_other(crawled: tuple[TwinWeb, Site]) -> None:
    _, site = crawled
    recorded = set(site.urls)
    both = ("www.pair.example", "pair.example"), ("pair.example", "www.pair.example")
    names = (
        (f"http://{one}/p{n}", f"http://{other}/p{n}") for n in range(20) for one, other in both
    )
    twin, other = next((one, other) for one, other in names if one not in recorded)
    said = run([sys.executable, "-m", "lswc", "why", str(site.folder), twin]).stdout
    assert "twin" in said
    assert other in said
