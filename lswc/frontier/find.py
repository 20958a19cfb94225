"""Where one URL stands in a frontier; also while a crawl runs on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier.contract import FrontierError
from lswc.frontier.sqlite_report import opened
from lswc.outcomes import Outcome
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from pathlib import Path

    from redis import Redis


class Standing(NamedTuple):
    """``outcome`` is None while the URL waits or is leased, and "" if only the log knows it.

    ``code`` holds the facts of the link that brought it (``lswc.strategy.decode``), if the
    frontier still has them.
    """

    outcome: str | None
    code: int | None = None


def find_in_file(path: Path, url: str) -> Standing | None:
    """Return how a URL stands in a SQLite frontier; None if it isn't in it.

    Raises FrontierError if there is no such file, or another kind of one.
    """
    with opened(path) as db:
        row = db.execute(
            "SELECT outcome, code FROM url WHERE fingerprint = ?", (fingerprint(url),)
        ).fetchone()
    return Standing(*row) if row else None


def let_go_in_file(path: Path, server: str) -> list[str]:
    """Return why a SQLite frontier let go URLs of a server, if it did. Raises FrontierError."""
    with opened(path) as db:
        rows = db.execute(
            "SELECT reason FROM let_go JOIN server ON id = server WHERE name = ?", (server,)
        )
        return [reason for (reason,) in rows]


def let_go_in_redis(client: Redis, name: str, server: str) -> list[str]:
    """Return why a frontier in Redis let go URLs of a server, if it did. Raises StorageError."""
    reasons = [Outcome.SERVER_QUEUE_FULL, Outcome.SITE_QUEUE_FULL]
    try:
        found: Any = client.hmget(f"{{{name}}}:let_go", [f"{server}\n{one}" for one in reasons])
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error
    return [reason for reason, number in zip(reasons, found, strict=True) if number is not None]


def find_in_redis(client: Redis, name: str, url: str) -> Standing | None:
    """Return how a URL stands in the frontier of a crawl in Redis; None if it isn't in it.

    Raises FrontierError if there is no crawl of this name, StorageError if Redis can't be read.
    """
    key = fingerprint(url).to_bytes(8, signed=True)
    bucket = f"{{{name}}}:seen:{int.from_bytes(key[:2])}"
    try:
        if not client.exists(f"{{{name}}}:about"):
            raise FrontierError(f"no crawl {name!r} in this Redis: say its name with --key")
        known: Any = client.hget(bucket, key[2:])
        failed: Any = client.hget(f"{{{name}}}:failed", known or b"")
        put_off = client.hexists(f"{{{name}}}:tries", known or b"")
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error
    if known is None:
        return None
    if failed is not None:
        return Standing(failed.decode().partition("\n")[0])
    if known.isdigit():
        return Standing(Outcome.PUT_OFF if put_off else None)
    return Standing("")
