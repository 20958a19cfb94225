"""URLs and server counters, which change together: one SQLite file a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier.rules.contract import DEFAULTS, FrontierError, Terms
from lswc.frontier.store.frontier import MEMORY, Frontier

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lswc.strategy import Strategy

__all__ = [
    "FRONTIER_FILE",
    "MEMORY",
    "WORKER_FILE",
    "Frontier",
    "FrontierError",
    "names_redis",
    "open_frontier",
]

CLUSTER, SENTINEL = "redis+cluster://", "redis+sentinel://"
"""Schemes of a Redis Cluster, and of a Redis that Sentinels name (``host:port,.../service/db``)."""

FRONTIER_FILE = "frontier.db"
"""Name of the SQLite frontier in the crawl folder."""

WORKER_FILE = "redis.json"
"""Name of the file in a worker's folder that says where the crawl is."""


def names_redis(store: str) -> bool:
    """Tell whether ``LSWC_FRONTIER`` is the URL of a Redis."""
    return store.startswith(("redis://", "rediss://", "unix://", CLUSTER, SENTINEL))


def open_frontier(
    store: str,
    folder: Path,
    strategy: Strategy,
    identity: Mapping[str, str],
    terms: Terms = DEFAULTS,
) -> Frontier:
    """Open the frontier that ``LSWC_FRONTIER`` names: "sqlite", ":memory:", or a Redis.

    With a Redis it is the worker's part, in a file as that of a crawl alone. Raises FrontierError.
    """
    if store not in ("sqlite", MEMORY) and not names_redis(store):
        raise FrontierError(f"LSWC_FRONTIER={store!r} isn't one of: sqlite, {MEMORY}, redis://...")
    path = MEMORY if store == MEMORY else folder / FRONTIER_FILE
    return Frontier(path, strategy, identity, terms)
