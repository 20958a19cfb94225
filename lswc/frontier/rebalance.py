"""Rebalance: shards of a crawl are moved to servers that it gets, while no worker runs.

What moves is copied first, to servers that nobody uses yet. Then each server learns the new layout,
and then what moved is deleted where it was. Until all that is done the crawl can't be started, and
whoever says the same again goes on: a copy that wasn't finished is begun anew, the rest changes
nothing if it is done twice.
"""

from __future__ import annotations

import json
import secrets
from array import array
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from redis import ResponseError

from lswc.frontier.contract import Caps, FrontierError, Terms, check_format
from lswc.frontier.redis import ANYONE, Script
from lswc.frontier.redis_report import opened
from lswc.frontier.redis_script import (
    AT_ONCE_OR_NOT,
    HASHES_AT_FIRST,
    Connection,
    escaped,
    in_cluster,
    key_of,
    known_as,
    place_of,
    text,
    texts,
    without_referrer,
)
from lswc.frontier.seen_paragraphs import BITS
from lswc.frontier.shards import (
    SHARDS,
    Layout,
    Plan,
    check_rebalanced,
    check_servers,
    check_shard,
    shard_of,
    shard_of_server,
)
from lswc.plurals import numbered
from lswc.strategy import Experience, Pages, Unit, strategy, with_requisites
from lswc.strategy.families import NEW, SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from redis import Redis

    from lswc.progress import Say
    from lswc.strategy import Strategy

    _Source = tuple["_Server", Callable[[int], bool]]

_Row = TypeVar("_Row")

_VERBS = "rebalance.lua"
_AT_ONCE = 100  # rows of one call
_WORDS = 2000  # words of one call that writes
_READ = 1000  # rows that are read by one call
_SHARD = -6  # where a field of `seen` says it: the third byte of the key, whose last bytes all have
_BITS_AT_ONCE = 2**20  # bytes

_NUMBERS = ("next", "sites", "known", "hashes")
_OWN = {*_NUMBERS, "mark", "shard", "layout", "crawl", "whole", "rebalance", "rebalancer"}
"""What `about` says of one server, not of the crawl."""


@dataclass
class Moved:
    """What was moved: URLs that wait, finished ones, web servers, sites; and bytes sent for it."""

    pending: int = 0
    finished: int = 0
    servers: int = 0
    sites: int = 0
    sent: int = 0


class _Hash(NamedTuple):
    """A key that has something of each web server: where the server's name is in a member."""

    key: str
    scan: str
    shard: Callable[[str], int]
    written: str
    deleted: str


def _of_taken(member: str) -> int:
    name = member.partition(" ")[2]
    return shard_of(name[2:]) if name.startswith("*.") else shard_of_server(name)


def _of_over(member: str) -> int:
    kind, _, name = member.partition(" ")
    return shard_of(name) if kind == "site" else shard_of_server(name)


def _of_rules(member: str) -> int:
    return shard_of_server(member.partition(" ")[2])


def _of_left_out(member: str) -> int:
    return shard_of_server(member.partition("\n")[0])


_OF_SERVERS = (
    _Hash("taken", "hscan_iter", _of_taken, "HSET", "HDEL"),
    _Hash("left_out", "hscan_iter", _of_left_out, "HSET", "HDEL"),
    _Hash("learned", "hscan_iter", _of_left_out, "HSET", "HDEL"),
    _Hash("backoff", "hscan_iter", shard_of_server, "HSET", "HDEL"),
    _Hash("rules", "hscan_iter", _of_rules, "HSET", "HDEL"),
    _Hash("rules:until", "zscan_iter", _of_rules, "ZADD", "ZREM"),
    _Hash("busy", "zscan_iter", shard_of_server, "ZADD", "ZREM"),
    _Hash("over", "sscan_iter", _of_over, "SADD", "SREM"),
)  # fmt: skip


def where(client: Redis) -> str:
    """Return host:port/database of a server."""
    given: Any = client.connection_pool.connection_kwargs
    server = given.get("path") or f"{given.get('host')}:{given.get('port', 6379)}"
    return f"{server}/{given.get('db') or 0}"


