"""Blocks of text in pages that would hold the parser; whole corpora are in test_corpus.py."""

from __future__ import annotations

import pytest

from lswc.corpus.paragraphs import read


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 100_000,
        "<p x='>' " + " ".join(f"a{n}" for n in range(100_000)) + ">",
        "<i aria-hidden=true>" * 2_900 + "text " * 80_000,
        "<aside>" * 2_900 + "text <br>" * 40_000,
    ],
)
@pytest.mark.usefixtures("brake")
def test_a_hostile_page_does_not_hold_the_parser(hostile: str) -> None:
    found = read(f"<title>t</title><p>text of the page</p>{hostile}", "http://a.example/")
    assert (found.title, found.blocks[0].text[:16]) == ("t", "text of the page")
