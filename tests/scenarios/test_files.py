"""Files that pages link to, and that are no pages: archived whole, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.archive.check.agreement import check
from tests.archive.reading import index, records
from tests.scenarios.site import ENGLISH, THAI, page, run

if TYPE_CHECKING:
    from tests.scenarios.site import Site

HOST = "http://www.one.co.th"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 1_000
SMALL = b"\x89PNG\r\n\x1a\n small"
ZIP = b"PK\x03\x04" + bytes(range(256)) * 400
PLAYLIST = "#EXTM3U\n#EXTINF:9,\ns1.ts\n#EXTINF:9,\ns2.ts\n"


@pytest.fixture
def linked(site: Site) -> Site:
    """A Thai page that links to files and shows one, and an English one that links to another."""
    site.seeds(f"{HOST}/")
    names = ("/large.png", "/small.png", "/pack.zip", "/called.html", "/english.html", "/no.png")
    video = "<video src=film.m3u8></video><img src=large.png>"
    site.add("www.one.co.th/", page(THAI, *names) + video)
    site.add("www.one.co.th/english.html", page(ENGLISH, "/of-english.png"))
    site.add("www.one.co.th/of-english.png", SMALL + b"!")
    site.add("www.one.co.th/large.png", PNG)
    site.add("www.one.co.th/small.png", SMALL)
    site.add("www.one.co.th/pack.zip", ZIP)
    site.add("www.one.co.th/called.html", PNG + b"?")
    site.add("www.one.co.th/film.m3u8", PLAYLIST)
    site.add("www.one.co.th/s1.ts", b"G1" * 100)
    site.add("www.one.co.th/s2.ts", b"G2" * 100)
    site.add("www.one.co.th/no.png", SMALL + b"?")
    return site


def stored(site: Site) -> dict[str, bytes]:
    """Return the bodies of the responses by path; of a copy that of what it refers to."""
    found = {r.url.removeprefix(HOST): r for r in records(site.folder) if r.type == "response"}
    assert all("WARC-Truncated" not in r.headers for r in found.values())
    return {path: r.content for path, r in found.items()}


def test_with_all_files_are_archived_whole(linked: Site) -> None:
    linked.crawl(LSWC_ARCHIVE="all")
    found = stored(linked)
    assert found["/large.png"] == PNG
    assert found["/small.png"] == SMALL
    assert found["/pack.zip"] == ZIP
    assert found["/called.html"] == PNG + b"?"
    assert found["/of-english.png"] == SMALL + b"!"
    assert {found["/s1.ts"], found["/s2.ts"]} == {b"G1" * 100, b"G2" * 100}
    assert linked.summary["content"]["linked file"] == 6
    assert check(linked.folder).agrees
    # The image that a page shows and links to is stored once.
    kinds = [r.type for r in records(linked.folder) if r.url == f"{HOST}/large.png"]
    assert sorted(kinds) == ["metadata", "metadata", "request", "request", "response", "revisit"]


def test_of_relevant_pages_chosen_files_are_archived(linked: Site) -> None:
    linked.crawl(LSWC_ARCHIVE_FILES="image/*, video/mp4", LSWC_REQUISITES="none")
    assert stored(linked).keys() - {"/robots.txt"} == {"/", "/large.png", "/small.png", "/no.png"}
    assert linked.summary["finished"]["not HTML"] == 6
    assert linked.summary["content"]["linked file"] == 3
    assert check(linked.folder).agrees


def test_nothing_of_a_file_is_archived_by_default(linked: Site) -> None:
    linked.crawl(LSWC_REQUISITES="none")
    assert stored(linked).keys() - {"/robots.txt"} == {"/"}


def test_a_file_that_is_too_long_is_cut_and_says_so(linked: Site) -> None:
    linked.crawl(LSWC_ARCHIVE="all", LSWC_MAX_FILE=100_000, LSWC_REQUISITES="none")
    (large,) = (r for r in records(linked.folder) if r.url == f"{HOST}/large.png"
                and r.type == "response")  # fmt: skip
    assert large.headers["WARC-Truncated"] == "length"
    assert len(large.content) == 100_000
    small = index(linked.folder)[f"{HOST}/small.png"]
    assert small["mime"] == "image/png"
    assert linked.summary["content"]["file cut"] == 3


@pytest.mark.parametrize("given", ["png", "image", "image/*/x", "*/png"])
def test_what_is_no_media_type(site: Site, given: str) -> None:
    site.seeds(f"{HOST}/")
    site.add("www.one.co.th/", page(THAI))
    done = run(site.command(LSWC_ARCHIVE_FILES=given))
    assert done.returncode == 2
    assert f"LSWC_ARCHIVE_FILES: {given!r} isn't a media type" in done.stderr
    assert len(done.stderr.splitlines()) == 1