def check_grown(before: Sequence[str], after: Sequence[str]) -> None:
    """Raise FrontierError unless these servers are those of a crawl and more, in that order."""
    gone = next((server for server in before if server not in after), None)
    if gone is not None:
        raise FrontierError(
            f"--rebalance doesn't name {gone}: servers can be added only, none taken away"
        )
    if after == before:
        raise FrontierError("--rebalance names the crawl's servers: name those that it gets, too")
    if after[: len(before)] != before:
        raise FrontierError(
            "--rebalance: name the crawl's servers first, in their order, and then the new ones"
        )


class _Server:
    """One server of the crawl; ``about`` is what it says of that."""

    def __init__(self, client: Redis, name: str, token: str) -> None:
        client.set_retry(AT_ONCE_OR_NOT)
        self.client: Any = client
        self.connection = Connection(client, name, _VERBS)
        self.prefix, self.token, self.sent = self.connection.prefix, token, 0
        self.place = where(client)
        with self.connection.errors():
            self.connection.check_server()
            self.run = self.client.info("server")["run_id"], self.place.rpartition("/")[2]
            about: Any = self.client.hgetall(f"{self.prefix}about")
            self.about = texts(about)

    @property
    def address(self) -> str:
        """Where it is, in words of a sentence."""
        return self.connection.address

    def use(self, strategy: Strategy, terms: Terms) -> None:
        """Take notice of what the script is to know of the crawl."""
        self.strategy, self._call = strategy, Script(self.connection, strategy, terms, ANYONE)

    def call(self, verb: str, *arguments: Any) -> Any:
        """Run a verb that writes. Raises StorageError if somebody else began a rebalance."""
        self.sent += sum(len(one) if isinstance(one, (bytes, str)) else 8 for one in arguments)
        return self._call(verb, self.token, *arguments)

    def sync(self) -> None:
        """Wait until what the server was given is on its disk, if it keeps a log of commands."""
        with self.connection.errors():
            if self.client.info("persistence")["aof_enabled"]:
                try:
                    self.client.execute_command("WAITAOF", 1, 0, 0)
                except ResponseError:  # before Redis 7.2; `everysec` takes up to two seconds
                    sleep(2)

    def alive(self) -> tuple[list[str], int]:
        """Return the workers that live, and how many leases haven't ended."""
        workers, leases = self._call("alive")
        return [text(worker) for worker in workers], leases

    def write(self, commands: Iterable[Sequence[Any]]) -> None:
        """Call commands, each its name, a key without the prefix, and more."""
        words: list[Any] = []
        for command in commands:
            words += (len(command), *command)
            if len(words) > _WORDS:
                self.call("write", *words)
                words = []
        if words:
            self.call("write", *words)

    def scan(self, scan: str, key: str) -> Iterator[Any]:
        """Yield the rows of a key: a hash's as pairs."""
        with self.connection.errors():
            yield from getattr(self.client, scan)(self.prefix + key, count=_READ)

    def hash(self, key: str) -> Iterator[tuple[str, bytes]]:
        """Yield the fields of a hash. A scan may give one twice."""
        return ((name.decode(), value) for name, value in self.scan("hscan_iter", key))

    def keys(self) -> Iterator[bytes]:
        """Yield the crawl's keys."""
        with self.connection.errors():
            yield from self.client.scan_iter(match=f"{escaped(self.prefix)}*", count=_READ)

    def seen(self) -> Iterator[tuple[int, list[tuple[bytes, bytes]]]]:
        """Yield the number of each hash with URLs that are known, and what it has."""
        (hashes,) = self.connection.ask(("HGET", "about", ("hashes",)))
        for some in _parts(range(int(hashes or HASHES_AT_FIRST)), _AT_ONCE):
            pipeline: Any
            with self.connection.errors(), self.client.pipeline(transaction=False) as pipeline:
                for number in some:
                    pipeline.hgetall(f"{self.prefix}seen:{number}")
                found = pipeline.execute()
            for number, fields in zip(some, found, strict=True):
                yield number, list(fields.items())

    def servers(self) -> Iterator[tuple[str, str]]:
        """Yield the web servers, each with its site and, if they are counted by, its pages."""
        by_server = self.strategy.unit is Unit.SERVER
        for name, known in self.hash("units" if by_server else "servers"):
            yield name, known.decode()

    def numbers(self, servers: Sequence[str]) -> Iterator[tuple[str, list[int]]]:
        """Yield web servers, each with some numbers of its URLs that wait, until that are all."""
        first, left = 0, list(servers)
        while left:
            more = []
            for some in _parts(left, _AT_ONCE):
                pipeline: Any
                with self.connection.errors(), self.client.pipeline(transaction=False) as pipeline:
                    for name in some:
                        pipeline.zrange(f"{self.prefix}queue:{name}", first, first + _READ - 1)
                    found = pipeline.execute()
                for name, numbers in zip(some, found, strict=True):
                    yield name, [int(number) for number in numbers]
                    more += [name] if len(numbers) == _READ else []
            left, first = more, first + _READ

    def ended(self) -> Iterator[tuple[int, str, str, float | str]]:
        """Yield the URLs that were postponed, or may return: number, server, "later" or "failed".

        And when it is due, or how it ended.
        """
        for member, due in self.scan("zscan_iter", "later"):
            number, _, server = member.decode().partition(" ")
            yield int(number), server, "later", due
        for number, outcome in self.hash("failed"):
            ended, _, server = outcome.decode().partition("\n")
            yield int(number), server, "failed", ended

    def records(self, numbers: Sequence[int]) -> list[bytes]:
        """Return the records of URLs, with their referrers' numbers; empty if there are none."""
        places = map(place_of, numbers)
        found = self.connection.ask(*(("LINDEX", key, (at,)) for key, at in places))
        return [record or b"" for record in found]

    def tries(self, numbers: Sequence[int]) -> list[bytes]:
        """Return how often URLs were tried, and how that ended."""
        (found,) = self.connection.ask(("HMGET", "tries", numbers))
        return [tries or b"" for tries in found]


