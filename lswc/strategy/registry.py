"""Strategies by name: ``lswc:S=3,T=5`` to the object that decides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from lswc.strategy import rules
from lswc.strategy.facts import MAX_DISTANCE, SEED, Status, decode
from lswc.strategy.status import NEVER, Unit

if TYPE_CHECKING:
    from lswc.strategy.rules import Rule


class StrategyError(ValueError):
    """A strategy's name or parameter is wrong; the message names the valid ones."""


@dataclass(frozen=True)
class Strategy:
    """A strategy: its rule, and how the counters behind a status are kept.

    ``name`` is the canonical specification. ``tolerated`` is the argument of
    ``ledger.status``. ``guesses_unknown`` says that a page of unknown language is taken
    for its referrer's (Somboonviwat 2006 §4.1).
    """

    name: str
    rule: Rule
    unit: Unit = Unit.SERVER
    tolerated: int = NEVER
    guesses_unknown: bool = False
    needs_oracle: bool = False

    def tier(self, code: int, target_server: Status) -> int:
        """Return the tier of a URL with this code now, or DISCARD; a seed is always in tier 0."""
        return _table(self)[code][target_server]

    def table(self) -> tuple[tuple[int, ...], ...]:
        """Return every answer: ``table[code][target_server]``, of shape (CODES, 4)."""
        return _table(self)


@cache
def _table(strategy: Strategy) -> tuple[tuple[int, ...], ...]:
    links = (tuple(strategy.rule(decode(code, s)) for s in Status) for code in range(SEED))
    return (*links, (0,) * len(Status))


@dataclass(frozen=True)
class _Parameter:
    default: int
    low: int
    high: int


_T_SERVER = _Parameter(10, 0, 1_000_000)
_DISTANCE = MAX_DISTANCE - 1

_PARAMETERS: dict[str, dict[str, _Parameter]] = {
    "bfs": {},
    "hard_focused": {},
    "soft_focused": {},
    "distance": {},
    "limited_distance": {"N": _Parameter(2, 1, _DISTANCE)},
    "server_aggressive": {"T": _T_SERVER},
    "server_conservative": {"T": _T_SERVER},
    "directory_conservative": {"T": _T_SERVER},
    "lswc": {"S": _Parameter(3, 1, 1_000_000), "T": _Parameter(5, 1, _DISTANCE)},
    "tld_anchor": {},
    "tld": {},
    "anchor": {},
    "site_queues": {},
    "perfect": {},
}

NAMES = tuple(_PARAMETERS)
"""Names of all strategies, in the order of the papers."""


def strategy(specification: str) -> Strategy:
    """Return the strategy of a specification such as ``lswc:S=3,T=5`` or ``bfs``.

    Parameters left out take their defaults. Raises StrategyError.
    """
    name, _, assignments = specification.partition(":")
    if name not in _PARAMETERS:
        raise StrategyError(f"unknown strategy {name!r}; known: {', '.join(NAMES)}")
    return _build(name, _values(name, assignments))


def _values(name: str, assignments: str) -> dict[str, int]:
    known = _PARAMETERS[name]
    values = {key: parameter.default for key, parameter in known.items()}
    given: set[str] = set()
    for assignment in assignments.split(",") if assignments else ():
        key, _, text = assignment.partition("=")
        if key not in known:
            takes = ", ".join(known) or "none"
            raise StrategyError(f"strategy {name} has no parameter {key!r}; it takes: {takes}")
        if key in given:
            raise StrategyError(f"strategy {name}: parameter {key} is given twice")
        given.add(key)
        values[key] = _number(name, key, text)
    return values


def _number(name: str, key: str, text: str) -> int:
    parameter = _PARAMETERS[name][key]
    if text.isdecimal() and parameter.low <= int(text) <= parameter.high:
        return int(text)
    raise StrategyError(
        f"strategy {name}: {key} must be a whole number "
        f"from {parameter.low} to {parameter.high}, not {text!r}"
    )


def _build(name: str, values: dict[str, int]) -> Strategy:
    spec = name + (":" + ",".join(f"{k}={v}" for k, v in values.items()) if values else "")
    match name:
        case "limited_distance":
            return Strategy(spec, rules.limited_distance(values["N"]))
        case "server_aggressive":
            return Strategy(spec, rules.aggressive, tolerated=values["T"])
        case "server_conservative":
            return Strategy(spec, rules.conservative, tolerated=values["T"])
        case "directory_conservative":
            return Strategy(spec, rules.conservative, Unit.DIRECTORY, values["T"])
        case "lswc":
            # Irrelevant at Na >= S, which is Na > S - 1.
            rule = rules.lswc(values["T"])
            return Strategy(spec, rule, tolerated=values["S"] - 1, guesses_unknown=True)
        case "perfect":
            return Strategy(spec, rules.perfect, needs_oracle=True)
        case _:
            plain: Rule = getattr(rules, name)
            return Strategy(spec, plain)
