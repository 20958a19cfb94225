"""Assumptions of the synthetic web: what no paper says of the Thai web of 2004."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any, NamedTuple

from lswc.errors import ConfigError


class Assumptions(NamedTuple):
    """A value for each; ``assumptions.toml`` says what they mean. Compiled code reads them."""

    thai_in_th: float
    non_thai_on_th: int
    non_thai_elsewhere: int
    other_th_servers: int
    siblings: float
    site_exponent: float
    size_sigma: float
    largest: int
    non_thai_exponent: float
    non_thai_sigma: float
    early: float
    com_factor: float
    directory: float
    mixing: float
    apart: float
    farthest: int
    far: float
    thai_home: float
    deep: float
    degree_sigma: float
    index_factor: float
    unknown_per_server: float
    entry_in_site: float
    entry_bias: float
    entry_from_non_thai: float
    entry_other_from_other: float
    entry_other_from_thai: float
    parent_head: float
    parent_home: float
    parent_bias: float
    most_of_server: float
    most_links: int
    navigation: float
    nearby: float
    nearby_pages: int
    popularity: float
    page_popularity: float
    to_first_page: float
    site_bias: float
    redirect_home: float
    no_anchor: float
    apart_on_server: float
    apart_from_other_servers: float
    english_com: float
    english_net: float
    english_th: float
    english_abroad: float
    english_other: float
    english_purity: float
    site_links: float
    site_to_thai_server: float
    site_from_non_thai: float
    unknown_from_other: float


class Assumption(NamedTuple):
    """What an assumption means, its value, and the lowest and highest that it may have."""

    meaning: str
    value: float
    low: float
    high: float


def _read() -> dict[str, Assumption]:
    text = (files(__package__) / "assumptions.toml").read_text("utf-8")
    entries: dict[str, Any] = tomllib.loads(text)
    return {
        name: Assumption(entry["meaning"], entry["value"], *entry["range"])
        for name, entry in entries.items()
    }


RANGES = _read()
"""The assumptions by name."""

_VALUES: dict[str, Any] = {name: one.value for name, one in RANGES.items()}

ASSUMED = Assumptions(**_VALUES)
"""The values that hold unless others are given."""


def assume(given: list[str]) -> Assumptions:
    """Return the assumptions with some replaced: ``["apart=0.3", "largest=20000"]``.

    Raises ConfigError for an unknown name, or a value that isn't a number in its range.
    """
    return ASSUMED._replace(**dict(map(_assumption, given)))


def _assumption(given: str) -> tuple[str, Any]:
    name, _, text = (part.strip() for part in given.partition("="))
    if name not in RANGES:
        raise ConfigError(f"unknown assumption {name!r}; known: {', '.join(RANGES)}")
    wanted = RANGES[name]
    try:
        value = type(wanted.value)(text)
    except ValueError:
        value = None
    if value is None or not wanted.low <= value <= wanted.high:
        kind = "a whole number" if isinstance(wanted.value, int) else "a number"
        raise ConfigError(
            f"assumption {name} must be {kind} from {wanted.low} to {wanted.high}, not {text!r}"
        )
    return name, value
