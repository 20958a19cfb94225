"""A crawl that many workers share: Scrapy's and scrapy-redis's settings to a RedisFrontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_redis.connection import get_redis
from scrapy_redis.defaults import REDIS_PARAMS

from lswc.errors import ConfigError
from lswc.frontier.redis import RedisFrontier

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from redis import Redis
    from scrapy.settings import BaseSettings

    from lswc.strategy import Strategy


def names_redis(store: str) -> bool:
    """Tell whether ``LSWC_FRONTIER`` is the URL of a Redis."""
    return store.startswith(("redis://", "rediss://", "unix://"))


def connect(settings: BaseSettings) -> Redis:
    """Return a client for the Redis of ``LSWC_FRONTIER``, with scrapy-redis's REDIS_PARAMS.

    Nothing is sent yet. Raises ConfigError for a URL that redis-py doesn't understand.
    """
    params = {**REDIS_PARAMS, **settings.getdict("REDIS_PARAMS"), "decode_responses": False}
    try:
        client: Redis = get_redis(**params, url=settings.get("LSWC_FRONTIER"))
    except ValueError as error:
        raise ConfigError(f"LSWC_FRONTIER isn't the URL of a Redis: {error}") from error
    return client


def join(
    settings: BaseSettings,
    folder: Path,
    recorded: bool,
    strategy: Strategy,
    identity: Mapping[str, str],
    delay: float,
    time_to_live: float,
) -> RedisFrontier:
    """Join the crawl ``LSWC_REDIS_KEY``, or begin it. Raises FrontierError or ConfigError.

    ``folder`` is the worker's own, ``recorded`` says that it holds records, ``time_to_live``
    is the seconds after which a dead worker's leases are given to others.
    """
    name = settings.get("LSWC_REDIS_KEY") or f"lswc:{identity['language']}"
    if set(name) & set("{}"):
        raise ConfigError(f"LSWC_REDIS_KEY={name!r}: braces mark a crawl's keys, leave them out")
    if not time_to_live:
        raise ConfigError("LSWC_LEASE_SECONDS must be more than 0")
    return RedisFrontier(
        connect(settings),
        name,
        strategy,
        identity,
        delay,
        folder=folder,
        recorded=recorded,
        feed=settings.get("REDIS_START_URLS_KEY", "") % {"name": name},
        time_to_live=time_to_live,
    )
