"""What a server told one worker it needn't tell the next."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from lswc.frontier.redis_script import Connection
from lswc.guest import redis_rules
from lswc.guest.decisions import End, Refuse
from lswc.guest.internet import ROBOTS, TDMREP
from lswc.guest.redis_rules import SharedFiles, SharedLearned
from lswc.guest.sharded import ShardedLearned
from tests.guest.world import POLITE, Hosted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

PAGE = "http://www.a.example/page"
SERVER = "www.a.example"


@pytest.fixture
def shared(redis_server: RedisServer) -> Iterator[Connection]:
    with Redis.from_url(redis_server.url) as client:
        yield Connection(client, "shared")


@pytest.fixture
def both(shared: Connection, tmp_path: Path) -> Iterator[list[Hosted]]:
    workers = [Hosted(tmp_path / name, POLITE, shared) for name in ("one", "two")]
    yield workers
    for worker in workers:
        worker.close()


def test_robots_txt_is_fetched_by_one(both: list[Hosted]) -> None:
    one, two = both
    one.world.says(SERVER, "User-agent: *\nDisallow: /page\nCrawl-delay: 7\n")
    assert isinstance(asyncio.run(one.may(PAGE)), Refuse)
    assert isinstance(asyncio.run(two.may(PAGE)), Refuse)
    assert two.guest.rules.crawl_delay(SERVER) == 7
    assert (len(one.world.fetched), len(two.world.fetched)) == (1, 0)


def test_its_sitemaps_are_heard_of_by_both(both: list[Hosted]) -> None:
    said = "User-agent: *\nAllow: /\nSitemap: http://www.a.example/map.xml\n"
    both[0].world.says(SERVER, said)
    for worker in both:
        heard: list[tuple[str, bytes, str]] = []
        worker.guest.rules.heard = lambda *told, heard=heard: heard.append(told)
        asyncio.run(worker.may(PAGE))
        assert heard == [(SERVER, said.encode(), "http://www.a.example/robots.txt")]


def test_a_failure_to_give_it_is_not_shared(both: list[Hosted]) -> None:
    one, two = both
    one.world.says(SERVER, "", status=503)
    asyncio.run(one.may(PAGE))
    asyncio.run(two.go(PAGE))
    assert (SERVER, ROBOTS) in two.world.fetched


def test_tdmrep_json_is_fetched_by_one(both: list[Hosted]) -> None:
    one, two = both
    one.world.says(SERVER, '[{"location": "/", "tdm-reservation": 1}]', file=TDMREP)
    assert asyncio.run(one.reserved(PAGE)) == asyncio.run(two.reserved(PAGE)) != ()
    assert two.world.fetched == []


def test_one_s_overload_is_the_other_s(both: list[Hosted]) -> None:
    one, two = both
    assert asyncio.run(one.rest(PAGE, End(429, is_live=False))) == POLITE.backoff
    two.guest.look()
    assert two.guest.wait(SERVER) > POLITE.backoff / 2
    two.world.time += POLITE.backoff
    assert asyncio.run(two.rest(PAGE, End(503, is_live=False))) == 2 * POLITE.backoff
    one.guest.backoff.answered(SERVER)
    two.guest.look()
    assert two.guest.backoff.remaining(SERVER, two.world.unix_time()) == 0


def test_they_are_few_and_small(shared: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_rules, "KEPT", 3)
    files = SharedFiles(shared)
    for number in range(6):
        files.put(ROBOTS, f"s{number}", b"#", 100.0 + number)
    assert [files.get(ROBOTS, f"s{number}") is not None for number in range(6)] == 3 * [0] + 3 * [1]
    assert shared.client.hlen("{shared}:rules") == shared.client.zcard("{shared}:rules:until") == 3
    files.put(ROBOTS, "long", random.Random(1).randbytes(5_000), 100.0)
    assert files.get(ROBOTS, "long") is None
    files.put(ROBOTS, "short", b"#", 0.0)
    assert files.get(ROBOTS, "short") is None, "it is over"


def test_what_one_worker_learned_of_a_server_all_know(
    shared: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = SharedLearned(shared), SharedLearned(shared)
    heard: list[tuple[str, str]] = []
    two.heard.append(heard.append)
    one.put(SERVER, "cookies", {"sent": [["a", "1"]]})
    assert two.get(SERVER, "cookies") is None
    two.look()
    assert two.get(SERVER, "cookies") == {"sent": [["a", "1"]]}
    assert heard == [(SERVER, "cookies")]
    assert SharedLearned(shared).get(SERVER, "cookies") == {"sent": [["a", "1"]]}
    monkeypatch.setattr(shared.client, "hgetall", None)
    two.look()  # as nothing is new, nothing is read
    one.close()


def test_what_was_learned_is_on_the_server_that_holds_the_site(redis_server: RedisServer) -> None:
    with Redis.from_url(redis_server.url) as client:
        parts = [
            SimpleNamespace(index=index, connection=Connection(client, f"part{index}"))
            for index in range(2)
        ]
        frontier: Any = SimpleNamespace(
            parts=parts,
            part_of=lambda server: parts[server.startswith("b")],
            ask=lambda part, asked: asked(),
            ask_all=lambda asked: [asked(part) for part in parts],
        )
        one, two = ShardedLearned(frontier), ShardedLearned(frontier)
        one.put("a.example", "twin", "b.example")
        one.put("b.example", "twin", "d.example")
        two.look()
        assert two.get("a.example", "twin") == "b.example"
        assert client.hkeys("{part0}:learned") == [b"a.example\ntwin"]
        assert client.hkeys("{part1}:learned") == [b"b.example\ntwin"]
        one.put("b.example", "twin", "c.example")
        two.look()
        assert two.get("a.example", "twin") == "b.example"
        assert two.get("b.example", "twin") == "c.example"
