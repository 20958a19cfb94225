"""What a crawl leaves in its folder: each finished URL exactly once, whatever stops it."""

from __future__ import annotations

import json
import random
import signal
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from lswc.archive.run_settings import published
from tests.archive.reading import blocks, check, index, member, pages, records
from tests.scenarios.site import ENGLISH, THAI, page, run

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tests.scenarios.site import Site

KILLS = 4
ANYWHERE = '{"tests.faults.component.EndsAnywhere": 1}'
PAGES = 100


@pytest.fixture
def small(site: Site) -> Site:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/robots.txt", "User-agent: *\nDisallow: /private/\n")
    site.add(
        "www.one.co.th/",
        page(THAI, "/a.html", "/same.html", "http://hub.example.com/", "/missing", "/folder",
             "/private/a.html", "/photo.jpg", "mailto:a@b.example"),
    )  # fmt: skip
    site.add("www.one.co.th/a.html", page(THAI, "/"))
    site.add("www.one.co.th/same.html", page(THAI, "/"))
    site.add("www.one.co.th/photo.jpg", b"\xff\xd8\xff\xe0")
    site.add("www.one.co.th/folder/", page(THAI, "/a.html", "/a.html"))
    site.add("hub.example.com/", page(ENGLISH, "/gone.html"))
    return site


