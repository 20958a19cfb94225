"""HTML: the templates of the workbench, and how they write numbers and times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lswc.html_templates import templates_of
from lswc.urls import readable

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE = "–"
"""What is shown of a number that isn't known."""

_UNITS = ("B", "kB", "MB", "GB", "TB")


def count(number: float | None) -> str:
    """Return a number with its thousands apart."""
    return NONE if number is None else f"{number:,.0f}"


def percent(share: float | None) -> str:
    """Return a share, 0 to 1, in percent."""
    return NONE if share is None else f"{100 * share:.1f} %"


def size(number: float | None) -> str:
    """Return a number of bytes in the unit that suits it."""
    if number is None:
        return NONE
    power = 0
    while number >= 1000 and power < len(_UNITS) - 1:
        number, power = number / 1000, power + 1
    return f"{number:.1f} {_UNITS[power]}" if power else f"{number:.0f} B"


def moment(seconds: float | None) -> str:
    """Return a time, seconds since 1970, as one to the second in UTC."""
    if seconds is None:
        return NONE
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def filled(template: str, values: Mapping[str, Any]) -> bytes:
    """Return a template with values, UTF-8. Host names are in their own script."""
    text = _ENVIRONMENT.get_template(template).render(values)
    return text.encode(errors="replace")


_ENVIRONMENT = templates_of("lswc.workbench")
_ENVIRONMENT.filters |= {
    "count": count,
    "percent": percent,
    "size": size,
    "moment": moment,
    "readable": readable,
}
