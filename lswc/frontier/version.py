"""Whether there is a crawl in a store, of this version: for those who only say something to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.errors import StorageError
from lswc.frontier import sqlite_report
from lswc.frontier.contract import FrontierError
from lswc.frontier.sqlite import FORMAT

if TYPE_CHECKING:
    from pathlib import Path

    from redis import Redis

_OTHER = "this crawl was begun with another version of lswc: use that one"


def check_file(path: Path) -> None:
    """Raise FrontierError unless a SQLite frontier is one of this version's."""
    with sqlite_report.opened(path) as db:
        found = db.execute("SELECT value FROM about WHERE key = 'format'").fetchone()
    if found is None or found[0] != str(FORMAT):
        raise FrontierError(_OTHER)


def check_redis(client: Redis, name: str = "") -> str:
    """Return the name of a crawl in Redis; if none is given, that of the only one there is.

    Raises FrontierError if there is none, or one of another version.
    """
    from redis import RedisError  # not above: Redis's client is only for crawls with one

    from lswc.frontier.redis import FORMAT as SHARED
    from lswc.frontier.redis_report import named

    try:
        name = named(client, name)
        found: Any = client.hget(f"{{{name}}}:about", "format")
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error
    if found != str(SHARED).encode():
        raise FrontierError(_OTHER)
    return name
