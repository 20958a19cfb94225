"""What is assumed beyond the papers, and how it is changed."""

from __future__ import annotations

import numpy as np
import pytest

from lswc.errors import ConfigError
from lswc.lab.synthetic.assumptions import ASSUMED, RANGES, assume
from lswc.lab.synthetic.synthesis import synthesize


def test_every_value_lies_in_its_range_and_is_explained() -> None:
    assert set(ASSUMED._fields) == set(RANGES)
    for name, one in RANGES.items():
        assert one.low <= one.value <= one.high, name
        assert one.low < one.high, name
        assert one.meaning, name


def test_a_given_value_replaces_the_usual_one() -> None:
    assumed = assume(["apart = 0.3", "largest=20000"])
    assert (assumed.apart, assumed.largest) == (0.3, 20_000)
    assert assumed._replace(apart=ASSUMED.apart, largest=ASSUMED.largest) == ASSUMED


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("appart=0.3", "unknown assumption 'appart'; known: .*apart"),
        ("apart=0.9", "apart must be a number from 0.1 to 0.35, not '0.9'"),
        ("apart", "not ''"),
        ("apart=nan", "not 'nan'"),
        ("largest=2e4", "largest must be a whole number"),
    ],
)
def test_a_wrong_assumption_is_named(given: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        assume([given])


def test_an_assumption_changes_the_web_and_is_written_into_it() -> None:
    usual, other = (synthesize(0.0005, 1, assume(given)) for given in ([], ["navigation=0.5"]))
    assert other.trace.about.source == f"{usual.trace.about.source}, navigation 0.5"
    assert not np.array_equal(usual.trace.targets, other.trace.targets)
