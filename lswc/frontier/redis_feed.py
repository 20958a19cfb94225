"""Seeds that users feed to a running crawl through Redis, as to scrapy-redis."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lswc.frontier.redis_script import in_cluster, prefix_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import redis

FEED_BATCH = 1000


def feed_of(client: redis.Redis, name: str) -> str:
    """Return the key of a crawl's feed: in a Redis Cluster it is where the crawl is."""
    prefix = prefix_of(client, name)
    return f"{prefix}start_urls" if in_cluster(client) else f"{name}:start_urls"


def read_feed(client: redis.Redis, feed: str) -> tuple[bytes, list[bytes]]:
    """Return the type of the feed's key, and its next entries."""
    kind: Any = client.type(feed)
    found: Any = []
    match kind:
        case b"list":
            found = client.lrange(feed, 0, FEED_BATCH - 1)
        case b"set":
            found = client.srandmember(feed, FEED_BATCH)
        case b"zset":
            found = client.zrevrange(feed, 0, FEED_BATCH - 1)
    return kind, found


def take_off(client: redis.Redis, kind: bytes, feed: str, entries: Iterable[bytes]) -> None:
    """Take entries off a feed of this type."""
    with client.pipeline() as pipeline:
        for entry in entries:
            match kind:
                case b"list":
                    pipeline.lrem(feed, 1, entry)  # type: ignore[arg-type]
                case b"set":
                    pipeline.srem(feed, entry)
                case b"zset":
                    pipeline.zrem(feed, entry)
        pipeline.execute()


def addresses(entries: Iterable[bytes]) -> list[str]:
    """Return the URLs of a feed's entries: scrapy-redis's JSON with a "url", or the URL itself."""
    return [address for entry in entries if (address := _address(entry))]


def _address(entry: bytes) -> str:
    text = entry.decode(errors="replace").strip()
    try:
        given = json.loads(text)
    except ValueError:
        return text
    return str(given.get("url", "")) if isinstance(given, dict) else ""
