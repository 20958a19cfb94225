"""The board report: its numbers are those of the log, the summary, the tables and the archive."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pypdfium2
import pytest
from warcio.archiveiterator import ArchiveIterator

from lswc.archive.check.agreement import check
from lswc.lab.analysis import board, refusals
from lswc.outcomes import RECORDED, Outcome, is_miss, of_status
from tests import forks
from tests.lab.analysis.webs import Web
from tests.scenarios.site import ENGLISH, ROOT, SCRAPY, Site, environment, page, run, words

if TYPE_CHECKING:
    from pathlib import Path

PLACES = {refusals.ELSEWHERE, refusals.OTHER_KIND, refusals.WAITS, *refusals.ORDER}
FAULTS = {
    Outcome.SPIDER_ERROR, Outcome.READER_DIED, Outcome.READING_TOO_LONG, Outcome.BROWSER_DIED,
    Outcome.RENDERING_TOO_LONG, Outcome.ITEM_DROPPED, Outcome.LOST, Outcome.FAILED,
}  # fmt: skip
HOST = "http://www.one.co.th"
HOSTILE = "Library <b>of</b> \"Example\" & 'Co' </title><script>alert(1)</script>"
UNTIL = '{"tests.scenarios.until.Until": 1, "lswc.monitor.recorder.Recorder": 2}'


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A crawl of pages and a document, visited more than once, and of all that brings no page."""
    folder = tmp_path_factory.mktemp("board")
    site = Site(folder / "web", folder / "crawl")
    site.seeds(f"{HOST}/")
    links = (
        "/a.html", "/copy.html", "/moved.html", "/gone", "/closed/1", "/closed/2", "/file.txt",
        "http://b.example/", "http://nobody.example/", "http://english.example/",
        "http://xn--72czi1dxb.com/", "ftp://www.one.co.th/x",
    )  # fmt: skip
    site.add("www.one.co.th/", page(words(0), *links) + "<img src=i.png>")
    site.add("www.one.co.th/i.png", b"\x89PNG\r\n\x1a\n" + bytes(100))
    site.add("www.one.co.th/a.html", page(words("a")))
    site.add("www.one.co.th/copy.html", page(words("a")))
    site.add("www.one.co.th/file.txt", words("text"))
    site.add("www.one.co.th/robots.txt", "User-agent: *\nDisallow: /closed/\n")
    site.add("b.example/", page(words("b")))
    site.add("english.example/", page(ENGLISH))
    site.add("xn--72czi1dxb.com/", page(words("c")))
    moved = {"www.one.co.th": {"redirects": {"/moved.html": [301, "/a.html"]}}}
    (site.web / "web.json").write_text(json.dumps(moved))
    (site.web / "changes.json").write_text(json.dumps({"seconds_a_day": 1.0}))
    site.crawl(
        LSWC_REVISIT=4, LSWC_OPERATOR=HOSTILE, LSWC_DESCRIPTION=HOSTILE, TEST_FINISHED=14,
        TEST_UNTIL=f"unchanged {HOST}/a.html,unchanged http://b.example/", EXTENSIONS=UNTIL,
    )  # fmt: skip
    return site


@pytest.fixture(scope="module")
def out(site: Site) -> Path:
    """Return the folder of the report of the crawl."""
    return report(site.folder)


def report(*folders: Path) -> Path:
    """Write the report of a crawl; return its folder."""
    out = folders[0].parent / f"report of {folders[0].name}"
    done = forks.run(["analyze", *map(str, folders), "--out", str(out)], ROOT, environment())
    assert done.returncode == 0, done.stderr
    return out


def tiles(out: Path) -> list[str]:
    """Return the large numbers of the page."""
    return re.findall(r"<dd>([^<]*)</dd>", (out / "board.html").read_text("utf-8"))


