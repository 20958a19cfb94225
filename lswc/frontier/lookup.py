"""Where one URL stands in a frontier; also while a crawl runs on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier.contract import FrontierError
from lswc.frontier.sqlite_report import opened
from lswc.outcomes import Outcome
from lswc.urls import fingerprint, parse

if TYPE_CHECKING:
    from pathlib import Path

    from redis import Redis


class Standing(NamedTuple):
    """``outcome`` is None while the URL waits or is leased, and "" if only the log knows it.

    Of a URL that isn't there it is why the frontier let go others of its server, if it did.
    ``code`` holds the facts of the link that brought it (``lswc.strategy.decode``), if the
    frontier still has them.
    """

    outcome: str | None
    code: int | None = None

    @property
    def is_let_go(self) -> bool:
        """Whether the URL isn't there, as too many of its server or domain waited."""
        return self.outcome in _FULL


_FULL = (Outcome.SERVER_QUEUE_FULL, Outcome.SITE_QUEUE_FULL)

CHUNK = 64
"""URLs of a list in Redis."""


def find_in_file(path: Path, url: str) -> Standing | None:
    """Return how a URL stands in a SQLite frontier; None if it isn't in it.

    Raises FrontierError if there is no such file, or another kind of one.
    """
    with opened(path) as db:
        row = db.execute(
            "SELECT outcome, code FROM url WHERE fingerprint = ?", (fingerprint(url),)
        ).fetchone()
        row = (
            row
            or db.execute(
                "SELECT reason FROM let_go JOIN server ON id = server WHERE name = ?"
                " AND reason IN (?, ?)",
                (_server(url), *_FULL),
            ).fetchone()
        )
    return Standing(*row) if row else None


def _server(url: str) -> str:
    parsed = parse(url)
    return parsed.server if parsed else ""


def find_in_redis(client: Redis, name: str, url: str) -> Standing | None:
    """Return how a URL stands in the frontier of a crawl in Redis; None if it isn't in it.

    Raises FrontierError if there is no crawl of this name, StorageError if Redis can't be read.
    """
    key = fingerprint(url).to_bytes(8, signed=True)
    prefix = f"{{{name}}}:"
    try:
        if not client.exists(f"{prefix}about"):
            raise FrontierError(f"no crawl {name!r} in this Redis: say its name with --key")
        known: Any = client.hget(f"{prefix}seen:{int.from_bytes(key[:2])}", key[2:])
        failed: Any = client.hget(f"{prefix}failed", known or b"")
        put_off = client.hexists(f"{prefix}tries", known or b"")
        if known is None or (known.isdigit() and not _record(client, prefix, int(known))):
            return _let_go(client, prefix, url)
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error
    if failed is not None:
        return Standing(failed.decode().partition("\n")[0])
    if known.isdigit():
        return Standing(Outcome.PUT_OFF if put_off else None)
    return Standing("")


def _record(client: Redis, prefix: str, number: int) -> bytes | None:
    """Return the record of a URL, by its number: empty once it is dropped."""
    chunk, at = divmod(number - 1, CHUNK)
    found: Any = client.lindex(f"{prefix}urls:{chunk}", at)
    record: bytes | None = found
    return record


def _let_go(client: Redis, prefix: str, url: str) -> Standing | None:
    server = _server(url)
    numbers: Any = client.hmget(f"{prefix}let_go", [f"{server}\n{reason}" for reason in _FULL])
    for reason, number in zip(_FULL, numbers, strict=True):
        if number is not None:
            return Standing(reason)
    return None
