"""Neighbours: a user's own language apart from those in its script, line by line, by n-grams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lswc.language import scripts
from lswc.language.ngrams import Likelihoods, NgramTable, tables, typical
from lswc.language.registry import cached_by_languages, detectable, has_file

_EXAMINED = 4_000  # characters
_MARGIN = 2.0  # nats by which a line has to be likelier than in any other language
_PER_CHARACTER = 0.05  # and for each character
_UNTYPICAL = 1.0  # nats a character that text of a language may be below its typical likelihood


class Lines(NamedTuple):
    """The shares of a text that are in languages of the user's own, and its other lines."""

    shares: dict[str, float]
    rest: str


class Neighbours:
    """The languages of one script of which there are tables, the user's own among them."""

    def __init__(self, own: list[NgramTable], others: list[NgramTable]) -> None:
        by_language: dict[str, list[NgramTable]] = {}
        for table in (*own, *others):
            by_language.setdefault(table.language, []).append(table)
        self._likelihoods = Likelihoods(by_language)
        self._typical = {
            code: typical(by_language[code]) for code in {table.language for table in own}
        }

    def lines(self, text: str) -> Lines:
        """Tell the lines of a text that are in one of the user's languages from the others.

        Of any text some table is the likeliest: so a line that is less likely than the language's
        own text has to be ahead of the others by more.
        """
        lines = [line for line in map(str.strip, text[:_EXAMINED].split("\n")) if line]
        if not lines:
            return Lines({}, "")
        starts = np.cumsum([0, *(len(line) + 1 for line in lines[:-1])])
        scores = np.add.reduceat(self._likelihoods.scores("\n".join(lines)), starts, axis=1)
        best = np.argmax(scores, axis=0)
        second = (
            np.partition(scores, -2, axis=0)[-2]
            if len(scores) > 1
            else np.full(len(lines), -np.inf)
        )
        top = scores.max(axis=0)
        amounts: dict[str, float] = {}
        rest = []
        for line, row, own, next_ in zip(lines, best.tolist(), top.tolist(), second, strict=True):
            name = self._likelihoods.names[row]
            if name in self._typical and self._is_in(name, len(line), own, own - next_):
                amounts[name] = amounts.get(name, 0.0) + len(line)
            else:
                rest.append(line)
        total = sum(map(len, lines))
        shares = {code: amount / total for code, amount in amounts.items()}
        return Lines(shares, "\n".join(rest))

    def _is_in(self, code: str, length: int, own: float, ahead: float) -> bool:
        typical = own - self._typical[code] * length
        if ahead <= _MARGIN + _PER_CHARACTER * length:
            return False
        return typical + ahead > -_UNTYPICAL * length


@cached_by_languages
def neighbours(script: int) -> Neighbours | None:
    """Return what tells a user's languages in a script; None if there are none, as is usual."""
    unicode = [table for table in tables() if table.encoding == "utf-8"]
    users = [t for t in unicode if t.language not in detectable() and has_file(t.language)]
    own = [table for table in users if script_of(table) == script]
    if not own:
        return None
    return Neighbours(own, [t for t in unicode if t not in own and script_of(t) == script])


def script_of(table: NgramTable) -> int:
    """Return the class of most letters of a table."""
    counts = {ngram: count for ngram, count in table.characters.items() if len(ngram) == 1}
    classes = scripts.classes("".join(counts))
    letters = np.bincount(classes, [*counts.values()], len(scripts.NAMES))
    letters[scripts.LATIN] += letters[scripts.VIETNAMESE]
    return int(np.argmax(letters[1:])) + 1
