"""What archived pages need to look as they do is archived with them, and never counts as a page."""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from lswc.archive.check.agreement import check
from lswc.crawl.requisite_offers import UNPROVED, Earned
from lswc.frontier.rules import contract
from lswc.frontier.rules.visit import Offer
from lswc.lab.trace.from_log import log, to_trace
from lswc.reading.requisites import REQUISITES_A_PAGE
from lswc.strategy import PageLanguage
from tests.crawl.running import SetUp
from tests.scenarios.site import ENGLISH, THAI, page

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.frontier.rules.visit import Visit
    from tests.scenarios.site import Site

SEED = "http://www.one.co.th/"
NEEDED = {
    f"{SEED}site.css": SEED,
    f"{SEED}logo.png": SEED,
    f"{SEED}missing.png": SEED,
    "http://static.cdn.example/lib.js": SEED,
    "http://static.cdn.example/old.png": SEED,
    "http://static.cdn.example/new.png": "http://static.cdn.example/old.png",
    "http://frames.example/in.html": SEED,
    "http://frames.example/in.png": "http://frames.example/in.html",
    f"{SEED}fonts.css": f"{SEED}site.css",
    f"{SEED}demo.woff2": f"{SEED}fonts.css",
}


@pytest.fixture
def dressed(site: Site) -> Site:
    """A Thai page that needs files of four kinds, of three hosts, and an English one."""
    site.seeds(SEED)
    head = (
        "<link rel=icon href=logo.png><link rel=stylesheet href=site.css>"
        "<script src=//static.cdn.example/lib.js></script>"
        "<img src=logo.png><img src=missing.png><img src=http://static.cdn.example/old.png>"
        "<iframe src=http://frames.example/in.html></iframe>"
    )
    site.add("www.one.co.th/", page(THAI, "/a.html", "/logo.png", "http://en.example/") + head)
    site.add("www.one.co.th/a.html", page(THAI) + "<link rel=icon href=/logo.png>")
    site.add("en.example/", page(ENGLISH) + "<img src=/never.png>")
    site.add("en.example/never.png", b"\x89PNG\r\n\x1a\n")
    site.add("www.one.co.th/site.css", "@import 'fonts.css'; p { background: url(logo.png) }")
    site.add("www.one.co.th/fonts.css", "@font-face { src: url(demo.woff2) }")
    site.add("www.one.co.th/demo.woff2", b"wOF2")
    site.add("www.one.co.th/logo.png", b"\x89PNG\r\n\x1a\n")
    site.add("static.cdn.example/lib.js", "1")
    site.add("static.cdn.example/new.png", b"\x89PNG\r\n\x1a\nnew")
    site.add("frames.example/in.html", page(ENGLISH) + "<img src=in.png>")
    site.add("frames.example/in.png", b"\x89PNG\r\n\x1a\nin")
    rules = {"static.cdn.example": {"redirects": {"/old.png": [302, "/new.png"]}}}
    (site.web / "web.json").write_text(json.dumps(rules))
    return site


def attempts(site: Site) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = log(site.folder)[0].to_pylist()
    return found


def test_a_crawl_that_has_enough_pages_ends_with_what_they_need(dressed: Site) -> None:
    dressed.crawl(CLOSESPIDER_ITEMCOUNT=1, CONCURRENT_REQUESTS=1)
    assert dressed.urls == [SEED]
    asked = {row["url"] for row in log(dressed.folder)[0].to_pylist()}
    assert NEEDED.keys() <= asked
    assert dressed.summary["reason"] == "closespider_itemcount"


def test_they_are_archived_and_the_log_says_whose_they_are(dressed: Site) -> None:
    dressed.crawl(LSWC_PROFILE="hard_focused", LSWC_ALLOWED_DOMAINS="one.co.th")
    rows = [row for row in attempts(dressed) if row["kind"] == "requisite"]
    assert {row["url"]: row["referrer"] for row in rows} == NEEDED
    assert all(row["archived"] for row in rows)
    (of_page,) = (row for row in attempts(dressed) if row["url"] == f"{SEED}a.html")
    assert of_page["requisites"] == [f"{SEED}logo.png"]
    stored = b"".join(gzip.decompress(p.read_bytes()) for p in dressed.folder.glob("warc/*.gz"))
    assert set(NEEDED) <= {u.decode() for u in re.findall(rb"WARC-Target-URI: (\S+)\r", stored)}
    assert stored.count(b"kind: requisite\r\n") == len(NEEDED)


