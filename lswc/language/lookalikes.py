"""Lookalikes: languages that are taken for a related one, kept apart by their trigrams.

CLD2 takes Asturian for Spanish and Gagauz for Turkish; letters alone take Mingrelian for Georgian.
For each such pair a table weighs the trigrams that one of the two has far more often
(``python -m lswc.lab.methods.lookalikes``): a linear classifier, as Cavnar & Trenkle's n-grams
are too coarse for neighbours (Ljubešić et al. 2007, Language identification: how to distinguish
similar languages?).
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lswc.language.ngrams import SLOTS, trigram_slots

if TYPE_CHECKING:
    import numpy.typing as npt

TABLES = files(__package__) / "lookalikes.json"
"""By language and lookalike: trigrams, one after the other, by what they weigh."""

UNIT = 0.5
"""Nats that a weight of 1 stands for."""

_MARGIN = 6.0  # nats by which a text has to be likelier in the lookalike
_PER_CHARACTER = 0.05  # and for each character
_SHORTEST = 60  # characters: a name or two decide shorter ones


class _Pairs(NamedTuple):
    """The lookalikes of one language, and the weight of each trigram's hash for each."""

    names: tuple[str, ...]
    weights: npt.NDArray[np.int8]


@cache
def with_lookalikes() -> frozenset[str]:
    """Return the languages that another is taken for."""
    return frozenset(_tables())


def lookalike(code: str, text: str) -> str | None:
    """Return the language that a text taken for ``code`` is rather in, None if it is in that.

    Its blanks are run together.
    """
    if code not in _tables() or len(text) < _SHORTEST:
        return None
    pairs = _pairs(code)
    slots = trigram_slots(f" {text.lower()} ".replace("\n", " "))
    # Each slot is in range; that it needn't be checked takes most of the time away.
    leads = pairs.weights.take(slots, axis=1, mode="wrap").sum(axis=1, dtype=np.int32) * UNIT
    best = int(leads.argmax())
    return pairs.names[best] if leads[best] > _MARGIN + _PER_CHARACTER * len(slots) else None


@cache
def _tables() -> dict[str, dict[str, dict[str, str]]]:
    tables: dict[str, dict[str, dict[str, str]]] = json.loads(TABLES.read_text("utf-8"))
    return tables


@cache
def _pairs(code: str) -> _Pairs:
    of = _tables()[code]
    weights = np.zeros((len(of), SLOTS), np.int8)
    for row, table in enumerate(of.values()):
        for weight, trigrams in table.items():
            weights[row, trigram_slots(trigrams)[::3]] = int(weight)
    return _Pairs(tuple(of), weights)
