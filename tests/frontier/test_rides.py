"""What goes with the next call to a Redis arrives once, and isn't lost with a call that fails."""

from __future__ import annotations

import asyncio
from contextlib import closing
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redis import Redis

from lswc.errors import AwayError
from lswc.frontier.redis import RedisFrontier
from lswc.frontier.redis_script import AT_ONCE_OR_NOT, Connection
from lswc.frontier.rides import Ride, packed_groups
from lswc.frontier.visit import Offer
from lswc.guest.internet import ROBOTS, TDMREP
from lswc.guest.redis_rules import ASKED, SharedFiles
from lswc.guest.redis_slots import SharedSlots
from lswc.guest.slots import SOON, Group
from lswc.strategy import SEED, PageLanguage, strategy
from tests.frontier.redis_server import RedisServer
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.frontier.visit import Lease

ONE = Group("address 192.0.2.1", 1, 0.0)


@pytest.fixture
def frontier(redis_server: RedisServer) -> Iterator[RedisFrontier]:
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
        connection = Connection(client, "c")
        one, two = SharedFiles(connection), SharedFiles(connection)
        assert two.get(ROBOTS, "any") is None, "so the script is loaded"
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


def offered(server: str, number: int) -> list[Offer]:
    return [
        Offer(f"http://{server}/{n}", server, server, SEED, PageLanguage.TARGET, 0)
        for n in range(number)
    ]


def leased(frontier: RedisFrontier, now: float = 0.0) -> Lease:
    lease = frontier.lease(now)
    assert lease is not None
    return lease


@pytest.fixture
def told(redis_server: RedisServer, frontier: RedisFrontier) -> Iterator[tuple[SharedSlots, Any]]:
    """A worker's slots, and another's; Redis knows by what the first asked that "a" is of ONE."""
    frontier.offer(offered("a", 9))
    with Redis.from_url(redis_server.url) as client:
        own, theirs = SharedSlots(frontier.connection, 60.0), Connection(client, "c")
        lease = leased(frontier)
        assert own.take([ONE], "a") == 0
        own.give_back([ONE], asked=False)
        assert frontier.commit(ended(lease))
        yield own, theirs


def test_a_lease_comes_with_its_slots(
    frontier: RedisFrontier, told: tuple[SharedSlots, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = told
    before = scripts(other.client)
    lease = leased(frontier)
    assert own.take([ONE], "a") == 0
    assert scripts(other.client) == before, "without asking"
    assert SharedSlots(other, 60.0).take([ONE]) == SOON
    assert frontier.commit(ended(lease))
    assert SharedSlots(other, 60.0).take([ONE]) == SOON, "it is the request's"
    own.give_back([ONE], asked=False)
    assert SharedSlots(other, 60.0).take([ONE]) == 0
    now = monotonic()
    for module in ("frontier.rides", "guest.redis_slots"):
        monkeypatch.setattr(f"lswc.{module}.monotonic", lambda: now)
    lease = leased(frontier)
    assert lease.server == "a", "though its slots are another's"
    before = scripts(other.client)
    assert own.take([ONE], "a") == pytest.approx(SOON)
    assert scripts(other.client) == before, "it was told so"


@pytest.mark.parametrize("end", ["commit", "postpone", "give_back", "renew"])
def test_slots_that_no_request_took_go_back_with_the_lease(
    frontier: RedisFrontier, told: tuple[SharedSlots, Connection], end: str
) -> None:
    _, other = told
    lease = leased(frontier)
    assert SharedSlots(other, 60.0).take([ONE]) == SOON
    match end:
        case "commit":
            assert frontier.commit(ended(lease, "robots"))
        case "postpone":
            assert frontier.postpone(ended(lease, "timeout"), 9.0)
        case "give_back":
            assert frontier.give_back(ended(lease))
        case _:
            other.client.hset("{c}:leases", "a", "another's 1 0")
            assert frontier.renew(0.0)
            frontier.renew(0.0)
    assert SharedSlots(other, 60.0).take([ONE]) == 0


def test_slots_of_a_lease_go_back_if_its_request_needs_others(
    frontier: RedisFrontier, told: tuple[SharedSlots, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = told
    moved = Group("address 192.0.2.9", 1, 0.0)
    lease = leased(frontier)
    assert own.take([moved], "a") == 0
    assert SharedSlots(other, 60.0).take([ONE]) == 0, "the one of before"
    assert frontier.commit(ended(lease))
    lease = leased(frontier)
    assert own.take([moved], "a") == SOON, "it is told of the new one, and has it twice"
    own.give_back([moved], asked=False)
    more = Group(moved.name, 2, 0.0)
    assert own.take([more], "a") == 0
    own.give_back([more], asked=False)
    assert frontier.commit(ended(lease))
    leased(frontier)
    assert own.take([moved], "a") == 0, "it has as many slots as this says"
    own.give_back([moved], asked=False)


def test_slots_of_a_lease_hold_only_for_a_while(
    frontier: RedisFrontier, told: tuple[SharedSlots, Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What isn't asked for isn't renewed: Redis takes its worker for dead."""
    own, other = told
    leased(frontier)
    monkeypatch.setattr("lswc.frontier.rides.monotonic", lambda: monotonic() + 31.0)
    before = scripts(other.client)
    assert own.take([ONE], "a") == 0
    assert scripts(other.client) == before + 1


def test_redis_knows_the_groups_of_few_servers(
    frontier: RedisFrontier,
    told: tuple[SharedSlots, Connection],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, other = told
    monkeypatch.setattr("lswc.guest.redis_slots.KNOWN", 3)
    for number in range(5):
        assert own.take([Group(f"address {number}", 1, 0.0)], f"s{number}") == 0
    frontier.renew(0.0)
    assert other.client.hkeys("{c}:groups") == [b"s3", b"s4"]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 9)), min_size=20))
def test_two_workers_never_ask_an_address_more_than_its_slots(
    redis_server: RedisServer, steps: list[tuple[int, int, int]]
) -> None:
    """Whatever leases come with, and whether or not their requests go."""
    address, slots_of = Group("address 192.0.2.3", 2, 0.0), dict[int, SharedSlots]()
    with Redis.from_url(redis_server.url) as client:
        client.flushall()
    workers = [
        RedisFrontier(Redis.from_url(redis_server.url), "c", strategy("bfs"), {}) for _ in range(2)
    ]
    leases: list[list[Lease]] = [[], []]
    asking: list[list[str]] = [[], []]
    with closing(workers[0]), closing(workers[1]):
        for number, frontier in enumerate(workers):
            slots_of[number] = SharedSlots(frontier.connection, 60.0)
        workers[0].offer([offer for n in range(6) for offer in offered(f"s{n}", 5)])
        for number in range(5):  # of the sixth Redis is told by a request
            known = packed_groups([(address.name, address.slots)])
            workers[0].connection.rides.add(Ride("groups", f"s{number}", known, 0.0, 100))
        for who, what, which in steps:
            frontier, slots, held = workers[who], slots_of[who], leases[who]
            chosen = held[which % len(held)] if held else None
            if what <= 1 and (lease := frontier.lease(0.0)) is not None:
                held.append(lease)
            elif what <= 3 and chosen is not None:
                if slots.take([address], chosen.server) == 0:
                    asking[who].append(chosen.server)
            elif what == 4 and asking[who]:
                asking[who].pop()
                slots.give_back([address], asked=False)
            elif what == 5 and chosen is not None:
                held.remove(chosen)
                frontier.commit(ended(chosen, relevant=True))
            assert len(asking[0]) + len(asking[1]) <= address.slots
