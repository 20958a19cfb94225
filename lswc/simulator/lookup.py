"""A strategy and the rules of ``lswc.strategy`` as arrays: asked once each, never rewritten."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lswc.strategy import (
    CODES,
    FIELDS,
    MAX_DISTANCE,
    PageLanguage,
    Status,
    distance_of,
    effective_language,
    from_site_queue,
    next_distance,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.strategy import Strategy


class Weights(NamedTuple):
    """What one step of each fact adds to a code, which is linear in its facts."""

    referrer: int
    distance: int
    referrer_server: int
    locality: int
    tld: int
    anchor: int
    in_site: int
    oracle: int


def weights() -> Weights:
    """Return the weights of the facts that a trace knows."""
    return Weights(*(FIELDS[name].weight for name in Weights._fields))


class Lookup(NamedTuple):
    """Everything the kernel asks of a strategy.

    ``tier`` of shape (CODES, 4), by code and target's status. ``distance`` and ``in_site`` of
    shape (CODES,): of a page with that code. ``effective`` of shape (4, 4), by identified and
    inherited language. ``next_distance`` of shape (2, MAX_DISTANCE + 1), by relevance and own
    distance. ``changes`` of shape (4, 4): can any URL's tier differ between two statuses.
    """

    tier: NDArray[np.int8]
    distance: NDArray[np.int8]
    in_site: NDArray[np.bool_]
    effective: NDArray[np.int8]
    next_distance: NDArray[np.int8]
    changes: NDArray[np.bool_]
    tolerated: int
    weights: Weights


@cache
def lookup(strategy: Strategy) -> Lookup:
    """Ask a strategy for everything once."""
    tier = np.array(strategy.table(), np.int8)
    changes = [[bool((tier[:, a] != tier[:, b]).any()) for b in Status] for a in Status]
    return Lookup(
        tier,
        np.array([distance_of(code) for code in range(CODES)], np.int8),
        np.array([from_site_queue(code) for code in range(CODES)]),
        _effective(strategy),
        np.array(
            [[next_distance(r, d) for d in range(MAX_DISTANCE + 1)] for r in (False, True)], np.int8
        ),
        np.array(changes),
        strategy.tolerated,
        weights(),
    )


def _effective(strategy: Strategy) -> NDArray[np.int8]:
    answers = np.empty((len(PageLanguage), len(PageLanguage)), np.int8)
    for identified, inherited in product(PageLanguage, PageLanguage):
        guessed = effective_language(identified, inherited)
        answers[identified, inherited] = guessed if strategy.guesses_unknown else identified
    return answers
