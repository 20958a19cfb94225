"""Experience of a crawl, as a store keeps it: its pages by the cell that they were leased from.

What an earlier crawl learned is kept beside it, so that a crawl's own pages can be told.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lswc.frontier.rules.contract import FORMAT, FrontierError
from lswc.strategy import Experience, Value, adaptive, strategy
from lswc.strategy.prior import prior_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.strategy import Pages, Strategy


def own_experience(by_cell: Mapping[int, Pages], missed: Mapping[int, int]) -> Experience:
    """Return the experience of all these pages, and of what was asked for in vain, by cell."""
    experience = Experience()
    for cell, pages in by_cell.items():
        taught = {cell: pages} if cell != adaptive.SEEDS and pages.downloaded else {}
        experience.merge(Experience(taught, pages))
    for cell, number in missed.items():
        experience.miss(cell, number)
    return experience


def begun_with(
    strategy: Strategy, earlier: Experience | None, prior: Experience | None
) -> dict[str, str]:
    """Return what is kept of the experience that a new crawl begins with, as ``Terms`` has it."""
    if earlier is not None:
        return {"earlier": dumped(earlier)}
    prior = prior_of(strategy) if prior is None else prior
    return {"prior": dumped(prior)} if prior.cells else {}


def earlier_experience(about: Mapping[str, str]) -> Experience:
    """Return the experience of an earlier crawl, by what is kept of a crawl; nothing without."""
    return _loaded(about.get("earlier"))


def first_experience(about: Mapping[str, str]) -> Experience:
    """Return what a crawl began with, by what is kept of it."""
    return _loaded(about.get("earlier", about.get("prior")))


def _loaded(kept: str | None) -> Experience:
    return Experience.load(json.loads(kept)) if kept else Experience()


def dumped(experience: Experience) -> str:
    """Return an experience as text."""
    return json.dumps(experience.dump())


def identity_of(strategy: Strategy, identity: Mapping[str, str]) -> dict[str, str]:
    """Return what a crawl is, with the version of its store, and of its cells if it learns."""
    cells = {"cells": adaptive.SIGNATURE} if strategy.learns else {}
    return {**identity, **cells, "format": str(FORMAT)}


def check_source(found: Mapping[str, str], language: str | None, value: Value) -> None:
    """Raise FrontierError unless a crawl that was found can teach one of that language.

    Or one of any language, if that is None.
    """
    name = found.get("strategy", "none")
    if language is not None and found.get("language") != language:
        said = (
            f"it is of language {found.get('language')!r}, not {language!r}; what several crawls of"
            " other languages have learned together can, in a table of lswc learn-order"
        )
    elif not strategy(name).learns:
        said = f"its strategy {name!r} learns nothing: only a crawl with 'adaptive' does"
    elif strategy(name).value != value:
        said = "LSWC_VALUE was another, so its counts mean something else"
    elif found.get("cells") != adaptive.SIGNATURE:
        said = "it is of another version of lswc"
    else:
        return
    raise FrontierError(f"that crawl can't teach this one: {said}")
