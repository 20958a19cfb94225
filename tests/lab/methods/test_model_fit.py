"""The weights: what they are fitted to, and how far their probabilities can be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lswc.lab.methods.model_fit import Rows, fit, load, main, probabilities, reliability
from lswc.language.evidence import FEATURES, WEIGHTS

ROWS = Path(__file__).parents[3] / "benchmarks" / "langid_rows.jsonl.gz"


@pytest.fixture(scope="module")
def rows() -> Rows:
    return load(ROWS)


def test_the_weights_are_those_of_the_rows(rows: Rows) -> None:
    weights = json.loads(WEIGHTS.read_text("utf-8"))
    assert [weights[name] for name in FEATURES] == pytest.approx(fit(rows).tolist(), abs=0.01)


def test_of_pages_at_nine_tenths_nine_in_ten_are_right(rows: Rows) -> None:
    held_out = np.arange(rows.page.max() + 1) % 5 == 0
    for confidence, right, pages in reliability(rows.take(held_out), fit(rows.take(~held_out))):
        assert pages < 100 or right == pytest.approx(confidence, abs=0.12)


def test_probabilities_leave_room_for_none() -> None:
    rows = Rows(np.eye(2, len(FEATURES)), np.array([0, 0]), np.array([1.0, 0.0]))
    assert probabilities(rows, np.zeros(len(FEATURES))).tolist() == pytest.approx([1 / 3, 1 / 3])


def test_a_file_that_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "rows.gz")]) == 2
    assert "rows.gz" in capsys.readouterr().err
