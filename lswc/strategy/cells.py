"""Kind, place, cell: what a frontier needs to know of a strategy, as small integers.

Links that a strategy never tells apart are one *kind*. What is known of where a URL leads is its
*place*: it changes while the crawl goes on. Kind and place give the *cell*, and the next URL
is the oldest of the best cell. Which cell is better is the *order* (``lswc.strategy.order``).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.strategy import adaptive
from lswc.strategy.enumeration import ask_all
from lswc.strategy.facts import NEVER, NO_PAGES, Facts, Pages, Status, Support, Unit, status
from lswc.strategy.tier_rules import DISCARD, GUESSES, REQUISITES
from lswc.strategy.value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.strategy.tier_rules import Rule

MOST_TIERS = 100


class StrategyError(ConfigError):
    """A strategy's name, parameter or rule is wrong; the message says what is valid."""


@dataclass(frozen=True)
class Strategy:
    """A strategy, made ready for a frontier.

    ``name`` is the canonical specification. ``facts`` are the names of the facts that it looks
    at. ``kind_of`` has the shape (CODES,), ``cell_of`` (kinds, places): a cell or DISCARD.
    ``learns``: the order of cells is learned, and a place is known by server, site and
    crawl (``lswc.strategy.adaptive``); else the smaller cell comes first, cells are the
    rule's tiers, and a place is the Status of the unit, with the Support of its site if the rule
    looks at that. ``tolerated`` is the argument of
    ``status``. ``guesses_unknown`` says that a page of unknown language is taken for its
    referrer's (Somboonviwat 2006 §4.1). ``value`` is what a page adds to the counts of units and
    cells. Links to deeper ``levels`` aren't followed: a seed's is 1, its links' 2; 0 for any.
    """

    name: str
    facts: frozenset[str] = field(repr=False, compare=False)
    kind_of: Sequence[int] = field(repr=False, compare=False)
    cell_of: Sequence[Sequence[int]] = field(repr=False, compare=False)
    unit: Unit = Unit.SERVER
    tolerated: int = NEVER
    guesses_unknown: bool = False
    needs_oracle: bool = False
    learns: bool = False
    value: Value = Value.PAGES
    levels: int = 0

    @property
    def kinds(self) -> int:
        """Number of kinds."""
        return len(self.cell_of)

    @property
    def places(self) -> int:
        """Number of places."""
        return len(self.cell_of[0])

    @cached_property
    def cells(self) -> int:
        """Number of cells: they are 0 .. cells - 1."""
        return max(max(row) for row in self.cell_of) + 1

    @cached_property
    def discards(self) -> bool:
        """Whether a pending URL may be discarded because its unit comes into another place."""
        return any(len({cell == DISCARD for cell in row}) > 1 for row in self.cell_of)

    @cached_property
    def weighs_support(self) -> bool:
        """Whether it looks at the support of sites."""
        return "support" in self.facts

    @cached_property
    def asks_frontier(self) -> bool:
        """Whether the frontier alone can tell a link's cell: what is known of places is there."""
        return self.learns or self.weighs_support

    def place(self, unit: Pages, site: Pages = NO_PAGES, support: int = 0) -> int:
        """Return the place of a unit: a server, or a directory if the strategy counts by them.

        ``site`` counts for a strategy that learns only, ``support`` for one that looks at it. All
        of a site's servers that were never downloaded from (Na = 0) are in one place.
        """
        if self.learns:
            return adaptive.place(*unit, *site)
        return status(*unit, self.tolerated) + len(Status) * support

    def describe(self, cell: int) -> str:
        """Return a cell in words."""
        return adaptive.describe(cell) if self.learns else f"tier {cell}"

    def cell(self, code: int, place: int) -> int:
        """Return the cell of a URL with this code, or DISCARD."""
        return self.cell_of[self.kind_of[code]][place]


def by_rule(
    name: str,
    rule: Rule,
    unit: Unit = Unit.SERVER,
    tolerated: int = NEVER,
    *,
    guesses_unknown: bool = False,
    needs_oracle: bool = False,
    value: Value = Value.PAGES,
    levels: int = 0,
) -> Strategy:
    """Return the strategy of a rule. Raises StrategyError if the rule fails for any link."""

    supports: tuple[Support, ...] = (Support.NONE,)

    def tiers(facts: Facts) -> tuple[int, ...]:
        return tuple(
            _tier(name, rule, facts._replace(target_server=status_, support=support))
            for support in supports
            for status_ in Status
        )

    answers = ask_all(tiers)
    if "support" in answers.facts:
        supports = tuple(Support)
        answers = ask_all(tiers)
    seed = (0,) * len(Status) * len(supports)
    rows = tuple(dict.fromkeys([*answers.distinct, seed]))
    return Strategy(
        name,
        answers.facts,
        (*answers.by_code, rows.index(seed)),
        rows,
        unit,
        tolerated,
        guesses_unknown,
        needs_oracle,
        value=value,
        levels=levels,
    )


def with_requisites(strategy: Strategy) -> Strategy:
    """Return a strategy that also knows REQUISITE, LISTING, SUBLISTING and GUESS.

    In any place their cell is REQUISITES, that of the last GUESSES.
    """
    beyond = [(cell,) * strategy.places for cell in (REQUISITES, GUESSES)]
    return replace(
        strategy,
        kind_of=(*strategy.kind_of, *[strategy.kinds] * 3, strategy.kinds + 1),
        cell_of=(*strategy.cell_of, *beyond),
    )


def _tier(name: str, rule: Rule, facts: Facts) -> int:
    try:
        tier = rule(facts)
    except Exception as error:
        raise StrategyError(f"the rule of strategy {name} fails: {error!r}") from error
    if isinstance(tier, int) and DISCARD <= tier < MOST_TIERS:
        return int(tier)
    raise StrategyError(
        f"the rule of strategy {name} must return a tier, 0 to {MOST_TIERS - 1}, "
        f"or DISCARD, not {tier!r}"
    )


def learned(name: str, value: Value = Value.PAGES) -> Strategy:
    """Return the strategy whose order of cells is learned."""
    answers = ask_all(adaptive.kind)
    kinds = tuple(map(answers.distinct.__getitem__, answers.by_code))
    places = range(adaptive.PLACES)
    looked_at = map(adaptive.place_of_look, places)
    by_place, named = (*places, *places), (*places, *looked_at)
    cells = tuple(
        tuple(first + place for place in (named if adaptive.names_target(first) else by_place))
        for first in range(1, adaptive.CELLS, adaptive.PLACES)
    )
    seed = (adaptive.SEEDS,) * len(by_place)
    rows = (*cells, seed)
    return Strategy(name, answers.facts, (*kinds, len(cells)), rows, learns=True, value=value)
