"""Weights that tell Burmese in a few words: ``python -m lswc.lab.methods.burmese_words FOLDER``.

FOLDER has texts in Myanmar script, a sentence a line: ``my.txt`` is Burmese, and others such as
``rki.txt`` are of its neighbours. A logistic regression on whether a trigram is there gives each a
weight. Of a neighbour that shares most words a few endings tell; the likelihoods of all n-grams
together drown them.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lswc.language.font_encodings import UNIT, WEIGHTS, myanmar_letters
from lswc.language.ngrams import SLOTS, trigram_slots

if TYPE_CHECKING:
    import numpy.typing as npt

_LENGTHS = (6, 12, 20, 30, 60, 60)  # characters of the pieces
_HELD = 5  # one piece in so many is left out, to set the least that Burmese has
_MISSED = 0.015  # of the Burmese pieces
_ROUNDS = 400
_RATE = 0.5
_PENALTY = 0.5
_FEWEST = 2  # pieces that have a trigram
_LEAST = 0.4  # weight


def pieces(text: str, chance: random.Random) -> list[str]:
    """Return a few words at a time of each line."""
    found = []
    for line in text.split("\n"):
        piece, most = "", chance.choice(_LENGTHS)
        for word in myanmar_letters(line).split():
            piece = f"{piece} {word}".strip()[: max(_LENGTHS)]
            if len(piece) >= most:
                found.append(piece)
                piece, most = "", chance.choice(_LENGTHS)
        found += [piece] if piece else []
    return found


def fit(
    texts: list[npt.NDArray[np.uint16]], is_burmese: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Return the weight of each slot, of texts as the slots of their trigrams.

    By AdaGrad (Duchi et al. 2011); what all texts have is counted apart.
    """
    rows = np.repeat(np.arange(len(texts)), [len(slots) for slots in texts])
    columns = np.concatenate(texts).astype(np.intp)
    is_usual = (np.bincount(columns, minlength=SLOTS) >= _FEWEST)[columns]
    # The last column is what all texts have.
    rows = np.concatenate([rows[is_usual], np.arange(len(texts))])
    columns = np.concatenate([columns[is_usual], np.full(len(texts), SLOTS)])
    penalty = np.full(SLOTS + 1, _PENALTY)
    penalty[SLOTS] = 0
    weights, squares = np.zeros(SLOTS + 1), np.full(SLOTS + 1, 1e-6)
    for _ in range(_ROUNDS):
        likely = 1 / (1 + np.exp(-np.bincount(rows, weights[columns])))
        slope = np.bincount(columns, (likely - is_burmese)[rows], SLOTS + 1) + penalty * weights
        squares += slope**2
        weights -= _RATE * slope / np.sqrt(squares)
    return weights[:SLOTS]


def main(arguments: list[str]) -> int:
    """Write the weights of a folder's texts."""
    if len(arguments) != 1:
        print("usage: python -m lswc.lab.methods.burmese_words FOLDER", file=sys.stderr)
        return 2
    chance = random.Random(1)  # noqa: S311 - the same pieces each time
    labelled = [
        (file.stem == "my", piece)
        for file in sorted(Path(arguments[0]).glob("*.txt"))
        for piece in pieces(file.read_text("utf-8"), chance)
    ]
    slots = [np.unique(trigram_slots(f" {piece} ")) for _, piece in labelled]
    is_burmese = np.array([mine for mine, _ in labelled])
    held_out = np.arange(len(labelled)) % _HELD == 0
    learned = fit(
        [s for s, out in zip(slots, held_out, strict=True) if not out], is_burmese[~held_out]
    )
    weights = np.where(np.abs(learned) >= _LEAST, np.round(learned / UNIT), 0)
    sums = np.array([weights[slots[n]].sum() for n in np.flatnonzero(held_out & is_burmese)])
    trigrams: dict[str, str] = {}
    texts = (f" {piece} " for _, piece in labelled)
    for trigram in sorted({text[n : n + 3] for text in texts for n in range(len(text) - 2)}):
        weight = int(weights[trigram_slots(trigram)[0]])
        if weight:
            trigrams[str(weight)] = trigrams.get(str(weight), "") + trigram
    table = {"least": int(np.quantile(sums, _MISSED)), "weights": trigrams}
    Path(str(WEIGHTS)).write_text(f"{json.dumps(table, ensure_ascii=False)}\n", encoding="utf-8")
    print(f"{np.count_nonzero(weights)} trigrams in {WEIGHTS}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
