"""Measures of identification, also where there is nothing to measure."""

from __future__ import annotations

import pytest

from lswc.lab.methods.evaluation import Judged, Score, calibration_error


@pytest.mark.parametrize(
    ("right", "wrong", "missed", "expected"),
    [
        (3, 1, 2, (3 / 4, 3 / 5, 2 / 3)),
        (0, 0, 2, (None, 0.0, 0.0)),
        (0, 2, 0, (0.0, None, 0.0)),
        (0, 0, 0, (None, None, None)),
    ],
)
def test_a_share_of_nothing_is_no_number(
    right: int, wrong: int, missed: int, expected: tuple[float | None, ...]
) -> None:
    score = Score(right, wrong, missed)
    for found, wanted in zip((score.precision, score.recall, score.f1), expected, strict=True):
        assert found == (wanted if wanted is None else pytest.approx(wanted))


def test_the_four_fields_are_all_pages() -> None:
    """The figures of a table of two by two: 40 right, 5 wrong, 10 missed, 45 rejected."""
    score = Score(40, 5, 10, pages=100)
    assert score.rejected == 45
    assert score.accuracy == pytest.approx(0.85)
    assert Score().accuracy is None


def test_the_calibration_error_is_the_mean_distance_of_all_pages() -> None:
    # Ten pages at 0.9 of which eight are right, thirty at 0.5 of which all are.
    tenths = {9: Judged(10, 8, 9.0), 5: Judged(30, 30, 15.0)}
    assert calibration_error(tenths) == pytest.approx((1 + 15) / 40)
