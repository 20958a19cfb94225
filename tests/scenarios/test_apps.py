"""Crawls of sites that scripts make, each by another method: all of their pages are read."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from lswc.corpus.stored_pages import StoredPages
from lswc.reading.browser.installed import CHROMIUMS
from tests.scenarios.app_web import PAGES, AppWeb
from tests.scenarios.host_web import by_host
from tests.scenarios.site import Site, run, words

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, CHROMIUMS)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
SMALL = {"history": 25, "scroll": 61, "more": 41, "hybrid": 9, "tagged": 7, "late": 3, "hashes": 9}
WHOLE = (
    "history", "tagged", "scroll", "more", "buttons", "hashes", "hybrid", "shadow", "reload",
    "loading", "late", "modules", "posted", "polling",
)  # fmt: skip


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("apps")
    site = Site(folder / "web", folder / "crawl")
    with pytest.MonkeyPatch.context() as patch, AppWeb() as web:
        for name, pages in SMALL.items():
            patch.setitem(PAGES, name, pages)
        crawl_apps(web, site, *WHOLE, "age")
    return site


def crawl_apps(web: AppWeb, site: Site, *hosts: str, **settings: object) -> None:
    sandbox = int(os.geteuid() != 0)
    given = {
        "LSWC_BROWSER": "auto", "LSWC_BROWSER_SANDBOX": sandbox, "LSWC_TRY_AGAIN": 0,
        "LSWC_READERS": 1, **settings,
    }  # fmt: skip
    web.crawl(site, hosts, **given)


def test_sites_are_read_whole_however_they_are_made(crawl: Site) -> None:
    pages = Counter({host: len(records) for host, records in by_host(crawl.records).items()})
    expected = {host: SMALL.get(host, PAGES[host]) for host in WHOLE}
    assert {host: pages[host] for host in WHOLE} == expected
    bodies = "".join((page.body or b"").decode() for page in StoredPages(crawl.folder))
    for host, number in expected.items():
        missing = [n for n in range(number) if words(f"{host} {n}") not in bodies]
        assert not missing, host


def test_a_question_is_left_unless_the_operator_says_otherwise(crawl: Site) -> None:
    assert crawl.summary["shells"]["still empty"] == 1
    assert "age" not in by_host(crawl.records)


def test_the_archive_of_such_sites_is_whole(crawl: Site) -> None:
    done = run([sys.executable, "-m", "lswc", "check", str(crawl.folder)])
    assert done.returncode == 0, done.stdout
    out = crawl.folder.parent / "out.wacz"
    done = run([sys.executable, "-m", "lswc", "wacz", str(crawl.folder), "--out", str(out)])
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_page_that_was_not_shown_is_relevant_and_it_is_shown_later(tmp_path: Path) -> None:
    """First without a browser, then with one: the same crawl goes on."""
    site = Site(tmp_path / "web", tmp_path / "crawl")
    with AppWeb() as web:
        crawl_apps(web, site, "posted", LSWC_BROWSER="off")
        assert not site.records
        assert site.summary["shells"] == {"not rendered": 1}
        crawl_apps(web, site, "posted")
        assert len(site.records) == PAGES["posted"]
        assert all(record["relevant"] and record["rendered"] for record in site.records)


def test_a_cookie_that_a_script_sets_lets_all_pages_in_without_a_browser(crawl: Site) -> None:
    records = by_host(crawl.records)["reload"]
    assert [record["rendered"] for record in records].count(True) == 1
    assert [record["cookies"] for record in records].count("seen=1") == PAGES["reload"] - 1


def test_routes_are_pages_of_their_own(crawl: Site) -> None:
    urls = {record["url"] for record in by_host(crawl.records)["hashes"]}
    here = "http://hashes.example/"
    assert urls == {here, *(f"{here}#/a/{n}" for n in range(1, SMALL["hashes"]))}