def table(out: Path, name: str) -> list[dict[str, str]]:
    with (out / "tables" / f"{name}.csv").open(encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def rows(out: Path, head: str) -> dict[str, list[str]]:
    """Return the rows of the page's table with that first head, by their first cells."""
    html = (out / "board.html").read_text("utf-8")
    (body,) = re.findall(rf">{head}</th>.*?<tbody>(.*?)</tbody>", html, re.DOTALL)
    found = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', body, re.DOTALL)
    return {name: re.findall(r'class="n">([^<]*)<', cells) for name, cells in found}


@pytest.mark.slow
def test_numbers_are_those_of_the_summary_the_tables_and_the_archive(site: Site, out: Path) -> None:
    assert check(site.folder).agrees
    finished = site.summary["finished"]
    visits = [record["url"] for record in site.records]
    pages = set(visits)
    assert len(visits) > len(pages)
    collected, wanted, archived, sites, documents, _ = tiles(out)
    assert int(collected) == len(pages) == sum(finished[one] for one in RECORDED)
    kept = {
        url
        for warc in (site.folder / "warc").glob("*.warc.gz")
        for url in archived_urls(warc)
        if url in pages
    }
    assert int(archived) == len(kept) == len(pages) - 1
    assert int(documents) == finished["document"] == 1
    assert int(sites) == len({url.split("/")[2] for url in kept}) == 3
    holdings = table(out, "holdings")
    assert int(archived) == sum(int(row["pages archived"]) for row in holdings)
    assert int(sites) == sum(int(row["pages archived"]) > 0 for row in holdings)
    languages = {row["language"]: row["pages"] for row in table(out, "pages_by_language")}
    assert wanted == languages["th"]
    shown = {name: cells[0] for name, cells in rows(out, "language").items()}
    assert shown == {"Thai": languages["th"], "English": languages["en"]}
    domains = {row["tld"]: row["Thai"] for row in table(out, "pages_by_tld")}
    assert {name: cells[0] for name, cells in rows(out, "domain").items()} == {
        name: number for name, number in domains.items() if number != "0" and name != "total"
    }
    assert f"{archived} pages of {sites} sites are archived" in (out / "report.html").read_text()


def archived_urls(warc: Path) -> set[str]:
    with warc.open("rb") as file:
        found = [(one.rec_type, one.rec_headers) for one in ArchiveIterator(file)]
    kinds = ("response", "revisit")
    return {headers["WARC-Target-URI"] for kind, headers in found if kind in kinds}


@pytest.mark.slow
def test_what_was_not_collected_adds_up(site: Site, out: Path) -> None:
    finished, discarded = site.summary["finished"], site.summary["discarded"]
    found = rows(out, "reason")
    assert found[refusals.ASKED] == ["2", "0"] == [str(finished["robots.txt"]), "0"]
    assert found[refusals.BLOCKED][1] == str(discarded["scheme"])
    names = sum(number for name, number in finished.items() if "name not" in name)
    assert found[refusals.GONE][0] == "2" == str(names + 1), "and /gone; no guessed sitemap"
    text = (out / "board.html").read_text("utf-8")
    numbers = re.search(
        r"Of (\d+) addresses .* (\d+) were collected and (\d+) weren.* (\d+) only .* (\d+) were",
        text,
    )
    assert numbers is not None
    ended, *parts = map(int, numbers.groups())
    assert ended == sum(parts)
    assert parts[1] == sum(int(cells[0]) for cells in found.values())
    assert parts[2] == finished["redirect"] == 1


@pytest.mark.slow
def test_nothing_of_others_is_markup_and_nothing_is_loaded(out: Path) -> None:
    for name in ("board.html", "report.html"):
        html = (out / name).read_text("utf-8")
        assert "<script" not in html
        assert "Library <b>" not in html
        assert "The Thai web, collected by Library &lt;b&gt;" in html
        assert not re.search(r'(?:src|href)="(?!#|data:|tables/|board\.html|report\.html)', html)
        assert "xn--" not in html


@pytest.mark.slow
def test_a_crawl_without_an_archive_or_a_page_is_told_as_such(site: Site, tmp_path: Path) -> None:
    without = Site(site.web, tmp_path / "without")
    without.crawl(LSWC_ARCHIVE="none")
    out = report(without.folder)
    assert tiles(out)[2:4] == ["0", "0"]
    assert "keeps no archive" in (out / "board.html").read_text("utf-8")

    nothing = Site(tmp_path / "web", tmp_path / "nothing")
    nothing.seeds(f"{HOST}/")
    nothing.add("www.one.co.th/robots.txt", "User-agent: *\nDisallow: /\n")
    nothing.crawl()
    out = report(nothing.folder)
    assert tiles(out)[:4] == ["0"] * 4
    text = (out / "board.html").read_text("utf-8")
    assert "No page in Thai was collected" in text
    assert "No address waits" in text


@pytest.mark.slow
def test_a_frontier_that_can_not_be_read_is_told_and_the_rest_stays(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.seeds(f"{HOST}/")
    site.add("www.one.co.th/", page(words(0)))
    site.crawl()
    (site.folder / "frontier.db").unlink()
    out = report(site.folder)
    assert tiles(out)[0] == "1"
    assert "what is pending isn&#39;t known" in (out / "board.html").read_text("utf-8")


def test_a_trace_has_no_board_and_an_earlier_one_goes(tmp_path: Path) -> None:
    trace = Web().page(f"{HOST}/", "th").write(tmp_path / "trace", f"{HOST}/")
    out = tmp_path / "out"
    for _ in range(2):
        done = run([*SCRAPY, "analyze", str(trace), "--out", str(out)])
        assert done.returncode == 0, done.stderr
        assert not (out / "board.html").exists()
        (out / "board.html").write_text("of a crawl")


def test_each_outcome_has_a_reason_and_only_our_faults_are_such() -> None:
    names = [one for one in Outcome if one not in RECORDED]
    assert {refusals.reason(one) for one in names} == PLACES
    assert {one for one in names if refusals.reason(one) == refusals.FAULT} == FAULTS
    statuses = [of_status(number) for number in range(100, 700)]
    assert all(map(is_miss, statuses[:500]))
    assert not any(refusals.reason(one) == refusals.FAULT for one in statuses)


@pytest.mark.slow
def test_the_fullest_board_prints_on_one_sheet(tmp_path: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    bars = tuple(board.Bar("Haitian Creole", 10**9, 1 / 6) for _ in range(6))
    line = "A sentence of what is next, as long as any. " * 3
    full = board.Board(
        "The language's web, collected by " + "Library " * 12 + ", Nov 2026",
        "describe " * 26,
        "a language", line, tuple(board.Tile("1,234,567,890", line[:60]) for _ in range(6)), bars,
        bars, "100% of the pages are outside " + ".long " * 8,
        board.Growth("0,30 100,0", "0,30 100,9", "1 Nov 2026", "1 Dec 2026"), line,
        tuple((why, 10**9, 10**9) for why in refusals.ORDER), (line,) * 6, (line,) * 7,
    )  # fmt: skip
    (tmp_path / "board.html").write_text(board.html(full), "utf-8")
    subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--no-pdf-header-footer",
         f"--user-data-dir={tmp_path / 'profile'}", f"--print-to-pdf={tmp_path / 'board.pdf'}",
         (tmp_path / "board.html").as_uri()],
        check=True, capture_output=True,
    )  # fmt: skip
    sheets = pypdfium2.PdfDocument(tmp_path / "board.pdf")
    assert len(sheets) == 1
    assert [round(side) for side in sheets[0].get_size()] == [595, 842], "A4"
