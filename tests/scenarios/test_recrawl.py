"""A crawl that visits again what earlier ones stored: only what has changed is sent."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from lswc.archive.warc_writer import IDENTICAL, NOT_MODIFIED, digest_of
from lswc.crawl.web import open_web
from tests.archive.raw import PORT, serving
from tests.archive.reading import check, index, records
from tests.archive.wire import chunked
from tests.scenarios.site import ENGLISH, SCRAPY, THAI, Site, page, run

if TYPE_CHECKING:
    from pathlib import Path

HOST = "http://www.one.co.th"
PAGES = ["/", "/a.html", "/b.html", "/english.html"]
OTHER = "มหาวิทยาลัยเปิดสอนหลักสูตรใหม่สำหรับนักศึกษาทุกคนที่สนใจวิทยาศาสตร์และศิลปะ "


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A crawl of four pages, the first of two or three; all archived."""
    site = Site(tmp_path / "web", tmp_path / "first")
    site.seeds(f"{HOST}/")
    site.add("www.one.co.th/", page(THAI, "/a.html", "/b.html", "/english.html"))
    site.add("www.one.co.th/a.html", page(THAI + "ก"))
    site.add("www.one.co.th/b.html", page(THAI + "ข"))
    site.add("www.one.co.th/english.html", page(ENGLISH))
    site.crawl(LSWC_ARCHIVE="all")
    return site


def again(site: Site, name: str, *earlier: str, **settings: object) -> dict[str, dict[str, Any]]:
    """Crawl into another folder; return the records by path."""
    folders = ",".join(str(site.folder.parent / folder) for folder in earlier)
    site = Site(site.web, site.folder.parent / name)
    site.crawl(LSWC_RECRAWL=folders, **{"LSWC_ARCHIVE": "all", **settings})
    return {record["url"].removeprefix(HOST): record for record in site.records}


def test_what_a_sitemap_says_has_changed_is_visited_first(site: Site) -> None:
    site.add(
        "www.one.co.th/sitemap.xml",
        f"<urlset><url><loc>{HOST}/a.html</loc><lastmod>2020-01-01</lastmod></url>"
        f"<url><loc>{HOST}/deep/x.html</loc><lastmod>2090-01-01</lastmod></url>"
        f"<url><loc>{HOST}/b.html</loc><lastmod>2090-01-01</lastmod></url></urlset>",
    )
    site.add("www.one.co.th/deep/x.html", page(THAI + "ฉ"))
    wanted = {"LSWC_PROFILE": "adaptive", "LSWC_EXPERIENCE": "none", "LSWC_REQUISITES": 1}
    wanted["LSWC_IN_ORDER"] = 1
    assert list(again(site, "without", "first", LSWC_SITEMAPS=0, **wanted))[:2] == ["/", "/a.html"]
    found = again(site, "second", "first", LSWC_SITEMAPS=1, **wanted)
    assert list(found)[:2] == ["/", "/b.html"]
    sources = {path: record["source"] for path, record in found.items()}
    assert sources["/b.html"] == "seed"
    assert (sources["/a.html"], sources["/deep/x.html"]) == ("link", "sitemap")


def test_what_has_not_changed_is_not_sent_and_counts_as_before(site: Site) -> None:
    first = {record["url"].removeprefix(HOST): record for record in site.records}
    site.add("www.one.co.th/b.html", page(OTHER, "/new.html"))
    site.add("www.one.co.th/new.html", page(THAI + "ค"))
    second = again(site, "second", "first")
    assert {path: record["status"] for path, record in second.items()} == {
        "/": 304, "/a.html": 304, "/b.html": 200, "/english.html": 304, "/new.html": 200,
    }  # fmt: skip
    same = ("title", "language", "encoding", "relevant", "tier", "depth", "referrer")
    for path in ("/", "/a.html", "/english.html"):
        assert [second[path][name] for name in same] == [first[path][name] for name in same]
    folder = site.folder.parent / "second"
    assert Site(site.web, folder).summary["content"]["not modified"] == 3
    rows = pq.read_table(folder / "log" / "attempts-00001.parquet").to_pylist()
    sent = {row["url"]: row["bytes"] for row in rows if row["status"] == 304}
    assert len(sent) == 3
    assert set(sent.values()) == {0}


