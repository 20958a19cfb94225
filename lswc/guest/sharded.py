"""Servers of a shared crawl, several Redis: where its workers keep what they share besides URLs.

What is said of a web server is on the Redis server that holds its site. What is said to the whole
crawl is on each.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

from lswc.errors import AwayError
from lswc.guest.control.redis_store import InRedis
from lswc.guest.redis_rules import SharedBackoff, SharedFiles, SharedLearned
from lswc.guest.redis_slots import SharedSlots
from lswc.guest.slots import SOON

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis

    from lswc.frontier.sharded import Part, ShardedFrontier
    from lswc.guest.learned import Key
    from lswc.guest.slots import Group

    Each = Callable[[Callable[[InRedis], Any]], list[Any]]


class ShardedFiles:
    """The robots.txt and tdmrep.json of each server. Methods raise LswcError."""

    def __init__(self, frontier: ShardedFrontier) -> None:
        self._frontier = frontier
        self._files = [SharedFiles(part.connection) for part in frontier.parts]

    def get(self, name: str, server: str) -> tuple[bytes, float] | None:
        """Return a server's file of this name, and the seconds that it holds; None if unknown."""
        part = self._frontier.part_of(server)
        found: tuple[bytes, float] | None = self._frontier.ask(
            part, partial(self._files[part.index].get, name, server)
        )
        return found

    def put(self, name: str, server: str, body: bytes, seconds: float) -> None:
        """Keep a server's file; nothing of it if it is long."""
        part = self._frontier.part_of(server)
        self._frontier.ask(part, partial(self._files[part.index].put, name, server, body, seconds))


class ShardedBackoff(SharedBackoff):
    """The rests of servers that said they are overloaded, to any worker."""

    def __init__(self, frontier: ShardedFrontier, first: float) -> None:
        self._frontier = frontier
        super().__init__(frontier.parts[0].connection, first)

    def look(self) -> None:
        found = self._frontier.ask_all(lambda part: self._read(part.connection))
        self._rests = {server: rest for rests in found for server, rest in rests.items()}

    def _write(self, server: str) -> None:
        part = self._frontier.part_of(server)
        self._frontier.ask(part, partial(self._keep, part.connection, server))


class ShardedLearned(SharedLearned):
    """What any worker learned of servers."""

    def __init__(self, frontier: ShardedFrontier) -> None:
        self._frontier = frontier
        self._found: dict[int, dict[Key, Any]] = {}
        super().__init__(frontier.parts[0].connection)

    def look(self) -> None:
        def ask(part: Part) -> bool:
            found = self._changed(part.connection)
            if found is not None:
                self._found[part.index] = found
            return found is not None

        if any(self._frontier.ask_all(ask)):
            self._take({key: one for some in self._found.values() for key, one in some.items()})

    def _write(self, key: Key, value: Any) -> None:
        part = self._frontier.part_of(key[0])
        self._frontier.ask(part, partial(self._keep, part.connection, key, value))


class ShardedSlots:
    """The slots of addresses and registered domains, on the server that the name's hash says.

    While that is away they are on the next one: what was under way then isn't counted there. A
    lease comes with its slots if they are all on the server that it is of.
    """

    def __init__(self, frontier: ShardedFrontier, life: float) -> None:
        self._frontier = frontier
        self._slots = [SharedSlots(part.connection, life) for part in frontier.parts]
        self._where: dict[str, list[Part]] = {}

    def _part_of(self, group: Group) -> Part:
        first, number = crc32(group.name.encode()), len(self._slots)
        parts = [self._frontier.parts[(first + step) % number] for step in range(number)]
        return next((part for part in parts if not part.is_away), parts[0])

    def take(self, groups: Sequence[Group], server: str = "") -> float:
        by_part: dict[int, list[Group]] = {}
        for group in groups:
            by_part.setdefault(self._part_of(group).index, []).append(group)
        if server and [*by_part] != [(own := self._frontier.part_of(server)).index]:
            own.connection.slots.end(server)  # it was of other groups
            server = ""
        taken: list[int] = []
        for index, some in by_part.items():
            part, slots = self._frontier.parts[index], self._slots[index]
            wait: float = self._frontier.ask(part, partial(slots.take, some, server), SOON)
            if wait:
                for other in taken:
                    self._give_back(self._frontier.parts[other], by_part[other], asked=False)
                return wait
            taken.append(index)
        for index, some in by_part.items():
            for group in some:
                self._where.setdefault(group.name, []).append(self._frontier.parts[index])
        return 0.0

    def renew(self) -> None:
        self._frontier.ask_all(lambda part: self._slots[part.index].renew())

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        for group in groups:
            parts = self._where[group.name]
            part = parts.pop(0)
            if not parts:
                del self._where[group.name]
            self._give_back(part, [group], asked=asked)

    def _give_back(self, part: Part, groups: Sequence[Group], *, asked: bool) -> None:
        slots = self._slots[part.index]
        if part.is_away:
            slots.forget(groups)
        else:
            self._frontier.ask(part, partial(slots.give_back, groups, asked=asked))


class OnAll:
    """Instructions to a crawl, on all its servers: those with the longest history are valid.

    ``each`` asks what it is given of all servers that can be reached, in their order; it raises
    LswcError if none can.
    """

    def __init__(self, each: Each) -> None:
        self._each = each

    def _latest(self) -> InRedis:
        found = self._each(lambda store: (store.changes(), store))
        latest: InRedis = max(found, key=lambda one: one[0])[1]
        return latest

    def version(self) -> object:
        return self._latest().version()

    def text(self) -> str:
        return self._latest().text()

    def edit(self, change: Callable[[str], str], line: str) -> None:
        latest = self._latest()
        latest.edit(change, line)
        after = latest.text()

        def copy(store: InRedis) -> None:
            if store is not latest:
                store.edit(lambda _: after, line)

        self._each(copy)

    def lines(self) -> list[str]:
        return self._latest().lines()


def on_servers_of(frontier: ShardedFrontier) -> OnAll:
    """Return the instructions to a crawl, for one of its workers."""
    stores = [InRedis(part.connection.client, frontier.name) for part in frontier.parts]
    return OnAll(lambda asked: frontier.ask_all(lambda part: asked(stores[part.index])))


def on_servers(clients: Sequence[Redis], name: str) -> OnAll:
    """Return the instructions to a crawl, for those who talk to it."""
    stores = [InRedis(client, name) for client in clients]

    def each(asked: Callable[[InRedis], Any]) -> list[Any]:
        found, away = [], None
        for store in stores:
            try:
                found.append(asked(store))
            except AwayError as error:
                away = error
        if away is not None and not found:
            raise away
        return found

    return OnAll(each)
