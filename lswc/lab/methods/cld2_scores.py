"""Typical scores of CLD2: how much it finds in text of each language, measured on labelled text.

``python -m lswc.lab.methods.cld2_scores labelled.jsonl.gz``, in the form of ``identify
--evaluate``, prints ``lswc/language/cld2_scores.json``. A language needs two pieces that CLD2
tells rightly. Its score is a sum of logarithms of probabilities by length: in text of a related
language that CLD2 doesn't know it is about half of that.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from lswc.lab.methods.evaluation import load
from lswc.language.shares import score_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lswc.lab.methods.evaluation import Labelled

_PIECE = 1_000  # characters, as many as the identification samples
_SHORTEST = 300
_LEAST_PIECES = 2


def scores(labelled: Iterable[Labelled]) -> dict[str, int]:
    """Return the median score by language of the pieces that CLD2 tells rightly."""
    found: dict[str, list[float]] = defaultdict(list)
    for page in labelled:
        for start in range(0, 2 * _PIECE, _PIECE):
            piece = page.text[start : start + _PIECE]
            if len(piece) >= _SHORTEST and (score := score_of(piece, page.language)):
                found[page.language].append(score)
    enough = {code: many for code, many in found.items() if len(many) >= _LEAST_PIECES}
    return {code: round(median(enough[code])) for code in sorted(enough)}


def main() -> None:
    """Print the table for the file that is named."""
    labelled, _ = load(Path(sys.argv[1]))
    print(json.dumps(scores(labelled), indent=0))


if __name__ == "__main__":
    main()
