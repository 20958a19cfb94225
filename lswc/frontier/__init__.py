"""URLs and server counters, which change together: one contract, and its stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier.contract import NO_CAPS, Caps, Frontier, FrontierError
from lswc.frontier.sqlite import MEMORY, SqliteFrontier

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lswc.strategy import Experience, Strategy

__all__ = [
    "FRONTIER_FILE",
    "MEMORY",
    "Frontier",
    "FrontierError",
    "names_redis",
    "open_frontier",
]

FRONTIER_FILE = "frontier.db"
"""Name of the SQLite frontier in the crawl folder."""


def names_redis(store: str) -> bool:
    """Tell whether ``LSWC_FRONTIER`` is the URL of a Redis."""
    return store.startswith(("redis://", "rediss://", "unix://"))


def open_frontier(
    store: str,
    folder: Path,
    strategy: Strategy,
    identity: Mapping[str, str],
    delay: float,
    patience: float = 0.0,
    experience: Experience | None = None,
    caps: Caps = NO_CAPS,
) -> Frontier:
    """Open the frontier that ``LSWC_FRONTIER`` names: "sqlite" or ":memory:".

    ``delay`` is the least time in seconds between two requests to a server, ``patience`` that of
    ``lswc.frontier.contract.is_far_better``, ``experience`` what a new crawl begins with; ``caps``
    bound what waits. Raises FrontierError.
    """
    if store not in ("sqlite", MEMORY):
        raise FrontierError(f"LSWC_FRONTIER={store!r} isn't one of: sqlite, {MEMORY}, redis://...")
    path = MEMORY if store == MEMORY else folder / FRONTIER_FILE
    return SqliteFrontier(path, strategy, identity, delay, experience, patience, caps)
