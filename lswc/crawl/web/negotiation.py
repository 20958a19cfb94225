"""Which of its languages a page is served in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def in_order(offered: Sequence[str], accepted: str) -> list[str]:
    """Return the languages offered, the most wanted first by Accept-Language (RFC 9110 §12.5.4).

    A range counts for the tags that it begins (RFC 4647 §3.3.1). The first one offered is served
    to who doesn't say, or wants none.
    """
    ranges = dict(_range(part) for part in accepted.lower().split(","))
    return sorted(offered, key=lambda tag: _weight(tag.lower(), ranges), reverse=True)


def _range(part: str) -> tuple[str, float]:
    tag, _, parameter = part.partition(";")
    name, _, value = parameter.strip().partition("=")
    try:
        weight = float(value) if name.strip() == "q" else 1.0
    except ValueError:
        weight = 0.0
    return tag.strip(), weight


def _weight(tag: str, ranges: dict[str, float]) -> float:
    matching = [name for name in ranges if tag == name or tag.startswith(f"{name}-")]
    return ranges[max(matching, key=len)] if matching else ranges.get("*", 0.0)
