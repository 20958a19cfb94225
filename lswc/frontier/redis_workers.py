"""Workers of a crawl in Redis: who took part, what they tell of themselves, what each finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.frontier.redis_script import HASHES_AT_FIRST, escaped, known_as, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from redis import Redis

BATCH = 1000
"""Keys that are asked about at once."""


class Workers:
    """The workers of the crawl whose keys have this prefix. Methods raise redis.RedisError."""

    def __init__(self, client: Redis, prefix: str) -> None:
        self._client: Any = client
        self._prefix = prefix

    def numbers(self) -> dict[bytes, bytes]:
        """Return those that ever took part, host:folder, and their numbers."""
        found: dict[bytes, bytes] = self._client.hgetall(f"{self._prefix}workers")
        return found

    def name(self, number: bytes) -> str:
        """Return the name of the worker of a number, "" if there is none."""
        return next((text(name) for name, known in self.numbers().items() if known == number), "")

    def told(self) -> list[bytes]:
        """Return what each told that it does, as JSON."""
        return list(self._client.hvals(f"{self._prefix}now"))

    def course(self, after: int) -> list[bytes]:
        """Return the points of the crawl's course from this number on, as JSON."""
        found: list[bytes] = self._client.lrange(f"{self._prefix}course", after, after + 10 * BATCH)
        return found

    def finished_by(self, number: int) -> Iterator[int]:
        """Yield the keys (``known_by``) of the URLs that the worker of this number finished."""
        own = (b".%d" % number, b"h%d" % number)
        return self._seen(lambda by: by.partition(b":")[0] in own)

    def visited_again(self) -> Iterator[int]:
        """Yield the keys (``known_by``) of the pages that were held, and of sitemaps and feeds."""
        if self._client.exists(f"{self._prefix}budget"):
            yield from self._seen(lambda by: b":" in by)

    def _seen(self, is_meant: Callable[[bytes], bool]) -> Iterator[int]:
        """Yield the keys of URLs, by what is kept of who finished them.

        A key may come twice: what is split off a hash goes to one that comes later.
        """
        first = 0
        while first < (hashes := self._hashes()):
            numbers = range(first, min(first + BATCH, hashes))
            with self._client.pipeline(transaction=False) as pipeline:
                for number in numbers:
                    pipeline.hgetall(f"{self._prefix}seen:{number}")
                for number, found in zip(numbers, pipeline.execute(), strict=True):
                    yield from (known_as(number, f) for f, by in found.items() if is_meant(by))
            first = numbers.stop

    def _hashes(self) -> int:
        """Return how many hashes there are in which URLs are known."""
        return int(self._client.hget(f"{self._prefix}about", "hashes") or HASHES_AT_FIRST)

    def kept_urls(self) -> Iterator[str]:
        """Yield the finished URLs that are kept, as they are the referrers of others."""
        for key in self._client.scan_iter(match=f"{escaped(self._prefix)}urls:*", count=BATCH):
            for record in self._client.lrange(key, 0, -1):
                url = record if record[:1].isalpha() else record.rpartition(b"\0")[2]
                if url[:4] == b"http":  # in the records of URLs that wait they are shorter
                    yield url.decode()
