"""What goes with the next call to a Redis arrives once, and isn't lost with a call that fails."""

from __future__ import annotations

import asyncio
from contextlib import closing
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from lswc.errors import AwayError
from lswc.frontier.redis import RedisFrontier
from lswc.frontier.redis_script import AT_ONCE_OR_NOT, Connection
from lswc.frontier.rides import Ride
from lswc.guest.internet import ROBOTS, TDMREP
from lswc.guest.redis_rules import ASKED, SharedFiles
from lswc.guest.redis_slots import SharedSlots
from lswc.guest.slots import SOON, Group
from lswc.strategy import strategy
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ONE = Group("address 192.0.2.1", 1, 0.0)


@pytest.fixture
def frontier(redis_server: RedisServer) -> Iterator[RedisFrontier]:
    with Redis.from_url(redis_server.url) as client:
        client.flushall()
    made = RedisFrontier(Redis.from_url(redis_server.url), "c", strategy("adaptive"), {})
    with closing(made):
        yield made


def scripts(client: Redis) -> int:
    found: Any = client.info("commandstats")
    return int(found.get("cmdstat_evalsha", {"calls": 0})["calls"])


def test_slots_and_files_go_with_a_call_of_the_frontier(
    redis_server: RedisServer, frontier: RedisFrontier
) -> None:
    other = Connection(Redis.from_url(redis_server.url), "c")

    async def visit() -> None:
        slots, theirs = (SharedSlots(one, 60.0) for one in (frontier.connection, other))
        files = SharedFiles(frontier.connection)
        assert slots.take([ONE]) == 0
        assert theirs.take([ONE]) == SOON
        before = scripts(other.client)
        slots.give_back([ONE], asked=True)
        files.put(ROBOTS, "a", b"User-agent: *\0\n", 100.0)
        frontier.lease(0.0)
        assert scripts(other.client) == before
        assert not frontier.connection.rides
        assert theirs.take([ONE]) == 0
        body, seconds = SharedFiles(other).get(ROBOTS, "a") or (b"", 0.0)
        assert body == b"User-agent: *\0\n"
        assert 0 < seconds <= 100

    asyncio.run(visit())
    other.client.close()


def test_a_slot_rests_while_it_waits_for_a_call(
    redis_server: RedisServer, frontier: RedisFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests = Group("address 192.0.2.2", 1, 25.0)
    with Redis.from_url(redis_server.url) as client:
        other = Connection(client, "c")

        async def is_free(late: float) -> bool:
            slots = SharedSlots(frontier.connection, 60.0)
            assert slots.take([rests]) == 0
            slots.give_back([rests], asked=True)
            with monkeypatch.context() as patch:
                patch.setattr("lswc.frontier.rides.monotonic", lambda: monotonic() + late)
                frontier.renew(0.0)
            found = not SharedSlots(other, 60.0).take([rests])
            client.delete(f"{{c}}:slots:{rests.name}")
            return found

        assert not asyncio.run(is_free(0.0))
        assert asyncio.run(is_free(rests.rest))


def test_what_a_call_that_fails_had_with_it_goes_with_the_next(tmp_path: Path) -> None:
    redis = RedisServer(tmp_path)
    try:
        with Redis.from_url(redis.url) as client:
            connection = Connection(client, "c")
            client.set_retry(AT_ONCE_OR_NOT)
            files = SharedFiles(connection)
            files.put(ROBOTS, "a", b"#", 100.0)
            redis.kill()
            with pytest.raises(AwayError):
                files.get(ROBOTS, "b")
            redis.start()
            assert files.get(ROBOTS, "a") is not None
            assert not connection.rides
    finally:
        redis.stop()


def test_what_comes_while_a_call_is_under_way_goes_with_the_next(frontier: RedisFrontier) -> None:
    rides = frontier.connection.rides
    first, second = (Ride("slot", name, b"token", 0.0) for name in "ab")
    rides.add(first)
    sent, arrived = rides.packed()
    rides.add(second)
    arrived()
    alone, _ = rides.packed()
    assert b"a" in sent
    assert alone == second.packed(0.0)


def test_one_call_asks_for_both_files_of_a_server(
    redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr("lswc.guest.redis_rules.monotonic", lambda: now[0])
    monkeypatch.setattr("lswc.frontier.rides.monotonic", lambda: now[0])
    with Redis.from_url(redis_server.url) as client:
        client.flushall()
        connection = Connection(client, "c")
        one, two = SharedFiles(connection), SharedFiles(connection)
        one.put(ROBOTS, "a", b"robots", 100.0)
        before = scripts(client)
        assert two.get(TDMREP, "a") is None
        now[0] += ASKED
        body, seconds = two.get(ROBOTS, "a") or (b"", 0.0)
        assert body == b"robots"
        assert seconds < 100 - ASKED + 1
        assert scripts(client) == before + 1
        assert two.get(ROBOTS, "a") is not None, "it is asked anew"
        one.put(TDMREP, "a", b"[]", 100.0)
        now[0] += 2 * ASKED
        assert two.get(TDMREP, "a") is not None, "what was said of it is too old"
        assert one.get(ROBOTS, "b") is None
        one.put(TDMREP, "b", b"[]", 100.0)
        assert one.get(TDMREP, "b") is not None, "it is known here"
