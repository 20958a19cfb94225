"""Crawls in the learned order: when they end, and what they begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import ENGLISH, THAI, Site, page, run

if TYPE_CHECKING:
    from pathlib import Path

HOME = "http://www.one.co.th/"
SPELLED = [f"{a}{b}" for a in "abcdefghijklmnopqrst" for b in "abcdefghijklmnopqrst"]


@pytest.mark.slow
@pytest.mark.parametrize("stops", [(), (150, 100)])
def test_a_crawl_ends_when_little_is_left_and_goes_on_when_asked_to(
    site: Site, stops: tuple[int, ...]
) -> None:
    """One Thai page, and 1,200 English ones that differ enough not to be near-duplicates."""
    site.seeds(HOME)
    words = [first + word for first in ("", "z", "q") for word in SPELLED]
    site.add("www.one.co.th/", page(THAI, *(f"http://h{n % 7}.example.com/{w}.html"
                                            for n, w in enumerate(words))))  # fmt: skip
    for number, word in enumerate(words):
        text = " ".join(f"{word} {other} is news." for other in words[number : number + 20])
        site.add(f"h{number % 7}.example.com/{word}.html", page(ENGLISH + text))
    given = {"LSWC_PROFILE": "adaptive", "LSWC_STOP_HARVEST": 0.2, "LSWC_ARCHIVE": "none"}
    for pages in stops:
        site.crawl(**given, CLOSESPIDER_ITEMCOUNT=pages)
    site.crawl(**given)
    first = site.summary
    assert first["reason"] == "little left to find"
    assert 1_100 <= first["pages"] < 1_200
    assert sum(first["pending"].values()) == 1_201 - first["pages"]
    assert first["forecast"]["next_relevant"] < 0.2 * first["forecast"]["next_downloads"]
    site.crawl(LSWC_PROFILE="adaptive", LSWC_STOP_HARVEST=0, LSWC_ARCHIVE="none")
    assert site.summary["reason"] == "finished"
    assert sorted(site.urls) == sorted({*site.urls})
    assert site.summary["pages"] == 1_201


@pytest.mark.slow
def test_what_a_sitemap_names_counts_before_a_crawl_ends(site: Site) -> None:
    """The sitemap can be asked for after 3 s only; by then nothing else is left to find."""
    site.seeds(HOME)
    site.add("www.one.co.th/robots.txt", "User-agent: *\nCrawl-delay: 3\nSitemap: /map.xml")
    words = [first + word for first in ("", "z", "q") for word in SPELLED]
    site.add("www.one.co.th/", page(THAI, *(f"http://h{n % 7}.example.com/{w}.html"
                                            for n, w in enumerate(words))))  # fmt: skip
    for number, word in enumerate(words):
        text = " ".join(f"{word} {other} is news." for other in words[number : number + 20])
        site.add(f"h{number % 7}.example.com/{word}.html", page(ENGLISH + text))
    named = [f"{HOME}{word}.html" for word in SPELLED[:4]]
    for name in named:
        site.add(name.removeprefix("http://"), page(THAI + name * 9))
    located = "".join(f"<url><loc>{name}</loc></url>" for name in named)
    site.add("www.one.co.th/map.xml", f"<urlset>{located}</urlset>")
    site.crawl(
        LSWC_PROFILE="adaptive", LSWC_STOP_HARVEST=0.005, LSWC_ARCHIVE="none", LSWC_SITEMAPS=1
    )
    assert set(named) <= {*site.urls}
    assert site.summary["reason"] in ("little left to find", "finished")


def fill(site: Site) -> list[str]:
    """Pages whose URLs name a language, but always the wrong one: that has to be learned."""
    names = [f"/th/{word}.html" for word in SPELLED[:30]]
    names += [f"/en/{word}.html" for word in SPELLED[:30]]
    site.seeds(HOME)
    site.add("www.one.co.th/", page(ENGLISH, *names))
    for name in names:
        text = THAI if name.startswith("/en/") else ENGLISH
        site.add(f"www.one.co.th{name}", page(text + name * 9))
    return names


def test_a_crawl_begins_with_what_another_learned(site: Site, tmp_path: Path) -> None:
    fill(site)
    given = {"LSWC_PROFILE": "adaptive", "LSWC_ARCHIVE": "none", "CONCURRENT_REQUESTS": 1}
    site.crawl(**given)
    assert "/th/" in site.urls[1]
    expected = [record["expected"] for record in site.records]
    assert all(0 <= share <= 1 for share in expected)
    taught = Site(site.web, tmp_path / "taught")
    taught.crawl(**given, LSWC_EXPERIENCE=site.folder)
    assert not [url for url in taught.urls[1:31] if "/en/" not in url]


def test_experience_of_no_use_is_one_clear_line(site: Site, tmp_path: Path) -> None:
    fill(site)
    site.crawl(LSWC_STRATEGY="bfs", CLOSESPIDER_ITEMCOUNT=1)
    for folder, strategy, word in (
        (site.folder, "adaptive", "learns nothing"),
        (tmp_path / "none", "adaptive", "doesn't exist"),
        (site.folder, "bfs", "choose 'adaptive'"),
    ):
        other = Site(site.web, tmp_path / "other")
        done = run(other.command(LSWC_STRATEGY=strategy, LSWC_EXPERIENCE=folder))
        assert done.returncode == 2
        assert word in done.stderr
        assert done.stderr.count("\n") == 1
        assert not other.folder.joinpath("pages.jsonl").exists()
