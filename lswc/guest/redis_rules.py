"""Rules and rests of servers in Redis, and what was learned of them, for a crawl of many workers.

A server that told one worker needn't tell the next.
"""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, Any

from lswc.frontier.redis_script import shared_source, texts
from lswc.frontier.rides import Ride
from lswc.guest.internet import ROBOTS, TDMREP
from lswc.guest.learned import Key, Learned
from lswc.guest.rests import Backoff, Rest

if TYPE_CHECKING:
    from lswc.frontier.redis_script import Connection

LARGEST = 4_096
"""Bytes of a file, compressed, above which each worker fetches it itself; few are so long."""

KEPT = 20_000
"""Files that are kept, those that hold longest: 80 MB at most, mostly a tenth of that."""


ASKED = 5.0
"""Seconds for which it holds what was said of a file: its server is mostly leased here then."""

_MOST = 1_000  # servers of which it is known what was said of the other file


class SharedFiles:
    """The robots.txt and tdmrep.json that a worker fetched last, for as long as they hold.

    One call asks for both of a server: most need both. What is kept goes with the next call of any
    kind. Methods raise LswcError.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._keys = [connection.prefix + name for name in ("clock", "rules")]
        self._script = connection.client.register_script(
            shared_source() + files("lswc.guest").joinpath("files.lua").read_text(encoding="utf-8")
        )
        self._told: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    def get(self, name: str, server: str) -> tuple[bytes, float] | None:
        """Return a server's file of this name, and the seconds that it holds; None if unknown."""
        file, now = f"{name} {server}", monotonic()
        at, found = self._told.pop(file, (0.0, None))
        if now - at > ASKED:
            found, at = self._asked(file, f"{TDMREP if name == ROBOTS else ROBOTS} {server}"), now
        if not found:
            return None
        try:
            return zlib.decompress(found[1]), found[0] / 1000 - (now - at)
        except zlib.error:
            return None

    def _asked(self, file: str, other: str) -> Any:
        """Return what Redis has of a file; keep what it has of another."""
        rides, arrived = self._connection.rides.packed()
        with self._connection.errors():
            found, of_other = self._script(self._keys, [rides, file, other])
        arrived()
        self._told[other] = monotonic(), of_other
        if len(self._told) > _MOST:
            self._told.popitem(last=False)
        return found

    def put(self, name: str, server: str, body: bytes, seconds: float) -> None:
        """Keep a server's file; nothing of it if it is long."""
        packed, file = zlib.compress(body), f"{name} {server}"
        self._told.pop(file, None)
        if len(packed) <= LARGEST:
            ride = Ride("file", file, packed, monotonic() + seconds, KEPT)
            self._connection.rides.add(ride)


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


class SharedLearned(Learned):
    """What any worker learned of servers.

    ``look`` learns, each second, what the others found, if any did. Methods raise LswcError.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.heard = []
        self._values = {}
        self._versions: dict[Connection, Any] = {}
        self.look()

    def look(self) -> None:
        self._take(self._changed(self._connection))

    def _take(self, found: dict[Key, Any] | None) -> None:
        """Take notice of all that is known, if anything else is than before."""
        if found is None:
            return
        before, self._values = self._values, found
        for key in before.keys() | found.keys():
            if before.get(key) != found.get(key):
                for heard in self.heard:
                    heard(key)

    def _changed(self, connection: Connection) -> dict[Key, Any] | None:
        """Return all that a Redis knows, None if it knew as much before."""
        with connection.errors():
            version = connection.client.get(f"{connection.prefix}learned:version")
            if version == self._versions.get(connection, ()):
                return None
            rows: Any = connection.client.hgetall(f"{connection.prefix}learned")
        self._versions[connection] = version
        return {
            (server, subject): json.loads(value)
            for field, value in texts(rows).items()
            for server, _, subject in (field.partition("\n"),)
        }

    def _write(self, key: Key, value: Any) -> None:
        self._keep(self._connection, key, value)

    def _keep(self, connection: Connection, key: Key, value: Any) -> None:
        with connection.errors(), connection.client.pipeline() as both:
            both.hset(f"{connection.prefix}learned", "\n".join(key), json.dumps(value))
            both.incr(f"{connection.prefix}learned:version")
            both.execute()

    def close(self) -> None:
        """Do nothing: what was learned outlives this worker."""
