"""Workers that share a crawl: Scrapy's and scrapy-redis's settings to a Redis."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy_redis.connection import get_redis
from scrapy_redis.defaults import REDIS_PARAMS

from lswc.errors import ConfigError

if TYPE_CHECKING:
    from redis import Redis
    from scrapy.settings import BaseSettings


def connect(settings: BaseSettings) -> Redis:
    """Return a client for the Redis of ``LSWC_FRONTIER``, with scrapy-redis's REDIS_PARAMS.

    A password that neither has is that of REDISCLI_AUTH in the environment, as for redis-cli.
    Nothing is sent yet. Raises ConfigError for a URL that redis-py doesn't understand.
    """
    params = {**REDIS_PARAMS, **settings.getdict("REDIS_PARAMS"), "decode_responses": False}
    if password := os.environ.get("REDISCLI_AUTH"):
        params.setdefault("password", password)
    try:
        client: Redis = get_redis(**params, url=settings.get("LSWC_FRONTIER"))
    except ValueError as error:
        raise ConfigError(f"LSWC_FRONTIER or REDIS_PARAMS doesn't name a Redis: {error}") from error
    return client
