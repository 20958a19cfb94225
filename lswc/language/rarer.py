"""Rarer languages: some hundred that CLD2 lacks, known by their trigrams where it is sure of none.

A naive Bayes classifier over some five hundred languages, those that CLD2 knows among them (Dunning
1994, Statistical identification of language). Most of them are there only so that their text isn't
taken for another's: those are identified that held-out text showed to be identified well.
``python -m lswc.lab.methods.rarer`` makes the table.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lswc.language.ngrams import SLOTS, trigram_slots
from lswc.language.registry import rarer_languages

TABLE = files(__package__) / "rarer.json"
"""By language: the typical mean weight of its text's trigrams, and these by what they weigh."""

UNIT = 0.125
"""Nats that a weight of 1 stands for: by so much a trigram is likelier than one never seen."""

_SHORTEST = 60  # characters
_MARGIN = 8.0  # nats by which a text has to be likelier than in any other language
_TYPICAL = 0.75  # of the mean weight that the language's own text has; other languages' has less


class _Weights(NamedTuple):
    """The weights of trigrams by their hash: those from ``starts`` on, up to the next one's.

    Of each, the number of its language, and what it weighs in that.
    """

    names: tuple[str, ...]
    typical: npt.NDArray[np.float64]
    starts: npt.NDArray[np.intp]
    languages: npt.NDArray[np.uint16]
    weights: npt.NDArray[np.uint8]


def rarer(text: str) -> str | None:
    """Return the rarer language that a text is in; None if it is in another, or isn't known.

    Its blanks are run together.
    """
    if len(text) < _SHORTEST:
        return None
    of = _weights()
    slots = trigram_slots(f" {text.lower()} ".replace("\n", " ")).astype(np.intp)
    first, counts = of.starts[slots], of.starts[slots + 1] - of.starts[slots]
    ends = np.cumsum(counts)
    places = np.arange(ends[-1]) + np.repeat(first - (ends - counts), counts)
    sums = np.bincount(of.languages[places], of.weights[places], len(of.names))
    second, best = np.argpartition(sums, -2)[-2:].tolist()
    is_ahead = (sums[best] - sums[second]) * UNIT > _MARGIN
    is_typical = sums[best] > _TYPICAL * of.typical[best] * len(slots)
    code = of.names[best]
    return code if is_ahead and is_typical and code in rarer_languages() else None


@cache
def _weights() -> _Weights:
    tables = json.loads(TABLE.read_text("utf-8"))
    pieces = [
        (number, int(weight), trigrams)
        for number, (_, by_weight) in enumerate(tables.values())
        for weight, trigrams in by_weight.items()
    ]
    sizes = [len(trigrams) // 3 for *_, trigrams in pieces]
    every = trigram_slots("".join(trigrams for *_, trigrams in pieces) + "  ")[::3]
    order = np.argsort(every, kind="stable")
    starts = np.zeros(SLOTS + 1, np.intp)
    starts[1:] = np.cumsum(np.bincount(every, minlength=SLOTS))
    typical = np.array([typical for typical, _ in tables.values()])
    return _Weights(
        tuple(tables),
        typical,
        starts,
        np.repeat(np.array([number for number, *_ in pieces], np.uint16), sizes)[order],
        np.repeat(np.array([weight for _, weight, _ in pieces], np.uint8), sizes)[order],
    )
