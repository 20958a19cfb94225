"""Nouns that are counted, in English."""

from __future__ import annotations

import pytest

from lswc.plurals import numbered


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 pages"), (1, "1 page"), (2, "2 pages"), (2_048, "2,048 pages")]
)
def test_one_is_no_plural(number: int, said: str) -> None:
    assert numbered(number, "page") == said
