"""Evidence weighed: a multinomial logit over the languages that anything speaks for.

Each candidate has features, the model their weights; "unknown" is a candidate without any. So
P(language) = exp(weights · features) / (1 + sum of these for all candidates), fitted by
``python -m lswc.lab.methods.model_fit`` to labelled pages: the answer's probability is its
confidence (McFadden 1974, the conditional logit).
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from operator import mul
from typing import TYPE_CHECKING

from lswc.language.evidence import SOURCES

if TYPE_CHECKING:
    from lswc.language.shares import Measured

WEIGHTS = files(__package__) / "weights.json"
"""The fitted weights, by feature."""

ENOUGH = 150.0
"""Letters from which on more of them say no more."""

_CERTAIN = 0.9
_LIKELY = 0.45
_DOUBT = 0.25
_PLACES = ("url", "domain")

FEATURES = (
    "candidate",
    "letters",
    "letters, little text",
    "guessed",
    "guessed, little text",
    "guessed, unsure",
    "guessed, certain",
    *SOURCES,
    *(f"{source}, little text" for source in SOURCES),
    "other script",
)
"""All evidence is from 0 to 1. ``letters`` and ``guessed`` are a language's share of the text by
its letters alone or by CLD2; ``other script``, of one that isn't in the text, the share of text in
scripts it isn't written in.
"""


def candidates(measured: Measured, declared: dict[str, str]) -> dict[str, list[float]]:
    """Return the features of each language that the page speaks for, in the order of FEATURES.

    Where it lies, its URL and top-level domain, may add to that; alone it says nothing of a page
    that says nothing.
    """
    says = (code for source, code in declared.items() if source not in _PLACES)
    codes = {*measured.shares, *says}
    return {code: _features(code, measured, declared) for code in sorted(codes)}


def _features(code: str, measured: Measured, declared: dict[str, str]) -> list[float]:
    much = min(1.0, math.log1p(measured.total) / math.log1p(ENOUGH))
    share, certainty = measured.shares.get(code, 0.0), measured.certainty.get(code, 0.0)
    by_letters = share if code in measured.told else 0.0
    guessed = share - by_letters
    says = [float(declared.get(source) == code) for source in SOURCES]
    return [
        1.0,
        by_letters * much,
        by_letters * (1 - much),
        guessed * certainty * much,
        guessed * certainty * (1 - much),
        guessed * (1 - certainty),
        guessed * (certainty >= _CERTAIN and measured.total >= ENOUGH),
        *(said * much for said in says),
        *(said * (1 - much) for said in says),
        (
            0.0 if share else measured.in_other_scripts(code) * much**3
        ),  # a few Latin letters are a name's
    ]


def probabilities(candidates: dict[str, list[float]]) -> dict[str, float]:
    """Return how likely each candidate is; what is missing to 1 is that it's none of them."""
    weights = _weights()
    odds = {code: math.exp(sum(map(mul, weights, values))) for code, values in candidates.items()}
    total = 1 + sum(odds.values())
    return {code: value / total for code, value in odds.items()}


def leading(
    likely: dict[str, float], measured: Measured, charset: str | None = None
) -> tuple[str | None, float]:
    """Return the language a page is in, and how likely that is; None if none is likeliest.

    Of those that probably are in the text, and aren't unlikely, the one
    with the largest share. That of the page's charset counts three times: who writes English
    doesn't choose Big5.
    """
    unknown = 1 - sum(likely.values())
    best = max(likely, key=likely.__getitem__, default=None)
    if best is None or likely[best] <= unknown:
        return None, 0.0
    if measured.total >= ENOUGH and measured.certainty.get(best, 0.0) >= _LIKELY:
        shares = measured.shares
        sure = [
            c for c in shares if measured.certainty[c] >= _LIKELY and likely[c] > unknown * _DOUBT
        ]
        chosen = max(sure, key=lambda code: shares[code] * (3 if code == charset else 1))
        return chosen, sum(likely[code] for code in sure)
    return best, likely[best]


@cache
def _weights() -> list[float]:
    weights = json.loads(WEIGHTS.read_text("utf-8"))
    return [weights[name] for name in FEATURES]
