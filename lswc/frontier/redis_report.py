"""What a frontier in Redis holds; also while workers crawl on it."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import contextmanager
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier.contract import FrontierError
from lswc.frontier.redis import count, kind_and_url, read_tallies
from lswc.frontier.redis_order import load, read_harvest
from lswc.frontier.report import Queue, Report, Server
from lswc.strategy import Pages, Unit, status, strategy
from lswc.strategy.status import NO_PAGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from redis import Redis

    from lswc.strategy import Strategy

BATCH = 1000
"""Keys that are asked about at once."""


def read(client: Redis, name: str = "", top: int = 10) -> Report:
    """Read the frontier of the crawl of this name, with its ``top`` longest queues.

    Without a name it is that of the only crawl there is. Raises LswcError.
    """
    try:
        prefix = f"{{{named(client, name)}}}:"
        about: Any = client.hgetall(f"{prefix}about")
        identity = {key.decode(): value.decode() for key, value in about.items()}
        cells = read_harvest(client, prefix, load(client, prefix, strategy(identity["strategy"])))
        pages, lengths = pages_of(client, prefix), _lengths(client, prefix)
        longest = nlargest(top, lengths, key=lambda server: (lengths[server], server))
        largest = nlargest(top, pages, key=lambda server: (pages[server], server))
        queues, most = (
            tuple(Queue(s, lengths.get(s, 0), *pages.get(s, NO_PAGES)) for s in servers)
            for servers in (longest, [s for s in largest if pages[s].downloaded])
        )
        return Report(identity, count(client, prefix), queues, most, cells)
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error


def named(client: Redis, name: str) -> str:
    """Return the name of a crawl that there is; of the only one, if none is given.

    Raises FrontierError, or redis.RedisError.
    """
    if name and not client.hexists(f"{{{name}}}:about", "strategy"):
        raise FrontierError(f"no crawl {name!r} in this Redis; there are: {_crawls(client)}")
    if name:
        return name
    found = _crawls(client)
    if not found:
        raise FrontierError("there is no crawl in this Redis, or none has begun yet")
    if len(found) > 1:
        raise FrontierError(f"say with --key which crawl in this Redis; there are: {found}")
    return found[0]


def _crawls(client: Redis) -> list[str]:
    keys = client.scan_iter(match="{*}:about", count=BATCH)
    return sorted(key.decode()[1:].removesuffix("}:about") for key in keys)


def _lengths(client: Redis, prefix: str) -> dict[str, int]:
    """Return the length of each server's queue."""
    start = f"{prefix}queue:".encode()
    keys = [key for key in client.scan_iter(count=BATCH) if key.startswith(start)]
    lengths: list[int] = []
    for first in range(0, len(keys), BATCH):
        with client.pipeline(transaction=False) as pipeline:
            for key in keys[first : first + BATCH]:
                pipeline.zcard(key)
            lengths += pipeline.execute()
    return {
        key.removeprefix(start).decode(): number
        for key, number in zip(keys, lengths, strict=True)
        if number
    }


def pages_of(client: Redis, prefix: str) -> dict[str, Pages]:
    """Return the pages of each server that was met. Raises redis.RedisError."""
    pages: dict[str, Pages] = {}
    for unit, text in client.hscan_iter(f"{prefix}units", count=BATCH):
        server = unit.decode().partition("/")[0]  # a directory's name begins with its server's
        downloaded, relevant = map(int, text.split()[:2])
        before = pages.get(server, NO_PAGES)
        pages[server] = Pages(before.downloaded + downloaded, before.relevant + relevant)
    return pages


def unfinished(client: Redis, prefix: str) -> set[str]:
    """Return the servers with URLs that wait, are leased or were put off.

    Raises redis.RedisError.
    """
    leased = {server.decode() for server in client.hscan_iter(f"{prefix}leases", no_values=True)}
    later = (member.decode() for member, _ in client.zscan_iter(f"{prefix}later"))
    put_off = {member.partition(" ")[2] for member in later}
    return {*_lengths(client, prefix), *leased, *put_off}


