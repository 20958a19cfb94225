"""Strategies by name: ``lswc:S=3,T=5`` to the object that decides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from lswc.strategy import tier_rules
from lswc.strategy.cells import Strategy, StrategyError, by_rule, learned
from lswc.strategy.facts import BY_YIELD, MAX_DISTANCE, Unit
from lswc.strategy.value import Value

if TYPE_CHECKING:
    from lswc.strategy.tier_rules import Rule


@dataclass(frozen=True)
class _Parameter:
    default: int
    low: int
    high: int


_OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*(:.*)?")
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
    "site_queues": {"L": _Parameter(10, 2, 1_000_000)},
    "spiderling": {},
    "perfect": {},
    "adaptive": {},
    "adaptive_text": {},
}

NAMES = tuple(_PARAMETERS)
"""Names of all strategies, in the order of the papers; last the learned one, by what counts."""


@cache
def strategy(specification: str) -> Strategy:
    """Return the strategy of a specification such as ``lswc:S=3,T=5`` or ``bfs``.

    Parameters left out take their defaults. ``module:function`` is a rule of the user's own,
    and ``module:function:T=5`` one with that tolerance of servers. Raises StrategyError.
    """
    name, _, assignments = specification.partition(":")
    if name in _PARAMETERS:
        return _build(name, _values(name, assignments, _PARAMETERS[name]))
    if _OWN.fullmatch(specification):
        return _own(specification)
    raise StrategyError(
        f"unknown strategy {name!r}; known: {', '.join(NAMES)}, and module:function of your own"
    )


def _values(name: str, assignments: str, known: dict[str, _Parameter]) -> dict[str, int]:
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
        values[key] = _number(name, key, text, known[key])
    return values


def _number(name: str, key: str, text: str, parameter: _Parameter) -> int:
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
            return by_rule(spec, tier_rules.limited_distance(values["N"]))
        case "server_aggressive":
            return by_rule(spec, tier_rules.aggressive, tolerated=values["T"])
        case "server_conservative":
            return by_rule(spec, tier_rules.conservative, tolerated=values["T"])
        case "directory_conservative":
            return by_rule(spec, tier_rules.conservative, Unit.DIRECTORY, values["T"])
        case "lswc":
            # Irrelevant at Na >= S, which is Na > S - 1.
            rule = tier_rules.lswc(values["T"])
            return by_rule(spec, rule, tolerated=values["S"] - 1, guesses_unknown=True)
        case "perfect":
            return by_rule(spec, tier_rules.perfect, needs_oracle=True)
        case "site_queues":
            return by_rule(spec, tier_rules.site_queues, levels=values["L"])
        case "spiderling":
            rule = tier_rules.spiderling
            return by_rule(spec, rule, tolerated=BY_YIELD, value=Value.YIELD)
        case "adaptive" | "adaptive_text":
            return learned(spec, Value.PAGES if name == "adaptive" else Value.TEXT)
        case _:
            plain: Rule = getattr(tier_rules, name)
            return by_rule(spec, plain)


def _own(specification: str) -> Strategy:
    module, _, rest = specification.partition(":")
    function, _, assignments = rest.partition(":")
    name = f"{module}:{function}"
    values = _values(name, assignments, {"T": _T_SERVER})
    try:
        rule = getattr(import_module(module), function)
    except (ImportError, AttributeError, SyntaxError) as error:
        raise StrategyError(f"can't take the strategy {name}: {error}") from error
    if not callable(rule):
        raise StrategyError(f"can't take the strategy {name}: {function} isn't a function")
    return by_rule(f"{name}:T={values['T']}", rule, tolerated=values["T"])
