"""``control.toml``: read strictly, and edited so that people's own lines and comments stay."""

from __future__ import annotations

import re
import tomllib
from datetime import time
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from lswc.errors import ConfigError
from lswc.guest.control.places import ControlError, place_of
from lswc.guest.control.rules_in_force import GENERATED, Control, Hours, Rule
from lswc.safety.url_patterns import patterns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FILE = "control.toml"
"""Name of the file in the crawl's folder."""

_HOURS = re.compile(r"(\d\d?):(\d\d) ?- ?(\d\d?):(\d\d)(?: (\S+))?")


MAX_SIZE = 4_000_000
"""Bytes that instructions may have: those for a hundred thousand places."""

MAX_NUMBER = 2**53
"""The largest number that means something: above it not all are known from their neighbours."""

MAX_SHOWN = 100
"""Characters of a wrong value that are shown."""


def parsed(text: str) -> Control:
    """Return what a text says. Raises ControlError, whatever the text is."""
    if len(text) > MAX_SIZE:
        raise ControlError(f"{FILE} is larger than {MAX_SIZE:,} bytes")
    try:
        return _control(tomllib.loads(text))
    except ControlError:
        raise
    except Exception as error:  # such as RecursionError: a crawl must go on to hear what comes next
        said = " ".join(str(error).split()) or type(error).__name__
        raise ControlError(f"{FILE}: {said}") from error


def _control(found: Mapping[str, Any]) -> Control:
    tables = {name: value for name, value in found.items() if isinstance(value, dict)}
    whole = {name: value for name, value in found.items() if name not in tables}
    rules = {}
    for written, table in tables.items():
        place = place_of_table(written, table)
        if place.name in rules:
            raise ControlError(f"{FILE}: [{written!r}] stands there twice")
        rules[place.name] = place, Rule(**_checked(table, OF_PLACE, f"{FILE}, {place.name}"))
        _check_counted(place, rules[place.name][1])
    return Control(**_checked(whole, OF_CRAWL, FILE), rules=tuple(rules.values()))


def place_of_table(written: str, table: Mapping[str, object]) -> Any:
    """Return the place of a table. Raises ControlError, also for dots that no quotes hold."""
    if any(isinstance(value, dict) for value in table.values()):
        raise ControlError(f'{FILE}: put the place in quotes: ["{written}..."]')
    return place_of(written)


def _check_counted(place: Any, rule: Rule) -> None:
    for name in COUNTED:
        if place.is_prefix and getattr(rule, name) is not None:
            raise ControlError(f"{FILE}, {place.name}: {name} is for servers and domains only")


def value_of(name: str, value: object, *, place: str) -> Any:
    """Return the value of a key, checked; of the whole crawl at "". Raises ControlError."""
    keys = OF_PLACE if place else OF_CRAWL
    return _checked({name: value}, keys, place or "the whole crawl")[name]


def edited(text: str, name: str, value: object, place: str = "", why: str = "") -> str:
    """Return a text with this too; ``value`` None takes it back.

    Raises ControlError, for a text that isn't right yet too.
    """
    import tomlkit  # not above: a crawl only reads
    from tomlkit.exceptions import TOMLKitError

    parsed(text)
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise ControlError(f"{FILE}: {error}") from error
    if not place:
        _set(document, name, value, why)
        return tomlkit.dumps(document)
    known = place_of(place).name
    tables = [key for key, table in document.items() if isinstance(table, dict)]
    key = next((key for key in tables if place_of(key).name == known), known)
    if key not in document:
        document.add(key, tomlkit.table())
    table: Any = document[key]
    _set(table, name, value, why)
    if not set(table) - {"why"}:
        document.remove(key)
    return tomlkit.dumps(document)


def _set(table: Any, name: str, value: object, why: str) -> None:
    if value is None:
        table.pop(name, None)
    else:
        table[name] = value
    if why and value is not None:
        table["why"] = why
    elif not any(key in table for key in (*OF_PLACE, *OF_CRAWL) if key != "why"):
        table.pop("why", None)


def _checked(
    given: Mapping[str, object], keys: Mapping[str, Callable[[object], Any]], where: str
) -> dict[str, Any]:
    values = {}
    for name, value in given.items():
        if name not in keys:
            near = get_close_matches(name, keys, 1)
            hint = f"do you mean {near[0]!r}?" if near else f"known: {', '.join(keys)}"
            raise ControlError(f"{where}: unknown key {name!r}; {hint}")
        try:
            values[name] = keys[name](value)
        except ValueError as error:
            raise ControlError(f"{where}: {name} must be {error}, not {_shown(value)}") from error
    return values


def _shown(value: object) -> str:
    try:
        return repr(value)[:MAX_SHOWN]
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "one of thousands of digits"


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a whole number of at least 0")
    if value > MAX_NUMBER:
        raise ValueError(f"a whole number of at most {MAX_NUMBER}")
    return value


def _some(value: object) -> int:
    number = _whole(value)
    if not number:
        raise ValueError("a whole number of at least 1")
    return number


def _becomes(value: object) -> str:
    if not isinstance(value, str) or value not in GENERATED:
        raise ValueError(f"one of {', '.join(GENERATED)}")
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("a number of seconds")
    if value > MAX_NUMBER or not isfinite(value) or value < 0:
        raise ValueError("a number of seconds, of at least 0")
    return float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _patterns(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(pattern, str) for pattern in value):
        raise ValueError('a list of patterns, such as ["path:/calendar/*"]')
    try:
        patterns_of(value)
    except ConfigError as error:
        raise ValueError(f"patterns ({error})") from error
    return tuple(value)


def _hours(value: object) -> Hours:
    wanted = ValueError("hours and a time zone, such as '22:00-06:00 Asia/Bangkok'")
    found = _HOURS.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise wanted
    first, second, third, fourth = map(int, found.groups()[:4])
    try:
        ZoneInfo(found[5] or "UTC")
        return Hours(time(first, second), time(third % 24, fourth), found[5] or "UTC")
    except (ValueError, OSError, KeyError) as error:  # no such time, no such zone
        raise wanted from error


OF_PLACE: dict[str, Callable[[object], Any]] = {
    "block": _flag,
    "block_family": _flag,
    "pause": _flag,
    "delay": _seconds,
    "max_pages": _some,
    "max_bytes": _some,
    "max_depth": _whole,
    "tolerate": _whole,
    "priority": _some,
    "generated": _becomes,
    "why": _text,
}
"""Keys of a place, and what checks their values."""

OF_CRAWL: dict[str, Callable[[object], Any]] = {
    "pause": _flag,
    "stop": _flag,
    "requests": _some,
    "hours": _hours,
    "include": _patterns,
    "exclude": _patterns,
    "why": _text,
}
"""Keys of the whole crawl."""

COUNTED = ("block_family", "max_pages", "max_bytes", "tolerate", "priority", "generated")
"""Keys of what is counted or chosen by server or site: not of less than that."""
