"""A paper's profile, alone and with ``as_in_the_paper``: what a crawl asks for besides its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from lswc.lab.trace.from_log import log, to_trace
from lswc.outcomes import Outcome
from tests.scenarios.site import ENGLISH, THAI, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.site import Site

ONE = "http://www.one.co.th"
"""A site with a twin, a document, a link that isn't to be followed, and 40 pages alike."""


@pytest.fixture
def besides(site: Site) -> Site:
    alike = [f"/n/{number}.html" for number in range(40)]
    front = page(THAI, "/a.html", "/b.html", "/a.txt", "http://one.co.th/", *alike)
    wanted = '<img src="/i.png"><a rel="nofollow" href="/unfollowed.html">x</a></body>'
    site.seeds(f"{ONE}/")
    site.add("www.one.co.th/", front.replace("</body>", wanted))
    texts = {name: page(THAI + text) for name, text in (("a", " ข่าววันนี้" * 9), ("b", " กีฬา" * 9))}
    for host in ("www.one.co.th", "one.co.th"):
        for name, text in texts.items():
            site.add(f"{host}/{name}.html", text)
    site.add("one.co.th/", front)
    site.add("www.one.co.th/a.txt", THAI * 9)
    site.add("www.one.co.th/i.png", b"\x89PNG\r\n\x1a\n")
    site.add("www.one.co.th/unfollowed.html", page(ENGLISH))
    for path in alike:
        site.add(f"www.one.co.th{path}", page(THAI))
        site.add(f"one.co.th{path}", page(THAI))
    return site


def asked(site: Site) -> set[str]:
    """Return what was asked for, but robots.txt."""
    rows = log(site.folder)[0].to_pylist()
    return {row["url"] for row in rows if row["status"] and not row["url"].endswith("/robots.txt")}


def test_only_what_the_paper_has_is_asked_for(besides: Site) -> None:
    given = {"CONCURRENT_REQUESTS": 1, "LSWC_MAX_SERVER_PAGES": 30}
    besides.crawl(**given)
    alone = asked(besides)
    extras = {f"{ONE}/.well-known/tdmrep.json", f"{ONE}/a.txt", f"{ONE}/i.png"}
    assert extras <= alone
    assert f"{ONE}/unfollowed.html" not in alone
    assert len([url for url in alone if "/n/" in url]) < 40  # a quota; one of two names

    besides.folder = besides.folder.with_name("paper")
    besides.crawl(LSWC_PROFILE="bfs,as_in_the_paper", CONCURRENT_REQUESTS=1)
    both = (ONE, "http://one.co.th")
    names = ["/", "/a.html", "/b.html", *(f"/n/{number}.html" for number in range(40))]
    pages = {f"{host}{name}" for host in both for name in names} | {f"{ONE}/unfollowed.html"}
    assert set(besides.urls) == pages
    assert asked(besides) == pages | {f"{host}/a.txt" for host in both}  # links, as any


def test_what_the_cap_of_unproven_sites_drops_is_marked(site: Site, tmp_path: Path) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, "http://hub.com/"))
    sites = [f"http://s{number}.com/" for number in range(30)]
    site.add("hub.com/", page(THAI, *sites))
    for number in range(30):
        site.add(f"s{number}.com/", page(THAI, f"http://t{number}.com/", f"http://s{number}.com/2"))
    site.crawl(CONCURRENT_REQUESTS=1, LSWC_MAX_UNPROVEN_SITES=10)
    links = [row for row in log(site.folder)[1].to_pylist() if row["source"].startswith("http://s")]
    dropped = {row["target"]: row["dropped"] for row in links if row["dropped"]}
    assert dropped
    assert set(dropped.values()) == {Outcome.TOO_MANY_UNPROVEN}
    assert all(target.startswith("http://t") for target in dropped)
    assert len(dropped) == site.summary["discarded"][Outcome.TOO_MANY_UNPROVEN]
    to_trace(site.folder, tmp_path / "trace")
    urls = pq.read_table(tmp_path / "trace" / "urls.parquet")["url"].to_pylist()
    assert dropped.keys() <= {*urls}, "another cap may follow them"