def test_a_page_that_has_not_changed_is_archived_as_a_revisit(site: Site) -> None:
    again(site, "second", "first")
    check(site.folder.parent / "second")
    stored = {r.url: r for r in records(site.folder) if r.type == "response"}
    lines = index(site.folder.parent / "second")
    revisits = [r for r in records(site.folder.parent / "second") if r.type == "revisit"]
    assert {r.url.removeprefix(HOST) for r in revisits} >= set(PAGES)
    for revisit in (r for r in revisits if r.url.removeprefix(HOST) in PAGES):
        original = stored[revisit.url]
        assert revisit.headers["WARC-Profile"] == NOT_MODIFIED
        assert revisit.headers["WARC-Refers-To-Target-URI"] == original.url
        assert revisit.headers["WARC-Refers-To-Date"] == original.headers["WARC-Date"]
        digest = original.headers["WARC-Payload-Digest"]
        assert revisit.headers["WARC-Payload-Digest"] == digest
        assert revisit.headers["WARC-Refers-To"] == original.headers["WARC-Record-ID"]
        container = revisit.headers["WARC-Refers-To-Container"]
        assert (site.folder / "warc" / container).exists()
        assert revisit.headers["WARC-Protocol"] == "http/1.1"
        # With the head of a 304, replay would show that, and nothing of the page.
        assert revisit.content == b""
        assert (lines[revisit.url]["mime"], lines[revisit.url]["status"]) == ("warc/revisit", "200")
        assert lines[revisit.url]["digest"] == digest.removeprefix("sha1:")
    about = [r for r in records(site.folder.parent / "second") if r.type == "metadata"]
    said = {r.url: r.content for r in about if b"not-modified: " in r.content}
    assert {url.removeprefix(HOST) for url in said} >= set(PAGES)
    assert b"\r\nnot-modified: HTTP/1.1 304 Not Modified\r\n" in said[f"{HOST}/"]


def test_a_third_crawl_finds_what_the_first_stored(site: Site) -> None:
    site.add("www.one.co.th/b.html", page(OTHER))
    again(site, "second", "first")
    third = again(site, "third", "second", "first")
    assert {record["status"] for record in third.values()} == {304}
    (revisit,) = (
        r for r in records(site.folder.parent / "third") if r.url == f"{HOST}/b.html"
        and r.type == "revisit"
    )  # fmt: skip
    (original,) = (
        r for r in records(site.folder.parent / "second") if r.url == f"{HOST}/b.html"
        and r.type == "response"
    )  # fmt: skip
    assert revisit.headers["WARC-Refers-To-Date"] == original.headers["WARC-Date"]


def test_corpus_holds_what_has_not_changed(site: Site, tmp_path: Path) -> None:
    site.add("www.one.co.th/b.html", page(OTHER * 2))
    again(site, "second", "first")
    done = run([*SCRAPY, "corpus", str(tmp_path / "second")])
    assert done.returncode == 0, done.stderr
    rows = pq.read_table(tmp_path / "second" / "corpus" / "corpus-00000.parquet").to_pylist()
    text = {row["url"].removeprefix(HOST): row["text"] for row in rows}
    assert text.keys() == {"/", "/a.html", "/b.html"}
    assert THAI.strip() in text["/a.html"]
    assert OTHER.strip() in text["/b.html"]
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "first").rename(tmp_path / "elsewhere" / "gone")
    done = run([*SCRAPY, "corpus", str(tmp_path / "second")])
    assert done.returncode == 2
    assert "first holds no archive, but was crawled again: put it back" in done.stderr


def test_what_was_visited_again_comes_with_a_recrawl(site: Site, tmp_path: Path) -> None:
    site.add("www.one.co.th/b.html", page(OTHER))
    again(site, "second", "first")
    again(site, "third", "second", "first")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("first", "second", "third"):
        (tmp_path / name).rename(moved / name)
    done = run([*SCRAPY, "check", *(str(moved / name) for name in ("third", "first"))])
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("All agree.") == 2
    web = open_web(moved / "third")
    bodies = {path: web.answer("www.one.co.th", path) for path in PAGES}
    assert all(answer.status == 200 for answer in bodies.values())
    assert bodies["/b.html"].body == (site.web / "www.one.co.th" / "b.html").read_bytes()
    crawled = Site(moved / "third", tmp_path / "crawled")
    crawled.crawl("-a", f"seeds={HOST}/")
    assert sorted(crawled.urls) == sorted(HOST + path for path in PAGES)
    (moved / "first").rename(tmp_path / "gone")
    done = run([*SCRAPY, "wacz", str(moved / "third"), "--out", str(tmp_path / "x.wacz")])
    assert done.returncode == 0
    assert f"{moved / 'third'} visited again, isn't there: put it back" in done.stderr
    done = run([*SCRAPY, "check", str(moved / "third")])
    assert "visited again, isn't there" in done.stdout
    assert done.returncode == 0
    assert open_web(moved / "third").answer("www.one.co.th", "/a.html").status == 404


