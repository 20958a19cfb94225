"""Strategy arrays: a strategy and the rules of ``lswc.strategy``, asked once each."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

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
    same_folder: int
    from_seed: int


CODE = np.dtype([("kind", "i4"), ("distance", "i2"), ("in_site", "i2")])
"""A code: its link's kind; the distance of a page with that code, and whether it is in a site."""


class Decisions(NamedTuple):
    """Everything the kernel asks of a strategy.

    ``code`` of shape (CODES,), ``cell`` of shape (kinds, places). ``effective`` of shape (4, 4), by
    identified and inherited language. ``next_distance`` of shape (2, MAX_DISTANCE + 1), by
    relevance and own distance. ``changes`` of shape (places, places): can any URL's cell differ
    between two places. ``value`` is a Value; ``levels`` is that of the strategy.
    """

    code: NDArray[Any]
    cell: NDArray[np.int32]
    effective: NDArray[np.int8]
    next_distance: NDArray[np.int8]
    changes: NDArray[np.bool_]
    place_unvisited: int
    tolerated: int
    learns: bool
    value: int
    weighs_support: bool
    levels: int
    weights: Weights


@cache
def decisions(strategy: Strategy) -> Decisions:
    """Ask a strategy for everything once. Raises OverflowError if there are too many facts."""
    if np.iinfo(np.int32).max < CODES:
        raise OverflowError(f"{CODES} combinations of facts: more than the kernel's 32 bits hold")
    if np.iinfo(np.int16).max < strategy.cells:
        raise OverflowError(f"{strategy.cells} cells: more than the kernel's 16 bits hold")
    cell = np.array(strategy.cell_of, np.int32)
    code = _codes().copy()
    code["kind"] = strategy.kind_of
    return Decisions(
        code,
        cell,
        _effective(strategy),
        np.array(
            [[next_distance(r, d) for d in range(MAX_DISTANCE + 1)] for r in (False, True)], np.int8
        ),
        (cell[:, :, None] != cell[:, None, :]).any(axis=0),
        int(strategy.place(NO_PAGES)),  # a Status would be another type, and all compiled again
        strategy.tolerated,
        strategy.learns,
        int(strategy.value),
        strategy.weighs_support,
        strategy.levels,
        Weights(*(FIELDS[name].weight for name in Weights._fields)),
    )


@cache
def _codes() -> NDArray[Any]:
    code = np.zeros(CODES, CODE)
    code["distance"] = [distance_of(number) for number in range(CODES)]
    code["in_site"] = [from_site_queue(number) for number in range(CODES)]
    return code


def _effective(strategy: Strategy) -> NDArray[np.int8]:
    answers = np.empty((len(PageLanguage), len(PageLanguage)), np.int8)
    for identified, inherited in product(PageLanguage, PageLanguage):
        guessed = effective_language(identified, inherited)
        answers[identified, inherited] = guessed if strategy.guesses_unknown else identified
    return answers