class Rebalance:
    """Moves shards of a crawl to servers that it gets.

    ``clients`` are those of all its servers after it, first the ``number`` that it has before.
    Raises FrontierError, before anything is written, if they are no such, or a worker runs.
    """

    def __init__(self, clients: Sequence[Redis], number: int, name: str) -> None:
        token = secrets.token_hex(8)
        self.servers = [_Server(client, name, token) for client in clients]
        self.old, self.new = self.servers[:number], self.servers[number:]
        self.moved, self._token = Moved(), token
        runs = [server.run for server in self.servers]
        twice = next((server for server in self.servers if runs.count(server.run) > 1), None)
        if twice is not None:
            raise FrontierError(f"{twice.address} is named twice, by two names")
        first, places = self.servers[0].about, [server.place for server in self.servers]
        self.is_under_way = "rebalance" in first
        shards = [server.about.get("shard") for server in self.servers]
        is_laid_out = shards == [f"{n + 1} of {len(places)}" for n in range(len(places))]
        self.is_done = not self.is_under_way and is_laid_out
        if self.is_done:
            check_servers([(server.address, server.about) for server in self.servers])
            return
        if self.is_under_way:
            self.plan = Plan.load(first["rebalance"])
            if self.plan.after != places:
                check_rebalanced(first)
            check_format(first)
        else:
            self._check_old()
            known = first.get("layout")
            before = Layout(bytes.fromhex(known) if known else bytes(SHARDS), number)
            after = before.over(len(places)).servers.hex()
            self.plan = Plan(places[:number], places, before.servers.hex(), after)
        self._check_new()
        self.before = bytes.fromhex(self.plan.layout_before)
        self.after = Layout(bytes.fromhex(self.plan.layout), len(places))
        self._use_script(first["strategy"])
        self._check_idle()

    # -- what is refused -------------------------------------------------------------------------

    def _check_old(self) -> None:
        """Raise FrontierError unless the first servers are those of the crawl, all of them."""
        if len(self.old) == 1:
            server = self.old[0]
            if not server.about:
                raise FrontierError(f"{server.address} holds no crawl of this name: say it, --key")
            check_format(server.about)
            check_shard(server.about, None, server.address)
        for server in self.old:
            if len(self.old) > 1 and "whole" not in server.about:
                raise FrontierError(f"{server.address} holds no shard of a crawl that has begun")
        if len(self.old) > 1:
            check_servers([(server.address, server.about) for server in self.old])
        for index, server in enumerate(self.old):
            with server.connection.errors():
                if server.client.exists(f"{server.prefix}held"):
                    raise FrontierError(
                        "this crawl visits pages again (LSWC_REVISIT), which several servers don't"
                    )
                boxes = [f"{server.prefix}outbox:{n}" for n in range(len(self.old)) if n != index]
                if server.client.exists(f"{server.prefix}doubts", *boxes):
                    raise FrontierError(
                        f"{server.address} keeps something for another that was away: start the "
                        "crawl's workers once more, and stop them when all servers are there"
                    )

    def _check_new(self) -> None:
        """Raise FrontierError unless the other servers have nothing of a crawl of this name."""
        wanted = self.plan.dump()
        for server in self.new:
            is_ours = self.is_under_way and server.about.get("rebalance") == wanted
            flipped = self.is_under_way and server.about.get("layout") == self.plan.layout
            if not is_ours and not flipped and next(server.keys(), None) is not None:
                raise FrontierError(
                    f"{server.address} isn't new: it holds something of a crawl of this name; "
                    "name one that has nothing of it"
                )

    def _check_idle(self) -> None:
        """Raise FrontierError if a worker runs, or one that died holds a URL still."""
        for server in self.old:
            workers, leases = server.alive()
            if workers:
                raise FrontierError(f"a worker runs, {workers[0]}: stop all of the crawl first")
            if leases:
                raise FrontierError(
                    f"a worker that died holds {numbered(leases, 'URL')} on {server.address}: "
                    "wait until its leases have ended (LSWC_LEASE_SECONDS)"
                )

    def _use_script(self, specification: str) -> None:
        chosen = with_requisites(strategy(specification))
        has_families = False
        for server in self.servers:
            with server.connection.errors():
                has_families |= bool(server.client.exists(f"{server.prefix}family_sites"))
        share, small = 0.5 if has_families else 1.0, -(-SMALL // len(self.servers))
        for server in self.servers:
            server.use(chosen, Terms(caps=Caps(), unproven_share=share, small_family=small))
        self._strategy = chosen

    # -- the steps -------------------------------------------------------------------------------

    def run(self, say: Say) -> Moved:
        """Do it, or go on with it. Raises LswcError; then it may be done again."""
        if self.is_done:
            return self.moved
        self._begin()
        if all(server.about.get("layout") != self.plan.layout for server in self.servers):
            for index in range(len(self.old), len(self.servers)):
                self._copy(index, say)
        for server in (*self.new, *reversed(self.old)):
            self._lay_out(server)
        for server in self.new:
            server.sync()
        for index, server in enumerate(self.old):
            say(f"deleting what moved from server {index + 1}", index, len(self.old))
            self._delete(index, server)
        for server in (*self.new, *reversed(self.old)):
            server.call("recount")
            server.write([("HDEL", "about", "rebalance", "rebalancer")])
            server.connection.unload()
        self.moved.sent = sum(server.sent for server in self.servers)
        return self.moved

    def _begin(self) -> None:
        """Say on each server, first on the first, what is under way; no worker goes on then."""
        about = {"rebalance": self.plan.dump(), "rebalancer": self._token}
        for server in self.servers:
            with server.connection.errors():
                server.client.hset(f"{server.prefix}about", mapping=about)
        if not self.is_under_way:
            try:
                self._check_idle()
            except FrontierError:
                for server in (*self.new, *reversed(self.old)):
                    server.write([("HDEL", "about", *about)])
                raise
        for server in self.old:
            server.write([("DEL", "latest")])  # a worker that was only asleep is told so
            while server.call("settle"):
                pass

    def _lay_out(self, server: _Server) -> None:
        index = self.servers.index(server)
        about = self.after.identity(index, self.servers[0].about["mark"])
        flat = [part for pair in about.items() for part in pair]
        server.write([("HSET", "about", "whole", "1", *flat)])

    # -- copying ---------------------------------------------------------------------------------

    def _is_moved(self, source: int, target: int | None = None) -> Callable[[int], bool]:
        """Return what tells whether a shard goes from a server to another, or to any."""
        shards = [
            self.before[shard] == source and self.after.servers[shard] != source
            and target in (None, self.after.servers[shard])
            for shard in range(SHARDS)
        ]  # fmt: skip
        return shards.__getitem__

    def _copy(self, index: int, say: Say) -> None:
        """Copy to a server all that it is to have; what it had of it already is copied anew."""
        target = self.servers[index]
        sources = [(source, self._is_moved(n, index)) for n, source in enumerate(self.old)]
        cleared = (key.removeprefix(target.prefix.encode()) for key in list(target.keys()))
        target.write([("UNLINK", key) for key in cleared if key != b"about"])
        target.write([("HDEL", "about", *_NUMBERS)])
        self._copy_crawl(target)
        for source, is_moved in sources:
            for row in _sites(source, is_moved):
                target.call("adopt_sites", *row)
                self.moved.sites += 1
        self._copy_servers(target, sources)
        for source, is_moved in sources:
            ahead = _clock(target) - _clock(source)
            for one in _OF_SERVERS:
                target.write(_copied(one, source.scan(one.scan, one.key), is_moved, ahead))
        urls = _Urls(sources, target)
        self.moved.pending += urls.copy(lambda done, of: say("URLs copied", done, of))
        for n, (source, is_moved) in enumerate(sources):
            say(f"finished URLs of server {n + 1}", n, len(sources))
            known = self._known(source, target, is_moved, partial(urls.number, n))
            for rows in _parts(known, _AT_ONCE):
                target.call("adopt_seen", *(part for row in rows for part in row))
        _copy_paragraphs([source for source, _ in sources], target)

    def _copy_crawl(self, target: _Server) -> None:
        """Let a server know the crawl, as one that was there when it began."""
        first = self.servers[0]
        about = {name: value for name, value in first.about.items() if name not in _OWN}
        about |= {"mark": self._token, "crawl": first.about["mark"]}
        target.write([("HSET", "about", *(part for pair in about.items() for part in pair))])
        cells, control, history = first.connection.ask(
            ("GET", "cells", ()), ("GET", "control", ()), ("LRANGE", "control:history", (0, -1))
        )
        target.write([("SET", "cells", cells)])
        if control is not None:
            target.write([("SET", "control", control)])
        target.write(("RPUSH", "control:history", line) for line in history)
        earlier = about.get("earlier")
        pages = Experience.load(json.loads(earlier)).crawl if earlier else Pages()
        target.write([("HSET", "experience", "n", pages.downloaded, "r", pages.relevant)])
        names = dict.fromkeys(name for source in self.old for name, _ in source.hash("workers"))
        target.write(("HSET", "workers", name, n) for n, name in enumerate(names, 1))

    def _copy_servers(self, target: _Server, sources: Sequence[_Source]) -> None:
        """Copy web servers, in the order in which they were met."""
        by_server = self._strategy.unit is Unit.SERVER
        rows: list[tuple[int, str, str, str]] = []
        units: dict[str, str] = {}
        for source, is_moved in sources:
            for name, known in source.servers():
                if is_moved(shard_of_server(name)):
                    *pages, number, site = known.split(" ")
                    rows.append((int(number), name, site, " ".join(pages)))
            for unit, pages_of in source.hash("units") if not by_server else ():
                if is_moved(shard_of_server(_host(unit))):
                    units[unit] = pages_of.decode()
        rows = sorted(set(rows))
        self.moved.servers += len(rows)
        for some in _parts(rows, _AT_ONCE):
            target.call("adopt_servers", *(part for row in some for part in row[1:]))
        for known_units in _parts(units.items(), _AT_ONCE):
            target.call("adopt_servers", *(p for unit, of in known_units for p in (unit, "", of)))

    def _known(
        self,
        source: _Server,
        target: _Server,
        is_moved: Callable[[int], bool],
        number_of: Callable[[int], int],
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yield the keys of the URLs known that a server is to have, and what it keeps of each."""
        theirs, ours = dict(source.hash("workers")), dict(target.hash("workers"))
        worker = {number: ours[name] for name, number in theirs.items()}
        for of, fields in source.seen():
            for field, by in fields:
                if is_moved(field[_SHARD]):
                    name = key_of(known_as(of, field))
                    if not by.isdigit():
                        self.moved.finished += 1
                        yield name, by[:1] + worker[by[1:].partition(b":")[0]]
                    elif number := number_of(int(by)):
                        yield name, b"%d" % number

    # -- deleting --------------------------------------------------------------------------------

    def _delete(self, index: int, server: _Server) -> None:
        """Delete at a server what it doesn't hold any more."""
        is_moved = self._is_moved(index)
        gone = [(n, s) for n, s, *_ in server.ended() if is_moved(shard_of_server(s))]
        for some in _parts(gone, _AT_ONCE):
            server.call("abandon_urls", *(part for pair in some for part in pair))
        servers = [name for name, _ in server.servers() if is_moved(shard_of_server(name))]
        for name in dict.fromkeys(servers):
            while server.call("abandon", name):
                pass
        if self._strategy.unit is not Unit.SERVER:
            found = [u for u, _ in server.hash("units") if is_moved(shard_of_server(_host(u)))]
            for units in _parts(found, _AT_ONCE):
                server.call("abandon_units", *units)
        for one in _OF_SERVERS:
            rows = (_member(row) for row in list(server.scan(one.scan, one.key)))
            moved = (row for row in rows if is_moved(one.shard(row.decode())))
            server.write((one.deleted, one.key, member) for member in moved)
        for of, fields in server.seen():
            names = [field for field, _ in fields if is_moved(field[_SHARD])]
            if names:
                server.call("abandon_seen", of, *names)
        sites = [site for site, _ in server.hash("sites") if is_moved(shard_of(site))]
        for of_sites in _parts(sites, _AT_ONCE):
            server.call("abandon_sites", *of_sites)


def rebalanced(before: Sequence[Redis], after: Sequence[Redis], name: str, say: Say) -> Moved:
    """Move shards of the crawl of this name, on its servers before, to those that are new.

    Without a name it is the only crawl there is. Raises LswcError.
    """
    if any(in_cluster(client) for client in (*before, *after)):
        raise FrontierError(
            "--rebalance is for servers of their own: a Redis Cluster moves its slots itself"
        )
    check_grown([where(client) for client in before], [where(client) for client in after])
    with opened(before[0], name, alone=False) as reader:
        name = reader.name
    return Rebalance(after, len(before), name).run(say)


class _Urls:
    """The URLs that wait on some servers, and are to be on another, in their order there.

    The order is that of their numbers: of two with the same number that of the first server.
    """

    def __init__(self, sources: Sequence[_Source], target: _Server) -> None:
        self._sources, self._target = [source for source, _ in sources], target
        self._ended: dict[int, tuple[str, float | str]] = {}
        self._names: list[str] = []
        ids, servers = array("Q"), array("I")
        for n, (source, is_moved) in enumerate(sources):
            ahead = _clock(target) - _clock(source)
            names = [name for name, _ in source.servers() if is_moved(shard_of_server(name))]
            at = {name: len(self._names) + i for i, name in enumerate(dict.fromkeys(names))}
            self._names += at
            for name, numbers in source.numbers(list(at)):
                ids.extend(number * SHARDS + n for number in numbers)
                servers.extend([at[name]] * len(numbers))
            for number, name, state, more in source.ended():
                if name in at and number * SHARDS + n not in self._ended:
                    later = more + ahead if isinstance(more, float) else more
                    self._ended[number * SHARDS + n] = state, later
                    ids.append(number * SHARDS + n)
                    servers.append(at[name])
        found = np.frombuffer(ids, np.uint64) if ids else np.zeros(0, np.uint64)
        order = np.argsort(found)
        self._ids = found[order]
        self._servers = np.array(servers, np.uint32)[order]
        self._numbers = np.zeros(len(order), np.uint64)
        self._known: dict[int, int] = {}  # of a URL that others link from, its number there
        self._next = 1

    def number(self, source: int, number: int) -> int:
        """Return the number that a URL has now, 0 if it has none."""
        name = number * SHARDS + source
        at = int(np.searchsorted(self._ids, np.uint64(name)))
        found = at < len(self._ids) and self._ids[at] == name
        return int(self._numbers[at]) if found else 0

    def copy(self, say: Callable[[int, int], None]) -> int:
        """Copy them; return how many."""
        total = len(self._ids)
        for first in range(0, total, _AT_ONCE):
            say(first, total)
            ids = [int(name) for name in self._ids[first : first + _AT_ONCE]]
            records, tries = self._read(ids)
            rows = self._names_of(records)
            for at, name in enumerate(ids, first):
                state, more = self._ended.get(name, ("pending", ""))
                record, source = records[name], name % SHARDS
                referrer = int.from_bytes(record[:5]) * SHARDS + source
                server = self._names[self._servers[at]]
                kept = without_referrer(record)
                rows.append((state, server, self._known.get(referrer, 0), kept, more, tries[name]))
                self._numbers[at] = self._next
                self._next += 1
            self._target.call("adopt_urls", *(part for row in rows for part in row))
        return total

    def _read(self, ids: Sequence[int]) -> tuple[dict[int, bytes], dict[int, bytes]]:
        """Return records, and how often these URLs were tried."""
        records: dict[int, bytes] = {}
        tries: dict[int, bytes] = {}
        for n, source in enumerate(self._sources):
            own = [name for name in ids if name % SHARDS == n]
            if own:
                numbers = [name // SHARDS for name in own]
                records |= zip(own, source.records(numbers), strict=True)
                tries |= zip(own, source.tries(numbers), strict=True)
        return records, tries

    def _names_of(self, records: dict[int, bytes]) -> list[tuple[Any, ...]]:
        """Return rows of the URLs that these link from, which aren't there yet."""
        referrers = {int.from_bytes(r[:5]) * SHARDS + name % SHARDS for name, r in records.items()}
        new = sorted(name for name in referrers if name >= SHARDS and name not in self._known)
        rows: list[tuple[Any, ...]] = []
        for name, record in self._read(new)[0].items():
            url = record if record[:1].isalpha() else record.rpartition(b"\0")[2]
            if url.startswith(b"http"):
                rows.append(("name", "", 0, url, "", ""))
                self._known[name] = self._next
                self._next += 1
        return rows


def _parts(rows: Iterable[_Row], number: int) -> Iterator[list[_Row]]:
    """Yield rows, so many at a time."""
    left = iter(rows)
    while some := list(islice(left, number)):
        yield some


def _sites(source: _Server, is_moved: Callable[[int], bool]) -> Iterator[tuple[Any, ...]]:
    """Yield the sites of a server that go to another, as its script takes them."""
    rows: dict[str, tuple[list[int], str]] = {}
    for site, known in source.hash("sites"):
        if is_moved(shard_of(site)):
            numbers, _, pages = known.decode().partition("|")
            level, *others = map(int, numbers.split())
            rows[site] = [level, *others] if others else [NEW, 0, 0, 0], pages
    needed = {number for numbers, _ in rows.values() for number in numbers[2:]}
    names = {0: ""}
    for site, known in source.hash("sites"):
        _, *words = known.decode().partition("|")[0].split()
        if words and int(words[0]) in needed:
            names[int(words[0])] = site
    for site, ((level, _, family, branch, *supporters), pages) in rows.items():
        found = [names[number] for number in supporters]
        yield site, level, names[family], names[branch], pages, len(found), *found


def _copied(
    one: _Hash, rows: Iterable[Any], is_moved: Callable[[int], bool], ahead: int
) -> Iterator[Sequence[Any]]:
    """Yield what writes those of a key's rows that go to another server, whose clock is ahead."""
    for row in rows:
        member = _member(row)
        if is_moved(one.shard(member.decode())):
            if one.written == "HSET":
                yield "HSET", one.key, member, row[1]
            elif one.written == "ZADD":
                yield "ZADD", one.key, repr(row[1] + ahead), member
            else:
                yield "SADD", one.key, member


def _member(row: Any) -> bytes:
    found: bytes = row if isinstance(row, bytes) else row[0]
    return found


def _host(unit: str) -> str:
    return unit.partition("/")[0]


def _clock(server: _Server) -> int:
    """Return a server's time in ms, to the second: others agree on it, or are hours away."""
    with server.connection.errors():
        return int(server.client.time()[0]) * 1000


def _copy_paragraphs(sources: Sequence[_Server], target: _Server) -> None:
    """Let a server know the paragraphs that any of these does: which are whose isn't known."""
    for first in range(0, BITS // 8, _BITS_AT_ONCE):
        asked = ("GETRANGE", "paragraphs", (first, first + _BITS_AT_ONCE - 1))
        found = [source.connection.ask(asked)[0] for source in sources]
        if any(found):
            size = max(map(len, found))
            parts = (np.frombuffer(bits.ljust(size, b"\0"), np.uint8) for bits in found)
            whole = np.bitwise_or.reduce(list(parts)).tobytes()
            if whole.strip(b"\0"):
                target.write([("SETRANGE", "paragraphs", first, whole)])
        elif not first:
            return
