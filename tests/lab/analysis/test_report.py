"""The whole report of small webs, of crawl folders and of bad input."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from lswc.lab.analysis import AnalysisError
from lswc.lab.analysis.questions import Questions, analyze, read
from lswc.lab.trace.format import TraceError
from lswc.language.registry import LanguageError
from lswc.strategy import Anchor, StrategyError
from tests.lab.analysis.webs import Report, Row, Web, record, write_crawl

if TYPE_CHECKING:
    from pathlib import Path

A, B, C, D = (
    "http://www.a.co.th/",
    "http://www.b.com/",
    "http://www.c.de/",
    "http://blog.b.com/thai",
)


def small() -> Web:
    """Return a web of Thai a and blog.b, English b, German c: seed a, blog.b behind b and c."""
    return (
        Web()
        .page(A, "th", (B, Anchor.OTHER), (A + "two", Anchor.TARGET), A + "never")
        .page(A + "two", "th", A)
        .page(B, "en", (C, Anchor.OTHER), (B + "sub", Anchor.OTHER))
        .page(C, "de", (D, Anchor.TARGET))
        .page(D, "th", (B, Anchor.NONE), "http://www.nowhere.org/")
        .page(B + "sub", None)
    )


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small().write(tmp_path_factory.mktemp("webs") / "web", A)


@pytest.fixture(scope="module")
def found(trace: Path) -> Report:
    return Report.of(trace)


@pytest.fixture(scope="module")
def out(trace: Path) -> Path:
    """Return the folder of the report of the trace."""
    return analyze(trace, trace.parent / "out", Questions()).parent


def test_the_size_in_a_few_numbers(out: Path) -> None:
    html = (out / "report.html").read_text("utf-8")
    shown = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", html))
    # a and b have two pages each; a/never and nowhere.org were never downloaded.
    assert shown == {
        "URLs": "8", "pages": "6", "relevant pages": "3", "servers with pages": "4",
        "relevant servers": "2", "links": "9", "irrelevant pages": "3",
        "share of pages that are relevant": "50.00%",
    }  # fmt: skip


def test_pages_by_domain_and_distance(found: Report) -> None:
    by_tld = {row[0]: row[1:] for row in found.rows("pages_by_tld")}
    assert by_tld[".com"] == (1, 1, 0, 1, 3, pytest.approx(1 / 3))
    assert by_tld["total"] == (3, 1, 1, 1, 6, 0.5)
    # Seed a; b and a/two; c and b/sub; blog.b.
    assert [row[:3] for row in found.rows("distance_from_seeds")] == [
        (0, 1, 1), (1, 2, 1), (2, 2, 0), (3, 1, 1),
    ]  # fmt: skip
    assert [row[4:] for row in found.rows("distance_from_seeds")][-1] == (6, 3, 0.5)


def test_nearest_pages(found: Report) -> None:
    # a from a/two, a/two from a; blog.b from a by b and c.
    assert [row[:2] for row in found.rows("nearest_relevant")] == [(1, 2), (2, 0), (3, 1)]


def test_links_by_page_server_place_and_anchor(found: Report) -> None:
    assert [(*row[:3], *row[4:6]) for row in found.rows("links_by_page_kind")] == [
        ("Thai page", 2, 2, 0, 2),
        ("other page on a Thai server", 0, 0, 0, 0),
        ("other page on another server", 1, 2, 1, 1),
    ]
    # The link to a/never is between Thai servers; the one to nowhere.org is in no cell.
    assert [row[1:] for row in found.rows("links_by_server_kind")] == [
        (3, 2, 0.6, 0, 2, 0.0), (1, 2, 1 / 3, 1, 1, 0.5),
    ]  # fmt: skip
    places = ("all links", "same server", "same site", "other site", "other server")
    of_thai = [found.column("links_by_place", place)[0] for place in places]
    assert of_thai == [4, 2, 3, 1, 2]
    assert [(row[2], row[4]) for row in found.rows("anchors")] == [
        (1, 1), (1, 0), (2, 1), (1, 1), (2, 0), (0, 0),
    ]  # fmt: skip
    assert sum(int(str(number)) for number in found.column("links_in_full", "links")) == 9


def test_links_by_domain_and_by_what_the_filters_keep(found: Report) -> None:
    assert [(row[0], row[1], *row[3:5]) for row in found.rows("links_by_tld")] == [
        (".com", 4, 4, 1), (".th", 3, 2, 2), (".de", 1, 1, 0), (".org", 1, 0, 0),
    ]  # fmt: skip
    assert [(row[1], *row[3:5]) for row in found.rows("links_by_filter")] == [
        (3, 2, 2), (1, 1, 1), (3, 3, 0), (2, 1, 0),  # .th; others by text: Thai, other, none
        (3, 2, 2), (2, 2, 2), (4, 3, 3), (9, 7, 3),  # kept by tld, anchor, both; all
    ]  # fmt: skip
    assert found.column("links_by_filter", "share of pages")[-1] == pytest.approx(3 / 7)


def test_encodings_are_counted_by_site(found: Report) -> None:
    assert found.rows("encodings_by_sites") == [("utf-8", 2, 3)]
    assert found.rows("encodings_by_tld") == [
        ("utf-8", ".com", 1, 1, 1.0), ("utf-8", ".th", 1, 2, 1.0),
    ]  # fmt: skip


def test_every_table_and_figure_is_a_file_and_the_report_needs_no_other(
    out: Path, found: Report
) -> None:
    html = (out / "report.html").read_text("utf-8")
    assert {path.stem for path in (out / "tables").glob("*.csv")} == found.tables
    for name in found.tables:
        kept = pq.read_table(out / f"tables/{name}.parquet").to_pylist()
        assert [tuple(row.values()) for row in kept] == found.rows(name)
        with (out / f"tables/{name}.csv").open(encoding="utf-8", newline="") as file:
            assert len(list(csv.reader(file))) == len(kept) + 1
        assert f"tables/{name}.csv" in html
    pictures = {path.stem for path in (out / "figures").glob("*.svg")}
    assert pictures | {"all"} == {path.stem for path in (out / "figures").glob("*.png")}
    assert {"languages", "distances", "locality", "nearest", "anchors"} <= pictures
    assert html.count("data:image/svg+xml;base64,") == len(pictures)
    assert "<script" not in html
    assert not re.search(r'(?:src|href)="(?!data:|tables/|#)', html)


def test_an_earlier_report_is_replaced_by_one_with_the_same_bytes(
    trace: Path, out: Path, tmp_path: Path
) -> None:
    earlier = small().write(tmp_path / "web", A)
    analyze(earlier, tmp_path / "out", Questions(control=trace))
    (tmp_path / "out" / "notes.txt").write_text("mine")
    assert list((tmp_path / "out").rglob("side_by_side*"))
    report = analyze(trace, tmp_path / "out", Questions())
    assert not list((tmp_path / "out").rglob("side_by_side*"))
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"
    assert report.read_bytes() == (out / "report.html").read_bytes()


def test_names_from_the_web_are_text_and_not_markup(tmp_path: Path) -> None:
    hostile = '<script>alert(1)</script>"$x^2$'
    web = Web().page(A, "th", B).page(B, hostile).page("http://www.x.xn--o3cw4h/", hostile + "ไทย")
    web.rows[0].encoding = hostile
    trace = web.write(tmp_path / "web", A)
    control = web.write(tmp_path / "control", A)
    html = analyze(trace, tmp_path / "out", Questions(control=control)).read_text("utf-8")
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_missed_pages_come_with_the_path_to_them(trace: Path) -> None:
    found = Report.of(trace, Questions(strategy="hard_focused"))
    path = f"{A} (th) > {B} (en) > {C} (de) > {D} (th)"
    assert found.rows("missed_pages") == [(3, 2, path)]
    assert found.rows("missed_paths") == [("Thai > English > other > Thai", 1, 1.0, path)]
    assert found.rows("missed_by_distance")[3][:3] == (3, 1, 1)
    assert found.rows("missed_by_run") == [(2, 1, 1.0)]


def test_nothing_missed_is_said(trace: Path) -> None:
    assert "None of the 3 is missed" in Report.of(trace, Questions(strategy="bfs")).text


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("anchors", "the trace has no column anchors"),
        ("encoding", "the data has no column encoding"),
        ("tld", "neither an IP database nor a column tld"),
        ("url", "under a country's domain"),
    ],
)
def test_a_missing_column_costs_its_tables_only(tmp_path: Path, column: str, said: str) -> None:
    trace = small().write(tmp_path / "web", A, without=[column])
    found = Report.of(trace, Questions(strategy="hard_focused"))
    assert said in found.text
    assert {"pages_by_language", "links_by_page_kind", "missed_pages"} <= found.tables


def test_one_page(tmp_path: Path) -> None:
    trace = Web().page(A, "th").write(tmp_path / "web", A)
    html = analyze(trace, tmp_path / "out", Questions(strategy="bfs")).read_text("utf-8")
    assert "No path leads from one relevant page to another" in html


def test_a_web_without_a_relevant_page(tmp_path: Path) -> None:
    trace = Web().page(A, "en", B).page(B, None).write(tmp_path / "web", A)
    html = analyze(trace, tmp_path / "out", Questions(strategy="bfs")).read_text("utf-8")
    assert "No page is in Thai" in html


def test_a_crawl_folder_gives_what_it_can_without_links(tmp_path: Path) -> None:
    crawl = write_crawl(
        tmp_path / "crawl",
        record(A, "th"),
        record(B, "en", 1),
        record("http://[::1]/", "th", 2),
        '{"url": "http://www.torn.',
        '{"url": 5}',
        "[]",
        record("not a url", "th"),
        '{"url": "http://www.odd.com/", "language": "\\ud800", "depth": 1, "encoding": []}',
    )
    found = Report.of(crawl)
    assert found.text.count("it needs links") == 4
    assert [row[:3] for row in found.rows("distance_from_seeds")] == [
        (0, 1, 1), (1, 2, 0), (2, 1, 1),
    ]  # fmt: skip
    assert set(found.column("pages_by_tld", "tld")) == {".th", ".com", "(address)", "total"}
    assert found.rows("encodings_by_sites") == [("utf-8", 2, 2)]


def test_the_harvest_rate_of_a_crawl_is_in_the_order_of_its_pages(tmp_path: Path) -> None:
    times = [f"2026-01-01T{hour:02}:30:00.000+00:00" for hour in (2, 0, 1, 4)]
    crawl = write_crawl(
        tmp_path / "crawl",
        record(A, "th", time=times[0]),
        record(B, "en", time=times[1]),
        record(C, "th", time=times[2]),
        record(D, "th", time=times[3]),
        record("http://www.untimed.com/", "th", time="soon"),
    )
    found = Report.of(crawl)
    assert found.rows("harvest_over_crawl") == [
        (1, 0, 0.0, 0.0), (2, 1, 0.5, 1.0), (3, 2, 2 / 3, 2.0), (4, 3, 0.75, 4.0),
    ]  # fmt: skip
    assert "3 of 4 pages in 4.0 hours are in Thai" in found.text


def test_seeds_are_counted_by_domain_and_language(found: Report) -> None:
    assert found.rows("seeds_by_tld") == [
        (".th", 1, 0, 0, 0, 1, 1.0), ("total", 1, 0, 0, 0, 1, 1.0),
    ]  # fmt: skip
    assert "1 seed, 1 of them pages" in found.text


def test_every_url_has_an_outcome(tmp_path: Path) -> None:
    web = small().redirect(A + "moved", B)
    web.rows += [Row(A + "gone", status=404), Row(A + "x.png", status=204)]
    web.page(A + "links", "th", A + "moved", A + "gone", A + "x.png")
    found = Report.of(web.write(tmp_path / "web", A, B))
    assert [row[:2] for row in found.rows("urls_by_outcome")] == [
        ("Thai pages", 4), ("other pages", 3), ("not HTML", 1), ("redirects", 1), ("failed", 1),
        ("no answer, or never asked", 2), ("total", 12),
    ]  # fmt: skip
    assert [row[0] for row in found.rows("seeds_by_tld")] == [".com", ".th", "total"]


def test_a_domain_is_named_in_its_own_script(tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "crawl", record("http://a.xn--o3cw4h/", "th"))
    assert Report.of(crawl).column("pages_by_tld", "tld") == [".ไทย", "total"]


def test_an_empty_crawl_is_reported_as_such(tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "crawl")
    html = analyze(crawl, tmp_path / "out", Questions()).read_text("utf-8")
    assert "No page is in Thai" in html
    assert pq.read_table(tmp_path / "out/tables/pages_by_language.parquet").num_rows == 0


def test_mistakes_have_clear_errors(tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "crawl", record(A, "th"))
    with pytest.raises(AnalysisError, match=r"neither a trace .* nor a crawl"):
        read(tmp_path / "nothing", Questions())
    with pytest.raises(AnalysisError, match="make a trace"):
        read(crawl, Questions(strategy="bfs"))
    with pytest.raises(StrategyError, match="known: bfs"):
        read(crawl, Questions(strategy="bsf"))
    (crawl / "summary.json").write_text("{}")
    with pytest.raises(AnalysisError, match="--lang"):
        read(crawl, Questions())
    with pytest.raises(LanguageError, match="unknown language"):
        read(crawl, Questions(lang="xx"))
    assert read(crawl, Questions(lang="lo")).language == "Lao"


def test_a_report_never_goes_among_other_things(tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "crawl", record(A, "th"))
    (tmp_path / "file").write_text("")
    with pytest.raises(AnalysisError, match="is a file"):
        analyze(crawl, tmp_path / "file", Questions())
    with pytest.raises(AnalysisError, match="holds other things"):
        analyze(crawl, crawl, Questions())


def test_torn_and_empty_traces_are_errors(tmp_path: Path) -> None:
    torn = small().write(tmp_path / "web", A)
    (torn / "links.parquet").write_bytes(b"PAR1")
    with pytest.raises(TraceError, match=r"links\.parquet"):
        read(torn, Questions())
    none = Web().redirect(A, B).write(tmp_path / "none", A)
    with pytest.raises(TraceError, match="no downloaded page"):
        read(none, Questions())
    lacking = small().write(tmp_path / "lacking", A, without=["language"])
    with pytest.raises(TraceError, match="no column language"):
        read(lacking, Questions())
