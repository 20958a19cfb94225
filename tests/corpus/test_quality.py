"""Measures of texts, and limits from a corpus's own distribution."""

from __future__ import annotations

import numpy as np
import pytest

from lswc.corpus.quality import MEASURES, SCORE, SHORT, fails, limits, measure
from lswc.safety.runs import runs
from tests.scenarios.site import THAI

LINE = "หน่วยงานของมหาวิทยาลัยแห่งหนึ่งในเมืองหลวงของประเทศ"


def measured(text: str, script: str = "Thai") -> dict[str, float | None]:
    return measure(text, script, runs(text, script))


@pytest.mark.parametrize(
    ("text", "script", "name", "value"),
    [
        ("One.\nTwo\nThree!\n(Four.)", "Latn", "line_punct_ratio", 0.75),
        ("これ。\nそれ", "Jpan", "line_punct_ratio", 0.5),
        (f"{LINE}\nสั้น", "Thai", "short_line_ratio", 0.5),
        (f"{'x' * 30}\n{'x' * 31}", "Latn", "short_line_ratio", 0.5),
        ("abc\nabc\nabc\nabd", "Latn", "char_dup_ratio", 0.5),
        ("abc\nabc\nabc\nabd", "Latn", "dup_line_frac", 0.5),
        ("one two\nthree four", "Latn", "new_line_ratio", 0.25),
        ("สวัสดีค\nสวัสดีค", "Thai", "new_line_ratio", 0.3571),
        ("abcd ef", "Latn", "avg_word_length", 3.0),
        ("สวัสดี", "Thai", "avg_word_length", None),
        ("one 2 3 four", "Latn", "alpha_ratio", 0.5),
        ("ที่นี่ 12", "Thai", "alpha_ratio", 0.75),
        ("a b c d e f g h i j", "Latn", "dup_n_grams", 0.0),
        ("a b c d e a b c d e", "Latn", "dup_n_grams", 0.1667),
    ],
)
def test_what_is_measured(text: str, script: str, name: str, value: float | None) -> None:
    assert measured(text, script)[name] == value


def columns(rows: list[dict[str, float | None]]) -> dict[str, np.ndarray]:
    names = (*MEASURES, SCORE)
    return {
        name: np.array([np.nan if row[name] is None else row[name] for row in rows], np.float32)
        for name in names
    }


def test_a_language_without_full_stops_fails_by_none() -> None:
    rows = [measured(f"{THAI}\n{LINE}" * n) | {SCORE: 0.95} for n in range(1, 20)]
    found = limits(columns(rows))
    assert found["line_punct_ratio"] == 0
    assert "avg_word_length" not in found
    assert found[SCORE] == pytest.approx(0.9)
    assert all("line_punct_ratio" not in fails(row, found) for row in rows)


def test_a_limit_is_where_the_worst_tenth_begins_but_never_stricter_than_for_english() -> None:
    clean = {**measured(LINE * 9), SCORE: 0.8}
    rows = [clean | {"dup_line_frac": n / 100, "char_dup_ratio": 0.0} for n in range(101)]
    found = limits(columns(rows))
    assert found["dup_line_frac"] == pytest.approx(0.9, abs=0.01)
    assert found["char_dup_ratio"] == MEASURES["char_dup_ratio"].value
    assert sum("dup_line_frac" in fails(row, found) for row in rows) == 10
    assert found[SCORE] == pytest.approx(0.8)
    assert fails(clean | {SCORE: 0.7, "letters": 199}, found) == [SHORT, SCORE]


def test_a_text_at_a_limit_is_good() -> None:
    clean = {**measured(LINE * 9), SCORE: 0.5, SHORT: 200}
    found = dict.fromkeys(MEASURES, 0.25) | {SCORE: 0.5}
    at = clean | dict.fromkeys(MEASURES, 0.25)
    assert fails(at, found) == []
    for name, (_, is_least) in MEASURES.items():
        assert fails(at | {name: 0.26}, found) == ([] if is_least else [name])
        assert fails(at | {name: 0.24}, found) == ([name] if is_least else [])
        assert fails(at | {name: None}, found) == []
    assert fails(at | {SHORT: 199}, found) == [SHORT]
    assert fails(at | {SHORT: None}, found) == [SHORT]


@pytest.mark.parametrize(
    ("scores", "limit"),
    [([0.8, 0.8, 0.8, 0.4], 0.6268), ([0.99] * 3, 0.9), ([0.1, 0.2], 0.3)],
)
def test_the_score_is_at_least_the_median_less_the_deviation(
    scores: list[float], limit: float
) -> None:
    rows = [measured(LINE * 9) | {SCORE: score} for score in scores]
    assert limits(columns(rows))[SCORE] == limit
