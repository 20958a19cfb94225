"""Cells in words, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.strategy import adaptive

if TYPE_CHECKING:
    from lswc.strategy.cells import Strategy

_WORDS = {
    "named": ("", "link names the language", "link names another language"),
    "referrer": (
        "relevant referrer", "referrer of unknown language", "English referrer",
        "other referrer", "2 irrelevant referrers", "3 or more irrelevant referrers",
    ),
    "near": ("same folder", "same server", "same site", "elsewhere"),
    "anchor": ("anchor text in the language", "anchor text in another language", ""),
    "tld": ("", "top-level domain of the language"),
}  # fmt: skip


def describe(strategy: Strategy, cell: int) -> str:
    """Return what the URLs of a cell have in common."""
    if not strategy.learns:
        return f"tier {cell}"
    if cell == adaptive.SEEDS:
        return "seeds"
    left, place = divmod(cell - 1, adaptive.PLACES)
    words = []
    for name, size in zip(reversed(adaptive.NAMES), reversed(adaptive.SIZES), strict=True):
        left, value = divmod(left, size)
        words.append(_WORDS[name][value])
    return ", ".join([_place(place), *filter(None, reversed(words))])


def _place(place: int) -> str:
    if place == adaptive.SITE_UNVISITED:
        return "new site"
    visited, bucket = divmod(place - 1, adaptive.BUCKETS)
    server = ("new server", f"server with 1-{adaptive.FEW} pages", "known server")[visited]
    bounds = (0.0, *adaptive.EDGES, 1.0)
    return f"{server} of {bounds[bucket] * 100:g}-{bounds[bucket + 1] * 100:g} %"
