"""Texts that are the same, or nearly, are one cluster, in scripts with blanks and without."""

from __future__ import annotations

import random
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lswc.corpus import minhash
from lswc.corpus.minhash import BANDS, ROWS, Clusters, bands
from lswc.safety.runs import runs

if TYPE_CHECKING:
    from lswc.corpus.minhash import Found

THAI = "กขคงจฉชซญดตถทนบปผพฟมยรลวสหอาเแโใไ"


def text(script: str, seed: int, words: int = 400) -> list[str]:
    """Return the words of a text of a script, which differ from those of another seed."""
    choose = random.Random(seed)
    signs = THAI if script == "Thai" else [chr(0x4E00 + n) for n in range(3000)]
    letters = "abcdefghijklmnopqrstuvwxyz" if script == "Latn" else signs
    length = 2 if script == "Hani" else 5
    return ["".join(choose.choices(letters, k=length)) for _ in range(words)]


def joined(script: str, words: list[str]) -> str:
    return (" " if script == "Latn" else "").join(words)


def clusters(script: str, *texts: str) -> Found:
    found = Clusters(BytesIO())
    for one in texts:
        found.add(one, runs(one, script))
    return found.find()


@pytest.mark.parametrize("script", ["Thai", "Hani", "Latn"])
def test_a_text_with_few_words_changed_is_a_near_duplicate(script: str) -> None:
    words, other = text(script, 1), text(script, 2)
    changed = [*words[:100], *other[:4], *words[104:]]
    half = [*words[:200], *other[200:]]
    texts = [joined(script, one) for one in (words, other, words, changed, half)]
    found = clusters(script, *texts)
    assert found.first.tolist() == [0, 1, 0, 0, 4]
    assert found.is_exact.tolist() == [False, False, True, False, False]
    assert found.sizes.tolist() == [3, 1, 0, 0, 1]


@pytest.mark.parametrize("script", ["Thai", "Latn"])
def test_case_digits_and_blanks_make_no_other_run_of_letters(script: str) -> None:
    one, other = ("ก" * 40, "ก " * 40) if script == "Thai" else ("A b c d e", "a  B C\nd E")
    assert runs(one, script).tolist() == runs(other, script).tolist()


def test_a_chain_of_near_duplicates_is_one_cluster_whatever_their_order() -> None:
    words, other = text("Thai", 1), text("Thai", 2)
    steps = [joined("Thai", [*other[:n], *words[n:]]) for n in range(0, 161, 8)]
    for order in (steps, steps[::-1], steps[::2] + steps[1::2]):
        assert set(clusters("Thai", *order).first.tolist()) == {0}


def test_a_copy_belongs_to_what_it_is_a_copy_of() -> None:
    found = Clusters(BytesIO())
    for seed in (1, 2):
        one = joined("Thai", text("Thai", seed))
        found.add(one, runs(one, "Thai"))
    assert found.add_copy(1) == 2
    told = found.find()
    assert told.first.tolist() == [0, 1, 1]
    assert told.is_exact.tolist() == [False, False, True]


def test_nothing_has_no_clusters_and_short_texts_are_their_own() -> None:
    assert not len(clusters("Thai").first)
    assert clusters("Thai", "ก", "ข", "ก", "").first.tolist() == [0, 1, 0, 3]
    assert clusters("Latn", "one", "two", "one").first.tolist() == [0, 1, 0]


@pytest.mark.parametrize("alike", [0.5, 0.75, 0.9])
def test_bands_are_shared_as_often_as_minhash_has_it(alike: float) -> None:
    """Of texts with a share s of their runs in common 1-(1-s^8)^14 have a band in common."""
    choose = np.random.default_rng(1)
    size, together = 600, 0
    common = round(2 * size * alike / (1 + alike))
    for _ in range(300):
        values = choose.integers(0, 2**63, 2 * size, np.uint64)
        one, other = (
            values[:size],
            np.concatenate([values[:common], values[size : 2 * size - common]]),
        )
        together += bool((bands(one) == bands(other)).any())
    expected = 1 - (1 - alike**ROWS) ** BANDS
    assert together / 300 == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("at_once", [1, 2, 3, 5, 6])
def test_texts_are_compared_however_many_are_read_at_once(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(minhash, "CHUNK", at_once)
    texts = [joined("Latn", text("Latn", seed, 40)) for seed in (1, 2, 3, 1, 2)]
    assert clusters("Latn", *texts).first.tolist() == [0, 1, 2, 0, 1]