def table(folder: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in sorted((folder / "log").glob(f"{name}-*.parquet")):
        rows += pq.read_table(path).to_pylist()
    return rows


def test_all_is_archived_and_found_in_the_index(small: Site) -> None:
    small.crawl(LSWC_ARCHIVE="all")
    check(small.folder)
    stored = {r.url: r for r in records(small.folder) if r.type in ("response", "revisit")}
    assert set(stored) == {
        "http://www.one.co.th/robots.txt",
        "http://www.one.co.th/",
        "http://www.one.co.th/a.html",
        "http://www.one.co.th/same.html",
        "http://www.one.co.th/missing",
        "http://www.one.co.th/folder",
        "http://www.one.co.th/folder/",
        "http://www.one.co.th/photo.jpg",
        "http://hub.example.com/robots.txt",
        "http://hub.example.com/",
        "http://hub.example.com/gone.html",
    }
    assert index(small.folder).keys() == stored.keys()
    for url, fields in index(small.folder).items():
        assert member(small.folder, fields) == stored[url]


def test_relevant_pages_and_what_their_links_lead_to(small: Site) -> None:
    small.crawl()
    stored = {r.url for r in records(small.folder) if r.type in ("response", "revisit")}
    assert "http://hub.example.com/" not in stored
    assert "http://www.one.co.th/photo.jpg" not in stored
    assert stored == {
        "http://www.one.co.th/robots.txt",
        "http://www.one.co.th/",
        "http://www.one.co.th/a.html",
        "http://www.one.co.th/same.html",
        "http://www.one.co.th/missing",
        "http://www.one.co.th/folder",
        "http://www.one.co.th/folder/",
    }


def test_nothing_is_archived_but_logged(small: Site) -> None:
    small.crawl(LSWC_ARCHIVE="none")
    assert not (small.folder / "warc").exists()
    assert len(table(small.folder, "attempts")) == 13


def test_an_identical_payload_is_a_revisit(small: Site) -> None:
    small.crawl(CLOSESPIDER_ITEMCOUNT=2, CONCURRENT_REQUESTS=1)
    small.crawl()  # what the first run stored is known to the second
    same = ("http://www.one.co.th/a.html", "http://www.one.co.th/same.html")
    (revisit,) = (r for r in records(small.folder) if r.type == "revisit" and r.url in same)
    (original,) = (
        r for r in records(small.folder)
        if r.type == "response"
        and r.headers["WARC-Payload-Digest"] == revisit.headers["WARC-Payload-Digest"]
    )  # fmt: skip
    assert sorted([original.url, revisit.url]) == sorted(same)
    assert revisit.headers["WARC-Refers-To-Target-URI"] == original.url
    assert revisit.headers["WARC-Refers-To-Date"] == original.headers["WARC-Date"]
    assert revisit.content == b""
    assert revisit.status == "200 OK"


def test_metadata_says_what_was_decided(small: Site) -> None:
    small.crawl()
    found = {r.url: r for r in records(small.folder) if r.type == "metadata"}
    lines = found["http://www.one.co.th/a.html"].content.decode().splitlines()
    fields = dict(line.split(": ", 1) for line in lines)
    assert fields["language"] == "th"
    assert fields["encoding"] == "utf-8"
    assert fields["distance"] == "1"
    assert fields["via"] == "http://www.one.co.th/"
    assert {"decided-by", "confidence", "server-status", "tier"} <= fields.keys()


def test_files_are_rotated_by_size(small: Site) -> None:
    small.crawl(LSWC_ARCHIVE="all", LSWC_WARC_SIZE=1)
    files = sorted(path.name for path in (small.folder / "warc").glob("*.warc.gz"))
    assert len(files) >= 8
    assert len({r.headers["WARC-Filename"] for r in records(small.folder) if r.type == "warcinfo"}
               & set(files)) == len(files)  # fmt: skip
    assert len(index(small.folder)) == 11
    check(small.folder)


def test_warcinfo_and_settings_say_what_was_run(small: Site) -> None:
    small.crawl(LSWC_FRONTIER=":memory:")
    settings = json.loads((small.folder / "settings.json").read_text())
    assert settings["strategy"] == "bfs"
    assert settings["LSWC_ARCHIVE"] == "relevant"
    assert "LSWC_FRONTIER" not in settings, "it may hold a password"
    info = next(r for r in records(small.folder) if r.type == "warcinfo")
    assert settings["LSWC_WEB"] == str(small.web)
    assert settings.pop("frontier")["strategy"] == "bfs", "for one that is made anew"
    for name, value in settings.items():
        said = small.web.name if name == "LSWC_WEB" else value
        assert f"{name}: {said}\r\n" in info.content.decode()


def test_warcinfo_has_no_paths_and_no_addresses_of_ones_own() -> None:
    described: dict[str, object] = {
        "LSWC_RECRAWL": ["/home/anna/crawls/th1", "crawls/th2"],
        "LSWC_EXPERIENCE": "redis://:secret@store.internal:6379/0#lswc:th",
        "LSWC_LANGUAGES": "",
        "LSWC_BROWSER": "/opt/anna/chromium",
        "contact": "https://library.example/crawl",
    }
    assert published(described) == {
        "LSWC_RECRAWL": ["th1", "th2"],
        "LSWC_EXPERIENCE": "redis",
        "LSWC_LANGUAGES": "",
        "LSWC_BROWSER": "chromium",
        "contact": "https://library.example/crawl",
    }


def test_log_has_every_attempt_and_every_link(small: Site) -> None:
    small.crawl(RETRY_HTTP_CODES="404", RETRY_TIMES=1)
    attempts = table(small.folder, "attempts")
    missing = [a for a in attempts if a["url"] == "http://www.one.co.th/missing"]
    assert [(a["status"], a["outcome"]) for a in missing] == [(404, "retry"), (404, "status 404")]
    by_url = {a["url"]: a for a in attempts}
    assert by_url["http://www.one.co.th/private/a.html"]["outcome"] == "robots.txt"
    assert by_url["http://www.one.co.th/private/a.html"]["status"] == 0
    assert by_url["http://www.one.co.th/photo.jpg"]["outcome"] == "not HTML"
    one = by_url["http://www.one.co.th/a.html"]
    assert (one["language"], one["encoding"], one["mime"]) == ("th", "utf-8", "text/html")
    assert one["bytes"] == (small.web / "www.one.co.th/a.html").stat().st_size
    assert one["referrer"] == "http://www.one.co.th/"
    links = Counter((x["source"], x["target"], x["dropped"]) for x in table(small.folder, "links"))
    assert links["http://www.one.co.th/", "mailto:a@b.example", "scheme"] == 1
    assert links["http://www.one.co.th/folder/", "http://www.one.co.th/a.html", None] == 2
    assert links["http://www.one.co.th/folder", "http://www.one.co.th/folder/", None] == 1


@pytest.fixture
def wide(site: Site) -> Site:
    """A page of links to many small pages on many servers."""
    names = [f"http://s{number}.example/" for number in range(PAGES)]
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, *names))
    for number in range(PAGES):
        site.add(f"s{number}.example/", page(THAI + f" {number}", "/missing"))
    return site


