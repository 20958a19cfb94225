"""Instructions to a crawl of many workers: in Redis, beside its frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from lswc.errors import AwayError

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis


class InRedis:
    """In two keys of a crawl in Redis: ``{name}:control`` and ``{name}:control:history``."""

    def __init__(self, client: Redis, name: str) -> None:
        self._client = client
        self._key = f"{name}:control"

    def version(self) -> object:
        return self._asked("get", self._key)

    def text(self) -> str:
        found: Any = self._asked("get", self._key)
        return str(found or b"", "utf-8", "replace")

    def edit(self, change: Callable[[str], str], line: str) -> None:
        def both(pipeline: Any) -> None:
            after = change(str(pipeline.get(self._key) or b"", "utf-8", "replace"))
            pipeline.multi()
            pipeline.set(self._key, after)
            pipeline.rpush(f"{self._key}:history", line)

        self._asked("transaction", both, self._key)

    def changes(self) -> int:
        """Return how many lines the history has."""
        return int(self._asked("llen", f"{self._key}:history"))

    def lines(self) -> list[str]:
        found: Any = self._asked("lrange", f"{self._key}:history", 0, -1)
        return [line.decode(errors="replace") for line in found]

    def _asked(self, command: str, *arguments: object) -> Any:
        try:
            return getattr(self._client, command)(*arguments)
        except (RedisError, OSError) as error:
            raise AwayError(f"Redis: {error}") from error
