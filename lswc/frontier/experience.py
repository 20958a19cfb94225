"""What a crawl learned about cells, as a store keeps it: its pages by cell.

What an earlier crawl learned is kept beside it, so that a crawl's own pages can be told.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lswc.frontier.contract import FrontierError
from lswc.strategy import Experience, ExperienceError, Pages, adaptive, strategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.strategy import Strategy


def experience_of(by_cell: Mapping[int, Pages], earlier: str | None) -> Experience:
    """Return the experience of all these pages, and of an earlier crawl (``dumped``)."""
    experience = Experience()
    for cell, pages in by_cell.items():
        taught = {cell: pages} if cell != adaptive.SEEDS and pages.downloaded else {}
        experience.merge(Experience(taught, pages))
    if earlier:
        experience.merge(Experience.load(json.loads(earlier)))
    return experience


def dumped(experience: Experience) -> str:
    """Return an experience as text."""
    return json.dumps(experience.dump())


def identity_of(strategy: Strategy, identity: Mapping[str, str], version: int) -> dict[str, str]:
    """Return what a crawl is, with the version of its store, and of its cells if it learns."""
    cells = {"cells": adaptive.SIGNATURE} if strategy.learns else {}
    return {**identity, **cells, "format": str(version)}


def check_source(where: object, found: Mapping[str, str], language: str) -> None:
    """Raise FrontierError unless a crawl of such a language can teach another."""
    name = found.get("strategy", "none")
    if found.get("language") != language:
        said = f"it is of language {found.get('language')!r}, not {language!r}"
    elif not strategy(name).learns:
        said = f"its strategy {name!r} learns nothing: only a crawl with 'adaptive' does"
    elif found.get("cells") != adaptive.SIGNATURE:
        said = "it is of another version of lswc"
    else:
        return
    raise FrontierError(f"LSWC_EXPERIENCE={where}: that crawl can't teach this one: {said}")


def loaded(where: object, by_cell: Mapping[int, Pages], earlier: str | None) -> Experience:
    """Return the experience of a crawl that was found. Raises FrontierError if it is damaged."""
    try:
        return experience_of(by_cell, earlier)
    except (ExperienceError, ValueError) as error:
        raise FrontierError(f"LSWC_EXPERIENCE={where}: {error}") from error
