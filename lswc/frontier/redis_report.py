"""What a frontier in Redis holds; also while workers crawl on it."""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING, Any

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier.contents import Queue, Report
from lswc.frontier.contract import FrontierError
from lswc.frontier.redis import count
from lswc.frontier.redis_order import load, read_harvest
from lswc.strategy import strategy

if TYPE_CHECKING:
    from redis import Redis

BATCH = 1000
"""Keys that are asked about at once."""


def read(client: Redis, name: str = "", top: int = 10) -> Report:
    """Read the frontier of the crawl of this name, with its ``top`` longest queues.

    Without a name it is that of the only crawl there is. Raises LswcError.
    """
    try:
        prefix = f"{{{named(client, name)}}}:"
        about: Any = client.hgetall(f"{prefix}about")
        identity = {key.decode(): value.decode() for key, value in about.items()}
        cells = read_harvest(client, prefix, load(client, prefix, strategy(identity["strategy"])))
        return Report(identity, count(client, prefix), _queues(client, prefix, top), cells)
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error


def named(client: Redis, name: str) -> str:
    """Return the name of a crawl that there is; of the only one, if none is given.

    Raises FrontierError, or redis.RedisError.
    """
    if name and not client.hexists(f"{{{name}}}:about", "strategy"):
        raise FrontierError(f"no crawl {name!r} in this Redis; there are: {_crawls(client)}")
    if name:
        return name
    found = _crawls(client)
    if len(found) != 1:
        raise FrontierError(f"say with --key which crawl in this Redis; there are: {found}")
    return found[0]


def _crawls(client: Redis) -> list[str]:
    keys = client.scan_iter(match="{*}:about", count=BATCH)
    return sorted(key.decode()[1:].removesuffix("}:about") for key in keys)


def _queues(client: Redis, prefix: str, top: int) -> tuple[Queue, ...]:
    start = f"{prefix}queue:".encode()
    keys = [key for key in client.scan_iter(count=BATCH) if key.startswith(start)]
    lengths: list[int] = []
    for first in range(0, len(keys), BATCH):
        with client.pipeline(transaction=False) as pipeline:
            for key in keys[first : first + BATCH]:
                pipeline.zcard(key)
            lengths += pipeline.execute()
    longest = nlargest(top, zip(lengths, keys, strict=True))
    pending = {key.removeprefix(start).decode(): length for length, key in longest}
    counters = {server: [0, 0] for server in pending}
    for unit, text in client.hscan_iter(f"{prefix}units", count=BATCH):
        server = unit.decode().partition("/")[0]  # a directory's name begins with its server's
        if server in counters:
            downloaded, relevant = map(int, text.split()[:2])
            counters[server][0] += downloaded
            counters[server][1] += relevant
    return tuple(Queue(server, number, *counters[server]) for server, number in pending.items())