@pytest.mark.slow
def test_killed_anywhere_each_finished_url_is_stored_once(wide: Site) -> None:
    given = {"LSWC_ARCHIVE": "all", "ROBOTSTXT_OBEY": False, "LSWC_WARC_SIZE": 20_000}
    for kill in range(KILLS):
        when = {"TEST_PAGES": 1 + 5 * kill, "TEST_WORK": 0.001 + 0.003 * kill}
        done = run(wide.command(EXTENSIONS=ANYWHERE, **given, **when))
        assert done.returncode == -signal.SIGPROF, done.stderr
    wide.crawl(**given)
    check(wide.folder)
    urls = pages(wide.folder)
    assert len(urls) == len(set(urls)) == PAGES + 1
    stored = Counter(r.url for r in records(wide.folder) if r.type in ("response", "revisit"))
    assert set(stored.values()) == {1}
    assert len(stored) == 2 * PAGES + 1
    assert index(wide.folder).keys() == stored.keys()
    attempts = table(wide.folder, "attempts")
    pages_tried = Counter(a["url"] for a in attempts if a["outcome"] != "tdmrep.json file")
    assert pages_tried == stored
    assert len(table(wide.folder, "links")) == 2 * PAGES
    assert not list((wide.folder / "log").glob("*.jsonl"))


def test_a_full_disk_ends_the_crawl_in_order(small: Site) -> None:
    letters = random.Random(1).choices("กขคงจฉชซดตถทนบปผพฟมยรลวสหอ", k=250_000)
    small.add("www.one.co.th/a.html", page("".join(letters)))
    limited = ["bash", "-c", 'ulimit -f 400; exec "$@"', "limited", *small.command()]
    done = run(limited)
    assert "can't write" in done.stderr
    assert ".warc.gz" in done.stderr
    assert "goes on from here" in done.stderr
    assert "Traceback" not in done.stderr
    small.crawl()
    check(small.folder)
    stored = Counter(r.url for r in records(small.folder) if r.type in ("response", "revisit"))
    assert stored["http://www.one.co.th/a.html"] == 1
    assert stored["http://www.one.co.th/"] == 1
    assert index(small.folder).keys() == stored.keys()


def test_a_run_that_archives_nothing_keeps_what_there_is(small: Site) -> None:
    one = {"CONCURRENT_REQUESTS": 1, "CLOSESPIDER_ITEMCOUNT": 1, "ROBOTSTXT_OBEY": False}
    small.crawl(LSWC_ARCHIVE="all", **one)
    before = blocks(small.folder)
    small.crawl(LSWC_ARCHIVE="none", **one)
    small.crawl(LSWC_ARCHIVE="all", ROBOTSTXT_OBEY=False)
    after = blocks(small.folder)
    assert before.items() <= after.items()
    urls = {attempt["url"] for attempt in table(small.folder, "attempts")}
    assert len([url for url in urls if not url.endswith("/tdmrep.json")]) == 10
    assert len(before) < len(after) < len(urls)


def test_an_archive_without_its_frontier_is_never_touched(small: Site) -> None:
    (small.folder / "warc").mkdir(parents=True)
    kept = small.folder / "warc" / "th-20260101000000-00001.warc.gz"
    kept.write_bytes(b"WARC of another crawl")
    done = run(small.command(LSWC_FRONTIER=":memory:"))
    assert done.returncode == 2
    assert "the record of another crawl" in done.stderr
    assert kept.read_bytes() == b"WARC of another crawl"


def test_unknown_archive_setting(small: Site) -> None:
    done = run(small.command(LSWC_ARCHIVE="some"))
    assert done.returncode == 2
    assert "LSWC_ARCHIVE='some' isn't one of: relevant, all, none" in done.stderr
