"""Two crawls side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.lab.analysis import AnalysisError
from lswc.lab.analysis.compare import difference
from lswc.lab.analysis.questions import Questions
from tests.lab.analysis.webs import Report, Web, record, write_crawl

if TYPE_CHECKING:
    from pathlib import Path

A, B, C = "http://www.a.co.th/", "http://www.b.com/", "http://www.c.de/"


def test_difference_by_published_intervals() -> None:
    # Newcombe 1998, table II, method 10.
    for counts, expected in {
        (56, 70, 48, 80): (0.2, 0.0524, 0.3339),
        (9, 10, 3, 10): (0.6, 0.1705, 0.8090),
        (10, 10, 0, 10): (1.0, 0.6075, 1.0),
        (0, 10, 0, 20): (0.0, -0.1611, 0.2775),
    }.items():
        assert difference(*counts) == pytest.approx(expected, abs=1e-4)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_difference_turns_its_sign_with_its_sides(a: int, b: int, c: int, d: int) -> None:
    value, low, high = difference(min(a, b), b, min(c, d), d)
    assert -1 - 1e-9 <= low <= value <= high <= 1 + 1e-9
    back = difference(min(c, d), d, min(a, b), b)
    assert back == pytest.approx((-value, -high, -low), abs=1e-9)


def test_experiment_beside_control(tmp_path: Path) -> None:
    control = (
        Web().page(A, "th", B).page(B, "en", C).page(C, "th").page(A + "en", "en")
    ).write(tmp_path / "control", A)  # fmt: skip
    crawl = write_crawl(tmp_path / "experiment", record(A, "th"), record(B, "en"))
    found = Report.of(crawl, Questions(control=control))
    table = {row[0]: row[1:] for row in found.rows("side_by_side")}
    assert table["th"][:5] == (2, 0.5, 1, 0.5, 0.0)
    assert "1 relevant page in the first crawl, 2 in the second, 1 in both" in found.text
    assert found.rows("size_by_crawls")[0][:2] == ("Lincoln-Petersen", 2)
    assert found.column("only_in_control_pages", "path from a seed to the page") == [
        f"{A} (th) > {B} (en) > {C} (th)"
    ]


def test_control_without_links_has_no_paths(tmp_path: Path) -> None:
    first = write_crawl(tmp_path / "first", record(A, "th"))
    second = write_crawl(tmp_path / "second", record(B, "th"))
    found = Report.of(first, Questions(control=second))
    assert "only_in_control_pages" not in found.tables
    assert [row[:2] for row in found.rows("size_by_crawls")] == [
        ("Lincoln-Petersen", None), ("Chapman", 3),
    ]  # fmt: skip


def test_what_can_not_be_compared_is_refused(tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "crawl", record(A, "th"))
    lao = write_crawl(tmp_path / "lao", record(A, "lo"), lang="lo")
    with pytest.raises(AnalysisError, match="Lao"):
        Report.of(crawl, Questions(control=lao))
    nameless = Web().page(A, "th").write(tmp_path / "nameless", A, without=["url"])
    with pytest.raises(AnalysisError, match="no URLs in words"):
        Report.of(crawl, Questions(control=nameless))


def test_all_questions_at_once_share_no_name(tmp_path: Path) -> None:
    web = Web().page(A, "th", B).page(B, "en", C).page(C, "th").write(tmp_path / "web", A)
    counts = tmp_path / "counts.csv"
    counts.write_text("word_a,word_b,n_a,n_b,n_ab\na,b,10,10,5\n")
    control = (
        Web().page(A, "th", B).page(B, "en", C, C + "x").page(C, "th").page(C + "x", "th")
    ).write(tmp_path / "control", A)  # fmt: skip
    found = Report.of(web, Questions(control=control, strategy="hard_focused", counts=counts))
    sections = [section.name for section in found.sections]
    tables = [table.name for section in found.sections for table in section.tables]
    assert len(set(sections)) == len(sections) == 20
    assert len(set(tables)) == len(tables)
    assert {"missed_pages", "only_in_control_pages", "word_pairs", "side_by_side"} <= set(tables)
