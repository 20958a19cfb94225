"""Estimates of the size of a language's web."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import stdev
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.frontier.rules.harvest import wilson
from lswc.lab.analysis import AnalysisError
from lswc.lab.analysis.size import (
    Pair,
    chapman,
    corrected_recall,
    estimate,
    least_correlated,
    lincoln_petersen,
    pairs_of,
    read_counts,
)

if TYPE_CHECKING:
    from pathlib import Path

MON = [
    (218000, 268, 120, 486_867),
    (218000, 229000, 105000, 475_448),
    (268, 37600, 5, 2_015_360),
    (229000, 37600, 2180, 3_949_725),
    (278000, 270000, 156000, 481_154),
]
"""Mon 2010: N_A, N_B, N_AB and the size they give."""


@pytest.mark.parametrize(("n_a", "n_b", "n_ab", "size"), MON)
def test_a_pair_gives_the_published_size(n_a: int, n_b: int, n_ab: int, size: int) -> None:
    assert round(Pair("a", "b", n_a, n_b, n_ab).size) == size


def test_the_lowest_and_the_highest_pair_are_left_out() -> None:
    pairs = [Pair("a", "b", *counts) for *counts, _ in MON]
    found = estimate(pairs)
    assert found.kept == (True, False, True, False, True)
    sizes = (486_866.67, 2_015_360, 481_153.85)
    assert round(found.mean) == round(sum(sizes) / 3)
    assert found.deviation == pytest.approx(stdev(sizes), rel=1e-6)
    assert estimate(pairs, 4).kept == (True, False, False, False, False)
    assert all(estimate(pairs, 0).kept)


def test_pairs_never_together_say_nothing() -> None:
    together, apart = Pair("a", "b", 10, 10, 5), Pair("a", "c", 10, 10, 0)
    assert math.isinf(apart.size)
    assert estimate([together, apart, together, together]).kept.count(True) == 1
    with pytest.raises(AnalysisError, match="too few"):
        estimate([apart, apart])


def test_independent_words_are_chosen_before_correlated_ones() -> None:
    random = np.random.default_rng(1)
    independent = random.poisson(3, (10, 200))
    topic = random.poisson(3, 200)
    correlated = topic + random.poisson(0.3, (16, 200))
    frequencies = np.concatenate([correlated, independent]).astype(float)
    chosen = least_correlated(frequencies)
    assert len(chosen) == 10
    assert len(set(chosen) & set(range(16, 26))) >= 9


def test_words_without_variation_are_never_chosen() -> None:
    frequencies = np.array([[1.0, 1, 1], [0, 1, 2], [2, 0, 1]])
    assert least_correlated(frequencies) == [1, 2]
    assert least_correlated(frequencies[:1]) == []


@given(st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=2, max_size=5))
def test_pairs_are_counted_as_by_hand(occurs: list[list[bool]]) -> None:
    words = [f"w{i}" for i in range(len(occurs))]
    expected = [
        Pair(words[i], words[j], sum(occurs[i]), sum(occurs[j]),
             sum(a and b for a, b in zip(occurs[i], occurs[j], strict=True)))
        for i, j in combinations(range(len(words)), 2)
    ]  # fmt: skip
    assert pairs_of(words, np.array(occurs)) == expected


def test_ten_words_make_forty_five_pairs() -> None:
    assert len(pairs_of([str(i) for i in range(10)], np.ones((10, 3), np.bool_))) == 45


def test_capture_and_recapture_by_textbook_numbers() -> None:
    assert lincoln_petersen(100, 60, 12).size == pytest.approx(500)
    # Seber 1982: (101 * 61 / 13) - 1, variance 101*61*88*48 / (13^2 * 14).
    found = chapman(100, 60, 12)
    assert found.size == pytest.approx(472.923, abs=0.001)
    deviation = math.sqrt(101 * 61 * 88 * 48 / (13**2 * 14))
    assert found.high == pytest.approx(472.923 + 1.96 * deviation, rel=1e-4)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.data())
def test_an_interval_holds_its_estimate_and_all_that_was_seen(
    first: int, second: int, data: st.DataObject
) -> None:
    both = data.draw(st.integers(0, min(first, second)))
    for found in (lincoln_petersen(first, second, both), chapman(first, second, both)):
        assert found.low <= found.size * (1 + 1e-9) + 1e-6
        assert found.size <= found.high * (1 + 1e-9) + 1e-6
        if second:
            assert found.low >= (first + second - both) * (1 - 1e-9)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    random, true = np.random.default_rng(2), 2000
    covered = np.zeros(2)
    for _ in range(300):
        first = random.random(true) < 0.3
        second = random.random(true) < 0.2
        counts = int(first.sum()), int(second.sum()), int((first & second).sum())
        for i, found in enumerate((lincoln_petersen(*counts), chapman(*counts))):
            covered[i] += found.low <= true <= found.high
    assert (covered / 300 > 0.9).all()


def test_more_in_common_than_in_one_crawl_is_refused() -> None:
    with pytest.raises(AnalysisError, match="in common"):
        chapman(3, 5, 4)


def test_wilson_by_a_published_interval() -> None:
    # Newcombe 1998, table I: 81 of 263.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == 1


@pytest.mark.parametrize(("part", "whole"), [(1, 1), (1, 2), (15, 148), (1, 29), (999, 1000)])
def test_wilson_ends_where_the_share_seen_is_just_within_its_error(part: int, whole: int) -> None:
    """By its definition (Wilson 1927): |p - seen| = 1.95996 standard errors of p, p by halving."""

    def end(outer: float) -> float:
        seen, inner = part / whole, part / whole
        for _ in range(60):
            middle = (inner + outer) / 2
            error = 1.959963985 * (middle * (1 - middle) / whole) ** 0.5
            inner, outer = (middle, outer) if abs(middle - seen) < error else (inner, middle)
        return inner

    low = end(0.0)
    high = 1.0 if part == whole else end(1.0)
    assert wilson(part, whole) == pytest.approx((low, high), abs=1e-6)


def test_recall_is_corrected_both_ways() -> None:
    assert corrected_recall(1000, 10_000, 1, 1) == pytest.approx(0.1)
    # Mon 2010 §6.1, as printed.
    assert corrected_recall(1_070_000, 1_200_000, 0.93, 0.95) == pytest.approx(0.79, abs=0.005)
    with pytest.raises(AnalysisError, match="precision"):
        corrected_recall(1, 1, 0, 1)


def test_counts_of_a_search_engine_are_read(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("word_a,word_b,n_a,n_b,n_ab\nမြန်မာ,စာ,218000,268,120\n", "utf-8-sig")
    assert read_counts(path) == [Pair("မြန်မာ", "စာ", 218000, 268, 120)]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a,b\n1,2\n", "first line must name"),
        ("word_a,word_b,n_a,n_b,n_ab\na,b,1,2,x\n", "line 2"),
        ("word_a,word_b,n_a,n_b,n_ab\na,b,3,3,1\na,b,1,2,-2\n", "line 3"),
        ("word_a,word_b,n_a,n_b,n_ab\na,b,3\n", "line 2"),
    ],
)
def test_wrong_counts_are_named_by_line(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(AnalysisError, match=complaint):
        read_counts(path)
