"""Workers that share a crawl: Scrapy's and scrapy-redis's settings to a RedisFrontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_redis.connection import get_redis
from scrapy_redis.defaults import REDIS_PARAMS

from lswc.archive.archive import wanted_of
from lswc.errors import ConfigError
from lswc.frontier import names_redis, redis_report
from lswc.frontier.experience import taught_by
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.redis_script import RECONNECT
from lswc.guest.control.redis_store import InRedis
from lswc.guest.redis_slots import SharedSlots

if TYPE_CHECKING:
    from pathlib import Path

    from redis import Redis
    from scrapy.settings import BaseSettings

    from lswc.crawl.configuration import Crawl
    from lswc.frontier.contract import Terms
    from lswc.strategy import Experience


def connect(settings: BaseSettings) -> Redis:
    """Return a client for the Redis of ``LSWC_FRONTIER``, with scrapy-redis's REDIS_PARAMS.

    Nothing is sent yet. Raises ConfigError for a URL that redis-py doesn't understand.
    """
    try:
        params = {**REDIS_PARAMS, **settings.getdict("REDIS_PARAMS"), "decode_responses": False}
        client: Redis = get_redis(**params, url=settings.get("LSWC_FRONTIER"))
    except ValueError as error:
        raise ConfigError(f"LSWC_FRONTIER or REDIS_PARAMS doesn't name a Redis: {error}") from error
    return client


def read_experience(crawl: Crawl, settings: BaseSettings) -> Experience:
    """Return what the crawl of ``LSWC_EXPERIENCE``, ``redis://...#key``, learned.

    Raises FrontierError if that is of no use, StorageError if Redis can't be read.
    """
    url, _, name = crawl.experience.partition("#")
    settings = settings.copy()
    settings.set("LSWC_FRONTIER", url, priority="cmdline")
    opened = redis_report.opened(connect(settings), name)
    return taught_by(name, opened, crawl.language.tag)


def join(crawl: Crawl, settings: BaseSettings, terms: Terms) -> RedisFrontier:
    """Join the crawl ``LSWC_REDIS_KEY``, or begin it. Raises FrontierError or ConfigError."""
    name = _name(crawl, settings)
    return RedisFrontier(
        connect(settings),
        name,
        crawl.strategy,
        crawl.identity,
        terms,
        Worker(
            folder=crawl.folder,
            recorded=crawl.has_records,
            feed=settings.get("REDIS_START_URLS_KEY", "") % {"name": name},
            time_to_live=crawl.lease_seconds,
        ),
    )


def control(crawl: Crawl, settings: BaseSettings) -> InRedis:
    """Return what is said to the crawl that the workers share."""
    client = connect(settings)
    client.set_retry(RECONNECT)
    return InRedis(client, _name(crawl, settings))


def slots(crawl: Crawl, settings: BaseSettings) -> SharedSlots:
    """Return the slots that the workers of a crawl share."""
    # A page's request may take as long as that, and its robots.txt before it; then it rests.
    life = 3 * (crawl.politeness.timeout or 600.0) + crawl.politeness.delay
    return SharedSlots(connect(settings), f"{{{_name(crawl, settings)}}}:", life)


def named(settings: BaseSettings, address: str, key: str, folder: Path) -> tuple[Redis, str]:
    """Return the Redis that a command's user names, and the name of a folder's crawl in it.

    That is ``key`` if LSWC_REDIS_KEY was set. Raises LswcError.
    """
    if not names_redis(address):
        raise ConfigError(f"--redis isn't the URL of a Redis: {address!r}")
    chosen = settings.copy()
    chosen.set("LSWC_FRONTIER", address)
    return connect(chosen), key or f"lswc:{wanted_of(folder).tag}"


def _name(crawl: Crawl, settings: BaseSettings) -> str:
    name: str = settings.get("LSWC_REDIS_KEY") or f"lswc:{crawl.language.tag}"
    if set(name) & set("{}"):
        raise ConfigError(f"LSWC_REDIS_KEY={name!r}: braces mark a crawl's keys, leave them out")
    return name
