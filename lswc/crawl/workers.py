"""Workers that share a crawl: Scrapy's and scrapy-redis's settings to a RedisFrontier."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy_redis.connection import get_redis
from scrapy_redis.defaults import REDIS_PARAMS

from lswc.archive.check.recovery import refuse_lost
from lswc.crawl.crawl_folder import Place, make_writable, remember, remembered, without_login
from lswc.errors import ConfigError
from lswc.frontier import names_redis
from lswc.frontier.contract import check_format
from lswc.frontier.experience import taught_by
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.redis_cluster import Cluster
from lswc.frontier.redis_script import text
from lswc.frontier.seen_paragraphs import InRedis as InRedisParagraphs
from lswc.frontier.seen_paragraphs import OnShards
from lswc.frontier.sharded import ShardedFrontier, open_existing
from lswc.frontier.sharded_report import opened_all
from lswc.frontier.shards import CLUSTER, addresses, are_several
from lswc.guest.control.redis_store import InRedis
from lswc.guest.guest import Stores
from lswc.guest.redis_rules import SharedBackoff, SharedFiles, SharedLearned
from lswc.guest.redis_slots import SharedSlots
from lswc.guest.sharded import (
    ShardedBackoff,
    ShardedFiles,
    ShardedLearned,
    ShardedSlots,
    on_servers_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from redis import Redis
    from scrapy.settings import BaseSettings

    from lswc.crawl.configuration import Crawl
    from lswc.frontier import Frontier
    from lswc.frontier.contract import Terms
    from lswc.frontier.seen_paragraphs import SeenParagraphs
    from lswc.guest.control.store import Instructions
    from lswc.guest.control_in_effect import ControlInEffect
    from lswc.guest.learned import Learned
    from lswc.strategy import Experience

CONNECT_SECONDS = 3
"""Seconds for which one of several servers is waited for."""


def connect(settings: BaseSettings, name: str, *, begins: bool = False) -> tuple[list[Redis], str]:
    """Return a client for each Redis of ``LSWC_FRONTIER``, with scrapy-redis's REDIS_PARAMS.

    A password that neither has is that of REDISCLI_AUTH in the environment, as for redis-cli.
    Nothing is sent yet, but to a Redis Cluster: it knows where the parts of the crawl are, and its
    name if that is "" (``Cluster.clients``). Raises ConfigError for a URL that redis-py doesn't
    understand, LswcError as the cluster does.
    """
    store = settings.get("LSWC_FRONTIER")
    try:
        params = dict(REDIS_PARAMS)
        if are_several(store):  # while one is looked for the others have work
            params["socket_connect_timeout"] = CONNECT_SECONDS
        params |= {**settings.getdict("REDIS_PARAMS"), "decode_responses": False}
        if password := os.environ.get("REDISCLI_AUTH"):
            params.setdefault("password", password)
        if store.startswith(CLUSTER):
            return Cluster(store, params).clients(name, begins=begins)
        return [get_redis(**params, url=address) for address in addresses(store)], name
    except ValueError as error:
        raise ConfigError(f"LSWC_FRONTIER or REDIS_PARAMS doesn't name a Redis: {error}") from error


def read_experience(crawl: Crawl, settings: BaseSettings) -> Experience:
    """Return what the crawl of ``LSWC_EXPERIENCE``, ``redis://...#key``, learned.

    Raises FrontierError if that is of no use, StorageError if Redis can't be read.
    """
    url, _, name = crawl.experience.partition("#")
    settings = settings.copy()
    settings.set("LSWC_FRONTIER", url, priority="cmdline")
    clients, name = connect(settings, name)
    return taught_by(name, opened_all(clients, name), crawl.language.tag, crawl.strategy.value)


def join(crawl: Crawl, settings: BaseSettings, terms: Terms) -> RedisFrontier | ShardedFrontier:
    """Join the crawl ``LSWC_REDIS_KEY``, or begin it. Raises LswcError."""
    name, before = _name(crawl, settings), remembered(crawl.folder)
    feed = settings.get("REDIS_START_URLS_KEY", "") % {"name": name}
    if feed and crawl.store.startswith(CLUSTER):
        raise ConfigError(
            f"REDIS_START_URLS_KEY: in a Redis Cluster push seeds to {{{name}}}:start_urls"
        )
    worker = Worker(
        folder=crawl.folder,
        recorded=crawl.has_records,
        feed=feed,
        # A dead worker's servers are free once its leases have expired.
        time_to_live=max(crawl.lease_seconds, crawl.politeness.delay),
    )
    if before is not None and before.worker == worker.name:
        worker = replace(worker, mark=before.mark)
    clients, _ = connect(settings, name, begins=True)
    of_crawl = (name, crawl.strategy, crawl.identity, terms, worker)
    frontier = (
        RedisFrontier(clients[0], *of_crawl)
        if len(clients) == 1
        else ShardedFrontier(clients, *of_crawl)
    )
    try:
        refuse_lost(crawl.folder, frontier.lengths())
        address = without_login(settings.get("LSWC_FRONTIER"))
        remember(crawl.folder, Place(address, name, frontier.mark, worker.name))
    except BaseException:
        frontier.close()
        raise
    return frontier


def control(frontier: Frontier) -> Instructions:
    """Return what is said to the crawl that the workers share."""
    if isinstance(frontier, ShardedFrontier):
        return on_servers_of(frontier)
    shared = _shared(frontier)
    return InRedis(shared.connection.client, shared.name)


def seen_paragraphs(frontier: Frontier) -> SeenParagraphs:
    """Return the paragraphs that pages of all workers had before."""
    if isinstance(frontier, ShardedFrontier):
        return OnShards(frontier)
    return InRedisParagraphs(_shared(frontier).connection)


def guest_stores(crawl: Crawl, frontier: Frontier, control: ControlInEffect) -> Stores:
    """Return what the workers of a crawl share besides its URLs. Raises LswcError."""
    life, first = crawl.lease_seconds, crawl.politeness.backoff
    if isinstance(frontier, ShardedFrontier):
        return Stores(
            crawl.folder,
            frontier,
            ShardedSlots(frontier, life),
            control,
            ShardedBackoff(frontier, first),
            ShardedFiles(frontier),
        )
    connection = _shared(frontier).connection
    return Stores(
        crawl.folder,
        frontier,
        SharedSlots(connection, life),
        control,
        SharedBackoff(connection, first),
        SharedFiles(connection),
    )


def learned(frontier: Frontier) -> Learned:
    """Return what the workers of a crawl learned of servers. Raises LswcError."""
    if isinstance(frontier, ShardedFrontier):
        return ShardedLearned(frontier)
    return SharedLearned(_shared(frontier).connection)


def _shared(frontier: Frontier) -> RedisFrontier:
    if not isinstance(frontier, RedisFrontier):
        raise TypeError(f"{frontier} isn't shared")
    return frontier


def named(settings: BaseSettings, address: str, key: str, folder: Path) -> tuple[list[Redis], str]:
    """Return each Redis of a worker's crawl, and its name there: empty for the only one there is.

    They are what a command's user says, else what the folder remembers. A login is that of
    LSWC_FRONTIER if that names this Redis, else of REDIS_PARAMS or the environment (``connect``).
    Raises LswcError.
    """
    place = remembered(folder)
    if address and not names_redis(address):
        raise ConfigError(f"--redis isn't the URL of a Redis: {address!r}")
    chosen = settings.copy()
    if address:
        chosen.set("LSWC_FRONTIER", address, priority="cmdline")
    elif place is None:
        raise ConfigError(f"{folder} doesn't say where its Redis is: name it, --redis redis://...")
    elif without_login(settings.get("LSWC_FRONTIER", "")) != place.address:
        chosen.set("LSWC_FRONTIER", place.address, priority="cmdline")
    return connect(chosen, key or (place.key if place is not None else ""))


def existing(clients: Sequence[Redis], name: str, folder: Path) -> RedisFrontier | ShardedFrontier:
    """Join a crawl as it is, as the worker whose folder this is, or was. Raises LswcError."""
    place = remembered(folder)
    worker = Worker(folder=folder, known_as=place.worker if place is not None else "")
    with opened_all(clients, name) as reader:
        check_format(reader.identity())
        known, name = reader.workers.numbers(), reader.name
    if worker.name.encode() not in known:
        names = ", ".join(sorted(map(text, known)))
        raise ConfigError(f"{folder} is no worker's folder of the crawl {name}; these are: {names}")
    make_writable(folder)
    return open_existing(clients, name, worker)


def _name(crawl: Crawl, settings: BaseSettings) -> str:
    name: str = settings.get("LSWC_REDIS_KEY") or f"lswc:{crawl.language.tag}"
    if set(name) & set("{}"):
        raise ConfigError(f"LSWC_REDIS_KEY={name!r}: braces mark a crawl's keys, leave them out")
    return name
