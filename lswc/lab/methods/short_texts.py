"""Short texts: the language of a few words by n-grams, where TextCat's ranks are too coarse."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from lswc.language import scripts
from lswc.language.ngrams import Likelihoods, NgramTable, tables
from lswc.language.registry import cached_by_languages

if TYPE_CHECKING:
    import numpy.typing as npt

_ENOUGH = 300  # characters; each costs a number for every language
_UNSEEN = 0.5  # letters of each script that a table may have missed


def language_of(text: str) -> str | None:
    """Return the language with the highest likelihood of a text's n-grams.

    Those of 1 to 3 characters, blanks around the text among them, and the script of each letter,
    since a table of 10 KB lacks most ideographs. None if the best language isn't written in these
    letters: a script of no table.
    """
    return _model().language_of(text)


class _Model:
    def __init__(self, by_language: dict[str, list[NgramTable]]) -> None:
        self._likelihoods = Likelihoods(by_language)
        seen = np.array([_letters(members) for members in by_language.values()])
        self._is_written = seen > 0
        self._scripts: npt.NDArray[np.float64] = np.log(
            (seen + _UNSEEN) / (seen + _UNSEEN).sum(axis=1, keepdims=True)
        )

    def language_of(self, text: str) -> str | None:
        text = f" {' '.join(text[:_ENOUGH].lower().split())} "
        letters = scripts.count(text)[1:]
        scores = self._likelihoods.scores(text).sum(axis=1) + self._scripts @ letters
        best = int(scores.argmax())
        return self._likelihoods.names[best] if self._is_written[best] @ letters else None


def _letters(members: list[NgramTable]) -> npt.NDArray[np.int64]:
    """Return how many letters of each script a language's tables have."""
    total = np.zeros(len(scripts.NAMES) - 1, np.int64)
    for table in members:
        for ngram, count in table.characters.items():
            if len(ngram) == 1:
                total += count * scripts.count(ngram)[1:]
    return total


@cached_by_languages
def _model() -> _Model:
    by_language: defaultdict[str, list[NgramTable]] = defaultdict(list)
    for table in tables():
        if table.encoding == "utf-8":
            by_language[table.language].append(table)
    return _Model(dict(by_language))
