"""A real Redis Cluster of the tests' own on loopback: three nodes, perhaps a replica."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import redis

from tests.frontier.redis_server import RedisServer
from tests.ports import free_port
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SLOTS = 2**14


class Node(RedisServer):
    """One of the nodes."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.bus = free_port()
        folder.mkdir()
        own = ("--cluster-enabled", "yes", "--cluster-port", str(self.bus))
        super().__init__(folder, *own, "--cluster-node-timeout", "1000", *options)

    def asked(self, *command: Any) -> Any:
        """Return what the node answers to a command."""
        with redis.Redis(port=self.port) as client:
            return client.execute_command(*command)

    def is_ok(self) -> bool:
        """Tell whether all slots are served, as this node says."""
        return b"cluster_state:ok" in self.asked("CLUSTER", "INFO")


class RedisCluster:
    """Starts the nodes, each of which serves a third of the slots.

    With ``replicated`` the second has a replica, which takes its place when it goes away.
    """

    def __init__(self, folder: Path, *options: str, replicated: bool = False) -> None:
        self.nodes = [Node(folder / f"node{n}", *options) for n in range(3)]
        for n, node in enumerate(self.nodes):
            node.asked("CLUSTER", "ADDSLOTS", *range(n * SLOTS // 3, (n + 1) * SLOTS // 3))
            node.asked("CLUSTER", "SET-CONFIG-EPOCH", n + 1)
            self._meet(node)
        self.replica = Node(folder / "replica", *options) if replicated else None
        if self.replica is not None:
            self._meet(self.replica)
        self.wait_until_ok()
        if self.replica is not None:
            self._follow(self.replica, self.nodes[1])

    def _meet(self, node: Node) -> None:
        first = self.nodes[0]
        node.asked("CLUSTER", "MEET", "127.0.0.1", first.port, first.bus)

    def _follow(self, replica: Node, primary: Node) -> None:
        number = primary.asked("CLUSTER", "MYID")
        wait_until(lambda: number in replica.asked("CLUSTER", "NODES"))
        replica.asked("CLUSTER", "REPLICATE", number)
        wait_until(lambda: replica.asked("INFO", "replication")["master_link_status"] == "up")

    @property
    def url(self) -> str:
        """What names it in LSWC_FRONTIER."""
        return f"redis+cluster://127.0.0.1:{self.nodes[0].port},127.0.0.1:{self.nodes[1].port}/"

    def wait_until_ok(self) -> None:
        """Wait until each node says that all slots are served."""
        for node in self.nodes:
            wait_until(node.is_ok)

    def empty(self) -> None:
        """Forget what other tests left."""
        for node in self.nodes:
            node.empty()

    def stop(self) -> None:
        """End all nodes in order."""
        for node in (*self.nodes, self.replica):
            if node is not None:
                node.stop()


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until something holds of the nodes."""
    until = monotonic() + BRAKE
    while not holds():
        assert monotonic() < until, "the nodes make no cluster"
        sleep(0.02)
