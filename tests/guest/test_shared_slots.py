"""Slots that workers share over a Redis: as long as one is held, and no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from lswc.frontier.exchange.post import Post
from lswc.guest.decisions import Group
from lswc.guest.shared_slots import LIFE, SharedSlots
from lswc.guest.slots import OF_ADDRESS
from tests.ports import free_port

if TYPE_CHECKING:
    from tests.frontier.redis_server import RedisServer

NAME = f"{OF_ADDRESS}192.0.2.1"
ADDRESS = [Group(NAME, 1, 0.0)]
RESTING = [Group(NAME, 1, 10 * LIFE)]


@pytest.fixture
def client(redis_server: RedisServer) -> Any:
    redis_server.empty()
    return Redis(port=redis_server.port)


@pytest.fixture
def post(client: Any) -> Post:
    return Post(client, "lswc:th")


def left(client: Any, post: Post) -> tuple[float, float]:
    """Return for how many seconds more the slot is taken, and its key is there."""
    key, (seconds, microseconds) = post.key("slots", NAME), client.time()
    ((_, until),) = client.zrange(key, 0, -1, withscores=True)
    return until / 1_000 - seconds - microseconds / 1e6, client.pttl(key) / 1_000


def test_a_slot_is_taken_once_and_free_again_when_it_is_given_back(post: Post) -> None:
    one, other = SharedSlots(post), SharedSlots(post)
    assert one.take(ADDRESS) == 0
    assert other.take(ADDRESS) > 0
    one.give_back(ADDRESS, asked=True)
    assert SharedSlots(post).take(ADDRESS) == 0


def test_what_is_renewed_is_held_however_long_that_takes(client: Any, post: Post) -> None:
    slots = SharedSlots(post)
    slots.take(ADDRESS)
    key = post.key("slots", NAME)
    ((token, until),) = client.zrange(key, 0, -1, withscores=True)
    client.zadd(key, {token: until - 1_000 * (LIFE - 5)})  # as the time before it was renewed
    client.pexpire(key, 5_000)
    assert max(left(client, post)) <= 5
    slots.renew()
    assert min(left(client, post)) > LIFE - 5
    assert SharedSlots(post).take(ADDRESS) > 0


def test_a_slot_that_rests_is_taken_for_as_long(client: Any, post: Post) -> None:
    slots = SharedSlots(post)
    slots.take(RESTING)
    slots.give_back(RESTING, asked=True)
    assert min(left(client, post)) > 9 * LIFE
    assert SharedSlots(post).take(ADDRESS) > 0


def test_what_expired_is_not_taken_again_by_who_renews_it(client: Any, post: Post) -> None:
    slots = SharedSlots(post)
    slots.take(ADDRESS)
    client.flushall()
    slots.renew()
    assert not client.exists(post.key("slots", NAME))
    assert SharedSlots(post).take(ADDRESS) == 0


def test_while_redis_is_away_each_keeps_its_own() -> None:
    post = Post(Redis(port=free_port()), "lswc:th")
    slots = SharedSlots(post)
    assert slots.take(ADDRESS) == 0
    slots.renew()
    assert slots.take(ADDRESS) > 0
    slots.give_back(ADDRESS, asked=True)
    assert slots.take(ADDRESS) == 0
