"""Weights of the model, fitted: ``python -m lswc.lab.methods.model_fit [ROWS [WEIGHTS]]``.

ROWS are JSON lines, gzipped: the true language of a page and the features of each candidate.
``benchmarks/langid_training.py`` makes them; those the package's weights were fitted to are
``benchmarks/langid_rows.jsonl.gz``. Takes some seconds. Every fifth row is left out of a first fit
and shows how far its probabilities can be trusted; the weights are then fitted to all.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lswc.language.evidence import FEATURES, WEIGHTS

ROWS = Path("benchmarks/langid_rows.jsonl.gz")

_STEPS = 30
_SHRINK = 0.5  # how strongly weights are kept near zero: a ridge, in rows
_BINS = 10


class Rows(NamedTuple):
    """Pages and their candidates.

    ``features`` is candidates x FEATURES; ``page`` numbers the page of each candidate, ``right``
    is 1 for the true language. A page whose language is no candidate is rightly unknown.
    """

    features: npt.NDArray[np.float64]
    page: npt.NDArray[np.intp]
    right: npt.NDArray[np.float64]

    def take(self, wanted: npt.NDArray[np.bool_]) -> Rows:
        """Return the rows of some pages, by a mask over pages."""
        mask = wanted[self.page]
        numbers = np.cumsum(wanted) - 1
        return Rows(self.features[mask], numbers[self.page[mask]], self.right[mask])


def load(file: Path) -> Rows:
    """Read the rows of a file. Raises OSError, or ValueError for a file that has others."""
    features, page, right = [], [], []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            language, candidates = json.loads(line)
            for code, values in candidates.items():
                row = np.zeros(len(FEATURES))
                for name, value in values.items():
                    row[FEATURES.index(name)] = value
                features.append(row)
                page.append(number)
                right.append(float(code == language))
    return Rows(np.array(features), np.array(page), np.array(right))


def probabilities(rows: Rows, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return each candidate's probability on its page."""
    odds = np.exp(np.clip(rows.features @ weights, -30, 30))
    result: npt.NDArray[np.float64] = odds / (1 + np.bincount(rows.page, odds))[rows.page]
    return result


def fit(rows: Rows) -> npt.NDArray[np.float64]:
    """Return the likeliest weights, by Newton's method; each step at most doubles the odds."""
    weights = np.zeros(len(FEATURES))
    for _ in range(_STEPS):
        likely = probabilities(rows, weights)
        gradient = rows.features.T @ (rows.right - likely) - _SHRINK * weights
        expected = np.zeros((rows.page.max() + 1, len(FEATURES)))
        np.add.at(expected, rows.page, likely[:, None] * rows.features)
        curvature = (likely[:, None] * rows.features).T @ rows.features - expected.T @ expected
        step = np.linalg.solve(curvature + _SHRINK * np.eye(len(FEATURES)), gradient)
        weights = weights + np.clip(step, -2, 2)
    return weights


def reliability(rows: Rows, weights: npt.NDArray[np.float64]) -> list[tuple[float, float, int]]:
    """Return mean confidence, share that is right, and number of the pages in ten bins.

    A page counts by its likeliest candidate, if that is likelier than "unknown".
    """
    likely = probabilities(rows, weights)
    pages = rows.page.max() + 1
    best = np.full(pages, -1)
    for index in np.argsort(likely):
        best[rows.page[index]] = index
    unknown = 1 - np.bincount(rows.page, likely, minlength=pages)
    chosen = best[(best >= 0) & (likely[best] > unknown)]
    bins = np.minimum((likely[chosen] * _BINS).astype(int), _BINS - 1)
    return [
        (
            float(likely[chosen[bins == bin_]].mean()),
            float(rows.right[chosen[bins == bin_]].mean()),
            int((bins == bin_).sum()),
        )
        for bin_ in np.unique(bins)
    ]


def main(arguments: list[str]) -> int:
    """Fit, print the reliability, write the weights."""
    if len(arguments) > 2:
        print("usage: python -m lswc.lab.methods.model_fit [ROWS [WEIGHTS]]", file=sys.stderr)
        return 2
    source = Path(arguments[0]) if arguments else ROWS
    target = Path(arguments[1]) if len(arguments) == 2 else Path(str(WEIGHTS))
    try:
        rows = load(source)
    except (OSError, ValueError) as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 2
    held_out = np.arange(rows.page.max() + 1) % 5 == 0
    print("confidence  right  pages, held out")
    for confidence, right, pages in reliability(rows.take(held_out), fit(rows.take(~held_out))):
        print(f"{confidence:10.3f} {right:6.3f} {pages:6}")
    weights = dict(zip(FEATURES, fit(rows).round(3).tolist(), strict=True))
    target.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")
    print(f"{len(weights)} weights in {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
