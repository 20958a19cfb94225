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
    NO_PAGES,
    PageLanguage,
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
    named: int
    same_directory: int


class Decisions(NamedTuple):
    """Everything the kernel asks of a strategy.

    ``kind`` of shape (CODES,), ``cell`` of shape (kinds, places). ``distance`` and ``in_site`` of
    shape (CODES,): of a page with that code. ``effective`` of shape (4, 4), by identified and
    inherited language. ``next_distance`` of shape (2, MAX_DISTANCE + 1), by relevance and own
    distance. ``changes`` of shape (places, places): can any URL's cell differ between two places.
    """

    kind: NDArray[np.int32]
    cell: NDArray[np.int32]
    distance: NDArray[np.int8]
    in_site: NDArray[np.bool_]
    effective: NDArray[np.int8]
    next_distance: NDArray[np.int8]
    changes: NDArray[np.bool_]
    place_unvisited: int
    tolerated: int
    learns: bool
    weights: Weights


@cache
def decisions(strategy: Strategy) -> Decisions:
    """Ask a strategy for everything once. Raises OverflowError if there are too many facts."""
    if np.iinfo(np.int32).max < CODES:
        raise OverflowError(f"{CODES} combinations of facts: more than the kernel's 32 bits hold")
    cell = np.array(strategy.cell_of, np.int32)
    distance, in_site = _of_codes()
    return Decisions(
        np.array(strategy.kind_of, np.int32),
        cell,
        distance,
        in_site,
        _effective(strategy),
        np.array(
            [[next_distance(r, d) for d in range(MAX_DISTANCE + 1)] for r in (False, True)], np.int8
        ),
        (cell[:, :, None] != cell[:, None, :]).any(axis=0),
        strategy.place(NO_PAGES),
        strategy.tolerated,
        strategy.learns,
        Weights(*(FIELDS[name].weight for name in Weights._fields)),
    )


@cache
def _of_codes() -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    distance = np.array([distance_of(code) for code in range(CODES)], np.int8)
    return distance, np.array([from_site_queue(code) for code in range(CODES)])


def _effective(strategy: Strategy) -> NDArray[np.int8]:
    answers = np.empty((len(PageLanguage), len(PageLanguage)), np.int8)
    for identified, inherited in product(PageLanguage, PageLanguage):
        guessed = effective_language(identified, inherited)
        answers[identified, inherited] = guessed if strategy.guesses_unknown else identified
    return answers
