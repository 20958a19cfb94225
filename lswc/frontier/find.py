"""Where one URL stands in a frontier; also while a crawl runs on it."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier.contract import FrontierError
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
    if not path.is_file():
        raise FrontierError(f"no frontier: {path} doesn't exist")
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            row = db.execute(
                "SELECT outcome, code FROM url WHERE fingerprint = ?", (fingerprint(url),)
            ).fetchone()
        finally:
            db.close()
    except sqlite3.DatabaseError as error:
        raise FrontierError(f"not a frontier of lswc, or a damaged one: {error}") from error
    return Standing(*row) if row else None


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
