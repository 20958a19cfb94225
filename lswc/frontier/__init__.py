"""URLs and server counters, which change together: one contract, and its stores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier.contract import DEFAULTS, Frontier, FrontierError, Terms
from lswc.frontier.shards import CLUSTER
from lswc.frontier.store.frontier import MEMORY, SqliteFrontier

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lswc.strategy import Strategy

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
    return store.startswith(("redis://", "rediss://", "unix://", CLUSTER))


def open_frontier(
    store: str,
    folder: Path,
    strategy: Strategy,
    identity: Mapping[str, str],
    terms: Terms = DEFAULTS,
) -> Frontier:
    """Open the frontier that ``LSWC_FRONTIER`` names: "sqlite" or ":memory:".

    Raises FrontierError.
    """
    if store not in ("sqlite", MEMORY):
        raise FrontierError(f"LSWC_FRONTIER={store!r} isn't one of: sqlite, {MEMORY}, redis://...")
    path = MEMORY if store == MEMORY else folder / FRONTIER_FILE
    return SqliteFrontier(path, strategy, identity, terms)
