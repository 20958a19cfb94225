"""Instructions to a crawl of many workers: in Redis, beside its frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier import redis_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis


class InRedis:
    """In two keys of a crawl in Redis: ``{name}:control`` and ``{name}:control:history``."""

    def __init__(self, client: Redis, name: str) -> None:
        self._client = client
        self._key = f"{{{name}}}:control"

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

    def lines(self) -> list[str]:
        found: Any = self._asked("lrange", f"{self._key}:history", 0, -1)
        return [line.decode(errors="replace") for line in found]

    def _asked(self, command: str, *arguments: object) -> Any:
        try:
            return getattr(self._client, command)(*arguments)
        except RedisError as error:
            raise StorageError(
                f"can't ask Redis for the instructions to the crawl: {error}"
            ) from error


def in_redis(client: Redis, name: str = "") -> InRedis:
    """Return the instructions to the crawl of this name; without one, of the only crawl there is.

    Raises FrontierError if there is none, or one of another version.
    """
    with redis_report.opened(client, name) as reader:
        reader.check_version()
        return InRedis(client, reader.name)
