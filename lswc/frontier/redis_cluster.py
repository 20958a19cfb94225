"""Redis Cluster: a crawl's parts in its slots, and connections that find the node of their slot.

To the frontier each part is one Redis. All keys of a part have the hash tag of its slot. Which
parts there are is kept in the cluster when the crawl begins: one for each primary of that moment.
docs/shards.md says what follows from that.
"""

from __future__ import annotations

from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import redis
from redis.connection import parse_url
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import AskError, ClusterDownError, ReadOnlyError, TryAgainError

from lswc.errors import ConfigError
from lswc.frontier.contract import FrontierError
from lswc.frontier.redis_script import Connection, text
from lswc.frontier.shards import CLUSTER, addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Node = tuple[str, int]
    """Host and port."""

_ELSEWHERE = (AskError, ClusterDownError, ReadOnlyError, TryAgainError)  # MOVED is an AskError
_BEING_MOVED = "attempted to access a non local key"  # to a script, which has written nothing yet


class Slots(NamedTuple):
    """The slots from ``first`` to ``last``, and the primary that serves them."""

    first: int
    last: int
    node: Node


class _Found(redis.Connection):
    """A connection to the node that ``find`` says whenever it is made.

    A node that hasn't got the slot, or not all of it, is a lost connection: the next one finds the
    other node.
    """

    def __init__(self, *, find: Callable[[], Node], **options: Any) -> None:
        self._find = find
        super().__init__(**options)  # type: ignore[no-untyped-call]

    def _connect(self) -> Any:
        self.host, self.port = self._find()
        return super()._connect()  # type: ignore[no-untyped-call]

    def read_response(self, *arguments: Any, **options: Any) -> Any:
        try:
            return super().read_response(*arguments, **options)
        except redis.ResponseError as error:
            if isinstance(error, _ELSEWHERE) or _BEING_MOVED in str(error):
                self.disconnect()  # type: ignore[no-untyped-call]
                raise redis.ConnectionError(f"the cluster doesn't serve it now: {error}") from error
            raise


class _Part:
    """Where a part of a crawl is: the slot of its hash tag, which is the crawl's name and ``tag``.

    Called, it returns the node that has the slot now.
    """

    def __init__(self, cluster: Cluster, name: str, tag: str) -> None:
        self.tag, self._cluster, self._slot = tag, cluster, key_slot(f"{name}{tag}".encode())

    def __call__(self) -> Node:
        found = self.among(self._cluster.slots())
        if found is None:
            raise redis.ConnectionError(f"no node serves slot {self._slot}")
        return found

    def among(self, known: Iterable[Slots]) -> Node | None:
        """Return the node that has the slot, by what is known of all."""
        return next((one.node for one in known if one.first <= self._slot <= one.last), None)

    def __str__(self) -> str:
        return f"the Redis Cluster, slot {self._slot},"


class Cluster:
    """The cluster of which ``LSWC_FRONTIER`` names nodes; ``options`` are of redis-py's client.

    Nothing is sent yet. Raises ConfigError.
    """

    def __init__(self, store: str, options: Mapping[str, Any]) -> None:
        named = addresses("redis://" + store.removeprefix(CLUSTER))
        known = [parse_url(address) for address in named]  # type: ignore[no-untyped-call]
        if any(one.get("db") for one in (options, *known)):
            raise ConfigError("LSWC_FRONTIER: a Redis Cluster has no database but 0")
        self._url, self._options = named[0], {**options, "db": 0}
        self._named = [(one.get("host", "localhost"), one.get("port", 6379)) for one in known]
        self._nodes: deque[Node] = deque(self._named)

    def clients(self, name: str, *, begins: bool) -> tuple[list[redis.Redis], str]:
        """Return a client for each part of a crawl, and its name; "" is the only one there is.

        If it ``begins`` its parts are chosen and kept, unless they were. Raises LswcError.
        """
        first = self._client(_Part(self, name, ""))
        with Connection(first, name).errors():
            if not name:
                name = self._only()
                first = self._client(_Part(self, name, ""))
            key = f"{{{name}}}:cluster"
            if begins:
                first.set(key, " ".join(self._tags(name)), nx=True)
            kept: Any = first.get(key)
            if kept is None:
                raise FrontierError(f"no crawl {name!r} in this Redis Cluster: {self._crawls()}")
        return [first, *(self._client(_Part(self, name, tag)) for tag in text(kept).split())], name

    def _client(self, find: Callable[[], Node]) -> redis.Redis:
        return redis.Redis.from_url(self._url, **self._options, connection_class=_Found, find=find)

    def _at(self, node: Node) -> redis.Redis:
        return self._client(lambda: node)

    def _tags(self, name: str) -> Iterable[str]:
        """Yield what makes of a name the tag of a slot, on each primary but that of the name's."""
        slots = self.slots()
        if sum(one.last - one.first + 1 for one in slots) < REDIS_CLUSTER_HASH_SLOTS:
            raise FrontierError("the Redis Cluster has slots that no node serves: repair it first")
        own = _Part(self, name, "").among(slots)
        for node in dict.fromkeys(one.node for one in slots):
            if node != own:
                tags = (f".{number}" for number in count(1))
                yield next(tag for tag in tags if _Part(self, name, tag).among(slots) == node)

    def _crawls(self) -> list[str]:
        found: list[bytes] = []
        for node in {one.node for one in self.slots()}:
            with self._at(node) as client:
                found += client.scan_iter(match="{*}:cluster")
        return sorted(text(key)[1:].removesuffix("}:cluster") for key in found)

    def _only(self) -> str:
        found = self._crawls()
        if len(found) != 1:
            raise FrontierError(f"say with --key which crawl in this Redis Cluster: {found}")
        return found[0]

    def slots(self) -> list[Slots]:
        """Return which primary serves which slots, as one of the nodes says. Raises RedisError."""
        failed: Exception | None = None
        for _ in range(len(self._nodes)):
            node = self._nodes[0]
            self._nodes.rotate(-1)  # one that is cut off may say what was
            try:
                with self._at(node) as client:
                    said: Any = client.execute_command("CLUSTER", "SLOTS")
            except redis.AuthenticationError:
                raise
            except (redis.ConnectionError, redis.TimeoutError) as error:
                failed = error
            except redis.ResponseError as error:
                if "cluster support disabled" not in str(error):
                    raise
                raise FrontierError(
                    f"LSWC_FRONTIER: the Redis at {node[0]}:{node[1]} is no node of a Redis "
                    "Cluster: write redis:// for it"
                ) from error
            else:
                found = [_slots(row, node[0]) for row in said]
                there = {*self._named, *(one.node for one in found)}
                self._nodes = deque([n for n in self._nodes if n in there])
                self._nodes.extend(there.difference(self._nodes))
                return sorted(found)
        raise redis.ConnectionError(f"no node of the cluster answers: {failed}")


def _slots(row: list[Any], asked: str) -> Slots:
    """Return the slots of an answer; a node without a host is where it was asked."""
    first, last, (host, port, *_), *_ = row
    return Slots(first, last, (asked if host in (None, b"", b"?") else text(host), port))
