"""What holds of the hashes in which Redis knows URLs, while they grow in number."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis

from lswc.frontier import redis_script, redis_workers
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.redis_script import known_as, place_in
from lswc.frontier.shards import known_by, shard_of_key
from lswc.frontier.visit import Offer
from lswc.strategy import SEED, PageLanguage, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.frontier.redis_server import RedisServer

URLS = 150
AT_FIRST = redis_script.HASHES_AT_FIRST

KEYS = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture
def growing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float, int], None]]:
    """Lets the script have so many URLs in a hash, and split so many of them by a call."""

    def grow(known: float, splits: int) -> None:
        monkeypatch.setattr(redis_script, "KNOWN_A_HASH", known)
        monkeypatch.setattr(redis_script, "SPLITS", splits)
        redis_script.library.cache_clear()

    yield grow
    monkeypatch.undo()
    redis_script.library.cache_clear()


def joined(url: str) -> RedisFrontier:
    worker = Worker(clock_of_caller=True, time_to_live=1e6, known_as="one")
    return RedisFrontier(Redis.from_url(url), "c", strategy("soft_focused"), {}, worker=worker)


def offer(number: int) -> Offer:
    server = f"{number}.co.th"
    return Offer(f"http://{server}/", server, server, SEED, PageLanguage.TARGET, 0)


def hashes(client: Redis) -> int:
    found: Any = client.hget("{c}:about", "hashes")
    return int(found or AT_FIRST)


def kept(client: Any) -> dict[int, bytes]:
    """Return what is known, by key; each stands where it is looked for, and there alone."""
    found: dict[int, bytes] = {}
    for number in range(hashes(client)):
        name = f"seen:{number}"
        for field, by in client.hgetall(f"{{c}}:{name}").items():
            key = known_as(number, field)
            assert place_in(hashes(client), key) == (name, field)
            assert found.setdefault(key, by) is by
    assert int(client.hget("{c}:about", "known") or 0) == len(found)
    return found


@given(KEYS, st.integers(AT_FIRST, 2**20))
def test_a_key_is_told_by_its_hash_and_field(key: int, hashes: int) -> None:
    name, field = place_in(hashes, key)
    number = int(name.removeprefix("seen:"))
    assert number < hashes
    assert known_as(number, field) == key
    assert field[-6] == shard_of_key(key), "a rebalance goes by it"


@given(KEYS, st.integers(AT_FIRST, 2**20))
def test_a_split_moves_keys_of_one_hash_only(key: int, hashes: int) -> None:
    before, after = place_in(hashes, key), place_in(hashes + 1, key)
    half = 1 << hashes.bit_length() - 1
    if before[0] == f"seen:{hashes - half}":
        assert after[0] in {before[0], f"seen:{hashes}"}
    else:
        assert after == before


@pytest.mark.parametrize(
    ("at_first", "known", "splits"),
    [(AT_FIRST, 0.1, 3), (2**16 - URLS, 0.001, 4), (AT_FIRST, 64, 4)],
)
def test_urls_are_known_at_every_moment_of_the_splits(
    redis_server: RedisServer,
    client: Redis,
    growing: Callable[[float, int], None],
    at_first: int,
    known: float,
    splits: int,
) -> None:
    """Each waits, is finished, or is forgotten, and what is told of it is that."""
    growing(known, splits)
    numbers = range(URLS)
    waiting, finished, lost = set(numbers), set[int](), set[int]()
    with closing(joined(redis_server.url)) as frontier:
        if at_first > AT_FIRST:
            client.hset("{c}:about", "hashes", at_first)
        for number in numbers:
            before = hashes(client)
            frontier.offer([offer(number), offer(number // 2)])
            assert hashes(client) - before <= splits
            if number % 3 == 1:
                lease = frontier.lease(1.0)
                assert lease is not None
                frontier.commit(ended(lease))
                finished.add(int(lease.server.partition(".")[0]))
        frontier.offer(list(map(offer, numbers)))
        waiting -= finished
        assert frontier.pending == len(waiting), "none was new again"
        with frontier.reading() as reader:
            for number in numbers:
                found = reader.find(offer(number).url)
                assert found is not None
                assert (found.outcome is None) == (number in waiting)
        own = {known_by(offer(number).url) for number in finished}
        assert sorted(frontier.finished_here()) == sorted(own)
        lost = {number for number in finished if number % 2}
        frontier.forget(known_by(offer(number).url) for number in lost)
        assert kept(client).keys() == {
            known_by(offer(number).url) for number in waiting | finished - lost
        }
        frontier.offer(list(map(offer, numbers)))
        assert frontier.pending == len(waiting | lost)
    grown = at_first + min(URLS // 2 * splits, int(URLS / known))
    assert hashes(client) > grown / 2 if known < 1 else hashes(client) == AT_FIRST


def test_nobody_misses_a_url_whose_hash_is_split_meanwhile(
    redis_server: RedisServer,
    client: Redis,
    growing: Callable[[float, int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither who looks for one, nor who reads all."""
    growing(0.1, 100)
    monkeypatch.setattr(redis_workers, "BATCH", 50)
    with closing(joined(redis_server.url)) as frontier, frontier.reading() as reader:
        frontier.offer(list(map(offer, range(URLS))))
        before = hashes(client)
        while (lease := frontier.lease(1.0)) is not None:
            frontier.commit(ended(lease))
        found = frontier.finished_here()
        first = next(found)
        frontier.offer(list(map(offer, range(URLS, 9 * URLS))))
        assert hashes(client) > before
        assert {first, *found} == {known_by(offer(number).url) for number in range(URLS)}
        assert all(reader.find(offer(number).url) for number in range(9 * URLS))
