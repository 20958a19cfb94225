"""Sitemaps and feeds bring the pages that no link leads to, where that is wanted."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from lswc.archive.check.agreement import check
from lswc.lab.trace.from_log import log, to_trace
from lswc.reading.sitemaps import LISTINGS_AT_ONCE
from tests.scenarios.site import ENGLISH, THAI, page, words

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.site import Site

HOST = "www.one.co.th"
ORPHANS = {"mapped", "packed", "fed", "listed"}


@pytest.fixture
def orphans(site: Site) -> Site:
    """A Thai server with pages that only its sitemaps and its feed name, and an English one."""
    site.seeds(f"http://{HOST}/")
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    site.add(f"{HOST}/", page(THAI, "http://en.example/", "http://plain.example/") + feed)
    site.add(f"{HOST}/robots.txt", "User-agent: *\nDisallow: /closed\nSitemap: /maps/index.xml\n")
    index = "<sitemapindex>" + "".join(
        f"<sitemap><loc>{name}</loc></sitemap>" for name in ("a.xml", "b.xml.gz", "index.xml")
    )
    listed = "<urlset>{}</urlset>"
    located = "<url><loc>http://{}/{}.html</loc></url>"
    names = "mapped", "closed", "missing"
    site.add(f"{HOST}/maps/index.xml", f"{index}</sitemapindex>")
    site.add(
        f"{HOST}/maps/a.xml", listed.format("".join(located.format(HOST, name) for name in names))
    )
    site.add(
        f"{HOST}/maps/b.xml.gz",
        gzip.compress(listed.format(located.format(HOST, "packed")).encode()),
    )
    site.add(
        f"{HOST}/feed.xml", "<rss><channel><item><link>/fed.html</link></item></channel></rss>"
    )
    site.add("plain.example/", page(THAI))
    site.add("plain.example/sitemap.xml", listed.format(located.format("plain.example", "listed")))
    site.add("plain.example/listed.html", page(THAI))
    site.add("en.example/", page(ENGLISH))
    site.add("en.example/sitemap.xml", listed.format(located.format("en.example", "never")))
    site.add("en.example/never.html", page(THAI))
    for name in ("mapped", "packed", "fed", "closed"):
        site.add(f"{HOST}/{name}.html", page(THAI))
    return site


def found(site: Site) -> set[str]:
    names = {url.rpartition("/")[2].removesuffix(".html") for url in site.urls}
    return names - {""}


@pytest.mark.parametrize("profile", ["bfs", "adaptive"])
def test_they_bring_pages_that_no_link_leads_to(
    orphans: Site, tmp_path: Path, profile: str
) -> None:
    orphans.crawl(LSWC_SITEMAPS=1, LSWC_PROFILE=profile)
    assert found(orphans) == ORPHANS
    summary = orphans.summary
    assert summary["links_kept"]["of sitemaps and feeds"] == 6
    assert summary["finished"]["listing"] == 5
    assert summary["sources"] == {"seed": 1, "link": 1, "sitemap": 3, "feed": 1}
    sources = {record["url"]: record["source"] for record in orphans.records}
    assert sources[f"http://{HOST}/mapped.html"] == "sitemap"
    assert sources[f"http://{HOST}/fed.html"] == "feed"
    rows = {row["url"]: row for row in log(orphans.folder)[0].to_pylist()}
    assert rows[f"http://{HOST}/mapped.html"]["referrer"] == f"http://{HOST}/maps/a.xml"
    assert rows[f"http://{HOST}/maps/a.xml"]["kind"] == "listing"
    assert "http://en.example/sitemap.xml" not in rows
    assert rows[f"http://{HOST}/closed.html"]["outcome"] == "robots.txt"
    assert check(orphans.folder).agrees
    to_trace(orphans.folder, tmp_path / "trace")


def test_they_are_not_asked_for_unless_that_is_wanted(orphans: Site) -> None:
    orphans.crawl()
    assert found(orphans) == set()
    assert "listing" not in orphans.summary["finished"]


def test_an_index_that_an_index_names_leads_no_further(orphans: Site) -> None:
    """Else a server could name indexes without end (sitemaps.org: an index names no index)."""
    index = "<sitemapindex><sitemap><loc>{}</loc></sitemap></sitemapindex>"
    orphans.add(f"{HOST}/maps/index.xml", index.format("second.xml"))
    orphans.add(f"{HOST}/maps/second.xml", index.format("a.xml"))
    orphans.crawl(LSWC_SITEMAPS=1)
    rows = {row["url"] for row in log(orphans.folder)[0].to_pylist()}
    assert f"http://{HOST}/maps/second.xml" in rows
    assert f"http://{HOST}/maps/a.xml" not in rows
    assert found(orphans) == {"listed", "fed"}


def test_a_json_feed_and_a_sitemap_where_it_is_not_looked_for_first(orphans: Site) -> None:
    """WordPress and others: their sitemaps are at /sitemap_index.xml."""
    head = '<link rel="alternate" type="application/feed+json" href="/feed.json">'
    orphans.add("plain.example/", page(THAI) + head)
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"url": "http://plain.example/told.html", "date_modified": "2026-01-01"}],
    }
    orphans.add("plain.example/feed.json", json.dumps(feed))
    orphans.add("plain.example/told.html", page(THAI))
    sitemap = orphans.web / "plain.example" / "sitemap.xml"
    sitemap.rename(sitemap.with_name("sitemap_index.xml"))
    orphans.crawl(LSWC_SITEMAPS=1)
    assert found(orphans) == ORPHANS | {"told"}
    rows = [row["url"] for row in log(orphans.folder)[0].to_pylist() if row["kind"] == "listing"]
    assert [url for url in rows if "plain" in url and "feed" not in url] == [
        "http://plain.example/sitemap.xml", "http://plain.example/sitemap_index.xml",
    ]  # fmt: skip
    sources = {record["url"]: record["source"] for record in orphans.records}
    assert sources["http://plain.example/told.html"] == "feed"


@pytest.mark.parametrize("pages", [0, 5])
def test_no_more_is_asked_of_a_sitemap_than_its_pages_earn(site: Site, pages: int) -> None:
    site.seeds(f"http://{HOST}/")
    site.add(f"{HOST}/", page(THAI))
    there = [f"there{number}" for number in range(pages)]
    names = [*there, *(f"gone{number}" for number in range(300))]
    located = "".join(f"<url><loc>/{name}.html</loc></url>" for name in names)
    site.add(f"{HOST}/sitemap.xml", f"<urlset>{located}</urlset>")
    for name in there:
        site.add(f"{HOST}/{name}.html", page(THAI))
    site.crawl(LSWC_SITEMAPS=1, LSWC_MAX_DUPLICATES=0)
    missing = 50 + 10 * pages
    ended = {"html": pages + 1, "listing": 1, "status 404": missing,
             "sitemap's misses": 300 - missing}  # fmt: skip
    assert site.summary["finished"] == ended
    site.crawl(LSWC_SITEMAPS=1, LSWC_MAX_DUPLICATES=0)
    again = site.summary["finished"]
    assert again["status 404"] == missing + 50, "what was left is tried when it is started again"
    assert sum(again.values()) == sum(ended.values())


@pytest.mark.slow
def test_an_index_of_many_sitemaps_is_gone_through(site: Site) -> None:
    """One a day, for longer than a quarter of a year; what was read agrees with what is kept."""
    days = LISTINGS_AT_ONCE + 20
    site.seeds(f"http://{HOST}/")
    site.add(f"{HOST}/", page(THAI))
    site.add(f"{HOST}/robots.txt", "User-agent: *\rSitemap: /index.xml\r")
    listed = "".join(f"<sitemap><loc>/{n}.xml</loc></sitemap>" for n in range(days))
    site.add(f"{HOST}/index.xml", f"\n<?xml version='1.0'?><sitemapindex>{listed}")
    for n in range(days):
        site.add(
            f"{HOST}/{n}.xml", f"<urlset><url><loc>/page?a=1&view={n % 3}</loc></url></urlset>"
        )
    for n in range(3):
        site.add(f"{HOST}/page?a=1&view={n}", page(words(n)))
    site.crawl(LSWC_SITEMAPS=1, LSWC_PROFILE="bfs")
    assert site.summary["finished"]["listing"] == days + 2
    assert site.summary["pages"] == 4
    assert check(site.folder).agrees
