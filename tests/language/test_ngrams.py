"""N-grams of bytes and characters; tables that are made of them: tests/lab/methods."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lswc.language.ngrams import byte_ngrams, character_ngrams, ranked


def test_byte_ngrams_are_those_of_the_paper() -> None:
    # Cavnar & Trenkle 1994 §2: the bi-, tri- and quad-grams of TEXT.
    counts = byte_ngrams(b"TEXT")
    assert {n for n in counts if len(n) == 2} == {b"_T", b"TE", b"EX", b"XT", b"T_"}
    assert {n for n in counts if len(n) == 4} == {b"_TEX", b"TEXT", b"EXT_"}
    once = [b"a", b"b", b"ab", b"a_", b"b_", b"ab_", b"_a_", b"_ab", b"_ab_"]
    # By hand: each word within blanks, a blank alone left out.
    assert byte_ngrams(b"ab, 1a") == {**dict.fromkeys(once, 1), b"a": 2, b"_a": 2}


@given(st.binary())
def test_ranks_are_by_frequency(text: bytes) -> None:
    counts = byte_ngrams(text)
    order = [counts[ngram.encode("latin-1")] for ngram in ranked(text)]
    assert order == sorted(order, reverse=True)


@given(st.text())
def test_character_ngrams_are_of_one_to_three(text: str) -> None:
    joined = " ".join("".join(c if c < "\U00010000" else " " for c in text).split())
    assert character_ngrams(text) == Counter(
        joined[i : i + n] for n in (1, 2, 3) for i in range(len(joined) - n + 1)
    )