def test_a_crawl_that_has_another_name_now_is_known_by_its_files(
    site: Site, tmp_path: Path
) -> None:
    site.add("www.one.co.th/b.html", page(OTHER))
    again(site, "second", "first")
    (tmp_path / "first").rename(tmp_path / "renamed")
    wacz = [*SCRAPY, "wacz", str(tmp_path / "second"), "--out", str(tmp_path / "x.wacz")]
    done = run(wacz)
    assert done.returncode == 0
    assert not done.stderr
    whole = done.stdout
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "renamed").rename(tmp_path / "elsewhere" / "renamed")
    assert "first, which" in run(wacz).stderr
    done = run([*wacz, str(tmp_path / "elsewhere" / "renamed")])
    assert not done.stderr
    assert done.stdout == whole
    assert "in 2 WARC files" in whole


@pytest.mark.parametrize(
    ("folder", "says"), [("first", "this crawl's own folder"), ("none", "isn't the folder of a")]
)
def test_a_folder_that_cannot_be_visited_again(site: Site, folder: str, says: str) -> None:
    done = run(site.command(LSWC_RECRAWL=site.folder.parent / folder))
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def told(status: bytes, body: bytes = b"", *headers: bytes) -> bytes:
    """Return a response of a server."""
    lines = [b"HTTP/1.1 " + status, *headers, b"Content-Length: %d" % len(body), b"", body]
    return b"\r\n".join(lines)


HTML = b"Content-Type: text/html; charset=utf-8"
UNCHANGED = b"304 Not Modified"


def test_validators_are_asked_for_as_they_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path / "web", tmp_path / "first")
    site.add("never.example/", "a web needs a host")
    site.seeds(f"{HOST}/")
    date = b"Last-Modified: Tue, 01 Sep 2026 08:00:00 GMT"
    at_once, later = (b"Date: Tue, 01 Sep 2026 08:00:0%d GMT" % second for second in (0, 1))
    links = "/zip", "/new", "/none", "/unasked", "/close", "/moved", "/nofollow"
    zipped = gzip.compress(page(THAI + "ซ").encode())
    answers = {
        "/robots.txt": told(b"200 OK", b"", b'ETag: "r"'),
        "/": told(b"200 OK", page(THAI, *links).encode(), HTML, b'ETag: W/"1"', date, later),
        # It may have changed again in the second in which it was sent (RFC 9110 §8.8.2.2).
        "/new": told(b"200 OK", page(THAI + "ล").encode(), HTML, date, at_once),
        "/zip": told(b"200 OK", zipped, HTML, b"Content-Encoding: gzip", b'ETag: "z,z"'),
        "/none": told(b"200 OK", page(THAI + "น").encode(), HTML),
        "/unasked": told(b"200 OK", page(THAI + "ม").encode(), HTML),
        # The connection ends before the body does.
        "/close": told(b"200 OK", page(THAI + "ส").encode(), HTML, b'ETag: "s"')[:-9],
        "/moved": told(b"301 Moved", b"", b"Location: /target", b'ETag: "m"'),
        "/target": told(b"200 OK", page(THAI + "ต").encode(), HTML, b'ETag: "t"'),
        "/nofollow": told(b"200 OK", page(THAI + "ฟ", "/behind").encode(), HTML, b'ETag: "f"'),
        "/behind": told(b"200 OK", page(THAI + "ห").encode(), HTML, b'ETag: "b"'),
    }
    settings = {"TWISTED_DNS_RESOLVER": "tests.archive.raw.ToRawServer", "LSWC_ARCHIVE": "all"}
    with serving(answers) as server:
        monkeypatch.setenv(PORT, str(server["port"]))
        site.crawl(**settings)
    assert len(site.records) == 9
    for path in ("/", "/zip", "/unasked", "/target"):
        answers[path] = told(UNCHANGED, b"", b'ETag: "new"')
    # The new headers count (RFC 9111 §3.2), but not those of a body that wasn't sent.
    answers["/nofollow"] = told(
        UNCHANGED, b"", b"X-Robots-Tag: nofollow", b"Content-Type: image/png"
    )
    with serving(answers) as server:
        monkeypatch.setenv(PORT, str(server["port"]))
        second = again(site, "second", "first", **settings)
        asked = {path: sent for path, sent in server.items() if path in answers}
    assert b"If-Modified-Since: Tue, 01 Sep 2026 08:00:00 GMT\r\n" in asked["/"]
    assert b'If-None-Match: W/"1"' in asked["/"]
    assert b'If-None-Match: "z,z"' in asked["/zip"]
    assert b'If-None-Match: "t"' in asked["/target"]
    for path in ("/robots.txt", "/new", "/none", "/unasked", "/close", "/moved"):
        assert b"If-" not in asked[path]
    assert {path: record["status"] for path, record in second.items()} == {
        "/": 304, "/zip": 304, "/new": 200, "/none": 200, "/close": 200, "/target": 304,
        "/nofollow": 304,
    }  # fmt: skip
    finished = json.loads((tmp_path / "second" / "summary.json").read_text())["finished"]
    assert finished == {"html": 7, "redirect": 1, "status 304": 1}
    first = {r.url: r for r in records(tmp_path / "first") if r.type == "response"}
    revisits = {r.url: r for r in records(tmp_path / "second") if r.type == "revisit"}
    about = revisits[f"{HOST}/none"].headers  # it was sent again, by a server without validators
    assert about["WARC-Profile"] == IDENTICAL
    assert about["WARC-Refers-To-Date"] == first[f"{HOST}/none"].headers["WARC-Date"]
    assert about["WARC-Refers-To-Target-URI"] == f"{HOST}/none"
    (row,) = (row for row in corpus_of(tmp_path / "second") if row["url"] == f"{HOST}/none")
    assert THAI.strip() in row["text"]


