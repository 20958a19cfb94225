"""Quality of texts: what FineWeb's filters measure, with limits from a corpus's own distribution.

The measures are those of Gopher (Rae et al. 2021, table A1) and FineWeb (Penedo et al. 2024, §3.6).
As in FineWeb-2 (Penedo et al. 2025, §4.3) a limit lies where the tenth of the texts begins that is
worst by that measure, so it fits any language. It is never stricter than the one for English: of a
clean corpus nothing need go. Where scripts have no blanks, letters are measured instead of words.
There are no lists of stop words: the language of each paragraph is known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lswc.reading.main_text.blocks import weight
from lswc.safety.runs import has_blanks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


class Limit(NamedTuple):
    """What a measure is at least, or at most, in FineWeb's filters for English."""

    value: float
    is_least: bool


MEASURES: dict[str, Limit] = {
    "line_punct_ratio": Limit(0.12, True),
    "short_line_ratio": Limit(0.67, False),
    "char_dup_ratio": Limit(0.01, False),
    "dup_line_frac": Limit(0.3, False),
    "new_line_ratio": Limit(0.3, False),
    "avg_word_length": Limit(10.0, False),
    "alpha_ratio": Limit(0.8, True),
    "dup_n_grams": Limit(0.15, False),
}
"""Columns by which a text may fail, named as datatrove names them, and their limits for English."""

SCORE = "language_score"
"""The measure whose limit is the median less the deviation, from 0.3 to 0.9 (FineWeb-2, §4.1)."""
SHORT, LEAST_LETTERS = "letters", 200
"""The reason, and the letters of a text that isn't short: Gopher's 50 words."""

_TAIL = 0.1
_SHORT_LINE = 30  # characters
_WORD = 5  # letters, where there are no blanks
_STOPS = re.compile(r"[.!?…。！？।॥။៕។۔؟]['\"”’»」』）)\]]*\s*$")
# Signs of Thai and other scripts are no letters to Python, but belong to them.
_LETTERS = re.compile(
    r"(?:[^\W\d_]|[\u0300-\u036f\u0900-\u0dff\u0e30-\u0e4e\u0eb0-\u0ecd\u102b-\u103e\u17b4-\u17d3])+"
)
_DIGITS = 4


def measure(text: str, script: str | None, found: NDArray[np.uint64]) -> dict[str, float | None]:
    """Return a text's MEASURES, and its letters. ``found`` are its runs (``minhash.runs``).

    The length of words is None where a script has no blanks.
    """
    lines = [line for line in text.split("\n") if line]
    again = repeated_lines(lines)
    letters = weight(text)
    words = text.split() if has_blanks(script) else []
    solid = sum(map(len, lines)) or 1
    told = {
        "line_punct_ratio": sum(1 for one in lines if _STOPS.search(one[-20:])) / len(lines),
        "short_line_ratio": sum(len(one) <= _SHORT_LINE for one in lines) / len(lines),
        "char_dup_ratio": sum(map(len, again)) / solid,
        "dup_line_frac": len(again) / len(lines),
        "new_line_ratio": (len(lines) - 1) / (len(words) or letters / _WORD or 1),
        "avg_word_length": letters / len(words) if words else None,
        "alpha_ratio": _alpha(text, words),
        "dup_n_grams": 1 - len(np.unique(found)) / len(found),
    }
    rounded = {name: None if one is None else round(one, _DIGITS) for name, one in told.items()}
    return {SHORT: round(letters), **rounded}


def repeated_lines(lines: list[str]) -> list[str]:
    """Return the lines that were there before."""
    seen: set[str] = set()
    again = []
    for line in lines:
        if line in seen:
            again.append(line)
        seen.add(line)
    return again


def _alpha(text: str, words: list[str]) -> float:
    """Return the share of the words with a letter; without blanks, that of letters."""
    if words:
        return sum(any(map(str.isalpha, word)) for word in words) / len(words)
    solid = "".join(text.split())
    return sum(map(len, _LETTERS.findall(solid))) / (len(solid) or 1)


def limits(values: Mapping[str, NDArray[np.float32]]) -> dict[str, float]:
    """Return the limits of a corpus whose texts have these measures."""
    found = {}
    for name, (english, is_least) in MEASURES.items():
        known = values[name][~np.isnan(values[name])]
        if not len(known):
            continue
        tail = float(np.quantile(known, _TAIL if is_least else 1 - _TAIL))
        limit = min(tail, english) if is_least else max(tail, english)
        found[name] = round(limit, _DIGITS)
    scores = values[SCORE][~np.isnan(values[SCORE])]
    if len(scores):
        limit = float(np.median(scores) - np.std(scores))
        found[SCORE] = round(max(0.3, min(0.9, limit)), _DIGITS)
    return found


def fails(row: Mapping[str, float | None], limits: Mapping[str, float]) -> list[str]:
    """Return the measures by which a text is beyond the limits."""
    found = [SHORT] if (row["letters"] or 0) < LEAST_LETTERS else []
    for name, limit in limits.items():
        value = row[name]
        is_least = name == SCORE or MEASURES[name].is_least
        if value is not None and (value < limit if is_least else value > limit):
            found.append(name)
    return found
