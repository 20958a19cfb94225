"""The words that ends of URLs and links are counted by."""

from __future__ import annotations

import pytest

from lswc.outcomes import Outcome, of_status, sentence


def test_every_outcome_has_a_sentence_of_its_own() -> None:
    assert all(end.sentence.endswith(".") for end in Outcome)
    assert str(Outcome.ROBOTS) == "robots.txt"
    assert Outcome("robots.txt") is Outcome.ROBOTS


@pytest.mark.parametrize(
    ("status", "name"),
    [(100, "status 100"), (404, "status 404"), (599, "status 599"), (99, "status invalid"),
     (600, "status invalid"), (0, "status invalid"), (99999, "status invalid")],
)  # fmt: skip
def test_of_what_a_server_says_only_a_status_is_a_name(status: int, name: str) -> None:
    assert of_status(status) == name


def test_the_sentence_of_a_counted_name() -> None:
    assert sentence("status 404") == Outcome.STATUS.sentence
    assert sentence("too large") == Outcome.TOO_LARGE.sentence
    with pytest.raises(ValueError, match="made up"):
        sentence("made up")
