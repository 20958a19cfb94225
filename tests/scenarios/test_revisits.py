"""A crawl that visits its pages again: real processes, on webs whose days are short."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from lswc.archive.check.agreement import check
from tests.archive.reading import check as check_warc
from tests.scenarios.site import ENGLISH, Site, page, words

if TYPE_CHECKING:
    from pathlib import Path

HOST = "http://www.one.co.th"
OTHER = "http://www.two.co.th"
CONTINUOUS = {"LSWC_REVISIT": 24, "LSWC_ARCHIVE": "all"}
UNTIL = '{"tests.scenarios.until.Until": 1, "lswc.monitor.recorder.Recorder": 2}'
PAGES = (f"{HOST}/", f"{HOST}/a.html", f"{OTHER}/", f"{OTHER}/b.html")
ONCE_MORE = [f"unchanged {url}" for url in PAGES]


def change(site: Site, address: str, body: str) -> None:
    """Give a page another text, and a time of change long after all others."""
    site.add(address, body)
    file = site.web / (address + "index.html" if address.endswith("/") else address)
    os.utime(file, (file.stat().st_mtime + 3600,) * 2)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A web of four Thai pages and an English one, of which a day takes a second."""
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.seeds(f"{HOST}/")
    site.add("www.one.co.th/", page(words(0), "/a.html", f"{OTHER}/", "/english.html"))
    site.add("www.one.co.th/a.html", page(words("a")))
    site.add("www.two.co.th/", page(words("two"), "/b.html"))
    site.add("www.two.co.th/b.html", page(words("b")))
    site.add("www.one.co.th/english.html", page(ENGLISH))
    (site.web / "changes.json").write_text(json.dumps({"seconds_a_day": 1.0}))
    return site


def crawl(site: Site, *until: str, **settings: object) -> list[dict[str, Any]]:
    """Crawl until that was recorded; return the further records, once all files agree."""
    before = len(site.records) if site.folder.exists() else 0
    given = {"TEST_UNTIL": ",".join(until), "EXTENSIONS": UNTIL}
    site.crawl(**CONTINUOUS | given | settings)
    agree(site)
    return site.records[before:]


def agree(site: Site) -> None:
    report = check(site.folder)
    assert report.agrees, report
    check_warc(site.folder)
    visits: dict[str, list[int]] = {}
    for record in site.records:
        visits.setdefault(record["url"], []).append(record["visit"])
    assert all(list(range(1, len(made) + 1)) == made for made in visits.values()), visits


def test_pages_are_visited_again_and_only_what_changed_is_sent(site: Site) -> None:
    first = crawl(site, *ONCE_MORE)
    assert {r["url"] for r in first if r["visit"] == 1} == {*PAGES, f"{HOST}/english.html"}
    again = [record for record in first if record["visit"] > 1]
    assert {(record["status"], record["change"]) for record in again} == {(304, "unchanged")}
    assert {record["url"] for record in again} == {*PAGES}
    assert not any(record["near_duplicate"] for record in first)
    assert (site.summary["finished"]["html"], site.summary["relevant"]) == (5, 4)

    change(site, "www.two.co.th/b.html", page(words("new"), "/c.html"))
    site.add("www.two.co.th/c.html", page(words("c")))
    changed, new, same = f"{OTHER}/b.html", f"{OTHER}/c.html", "unchanged"
    second = crawl(site, f"changed {changed}", f"new {new}", f"{same} {changed}", f"{same} {new}")
    of_changed = [(r["change"], r["status"]) for r in second if r["url"] == changed]
    # What was sent is what the next visit asks about.
    assert of_changed[:2] == [("changed", 200), ("unchanged", 304)]
    assert {r["url"] for r in second if r["change"] == "changed"} == {changed}
    assert [r["change"] for r in second if r["url"] == new][:2] == ["new", "unchanged"]


def test_bytes_that_are_others_are_no_change(site: Site) -> None:
    crawl(site, *ONCE_MORE)
    body = page(words("b")).replace("<head>", '<head><meta name="token" content="4711">')
    change(site, "www.two.co.th/b.html", body)
    found = [r for r in crawl(site, ONCE_MORE[-1]) if r["url"] == PAGES[-1]]
    assert [(record["status"], record["change"]) for record in found] == [(200, "unchanged")]
