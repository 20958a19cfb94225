"""Workers that share a crawl: what each needs of Redis, by Scrapy's and scrapy-redis's settings."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from socket import gethostname
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec
from redis.cluster import ClusterNode, RedisCluster
from redis.sentinel import Sentinel
from scrapy_redis.connection import get_redis
from scrapy_redis.defaults import REDIS_PARAMS

from lswc.crawl.crawl_folder import Place, remember, remembered, without_login
from lswc.crawl.feed import Feed
from lswc.crawl.resending import resent
from lswc.errors import ConfigError
from lswc.frontier import CLUSTER, SENTINEL, names_redis
from lswc.frontier.exchange import status
from lswc.frontier.exchange.exchange import Exchange
from lswc.frontier.exchange.joining import join
from lswc.frontier.exchange.post import Post
from lswc.frontier.exchange.status import summed
from lswc.frontier.rules.contract import FrontierError
from lswc.frontier.rules.experience import check_source
from lswc.frontier.store.frontier import Frontier
from lswc.guest.control.redis_store import InMail
from lswc.guest.shared_slots import SharedSlots
from lswc.logins import without_logins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from lswc.crawl.configuration import Crawl
    from lswc.frontier.exchange.post import Mail
    from lswc.strategy import Experience

TIMEOUTS = {"socket_connect_timeout": 3, "socket_timeout": 5}
"""Seconds for which Redis is waited for, unless REDIS_PARAMS says others."""

SITES_OF = "tldextract"
"""The package whose list of public suffixes says what a site is: all workers need the same."""


class Shared(NamedTuple):
    """What a worker has besides its own crawl: exchange, instructions, addresses, fed seeds."""

    exchange: Exchange
    control: InMail
    slots: SharedSlots
    feed: Feed
    threads: ThreadPoolExecutor
    resends: Callable[[frozenset[int]], Iterator[bool]]

    def close(self) -> None:
        """Tell the others that this worker ends."""
        self.threads.shutdown()
        self.exchange.close()


def connect(settings: BaseSettings, name: str) -> Post:
    """Return the way to the crawl of that name in the Redis of ``LSWC_FRONTIER``.

    scrapy-redis's REDIS_PARAMS are more arguments of redis-py's client. A password that neither has
    is that of REDISCLI_AUTH in the environment, as for redis-cli. Nothing is sent yet, but to a
    Redis Cluster or a Sentinel. Raises ConfigError for a URL that redis-py doesn't understand.
    """
    if set(name) & set("{}"):
        raise ConfigError(f"LSWC_REDIS_KEY={name!r}: braces mark a crawl's keys, leave them out")
    store = settings.get("LSWC_FRONTIER")
    given = settings.getdict("REDIS_PARAMS")
    params: dict[str, Any] = {**REDIS_PARAMS, **TIMEOUTS, **given, "decode_responses": False}
    if password := os.environ.get("REDISCLI_AUTH"):
        params.setdefault("password", password)
    try:
        if store.startswith(CLUSTER):
            make: Any = ClusterNode
            nodes = [make(*address) for address in _addresses(store)]
            params = {key: value for key, value in params.items() if key in _OF_CLUSTER}
            params |= _login(store)
            cluster: Any = RedisCluster(startup_nodes=nodes, **params)
            return Post(cluster, name, in_cluster=True)
        if store.startswith(SENTINEL):
            parts = urlsplit(store).path.strip("/").split("/")
            sentinel: Any = Sentinel(_addresses(store), **params, **_login(store))  # type: ignore[no-untyped-call]
            return Post(sentinel.master_for(parts[0], db=int("".join(parts[1:2]) or 0)), name)
        if "," in urlsplit(store).netloc:
            raise ConfigError(
                "LSWC_FRONTIER names several Redis servers: links need one, or a Redis Cluster "
                f"({CLUSTER}...)"
            )
        return Post(get_redis(**params, url=store), name)
    except (ValueError, IndexError) as error:
        # What is said of a port may be a part of the password.
        why = _ODD_LOGIN if re.search("//.*[/?#].*@", store) else error
        raise ConfigError(f"LSWC_FRONTIER or REDIS_PARAMS doesn't name a Redis: {why}") from None


_ODD_LOGIN = "what isn't a letter or digit in its login is percent-encoded, as / is by %2F"
_OF_CLUSTER = (
    "password", "username", "socket_timeout", "socket_connect_timeout", "ssl", "ssl_ca_certs",
    "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname", "decode_responses",
)  # fmt: skip


def _addresses(store: str) -> list[tuple[str, int]]:
    """Return the hosts of a URL that has several, and their ports."""
    hosts = urlsplit(store).netloc.rpartition("@")[2].split(",")
    found = []
    for host in filter(None, hosts):
        name, _, port = host.rpartition(":")
        found.append((name or port, int(port) if name else 6379))
    if not found:
        raise ValueError(f"{without_logins(store)!r} names no host")
    return found


def _login(store: str) -> dict[str, str]:
    login = urlsplit(store).netloc.rpartition("@")[0]
    name, _, password = map(unquote, login.partition(":"))
    given = {"username": name, "password": password}
    return {key: value for key, value in given.items() if value}


def name_of(crawl: Crawl, settings: BaseSettings) -> str:
    """Return the name of a crawl in Redis."""
    return settings.get("LSWC_REDIS_KEY") or f"lswc:{crawl.language.tag}"


def share(crawl: Crawl, settings: BaseSettings, frontier: Frontier) -> Shared:
    """Become a worker of the crawl ``LSWC_REDIS_KEY``, or begin it. Raises LswcError."""
    if not isinstance(frontier, Frontier):
        raise TypeError(f"{frontier} has no file")
    post = connect(settings, name_of(crawl, settings))
    worker = f"{gethostname()}:{crawl.folder.resolve()}"
    identity = {**crawl.identity, "sites": f"{SITES_OF} {version(SITES_OF)}"}
    member = join(frontier, post, worker, identity)
    remember(
        crawl.folder,
        Place(without_login(settings.get("LSWC_FRONTIER")), post.name, str(member.worker)),
    )
    threads = ThreadPoolExecutor(1, "exchange")

    def run(what: Callable[[], Mail]) -> Future[Mail]:
        return threads.submit(what)

    key = settings.get("REDIS_START_URLS_KEY", "") % {"name": post.name}
    exchange = Exchange(frontier, post, member, run)
    return Shared(
        exchange,
        InMail(crawl.folder, exchange),
        SharedSlots(post),
        Feed(post, key),
        threads,
        partial(resent, crawl, frontier),
    )


def read_experience(crawl: Crawl, settings: BaseSettings) -> Experience:
    """Return what the workers of ``LSWC_EXPERIENCE``, ``redis://...#key``, learned in all.

    Raises FrontierError if that is of no use, AwayError if Redis can't be read.
    """
    url, _, name = crawl.experience.partition("#")
    chosen = settings.copy()
    chosen.set("LSWC_FRONTIER", url, priority="cmdline")
    post = connect(chosen, name)
    post = post if name else only_one(post)
    there = post.begun()
    told = [status.decode(packed) for packed in post.statuses().values()]
    if there is None or not told:
        raise FrontierError(f"LSWC_EXPERIENCE={url}: it has no crawl named {post.name}")
    check_source(msgspec.json.decode(there[0]), crawl.language.tag, crawl.strategy.value)
    return summed(told, (), waits=False).experience


def named(settings: BaseSettings, address: str, key: str, folder: Path) -> Post:
    """Return the way to a crawl: in the Redis that is named, else in the folder's.

    A login is that of LSWC_FRONTIER if that names this Redis, else of REDIS_PARAMS or the
    environment (``connect``). Raises LswcError.
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
    post = connect(chosen, key or (place.key if place is not None else ""))
    return post if post.name else only_one(post)


def only_one(post: Post) -> Post:
    """Return the way to the only crawl that a Redis has. Raises ConfigError."""
    suffix = "crawl"
    with post.errors():
        found: Any = [one.decode() for one in post.client.scan_iter(f"*:{suffix}", count=1000)]
    names = sorted({one.removesuffix(f":{suffix}").strip("{}") for one in found})
    if len(names) != 1:
        what = f"it has these: {', '.join(names)}" if names else "it has none"
        raise ConfigError(f"name the crawl in Redis with --key; {what}")
    return Post(post.client, names[0], in_cluster=found[0].startswith("{"))
