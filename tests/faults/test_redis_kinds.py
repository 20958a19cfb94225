"""Ways to a Redis: with a password, a user of its own, TLS, Sentinels, and as a cluster.

Over each, by the settings that name it, a worker joins another, and a link comes to it.
"""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack, closing, contextmanager
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest
import redis
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from scrapy.settings import Settings

from lswc.crawl.web.certificate import self_signed
from lswc.crawl.workers import connect
from lswc.errors import AwayError
from lswc.frontier.exchange.exchange import Exchange
from lswc.frontier.exchange.joining import join
from lswc.frontier.exchange.owners import PARTS, part_of
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.guest.decisions import Group
from lswc.guest.shared_slots import SharedSlots
from lswc.strategy import SEED, PageLanguage, strategy
from lswc.urls import site_of
from tests.frontier.exchange.at_once import at_once
from tests.frontier.redis_server import MISSING, RedisServer
from tests.ports import free_port
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

USER = ["ACL", "SETUSER", "crawler", "on", ">secret", "~lswc:*", "&*", "+@all", "-@dangerous"]


def _program() -> str:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip(MISSING)
    return program


def _asked(client: Any, *command: Any) -> Any:
    """Return what a server answers to a command."""
    return client.execute_command(*command)


@contextmanager
def started(folder: Path, *options: str) -> Iterator[None]:
    """Run a redis-server with these options alone."""
    folder.mkdir(exist_ok=True)
    server = subprocess.Popen(
        [_program(), *options, "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        server.terminate()
        server.wait()


@contextmanager
def with_password(folder: Path) -> Iterator[dict[str, Any]]:
    with started(folder, "--port", str(port := free_port()), "--requirepass", "se cret"):
        yield {"LSWC_FRONTIER": f"redis://:se%20cret@127.0.0.1:{port}/0"}


@contextmanager
def with_user(folder: Path) -> Iterator[dict[str, Any]]:
    with started(folder, "--port", str(port := free_port())):
        client = redis.Redis(port=port)
        wait_until(lambda: is_there(client))
        _asked(client, *USER)
        yield {
            "LSWC_FRONTIER": f"redis://127.0.0.1:{port}/0",
            "REDIS_PARAMS": {"username": "crawler", "password": "secret"},
        }


@contextmanager
def with_tls(folder: Path) -> Iterator[dict[str, Any]]:
    folder.mkdir()
    pem = str(folder / "both.pem")
    key = ec.generate_private_key(ec.SECP256R1())
    (folder / "both.pem").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + self_signed(key).public_bytes(Encoding.PEM)
    )
    files = ("--tls-cert-file", pem, "--tls-key-file", pem, "--tls-ca-cert-file", pem)
    options = ("--port", "0", "--tls-port", str(port := free_port()), "--tls-auth-clients", "no")
    with started(folder, *options, *files):
        yield {
            "LSWC_FRONTIER": f"rediss://127.0.0.1:{port}/0",
            "REDIS_PARAMS": {"ssl_cert_reqs": "none", "ssl_check_hostname": False},
        }


@contextmanager
def with_sentinel(folder: Path) -> Iterator[dict[str, Any]]:
    folder.mkdir()
    port, sentinel = free_port(), free_port()
    config = folder / "sentinel.conf"
    config.write_text(f"port {sentinel}\nsentinel monitor crawl 127.0.0.1 {port} 1\n")
    with ExitStack() as stack:
        stack.enter_context(started(folder / "data", "--port", str(port)))
        wait_until(lambda: is_there(redis.Redis(port=port)))
        watch = subprocess.Popen(
            [_program(), str(config), "--sentinel", "--bind", "127.0.0.1"],
            stdout=subprocess.DEVNULL,
        )
        stack.callback(watch.wait)
        stack.callback(watch.terminate)
        wait_until(lambda: is_there(redis.Redis(port=sentinel)))
        yield {"LSWC_FRONTIER": f"redis+sentinel://127.0.0.1:{sentinel}/crawl/0"}


@contextmanager
def with_cluster(folder: Path) -> Iterator[dict[str, Any]]:
    folder.mkdir()
    with ExitStack() as stack:
        nodes, buses = [], []
        for number in range(3):
            port, bus = free_port(), free_port()
            cluster = ("--cluster-enabled", "yes", "--cluster-port", str(bus))
            own = folder / f"node{number}"
            stack.enter_context(started(own, "--port", str(port), *cluster))
            nodes.append(redis.Redis(port=port))
            buses.append((port, bus))
        for number, node in enumerate(nodes):
            wait_until(lambda node=node: is_there(node))  # type: ignore[misc]
            slots = range(number * 2**14 // 3, (number + 1) * 2**14 // 3)
            _asked(node, "CLUSTER", "ADDSLOTS", *slots)
            _asked(node, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            _asked(node, "CLUSTER", "MEET", "127.0.0.1", *buses[0])
        for node in nodes:
            wait_until(
                lambda node=node: b"cluster_state:ok" in _asked(node, "CLUSTER", "INFO")  # type: ignore[misc]
            )
        addresses = ",".join(f"127.0.0.1:{port}" for port, _ in buses[:2])
        yield {"LSWC_FRONTIER": f"redis+cluster://{addresses}/"}


def is_there(client: redis.Redis) -> bool:
    try:
        client.ping()
    except redis.ConnectionError:
        return False
    return True


def wait_until(holds: Callable[[], object]) -> None:
    until = monotonic() + BRAKE
    while not holds():
        assert monotonic() < until
        sleep(0.05)


class Worker:
    """A worker in memory, whose exchange does all at once."""

    def __init__(self, settings: Settings, name: str) -> None:
        self.now = 0.0
        self.frontier = Frontier(MEMORY, strategy("adaptive"), {})
        post = connect(settings, "lswc:th")
        wait_until(lambda: self._is_there(post))
        member = join(self.frontier, post, name, {})
        self.exchange = Exchange(self.frontier, post, member, at_once, lambda: self.now)

    @staticmethod
    def _is_there(post: Any) -> bool:
        try:
            post.begun()
        except AwayError:
            return False
        return True

    def turn(self) -> None:
        self.now += 1.0
        self.exchange.turn()

    def close(self) -> None:
        self.exchange.close()
        self.frontier.close()


@pytest.mark.parametrize("kind", [with_password, with_user, with_tls, with_sentinel, with_cluster])
def test_a_link_comes_to_the_worker_that_has_its_site(tmp_path: Path, kind: Any) -> None:
    with kind(tmp_path / "redis") as given, ExitStack() as stack:
        settings = Settings(given)
        first = stack.enter_context(closing(Worker(settings, "first")))
        second = stack.enter_context(closing(Worker(settings, "second")))
        for _ in range(20):
            first.turn()
            second.turn()
        assert len(second.frontier.outbox.own) == PARTS // 2
        names = (f"www.site{number}.example" for number in range(99))
        server = next(n for n in names if part_of(site_of(n)) in second.frontier.outbox.own)
        first.frontier.offer(
            [Offer(f"http://{server}/", server, server, SEED, PageLanguage.TARGET, 0)]
        )
        for _ in range(5):
            first.turn()
            second.turn()
        assert (first.frontier.unfinished, second.frontier.unfinished) == (0, 1)
        slots = [SharedSlots(connect(settings, "lswc:th")) for _ in range(2)]
        address = [Group("address 192.0.2.1", 1, 0.0)]
        assert not slots[0].take(address)
        assert slots[1].take(address)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (("CONFIG", "SET", "maxmemory", "1"), "maxmemory"),
        (("REPLICAOF", "127.0.0.1", "1"), "read only"),
    ],
)
def test_a_redis_that_refuses_to_write_is_as_one_that_is_away(
    tmp_path: Path, how: tuple[str, ...], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = RedisServer(tmp_path)
    with (
        redis.Redis(port=server.port) as client,
        closing(Worker(Settings({"LSWC_FRONTIER": server.url}), "first")) as worker,
    ):
        worker.turn()
        _asked(client, *how)
        for _ in range(3):
            worker.turn()
        assert why in worker.exchange.away
        assert caplog.text.count("goes on with its own sites") == 1
        _asked(client, "REPLICAOF", "NO", "ONE")
        _asked(client, "CONFIG", "SET", "maxmemory", "0")
        worker.turn()
        worker.turn()
        assert not worker.exchange.away
    server.stop()
