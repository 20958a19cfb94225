"""Selection of seeds among ranked candidates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lswc.seeds.pool import Place

    Judge = Callable[[Place], str | None]
    """Language of a candidate that its source doesn't give; None: it isn't known."""


@dataclass(frozen=True)
class SeedBounds:
    """At most ``most`` seeds per language, ``per_domain`` of them of a registered domain."""

    most: int
    per_domain: int


def choose(
    ranked: Iterable[Place],
    judge: Judge,
    codes: Sequence[str],
    bounds: SeedBounds,
    passed: Counter[str],
) -> dict[str, list[Place]]:
    """Take the best candidates of each language, in their order.

    No more are looked at than needed. ``passed`` counts the others by reason.
    """
    chosen: dict[str, list[Place]] = {code: [] for code in codes}
    of_site: Counter[tuple[str, str]] = Counter()
    for place in ranked:
        lacking = [code for code in codes if len(chosen[code]) < bounds.most]
        if not lacking:
            break
        if all(of_site[code, place.site] >= bounds.per_domain for code in lacking):
            passed["enough of its domain"] += 1
            continue
        code = place.language or judge(place)
        reason = _reason(code, lacking, chosen)
        if code is None or reason:
            passed[reason] += 1
        elif of_site[code, place.site] >= bounds.per_domain:
            passed["enough of its domain"] += 1
        else:
            of_site[code, place.site] += 1
            chosen[code].append(place)
    return chosen


def _reason(code: str | None, lacking: Sequence[str], chosen: Iterable[str]) -> str:
    if code is None:
        return "language not known"
    if code in lacking:
        return ""
    return "enough seeds" if code in chosen else "another language"
