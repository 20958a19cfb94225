"""A Redis that forgets, is full, or whose clock is set back."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from tests.faults.web import Crawl, FaultyWeb, graph
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def web(tmp_path: Path) -> Iterator[FaultyWeb]:
    with FaultyWeb(tmp_path) as web:
        yield web


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    server = RedisServer(tmp_path / "redis")
    yield server
    server.stop()


@pytest.fixture
def client(redis: RedisServer) -> Iterator[Redis]:
    with Redis.from_url(redis.url) as client:
        yield client


@pytest.fixture
def crawl(web: FaultyWeb, redis: RedisServer, tmp_path: Path) -> Iterator[Crawl]:
    settings = {"LSWC_FRONTIER": redis.url, "LSWC_LEASE_SECONDS": 2}
    with closing(Crawl(web, tmp_path / "crawl", **settings)) as crawl:
        yield crawl


def flushed(redis: RedisServer, client: Redis) -> None:
    client.flushall()


def restarted(redis: RedisServer, client: Redis) -> None:
    redis.kill()
    redis.start()


@pytest.mark.parametrize("forget", [flushed, restarted])
def test_a_redis_that_lost_the_crawl_ends_it_and_nothing_is_overwritten(
    web: FaultyWeb,
    crawl: Crawl,
    redis: RedisServer,
    client: Redis,
    forget: Callable[[RedisServer, Redis], None],
) -> None:
    web.after(30, lambda: forget(redis, client))
    crawl.folder.mkdir()
    (crawl.folder / "summary.json").write_text("of an earlier run")
    crawl.start()
    assert crawl.finish() == 1, crawl.log
    assert "Traceback" not in crawl.log
    assert "has lost the crawl" in crawl.said[0]
    assert (crawl.folder / "summary.json").read_text() == "of an earlier run"
    kept = (crawl.folder / "pages.jsonl").read_bytes()
    assert kept
    crawl.start()
    assert crawl.finish() == 2, crawl.log
    assert "record of another crawl" in crawl.log
    assert (crawl.folder / "pages.jsonl").read_bytes() == kept


def test_a_full_redis_ends_the_crawl_which_goes_on_when_there_is_room(
    web: FaultyWeb, crawl: Crawl, client: Redis
) -> None:
    web.after(30, lambda: client.config_set("maxmemory", 1))
    crawl.start()
    assert crawl.finish() == 1, crawl.log
    assert "Traceback" not in crawl.log
    assert "refuses the crawl" in crawl.said[0]
    client.config_set("maxmemory", 0)
    crawl.start()
    assert crawl.finish() == 0, crawl.log
    crawl.check()


STEP = """
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'last', time[1] * 1000 + 3600000, 'ahead', 0)
for _, server in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  redis.call('ZINCRBY', KEYS[2], ARGV[1], server)
end
"""
"""As if the last call had been when the clock of the machine was an hour ahead."""


def test_a_clock_that_is_set_back_holds_no_server(
    web: FaultyWeb, crawl: Crawl, client: Redis
) -> None:
    keys = ("{lswc:th}:clock", "{lswc:th}:busy")
    web.after(30, lambda: client.eval(STEP, 2, *keys, 3_600_000))
    crawl.start()
    assert crawl.finish() == 0, crawl.log
    crawl.check()
    assert len(web.asked) == len(set(web.asked)) == len(graph()) + 2 * 12, "and rules of servers"


def test_a_clock_that_jumps_ahead_ends_leases_and_loses_nothing(
    web: FaultyWeb, crawl: Crawl, client: Redis
) -> None:
    web.after(30, lambda: client.eval(STEP, 2, "{lswc:th}:clock", "{lswc:th}:busy", 0))
    crawl.start()
    assert crawl.finish() == 0, crawl.log
    crawl.check()