def corpus_of(folder: Path) -> list[dict[str, Any]]:
    done = run([*SCRAPY, "corpus", str(folder)])
    assert done.returncode == 0, done.stderr
    table = pq.read_table(folder / "corpus" / "corpus-00000.parquet")
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def test_what_is_sent_again_is_stored_once_and_what_has_changed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path / "web", tmp_path / "first")
    site.add("never.example/", "a web needs a host")
    site.seeds(f"{HOST}/")
    names = [f"/{number}.html" for number in range(35)]
    answers = {name: told(b"200 OK", page(THAI * 2 + name * 20).encode(), HTML) for name in names}
    answers |= {"/": told(b"200 OK", page(THAI, *names).encode(), HTML),
                "/robots.txt": told(b"200 OK")}  # fmt: skip
    settings = {"TWISTED_DNS_RESOLVER": "tests.archive.raw.ToRawServer", "LSWC_ARCHIVE": "all",
                "LSWC_MAX_DUPLICATES": 0}  # fmt: skip
    with serving(answers) as server:
        monkeypatch.setenv(PORT, str(server["port"]))
        site.crawl(**settings)
        answers["/3.html"] = told(b"200 OK", page(OTHER).encode(), HTML)
        again(site, "second", "first", **settings)
    types = {r.url.removeprefix(HOST): r.type for r in records(tmp_path / "second")
             if r.type in ("response", "revisit") and "robots" not in r.url}  # fmt: skip
    assert types == {**dict.fromkeys(["/", *names], "revisit"), "/3.html": "response"}


def in_chunks(body: bytes, size: int) -> bytes:
    """Return the response of a server that divides a page in chunks."""
    head = b"\r\n".join([b"HTTP/1.1 200 OK", HTML, b"Transfer-Encoding: chunked", b"", b""])
    return head + chunked(body, size)


def test_what_comes_in_other_chunks_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path / "web", tmp_path / "first")
    site.add("never.example/", "a web needs a host")
    site.seeds(f"{HOST}/")
    bodies = {
        "/": page(THAI, "/a", "/b").encode(),
        "/a": page(OTHER).encode(),
        "/b": page(THAI + OTHER).encode(),
    }
    settings = {"TWISTED_DNS_RESOLVER": "tests.archive.raw.ToRawServer", "LSWC_ARCHIVE": "all"}
    answers = {path: in_chunks(body, 100) for path, body in bodies.items()}
    answers["/robots.txt"] = told(b"404 Not Found")
    with serving(answers) as server:
        monkeypatch.setenv(PORT, str(server["port"]))
        site.crawl(**settings)
        answers |= {path: in_chunks(body, 77) for path, body in bodies.items()}
        again(site, "second", "first", **settings)
    first = {r.url: r for r in records(tmp_path / "first") if r.type == "response"}
    second = [r for r in records(tmp_path / "second") if r.url.removeprefix(HOST) in bodies]
    assert {r.type for r in second} == {"revisit", "request", "metadata"}
    for record in (r for r in second if r.type == "revisit"):
        digest = f"sha1:{digest_of(bodies[record.url.removeprefix(HOST)])}"
        assert record.headers["WARC-Payload-Digest"] == digest
        assert first[record.url].headers["WARC-Payload-Digest"] == digest
    assert len(corpus_of(tmp_path / "second")) == 3
