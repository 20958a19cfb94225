"""Rules and rests of servers in Redis: what they asked of a crawl of many workers.

A server that told one worker needn't tell the next.
"""

from __future__ import annotations

import zlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lswc.frontier.redis_script import clock_source, texts
from lswc.guest.rests import Backoff, Rest

if TYPE_CHECKING:
    from lswc.frontier.redis_script import Connection

LARGEST = 4_096
"""Bytes of a file, compressed, above which each worker fetches it itself; few are so long."""

KEPT = 20_000
"""Files that are kept, those that hold longest: 80 MB at most, mostly a tenth of that."""


class SharedFiles:
    """The robots.txt and tdmrep.json that a worker fetched last, for as long as they hold.

    Methods raise LswcError.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        names = ("clock", "rules", "rules:until")
        self._keys = [connection.prefix + name for name in names]
        self._script = connection.client.register_script(
            clock_source() + files("lswc.guest").joinpath("files.lua").read_text(encoding="utf-8")
        )

    def get(self, name: str, server: str) -> tuple[bytes, float] | None:
        """Return a server's file of this name, and the seconds that it holds; None if unknown."""
        with self._connection.errors():
            found: Any = self._script(self._keys, ["get", f"{name} {server}"])
        if not found:
            return None
        try:
            return zlib.decompress(found[1]), found[0] / 1000
        except zlib.error:
            return None

    def put(self, name: str, server: str, body: bytes, seconds: float) -> None:
        """Keep a server's file; nothing of it if it is long."""
        packed = zlib.compress(body)
        if len(packed) <= LARGEST:
            arguments = ("put", f"{name} {server}", round(seconds * 1000), packed, KEPT)
            with self._connection.errors():
                self._script(self._keys, arguments)


class SharedBackoff(Backoff):
    """The rests of servers that said they are overloaded, to any worker.

    ``look`` learns, each second, what the others heard; an own answer counts at once. Methods raise
    LswcError.
    """

    def __init__(self, connection: Connection, first: float) -> None:
        self._connection = connection
        self._first = first
        self._rests = {}
        self.look()

    def look(self) -> None:
        self._rests = self._read(self._connection)

    def _read(self, connection: Connection) -> dict[str, Rest]:
        with connection.errors():
            found: Any = connection.client.hgetall(f"{connection.prefix}backoff")
        return {
            server: Rest(int(times), float(until))
            for server, row in texts(found).items()
            for times, _, until in (row.partition(" "),)
        }

    def _write(self, server: str) -> None:
        self._keep(self._connection, server)

    def _keep(self, connection: Connection, server: str) -> None:
        key, rest = f"{connection.prefix}backoff", self._rests.get(server)
        with connection.errors():
            if rest is None:
                connection.client.hdel(key, server)
            else:
                connection.client.hset(key, server, f"{rest.times} {rest.until:.3f}")

    def close(self) -> None:
        """Do nothing: the rests outlive this worker."""
