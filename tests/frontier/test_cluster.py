"""One crawl in a Redis Cluster: its parts, the nodes that they move to, and what is refused."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from lswc.errors import AwayError, ConfigError
from lswc.frontier.contract import FrontierError
from lswc.frontier.redis import Worker
from lswc.frontier.redis_cluster import Cluster
from lswc.frontier.redis_script import AT_ONCE_OR_NOT
from lswc.frontier.sharded import ShardedFrontier
from lswc.frontier.shards import CLUSTER, addresses, are_several
from lswc.strategy import strategy
from tests.frontier.test_shards import leased, offer
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.frontier.redis_cluster_server import Node, RedisCluster
    from tests.frontier.redis_server import RedisServer

CALLERS = Worker(clock_of_caller=True, time_to_live=60.0)
URLS = [f"http://{number}.co.th/" for number in range(12)]


READ = {
    b"hash": ("HGETALL",),
    b"set": ("SMEMBERS",),
    b"zset": ("ZRANGE", 0, -1, "WITHSCORES"),
    b"list": ("LRANGE", 0, -1),
    b"string": ("GET",),
}


class Join(Protocol):
    def __call__(self) -> ShardedFrontier: ...


@pytest.fixture
def join(redis_cluster: RedisCluster) -> Iterator[Join]:
    with ExitStack() as stack:

        def joined() -> ShardedFrontier:
            clients, name = Cluster(redis_cluster.url, {}).clients("c", begins=True)
            found = ShardedFrontier(clients, name, strategy("bfs"), {"language": "th"},
                                    worker=CALLERS)  # fmt: skip
            return stack.enter_context(closing(found))

        yield joined


def slot_of(node: Node, key: str) -> int:
    return int(node.asked("CLUSTER", "KEYSLOT", key))


def owner(cluster: RedisCluster, slot: int) -> Node:
    """Return the node that has keys of a slot."""
    return next(node for node in cluster.nodes if node.asked("CLUSTER", "COUNTKEYSINSLOT", slot))


def test_each_node_has_a_part_and_all_are_found_again(
    join: Join, redis_cluster: RedisCluster
) -> None:
    f = join()
    f.offer([offer(url) for url in URLS])
    assert {leased(f).url for _ in URLS} == set(URLS)
    assert all(node.asked("DBSIZE") for node in redis_cluster.nodes)
    again = join()
    assert [part.name for part in again.parts] == ["c"] * 3
    assert again.counts().leased == len(URLS)
    named, name = Cluster(redis_cluster.url, {}).clients("", begins=False)
    assert (len(named), name) == (3, "c")


class Move:
    """A slot on its way to another node, key by key, as by ``redis-cli --cluster reshard``."""

    def __init__(self, cluster: RedisCluster, slot: int) -> None:
        self._cluster, self._slot = cluster, slot
        self._from = owner(cluster, slot)
        self._to = next(node for node in cluster.nodes if node is not self._from)
        self._ids = [node.asked("CLUSTER", "MYID") for node in (self._from, self._to)]
        self._to.asked("CLUSTER", "SETSLOT", slot, "IMPORTING", self._ids[0])
        self._from.asked("CLUSTER", "SETSLOT", slot, "MIGRATING", self._ids[1])

    def kept(self) -> dict[bytes, Any]:
        """Return the keys that weren't moved yet, and what they hold."""
        found = {}
        for key in self._from.asked("CLUSTER", "GETKEYSINSLOT", self._slot, 1_000):
            command, *more = READ[self._from.asked("TYPE", key)]
            found[key] = self._from.asked(command, key, *more)
        return found

    def keys(self, number: int) -> None:
        """Move so many keys."""
        for key in self._from.asked("CLUSTER", "GETKEYSINSLOT", self._slot, number):
            self._from.asked("MIGRATE", "127.0.0.1", self._to.port, key, 0, 10_000)

    def end(self) -> None:
        for node in (self._to, self._from, *self._cluster.nodes):
            node.asked("CLUSTER", "SETSLOT", self._slot, "NODE", self._ids[1])


def test_a_part_that_is_moved_to_another_node_is_away_meanwhile_and_whole_afterwards(
    join: Join, redis_cluster: RedisCluster
) -> None:
    f = join()
    f.offer([offer(url) for url in URLS])
    part = f.parts[1]
    part.connection.client.set_retry(AT_ONCE_OR_NOT)
    move = Move(redis_cluster, slot_of(redis_cluster.nodes[0], part.connection.prefix))
    while kept := move.kept():
        with pytest.raises(AwayError, match="doesn't serve it now"):
            part.offer([offer("http://never.co.th/")])
        with pytest.raises(AwayError, match="doesn't serve it now"):
            part.lease(0.0)
        assert move.kept() == kept
        move.keys(5)
    move.end()
    f.rejoin()
    urls = set()
    while (lease := f.lease(0.0)) is not None:
        urls.add(lease.url)
        assert f.commit(ended(lease))
    assert urls == set(URLS)


def refused(store: str, name: str = "c", *, begins: bool = True) -> str:
    with pytest.raises((ConfigError, FrontierError, AwayError)) as caught:
        Cluster(store, {}).clients(name, begins=begins)
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    return said


def test_what_is_no_cluster_is_refused(
    redis_cluster: RedisCluster, redis_server: RedisServer
) -> None:
    url = redis_cluster.url
    alone = redis_server.url.replace("redis://", CLUSTER)
    assert "is no node of a Redis Cluster: write redis://" in refused(alone)
    assert "no database but 0" in refused(f"{url}1")
    assert "have one scheme" in refused("redis+cluster://a:1,redis://b:2/0")
    for several in (
        "redis://a:1,redis+cluster://b:2/0", "redis://a:1,redis://b:2", "redis://a:1/0,b:2/0"
    ):  # fmt: skip
        with pytest.raises(ConfigError, match="have one scheme, and one database behind the last"):
            addresses(several)
    assert addresses("unix:///tmp/a,b.sock?db=0") == ["unix:///tmp/a,b.sock?db=0"]
    assert "can't be reached" in refused("redis+cluster://127.0.0.1:1/")
    assert "no crawl 'nothing' in this Redis Cluster" in refused(url, "nothing", begins=False)
    assert are_several("redis+cluster://a:1/")
