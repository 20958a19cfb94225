"""A Redis that forgets, is full, or whose clock is set back."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from tests.faults.web import Crawl, FaultyWeb, graph, recorded
from tests.frontier.redis_server import RedisServer
from tests.scenarios.site import SCRAPY, run

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def redis(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    server = RedisServer(tmp_path / "redis", *getattr(request, "param", ()))
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
    assert any("has lost the crawl" in line for line in crawl.said)
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
    assert any("refuses the crawl" in line for line in crawl.said)
    client.config_set("maxmemory", 0)
    crawl.start()
    assert crawl.finish() == 0, crawl.log
    crawl.check()


@pytest.fixture
def second(crawl: Crawl, tmp_path: Path) -> Iterator[Crawl]:
    """A second worker."""
    with closing(crawl.beside(tmp_path / "second")) as second:
        yield second


def check_all(*workers: Crawl) -> None:
    """Assert that all is recorded by some worker, nothing twice, and the files agree."""
    for one in workers:
        assert "Traceback" not in one.log, one.log
    found, wanted = recorded(*(one.folder for one in workers)), Counter(list(graph()))
    assert (wanted - found, found - wanted) == (Counter(), Counter())
    for one in workers:
        done = checked(one.folder)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout


def checked(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return told("check", str(folder), *options)


def told(*command: str) -> subprocess.CompletedProcess[str]:
    return run([*SCRAPY, *command])


def comes_back_older(
    web: FaultyWeb, redis: RedisServer, client: Redis, then: int, *workers: Crawl
) -> None:
    """Let Redis be as it was at the tenth request, once so many have come and all workers."""

    def older() -> None:
        for worker in workers:
            worker.wait_until_it_crawls()
        restarted(redis, client)

    web.after(10, client.save)
    web.after(then, older)


@pytest.mark.parametrize("then", [25, 60])
def test_a_redis_that_comes_back_older_has_nothing_twice_and_nothing_missing(
    web: FaultyWeb, crawl: Crawl, second: Crawl, redis: RedisServer, client: Redis, then: int
) -> None:
    comes_back_older(web, redis, client, then, crawl, second)
    for worker in (crawl, second):
        worker.start()
    assert [worker.finish() for worker in (crawl, second)] == [0, 0], (crawl.log, second.log)
    assert any("has forgotten the latest pages" in line for line in crawl.said + second.said)
    check_all(crawl, second)


def test_a_worker_that_an_older_redis_never_met(
    web: FaultyWeb, crawl: Crawl, second: Crawl, redis: RedisServer, client: Redis
) -> None:
    """It comes after the state that Redis goes back to."""
    comes_back_older(web, redis, client, 60, crawl, second)
    web.after(11, second.start)
    crawl.start()
    crawl.wait_until(lambda: second.process is not None)
    assert [worker.finish() for worker in (crawl, second)] == [0, 0], (crawl.log, second.log)
    check_all(crawl, second)


def test_a_stopped_worker_that_an_older_redis_never_met(
    crawl: Crawl, second: Crawl, redis: RedisServer, client: Redis
) -> None:
    """It ended in order: its log is in tables, its index is sorted."""
    crawl.start(CLOSESPIDER_ITEMCOUNT=10)
    assert crawl.finish() == 0
    client.save()
    second.start(CLOSESPIDER_ITEMCOUNT=20)
    assert second.finish() == 0
    kept = (second.folder / "pages.jsonl").read_bytes()
    assert kept
    restarted(redis, client)
    second.start()
    assert second.finish() == 0, second.log
    check_all(crawl, second)
    aside = second.folder.glob("aside/*/pages.jsonl")
    assert sorted(b"".join(path.read_bytes() for path in aside)) == sorted(kept)


KEEPS_ALL = ("--appendonly", "yes", "--appendfsync", "always")


@pytest.mark.parametrize("redis", [KEEPS_ALL], indirect=True)
def test_workers_outlive_an_outage(
    web: FaultyWeb, crawl: Crawl, second: Crawl, redis: RedisServer
) -> None:
    """However long it takes: they wait, and go on with what they had."""

    def cut() -> None:
        for worker in (crawl, second):
            worker.wait_until_it_crawls()
        redis.kill()

    web.after(30, cut)
    impatient = '{"tests.faults.component.Impatient": 1, "lswc.monitor.recorder.Recorder": 2}'
    for worker in (crawl, second):
        worker.start(EXTENSIONS=impatient)
    for worker in (crawl, second):
        wait_for_outage(worker)
    redis.start()
    assert [worker.finish() for worker in (crawl, second)] == [0, 0], (crawl.log, second.log)
    check_all(crawl, second)


def wait_for_outage(worker: Crawl) -> None:
    """Wait until the log and `now.json` of a worker say that Redis is away."""
    now = worker.folder / "now.json"
    worker.wait_until(lambda: "can't be reached" in worker.log)
    worker.wait_until(lambda: now.exists() and b"Redis is away" in now.read_bytes())


@pytest.mark.parametrize("redis", [KEEPS_ALL], indirect=True)
def test_an_outage_that_is_too_long_ends_the_crawl_which_goes_on_later(
    web: FaultyWeb, crawl: Crawl, redis: RedisServer
) -> None:
    web.after(30, redis.kill)
    crawl.start(EXTENSIONS='{"tests.faults.component.Impatient": 1}', LSWC_MAX_OFFLINE=2)
    assert crawl.finish() == 1, crawl.log
    assert "Traceback" not in crawl.log
    redis.start()
    crawl.start()
    assert crawl.finish() == 0, crawl.log
    crawl.check()


def test_a_worker_s_folder_that_is_lost(
    web: FaultyWeb, crawl: Crawl, second: Crawl, redis: RedisServer, tmp_path: Path
) -> None:
    second.start(CLOSESPIDER_ITEMCOUNT=20)
    assert second.finish() == 0, second.log
    crawl.start()
    assert crawl.finish() == 0, crawl.log
    lost = set(recorded(second.folder))
    assert lost
    second.folder.rename(tmp_path / "gone")
    second.start()
    assert second.finish() == 2, second.log
    assert "pages.jsonl is gone: put it back" in second.log
    assert set(recorded(crawl.folder)) == set(graph()) - lost
    check_lost(second, redis, lost)
    second.start()
    assert second.finish() == 0, second.log
    check_all(crawl, second)


def check_lost(second: Crawl, redis: RedisServer, lost: set[str]) -> None:
    """Check a folder that is gone, and let what it had wait again."""
    done = checked(second.folder, "--redis", redis.url)
    assert done.returncode == 1, done.stderr
    assert f"{len(lost)} URLs that this worker finished" in done.stdout
    named = set(done.stdout.splitlines()) & set(graph())
    assert named
    assert named <= lost
    done = checked(second.folder, "--redis", redis.url, "--repair")
    assert done.returncode == 0, done.stderr
    assert f"{len(named)} lost URL" in done.stdout


def test_a_worker_s_folder_knows_its_redis(
    crawl: Crawl, redis: RedisServer, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.config_set("requirepass", "s3cret")
    crawl.start(LSWC_FRONTIER=redis.url.replace("//", "//:s3cret@"), CLOSESPIDER_ITEMCOUNT=20)
    assert crawl.finish() == 0, crawl.log
    assert not any(b"s3cret" in path.read_bytes() for path in files(crawl.folder))
    for command in ("check", "frontier", "control"):
        refused = told(command, str(crawl.folder))
        assert refused.returncode == 2
        assert "REDISCLI_AUTH" in refused.stderr
        monkeypatch.setenv("REDISCLI_AUTH", "s3cret")
        done = told(command, str(crawl.folder))
        monkeypatch.delenv("REDISCLI_AUTH")
        assert (done.returncode, done.stderr) == (0, "")
    before = {path: path.read_bytes() for path in files(crawl.folder)}
    redis.kill()
    away = checked(crawl.folder, "--repair")
    assert away.returncode == 1
    assert len(away.stderr.splitlines()) == 1
    assert {path: path.read_bytes() for path in files(crawl.folder)} == before


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


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
    crawl.start(LSWC_LEASE_SECONDS=60)  # a page whose lease ends is asked for twice
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
