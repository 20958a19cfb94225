"""Feed of seeds that users push to a running crawl through Redis, as to scrapy-redis's spiders."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lswc.frontier.exchange.post import Post

BATCH = 1_000
"""Entries that are taken at a time."""


class Feed:
    """The key ``name:start_urls``, or another that REDIS_START_URLS_KEY names.

    A list, a set or a sorted set, of URLs or of scrapy-redis's JSON with a "url".
    """

    def __init__(self, post: Post, key: str) -> None:
        self._post, self._key = post, key or post.key("start_urls")

    @contextmanager
    def seeds(self) -> Iterator[list[str]]:
        """Give the next addresses; they are taken off if the block ends without an error.

        So none is lost; two workers may offer the same. Raises AwayError.
        """
        with self._post.errors():
            kind, entries = self._read()
        yield addresses(entries)
        if entries:
            with self._post.errors():
                self._take_off(kind, entries)

    def _read(self) -> tuple[bytes, list[bytes]]:
        client, key = self._post.client, self._key
        kind: Any = client.type(key)
        found: Any = []
        match kind:
            case b"list":
                found = client.lrange(key, 0, BATCH - 1)
            case b"set":
                found = client.srandmember(key, BATCH)
            case b"zset":
                found = client.zrevrange(key, 0, BATCH - 1)
        return kind, found

    def _take_off(self, kind: bytes, entries: Iterable[bytes]) -> None:
        with self._post.client.pipeline(transaction=False) as line:
            for entry in entries:
                match kind:
                    case b"list":
                        line.lrem(self._key, 1, entry)  # type: ignore[arg-type]
                    case b"set":
                        line.srem(self._key, entry)
                    case b"zset":
                        line.zrem(self._key, entry)
            line.execute()


def addresses(entries: Iterable[bytes]) -> list[str]:
    """Return the URLs of a feed's entries."""
    return [address for entry in entries if (address := _address(entry))]


def _address(entry: bytes) -> str:
    text = entry.decode(errors="replace").strip()
    try:
        given = json.loads(text)
    except ValueError:
        return text
    return str(given.get("url", "")) if isinstance(given, dict) else ""
