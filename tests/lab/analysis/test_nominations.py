"""The list of sites outside the country's domain: what is in it, in which order, and as a file."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from lswc.lab.analysis.questions import Questions, analyze
from lswc.lab.analysis.table import Table
from lswc.lab.trace.from_log import to_trace
from tests.lab.analysis.test_countries import NETWORKS, mmdb
from tests.lab.analysis.webs import Report, Web, record, write_crawl
from tests.scenarios.site import THAI, Site, page

if TYPE_CHECKING:
    from pathlib import Path

INSIDE = ("http://www.one.co.th/", "http://www.two.co.th/")
FORMULA = "http://=1+1.example/"


def web() -> Web:
    """Two Thai sites inside, one that isn't, and some outside with more or less evidence."""
    sure, linked = "http://www.sure.com/", "http://blog.linked.org/"
    made = Web()
    made.page(INSIDE[0], "th", sure, f"{sure}about.html", linked, "http://never.com/")
    made.page(INSIDE[1], "th", sure, INSIDE[0])
    made.page("http://www.english.co.th/", "en", "http://large.net/1", linked)
    made.page(sure, "th").page(f"{sure}about.html", "th").page(f"{sure}3", "th")
    made.page("http://shop.sure.com/", "en")
    for number in range(4, 8):
        made.page(f"{sure}{number}", "th")
    made.page(linked, "en").page(f"{linked}th/page", "th")
    made.page("http://large.net/", "en")
    for number in range(9):
        made.page(f"http://large.net/{number}", "th" if number < 3 else "en")
    made.page(FORMULA, "th").page("http://irrelevant.com/", "en")
    return made.redirect("http://moved.com/", sure)


@pytest.fixture
def found(tmp_path: Path) -> Report:
    return Report.of(web().write(tmp_path / "web", *INSIDE))


def test_the_surest_come_first_and_none_is_inside(found: Report) -> None:
    rows = found.rows("nominations")
    assert [row[:2] for row in rows] == [
        ("sure.com", 4), ("linked.org", 2), ("=1+1.example", 1), ("large.net", 0),
    ]  # fmt: skip
    assert rows[0][2] == (
        "2 known sites inside link to it; front page in Thai; contact page in Thai; mostly in Thai"
    )
    assert rows[0][3:9] == (7, 8, 7 / 8, "th", 1, 2)
    told = "1 known site inside links to it; address that names Thai"
    assert rows[1][2:9] == (told, 1, 2, 0.5, "en", 0, 1)
    assert rows[3][3:9] == (3, 10, 0.3, "en", 0, 0)  # a page in English inside is no evidence
    assert found.column("nominations", "example page")[0] == "http://www.sure.com/"
    assert "12 Thai pages of 4 sites" in found.text


def test_a_server_in_the_country_is_evidence(tmp_path: Path) -> None:
    database = mmdb(tmp_path / "db.mmdb", NETWORKS)
    addresses = tmp_path / "addresses.csv"
    addresses.write_text("large.net,1.2.3.4\nwww.sure.com,9.9.1.2\n")
    asked = Questions(countries=database, addresses=addresses)
    found = Report.of(web().write(tmp_path / "web", *INSIDE), asked)
    told = {row[0]: (row[9], row[2]) for row in found.rows("nominations")}
    assert told["large.net"] == ("TH", "server in TH")
    assert told["sure.com"][0] == "US"
    assert "server in" not in str(told["sure.com"][1])


def test_a_crawl_without_its_log_has_no_links_but_times(tmp_path: Path) -> None:
    lines = [
        record("http://www.a.com/2", "th", time="2026-05-04T23:00:00+00:00"),
        record("http://www.a.com/", "th", time="2026-05-03T01:00:00+00:00"),
        record("http://b.com/", "en", time="2026-05-03T01:00:00+00:00"),
        record("http://a.co.th/", "th"),
    ]
    found = Report.of(write_crawl(tmp_path / "crawl", *lines))
    (row,) = found.rows("nominations")
    assert (row[0], row[8], row[11:13]) == ("a.com", None, ("2026-05-03", "2026-05-04"))
    assert "it isn't known which sites link to them" in found.text


def test_a_language_without_a_domain_of_its_own_has_all_sites(tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "crawl", record("http://a.in/", "sat"), lang="sat")
    found = Report.of(crawl)
    assert [row[0] for row in found.rows("nominations")] == ["a.in"]
    assert "No top-level domain is known as Santali's own" in found.text


def test_the_file_opens_in_a_spreadsheet_and_nothing_in_it_is_a_formula(tmp_path: Path) -> None:
    analyze(web().write(tmp_path / "web", *INSIDE), tmp_path / "out", Questions())
    text = (tmp_path / "out" / "tables" / "nominations.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbfsite,")
    rows = list(csv.reader(text.decode("utf-8-sig").splitlines()))
    assert [row[0] for row in rows[1:]] == ["sure.com", "linked.org", "'=1+1.example", "large.net"]
    kept = pq.read_table(tmp_path / "out" / "tables" / "nominations.parquet")
    assert "=1+1.example" in kept["site"].to_pylist()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n=", "＝", "＋"])
def test_no_text_of_the_web_begins_as_a_formula(tmp_path: Path, start: str) -> None:
    hostile = f'{start}HYPERLINK("http://evil.example/";"a,b")\n,'
    table = Table("t", "t", ("text", "number"), [(hostile, -1.5), ("plain -1", -2.0)])
    table.write(tmp_path)
    with (tmp_path / "t.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["text", "number"], [f"'{hostile}", "-1.5"], ["plain -1", "-2.0"]]


def test_workers_of_one_crawl_are_read_together(tmp_path: Path) -> None:
    """One fetched the site inside that links out, and failed at what the other fetched later."""
    folders = []
    for number, seed in enumerate((INSIDE[0], "http://www.sure.com/")):
        site = Site(tmp_path / f"web{number}", tmp_path / f"worker{number}")
        site.seeds(seed)
        site.add(f"{seed[7:]}", page(THAI, "http://www.sure.com/"))
        site.crawl()
        folders.append(site.folder)
    to_trace(folders[1], tmp_path / "trace", others=folders[:1])
    (row,) = Report.of(tmp_path / "trace").rows("nominations")
    assert (row[0], row[3], row[8]) == ("sure.com", 1, 1)
    assert row[11] == row[12] is not None
