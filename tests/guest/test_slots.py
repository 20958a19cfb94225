"""Slots: never more taken than there are, and none lost."""

from __future__ import annotations

import asyncio
import tracemalloc
from typing import TYPE_CHECKING, Any, cast

from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from lswc.frontier.redis_script import Connection
from lswc.guest.redis_slots import SharedSlots
from lswc.guest.slots import REMEMBERED, SOON, Group, OwnSlots
from tests.loop import in_loop

if TYPE_CHECKING:
    from tests.frontier.redis_server import RedisServer

MACHINE, DOMAIN = Group("address", 2, 3.0), Group("domain", 3, 0.0)


@given(st.lists(st.sampled_from(["take both", "take domain", "give back", "wait"]), max_size=40))
def test_never_more_than_there_are(steps: list[str]) -> None:
    now = 0.0
    slots = OwnSlots(lambda: now)
    held: list[list[Group]] = []
    rested: list[float] = []
    for step in steps:
        match step:
            case "give back" if held:
                groups = held.pop(0)
                slots.give_back(groups, asked=True)
                rested += [now + MACHINE.rest] * (MACHINE in groups)
            case "take both" | "take domain":
                groups = [MACHINE, DOMAIN] if step == "take both" else [DOMAIN]
                wait = slots.take(groups)
                assert wait >= 0
                machine = sum(MACHINE in taken for taken in held)
                machine += sum(time > now for time in rested)
                free = len(held) < 3 and (machine < 2 or MACHINE not in groups)
                assert (wait == 0) == free
                held += [groups] * free
            case "wait":
                now += 1.0


def test_workers_share_them(redis_server: RedisServer) -> None:
    client = Redis.from_url(redis_server.url)
    one, two = (SharedSlots(Connection(client, "slots-test"), 60.0) for _ in range(2))
    both = [MACHINE, DOMAIN]
    assert [one.take(both), two.take(both)] == [0, 0]
    assert one.take(both) > 0
    assert two.take([DOMAIN]) == 0
    assert one.take([DOMAIN]) > 0
    one.give_back(both, asked=False)
    assert two.take(both) == 0
    two.give_back(both, asked=True)
    assert one.take(both) > 0, "it rests"
    assert one.take([DOMAIN]) == 0
    rests = Group("rests", 1, 25.0)
    assert one.take([rests]) == 0
    assert two.take([rests]) == SOON, "it is being asked"
    one.give_back([rests], asked=True)
    assert two.take([rests]) == 1.0, "it rests, and is looked at again each second"


@in_loop
async def test_slots_are_given_back_by_the_call_that_takes_the_next(
    redis_server: RedisServer,
) -> None:
    client = Redis.from_url(redis_server.url)
    connection = Connection(client, "given-test")

    def calls() -> int:
        found: Any = client.info("commandstats")
        return int(found["cmdstat_evalsha"]["calls"])

    slots, other = (SharedSlots(connection, 60.0) for _ in range(2))
    one = Group("one", 1, 0.0)
    assert slots.take([one, DOMAIN]) == 0
    before = calls()
    for _ in range(5):
        slots.give_back([one, DOMAIN], asked=True)
        assert slots.take([one, DOMAIN]) == 0
    assert calls() == before + 5
    slots.give_back([one, DOMAIN], asked=True)
    for _ in range(3000):  # it doesn't wait for another page
        if not other.take([one]):
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it is never given back")


def test_a_dead_worker_s_slots_are_free_in_time(redis_server: RedisServer) -> None:
    client = Redis.from_url(redis_server.url)
    dead, living = (SharedSlots(Connection(client, "dead-test"), 60.0) for _ in range(2))
    assert [dead.take([MACHINE]) for _ in range(2)] == [0, 0]
    assert living.take([MACHINE]) > 0
    key = f"{{dead-test}}:slots:{MACHINE.name}"
    taken: Any = client.zrange(key, 0, -1)
    for token in taken:
        client.zincrby(key, -60_000, token)  # as if a minute had passed
    assert living.take([MACHINE]) == 0
    living.give_back([MACHINE], asked=False)
    dead.give_back([MACHINE], asked=False)  # it only slept: its slot is another's by now
    assert living.take([MACHINE]) == 0


def test_a_living_worker_keeps_its_slots(redis_server: RedisServer) -> None:
    client = Redis.from_url(redis_server.url)
    living, other = (SharedSlots(Connection(client, "live-test"), 60.0) for _ in range(2))
    one = Group("one", 1, 0.0)
    assert living.take([MACHINE, one]) == 0
    key = f"{{live-test}}:slots:{one.name}"
    (token,) = cast("list[bytes]", client.zrange(key, 0, -1))
    client.zincrby(key, -59_000, token)  # as if it were about to expire
    living.renew()
    client.zincrby(key, -59_000, token)
    assert other.take([one]) > 0


def test_machines_that_have_rested_take_no_memory() -> None:
    now = [0.0]
    slots = OwnSlots(lambda: now[0])

    def ask(number: int) -> None:
        groups = [Group(f"address {number}", 1, 1.0)]
        assert slots.take(groups) == 0.0
        slots.give_back(groups, asked=True)
        now[0] += 0.01

    tracemalloc.start()
    for number in range(REMEMBERED):
        ask(number)
    before, _ = tracemalloc.get_traced_memory()
    for number in range(REMEMBERED, 4 * REMEMBERED):
        ask(number)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after < 1.5 * before
    resting = Group(f"address {4 * REMEMBERED - 1}", 1, 1.0)
    assert 0.9 < slots.take([resting]) <= 1.0


def test_slots_that_rest_are_not_asked_for_again(redis_server: RedisServer) -> None:
    client = Redis.from_url(redis_server.url)
    slots = SharedSlots(Connection(client, "{rest-test}:"), 60.0)
    rests = Group("rests", 1, 25.0)
    assert slots.take([rests]) == 0
    slots.give_back([rests], asked=True)
    assert slots.take([DOMAIN, rests]) == 1.0
    found: Any = client.info("commandstats")
    before = found["cmdstat_evalsha"]["calls"]
    assert 0 < slots.take([rests]) <= 1.0
    assert slots.take([DOMAIN]) == 0
    found = client.info("commandstats")
    assert found["cmdstat_evalsha"]["calls"] == before + 1