def test_what_scripts_name_is_asked_for_last_and_what_is_too_large_is_cut(site: Site) -> None:
    site.seeds(SEED)
    head = "<script src=app.js></script><script>f('data/a.json')</script><img src=large.png>"
    site.add("www.one.co.th/", page(THAI, "/en.html") + head)
    site.add("www.one.co.th/en.html", page(ENGLISH) + "<script>f('data/never.json')</script>")
    site.add("www.one.co.th/app.js", "import './b.js'; f('data/b.json'); f('data/missing.json')")
    site.add("www.one.co.th/b.js", "1")
    site.add("www.one.co.th/large.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 500)
    site.add("www.one.co.th/favicon.ico", b"\0\0\1\0")
    for name in ("a", "b", "never"):
        site.add(f"www.one.co.th/data/{name}.json", "{}")
    site.crawl(DOWNLOAD_MAXSIZE=100_000)
    asked = [row["url"] for row in attempts(site) if row["kind"] == "requisite"]
    sure = {f"{SEED}{name}" for name in ("app.js", "large.png", "b.js")}
    guessed = {"data/a.json", "data/b.json", "data/missing.json", "favicon.ico"}
    assert set(asked[:3]) == sure
    assert set(asked[3:]) == {f"{SEED}{name}" for name in guessed}
    ended = {"requisite": 3, "guessed: requisite": 3, "guessed: status 404": 1}
    assert site.summary["requisites"] == ended
    assert site.summary["content"]["file cut"] == 1
    stored = b"".join(gzip.decompress(p.read_bytes()) for p in site.folder.glob("warc/*.gz"))
    (cut,) = (head for head in stored.split(b"WARC/1.1\r\n") if b"WARC-Truncated" in head)
    assert b"WARC-Truncated: length\r\n" in cut
    assert b"large.png\r\n" in cut
    assert 100_000 <= len(cut) < 101_000
    assert check(site.folder).agrees


def test_a_server_has_as_many_guesses_as_its_right_ones_earn() -> None:
    earned = Earned()

    def allowed(first: int, number: int) -> int:
        names = (f"http://a.example/{n}" for n in range(first, first + number))
        offers = (Offer(url, "a.example", "a.example", 0, PageLanguage.TARGET, 1) for url in names)
        return sum(map(earned.allow, offers))

    assert allowed(0, UNPROVED + 10) == UNPROVED
    assert allowed(0, UNPROVED) == UNPROVED, "they are the same"
    earned.prove("a.example")
    assert allowed(UNPROVED, 10) == 3
    earned.prove("b.example")


def test_a_script_names_files_where_it_runs_even_if_another_page_guessed_it(site: Site) -> None:
    one = "www.one.co.th"
    site.seeds(SEED)
    head = "<link rel=icon href=/x.png>"
    site.add(f"{one}/", page(THAI, "/a/") + f"{head}<img src=x.png><script>f('a/s.js')</script>")
    site.add(f"{one}/a/index.html", page(THAI) + f"{head}<script src=s.js></script>")
    site.add(f"{one}/a/s.js", "fetch('data/b.json')")
    site.add(f"{one}/a/data/b.json", '[{"image": "data/c.png"}]')
    for name in ("x.png", "a/data/c.png"):
        site.add(f"{one}/{name}", b"\x89PNG\r\n\x1a\n")
    site.crawl(CONCURRENT_REQUESTS=1)
    asked = [row["url"] for row in attempts(site) if row["kind"] == "requisite"]
    names = {"x.png", "a/s.js", "a/data/b.json", "a/data/c.png"}
    assert {url.removeprefix(SEED) for url in asked} == names


def test_they_are_no_pages_anywhere_else(dressed: Site, tmp_path: Path) -> None:
    dressed.crawl()
    summary = dressed.summary
    assert (summary["pages"], summary["relevant"]) == (4, 2)  # the frame is linked to, too
    ended = {"requisite": 8, "redirect": 1, "status 404": 1}
    assert summary["requisites"] == ended
    assert summary["finished"] == {"html": 4, "not HTML": 1, **ended}
    assert len(dressed.urls) == 4
    assert "http://en.example/never.png" not in {row["url"] for row in attempts(dressed)}
    assert check(dressed.folder).agrees
    to_trace(dressed.folder, tmp_path / "trace")


def test_without_archive_or_by_choice_none_is_asked_for(dressed: Site) -> None:
    dressed.crawl(LSWC_REQUISITES="none")
    assert dressed.summary["requisites"] == {}
    assert "requisite" not in {row["kind"] for row in attempts(dressed)}


@pytest.mark.parametrize(("first", "share"), [(0, 10), (1_000, 0)])
def test_they_get_their_share_while_pages_wait_and_the_rest_later(
    first: int, share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A young crawl asks for pages first, as long as one may be asked for or is under way."""
    monkeypatch.setattr(contract, "FIRST_PAGES", first)
    pages = [f"http://p{number}.example/" for number in range(40)]
    with SetUp(tmp_path, *pages, LSWC_REQUISITES=0.25) as crawl:
        parts = crawl.parts
        images = "".join(f"<img src=http://i{n}.example/>" for n in range(20))
        reader = parts.crawl.reader.requisites
        assert reader is not None
        page = crawl.visit()
        parts.requisites.need(page, reader.read(images.encode(), "text/html", page.url, 0), 1)
        parts.commits.commit(page, "html")
        kinds = []
        for _ in range(59):
            visit = crawl.visit()
            kinds.append(visit.lease.is_requisite)
            parts.commits.commit(visit, "html")
        assert sum(kinds[:39]) == share
        assert kinds.count(True) == 20
        assert crawl.parts.leases.lease(0.0) is None


def test_a_page_with_all_that_its_requisites_need_is_bounded(tmp_path: Path) -> None:
    with SetUp(tmp_path, "http://a.example/") as crawl:
        parts = crawl.parts
        reader = parts.crawl.reader.requisites
        assert reader is not None
        found: list[str] = []

        def bring(visit: Visit, body: str, kind: str) -> None:
            needed = reader.read(body.encode(), kind, visit.url, 0)
            parts.requisites.need(visit, needed, visit.lease.depth + 1)
            found.extend(visit.requisites)
            parts.commits.commit(visit, "requisite")

        sheets = "".join(f"<link rel=stylesheet href=//{n}.example/>" for n in range(4))
        bring(crawl.visit(), sheets, "text/html")
        for _ in range(REQUISITES_A_PAGE):
            names = (f"//{letter}{len(found)}.example/" for letter in "xy")
            bring(crawl.visit(), "".join(f"@import '{name}';" for name in names), "text/css")
        assert len(found) == REQUISITES_A_PAGE
        assert parts.frontier.unfinished == 0
        discarded = parts.frontier.counts().tally["requisites discarded"]
        assert discarded["too many requisites"] > 0


def test_beyond_their_share_they_wait_while_a_page_is_being_asked_for(tmp_path: Path) -> None:
    with SetUp(tmp_path, "http://a.example/", "http://b.example/", LSWC_REQUISITES=0) as crawl:
        parts = crawl.parts
        reader = parts.crawl.reader.requisites
        assert reader is not None
        first, second = crawl.visit(), crawl.visit()
        needed = reader.read(b"<img src=http://i.example/>", "text/html", first.url, 0)
        parts.requisites.need(first, needed, 1)
        parts.commits.commit(first, "html")
        assert parts.leases.lease(0.0) is None
        parts.commits.commit(second, "html")
        assert crawl.visit().lease.is_requisite


def test_a_crawl_that_ends_early_asks_for_what_its_pages_need_first(tmp_path: Path) -> None:
    with SetUp(tmp_path, "http://a.example/", "http://b.example/") as crawl:
        reasons: list[str] = []
        parts = crawl.parts
        parts.commits.stop = reasons.append
        reader = parts.crawl.reader.requisites
        assert reader is not None
        first = crawl.visit()
        needed = reader.read(b"<img src=http://i.example/>", "text/html", first.url, 0)
        parts.requisites.need(first, needed, 1)
        parts.commits.commit(first, "html")
        parts.leases.finish("enough")
        assert reasons == []
        visit = crawl.visit()
        assert visit.lease.is_requisite
        assert parts.leases.lease(0.0) is None
        assert reasons == []
        parts.commits.commit(visit, "requisite")
        assert parts.leases.lease(0.0) is None
        assert parts.leases.lease(0.0) is None
        assert reasons == ["enough"]
        assert parts.frontier.pending == 1