class Watched:
    """What those who watch the crawl of this name ask. All methods raise LswcError."""

    def __init__(self, client: Redis, name: str) -> None:
        self._client: Any = client
        self.name = name
        self._prefix = f"{{{name}}}:"

    def _ask(self, command: str, key: str, *arguments: object) -> Any:
        with _readable():
            return self._client.execute_command(command, self._prefix + key, *arguments)

    def identity(self) -> dict[str, str]:
        """Return what crawl it is."""
        found = self._ask("HGETALL", "about")
        return {key.decode(): value.decode(errors="replace") for key, value in found.items()}

    def workers(self) -> list[bytes]:
        """Return what each worker told that it does, as JSON."""
        return list(self._ask("HGETALL", "now").values())

    def course(self, after: int) -> list[bytes]:
        """Return the points of the crawl's course from this number on, as JSON."""
        found: list[bytes] = self._ask("LRANGE", "course", after, after + 10 * BATCH)
        return found

    def tallies(self) -> dict[str, dict[str, int]]:
        """Return the tallies by kind and name."""
        return read_tallies(self._ask("HGETALL", "tally"))

    def servers_like(self, text: str, most: int) -> list[str]:
        """Return names of servers that contain a text."""
        pattern = "*" + _GLOB.sub(r"\\\g<0>", text) + "*"
        found: dict[str, None] = {}
        with _readable():
            units = self._client.hscan_iter(f"{self._prefix}units", match=pattern, count=BATCH)
            for unit, _ in units:
                found[unit.decode().partition("/")[0]] = None
                if len(found) >= most:
                    break
        return sorted(found)

    def server(self, name: str, top: int = 10) -> Server | None:
        """Return what the frontier knows of a server, and its next URLs; None if nothing."""
        chosen = strategy(self.identity()["strategy"])
        with _readable():
            pages = self._pages_of(name, chosen)
            if pages is None:
                return None
            known = load(self._client, self._prefix, chosen)
            lines = self._lines(name, chosen)
            waits: Counter[int] = Counter()
            for cell, number in lines.values():
                waits[cell] += number
            best = sorted(lines, key=lambda line: known.rank(lines[line][0]))
            urls = tuple(self._next(name, {line: lines[line][0] for line in best}, top))
        queue = Queue(name, waits.total(), *pages)
        said = status(*pages, chosen.tolerated).name.lower()
        return Server(chosen.name, queue, said, dict(waits), urls)

    def _pages_of(self, name: str, chosen: Strategy) -> Pages | None:
        if chosen.unit is Unit.SERVER:
            found = self._ask("HGET", "units", name)
            return None if found is None else Pages(*map(int, found.split()[:2]))
        return pages_of(self._client, self._prefix).get(name)

    def _lines(self, name: str, chosen: Strategy) -> dict[int, tuple[int, int]]:
        """Return the lines of a server that have URLs: the cell, and how many."""
        by_server = chosen.unit is Unit.SERVER
        place = int(self._ask("HGET", "units", name).split()[2]) if by_server else 0
        numbers = range(chosen.kinds if by_server else chosen.cells)
        with self._client.pipeline(transaction=False) as pipeline:
            for line in numbers:
                pipeline.zcount(self._queue(name), line * STEP, f"({(line + 1) * STEP}")
            found = pipeline.execute()
        cell_of = chosen.cell_of
        return {
            line: (cell_of[line][place] if by_server else line, number)
            for line, number in zip(numbers, found, strict=True)
            if number
        }

    def _queue(self, server: str) -> str:
        return f"{self._prefix}queue:{server}"

    def _next(self, server: str, cells: Mapping[int, int], top: int) -> Iterator[tuple[str, int]]:
        left = top
        for line, cell in cells.items():
            low, high = line * STEP, f"({(line + 1) * STEP}"
            numbers = self._client.zrangebyscore(self._queue(server), low, high, 0, left)
            for number in numbers:
                chunk, at = divmod(int(number) - 1, CHUNK)
                record = self._ask("LINDEX", f"urls:{chunk}", at)
                if record:
                    yield kind_and_url(record)[1], cell
            left -= len(numbers)
            if left <= 0:
                return


_GLOB = re.compile(r"[][*?^\\]")  # what a pattern of Redis doesn't take for itself

STEP, CHUNK = 2**40, 64
"""Numbers of a line, and URLs of a list (redis.lua)."""


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error
