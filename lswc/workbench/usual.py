"""Usual figures: what such crawls reach, as measured in docs/lab, beside what this one has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lswc.monitor.snapshot import Snapshot

NEAR = 3.0
"""So many times fewer or more pages than those of a figure, a crawl isn't compared with it."""

DONE = 0.9
"""Estimated coverage from which on a harvest rate falls, for little is left to be found."""


class Measured(NamedTuple):
    """Harvest rates after so many pages, from the least to the most."""

    pages: int
    least: float
    most: float
    source: str


_SMALL = "107 simulated webs, docs/lab/simulator.md"
_LARGE = "a simulated web of 18 million pages, docs/lab/strategies.md"

HARVEST: dict[str, tuple[Measured, ...]] = {
    "adaptive": (Measured(2_000, 0.650, 0.849, _SMALL),),
    "bfs": (Measured(2_000, 0.239, 0.502, _SMALL), Measured(1_000_000, 0.305, 0.305, _LARGE)),
    "hard_focused": (
        Measured(2_000, 0.487, 0.629, _SMALL), Measured(1_000_000, 0.525, 0.525, _LARGE),
    ),
    "soft_focused": (
        Measured(2_000, 0.449, 0.586, _SMALL), Measured(1_000_000, 0.480, 0.480, _LARGE),
    ),
    "limited_distance:N=2": (
        Measured(2_000, 0.449, 0.586, _SMALL), Measured(1_000_000, 0.480, 0.480, _LARGE),
    ),
    "server_aggressive:T=10": (
        Measured(2_000, 0.449, 0.587, _SMALL), Measured(1_000_000, 0.487, 0.487, _LARGE),
    ),
    "server_conservative:T=10": (
        Measured(2_000, 0.456, 0.596, _SMALL), Measured(1_000_000, 0.503, 0.503, _LARGE),
    ),
    "directory_conservative:T=10": (Measured(1_000_000, 0.510, 0.510, _LARGE),),
    "lswc:S=3,T=5": (
        Measured(2_000, 0.357, 0.818, _SMALL), Measured(1_000_000, 0.624, 0.624, _LARGE),
    ),
    "tld_anchor": (Measured(1_000_000, 0.631, 0.631, _LARGE),),
    "site_queues": (Measured(1_000_000, 0.634, 0.634, _LARGE),),
}  # fmt: skip
"""What was measured with each strategy, from seeds in the language."""


def harvest(snapshot: Snapshot) -> str:
    """Say which harvest rate is usual after so many pages; "" where none was measured.

    Nor is it shown once little is left: then every crawl's rate falls.
    """
    measured = [
        one
        for one in HARVEST.get(snapshot.strategy, ())
        if one.pages / NEAR <= snapshot.pages <= one.pages * NEAR
    ]
    rate, coverage = snapshot.harvest_rate, snapshot.coverage_at_most
    if not measured or rate is None or (coverage is not None and coverage >= DONE):
        return ""
    (one,) = measured
    share = f"{100 * one.least:.0f}"
    share += f" to {100 * one.most:.0f}" if one.most > one.least else ""
    text = f"usual: {share} % after {one.pages:,} pages ({one.source})"
    if rate < one.least:
        text += ". Fewer than usual: are the seeds in another language, or few?"
    return text
