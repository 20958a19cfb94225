"""Size of a language's web: pairs of words, and two crawls (Mon 2010 §5.3)."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, stdev
from typing import TYPE_CHECKING

import numpy as np

from lswc.frontier.rules.harvest import Z, wilson
from lswc.lab.analysis.collection import AnalysisError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

HEADS = ("word_a", "word_b", "n_a", "n_b", "n_ab")
"""Columns of a CSV of counts."""


@dataclass(frozen=True)
class Pair:
    """Two words and the number of documents that have the one, the other, and both."""

    word_a: str
    word_b: str
    n_a: int
    n_b: int
    n_ab: int

    @property
    def size(self) -> float:
        """N = N_A N_B / N_AB, right if the words are independent; infinite if N_AB = 0."""
        return self.n_a * self.n_b / self.n_ab if self.n_ab else math.inf

    @property
    def impossible(self) -> bool:
        """Whether more documents have both words than one of them: a search engine estimates."""
        return self.n_ab > min(self.n_a, self.n_b)


@dataclass(frozen=True)
class Estimate:
    """Mean and standard deviation over the pairs that were kept (deviation 0 of a single one)."""

    mean: float
    deviation: float
    kept: tuple[bool, ...]


def estimate(pairs: Sequence[Pair], extremes: int = 2) -> Estimate:
    """Average the pairs' sizes without ``extremes`` of them: half the lowest, half the highest.

    Mon leaves out the lowest and the highest of 45 (§5.3). Pairs that never occur together say
    nothing and are left out too. ``extremes`` is even. Raises AnalysisError if no pair is left.
    """
    finite = [i for i, pair in enumerate(pairs) if 0 < pair.size < math.inf]
    by_size = sorted(finite, key=lambda i: pairs[i].size)
    kept = set(by_size[extremes // 2 : len(by_size) - extremes // 2])
    if not kept:
        raise AnalysisError(
            f"{len(finite)} pairs of words occur together, too few to leave {extremes} out"
        )
    sizes = [pairs[i].size for i in sorted(kept)]
    spread = stdev(sizes) if len(sizes) > 1 else 0.0
    return Estimate(fmean(sizes), spread, tuple(i in kept for i in range(len(pairs))))


def least_correlated(frequencies: NDArray[np.float64], words: int = 10) -> list[int]:
    """Choose the words that go least together in a sample.

    ``frequencies`` of shape (words, documents). The word with the largest sum of absolute
    correlations with the others is dropped until ``words`` are left; words with the same
    frequency everywhere have no correlation and are dropped first. Returns row numbers in order.
    """
    kept = [i for i, row in enumerate(frequencies) if np.ptp(row) > 0]
    if len(kept) < 2:
        return kept
    correlations = np.abs(np.corrcoef(frequencies[kept]))
    inside = np.ones(len(kept), np.bool_)
    while inside.sum() > words:
        sums = np.where(inside, correlations[:, inside].sum(axis=1), -1.0)
        inside[int(sums.argmax())] = False
    return [kept[i] for i in np.flatnonzero(inside)]


def pairs_of(words: Sequence[str], occurs: NDArray[np.bool_]) -> list[Pair]:
    """Count every pair of words; ``occurs`` of shape (words, documents)."""
    seen = occurs.astype(np.int64)
    together = seen @ seen.T
    return [
        Pair(words[i], words[j], int(together[i, i]), int(together[j, j]), int(together[i, j]))
        for i, j in combinations(range(len(words)), 2)
    ]


def read_counts(path: Path) -> list[Pair]:
    """Read a CSV with the columns of HEADS, such as counts from a search engine.

    Raises AnalysisError with the line that is wrong.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not set(HEADS) <= set(reader.fieldnames or ()):
                raise AnalysisError(f"{path}: the first line must name {', '.join(HEADS)}")
            return [_pair(path, number, row) for number, row in enumerate(reader, 2)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AnalysisError(f"can't read {path}: {error}") from error


def _pair(path: Path, number: int, row: dict[str, str]) -> Pair:
    try:
        n_a, n_b, n_ab = (int(row[head]) for head in HEADS[2:])
    except (TypeError, ValueError) as error:
        raise AnalysisError(f"{path}, line {number}: n_a, n_b, n_ab must be numbers") from error
    if min(n_a, n_b, n_ab) < 0:
        raise AnalysisError(f"{path}, line {number}: a count can't be less than 0")
    return Pair(str(row["word_a"]), str(row["word_b"]), n_a, n_b, n_ab)


@dataclass(frozen=True)
class Recapture:
    """An estimate from two crawls, with its 95 % interval; infinite where nothing bounds it."""

    size: float
    low: float
    high: float


def lincoln_petersen(first: int, second: int, both: int) -> Recapture:
    """Estimate N = n1 n2 / m from two independent crawls with m pages in common.

    The interval follows from Wilson's interval (1927) of the share m / n2. Infinite if m = 0.
    """
    _check(first, second, both)
    if not second:
        return Recapture(math.inf, 0.0, math.inf)
    low, high = wilson(both, second)
    size = first * second / both if both else math.inf
    union = float(first + second - both)
    return Recapture(
        size, max(first / high if high else union, union), first / low if low else math.inf
    )


def chapman(first: int, second: int, both: int) -> Recapture:
    """Estimate N as Chapman (1951) does, nearly without bias and finite also if m = 0.

    The interval is normal with the variance of Seber (1970), and not below what was seen.
    """
    _check(first, second, both)
    size = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both)
    deviation = math.sqrt(variance / ((both + 1) ** 2 * (both + 2)))
    union = first + second - both
    return Recapture(size, max(size - Z * deviation, union), size + Z * deviation)


def _check(first: int, second: int, both: int) -> None:
    if not 0 <= both <= min(first, second):
        raise AnalysisError(f"{both} pages in common of crawls with {first} and {second}")


def corrected_recall(relevant: int, size: float, precision: float, accuracy: float) -> float:
    """Return the share of a language's web that a crawl has, corrected for its identifier.

    ``relevant`` pages were identified as such, ``precision`` of them rightly. Mon 2010 §6.1
    computes relevant * precision / (size / accuracy): 1.07 M * 0.93 / (1.2 M / 0.95) = 0.79.
    Raises AnalysisError for a precision or an accuracy that is no share.
    """
    if not (0 < precision <= 1 and 0 < accuracy <= 1):
        raise AnalysisError("precision and accuracy must be above 0 and at most 1")
    return relevant * precision / (size / accuracy) if size else 0.0
