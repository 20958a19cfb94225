"""One crawl over three Redis servers, of which one goes away, or forgets."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from contextlib import ExitStack, closing
from functools import partial
from time import sleep
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from tests.faults.test_redis import KEEPS_ALL, check_all, told
from tests.faults.web import Crawl, FaultyWeb, graph, url
from tests.frontier.redis_server import RedisServer
from tests.scenarios.site import ROOT, SCRAPY, environment, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.fixture
def servers(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[list[RedisServer]]:
    servers = []
    for number in range(3):
        folder = tmp_path / f"redis{number}"
        folder.mkdir()
        servers.append(RedisServer(folder, *getattr(request, "param", KEEPS_ALL)))
    yield servers
    for server in servers:
        server.stop()


@pytest.fixture
def workers(web: FaultyWeb, servers: list[RedisServer], tmp_path: Path) -> Iterator[list[Crawl]]:
    settings = {"LSWC_FRONTIER": address(servers), "LSWC_LEASE_SECONDS": 2}
    with ExitStack() as stack:
        first = stack.enter_context(closing(Crawl(web, tmp_path / "one", **settings)))
        yield [first, stack.enter_context(closing(first.beside(tmp_path / "two")))]


def address(servers: list[RedisServer]) -> str:
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    return f"redis://{hosts}/0"


def finish(workers: list[Crawl]) -> None:
    ended = [worker.finish() for worker in workers]
    assert not any(ended), [worker.log for worker in workers]
    check_all(*workers)


def test_two_workers_of_three_servers_and_what_is_told_of_their_crawl(
    web: FaultyWeb, workers: list[Crawl], servers: list[RedisServer]
) -> None:
    for worker in workers:
        worker.start()
    finish(workers)
    shares = []
    for server in servers:
        with Redis.from_url(server.url) as client:
            shares.append(int(client.hget("{lswc:th}:tally", "finished\nhtml") or 0))
    assert sum(shares) == len(graph())
    assert all(shares)
    shown = told("frontier", address(servers))
    assert shown.returncode == 0, shown.stderr
    assert str(len(graph())) in shown.stdout
    whys = [told("why", str(worker.folder), url(7)) for worker in workers]
    assert [why.returncode for why in whys] == [0, 0], [why.stderr for why in whys]
    assert any("\nhtml, " in why.stdout for why in whys)
    said = told("control", str(workers[0].folder), "block", "s3.example", "--why", "asked")
    assert said.returncode == 0, said.stderr
    assert "asked" in told("control", address(servers)).stdout
    for wrong in (servers[:1], servers[:2], [servers[1], servers[0], servers[2]]):
        workers[0].start(LSWC_FRONTIER=address(wrong))
        assert workers[0].finish() == 2, workers[0].log
        assert "name in LSWC_FRONTIER the servers that the crawl was begun with" in workers[0].log
        assert "Traceback" not in workers[0].log


def notices(worker: Crawl) -> bool:
    return "its sites wait, the others go on" in worker.log


def test_a_server_that_is_away_keeps_its_sites_waiting_and_no_others(
    web: FaultyWeb, workers: list[Crawl], servers: list[RedisServer]
) -> None:
    def cut() -> None:
        for worker in workers:
            worker.wait_until_it_crawls()
        servers[1].kill()

    web.after(30, cut)
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.wait_until(partial(notices, worker))
    servers[1].start()
    finish(workers)


@pytest.mark.parametrize("servers", [()], indirect=True)
def test_a_server_that_comes_back_older(
    web: FaultyWeb, workers: list[Crawl], servers: list[RedisServer]
) -> None:
    def older() -> None:
        for worker in workers:
            worker.wait_until_it_crawls()
        servers[1].kill()
        servers[1].start()

    with Redis.from_url(servers[1].url) as client:
        web.after(10, client.save)
        web.after(40, older)
        for worker in workers:
            worker.start()
        finish(workers)


def test_a_worker_and_a_server_are_killed(
    web: FaultyWeb, workers: list[Crawl], servers: list[RedisServer]
) -> None:
    def kill() -> None:
        for worker in workers:
            worker.wait_until_it_crawls()
        servers[2].kill()
        workers[1].kill()

    web.after(30, kill)
    for worker in workers:
        worker.start()
    assert workers[1].finish() == -signal.SIGKILL
    servers[2].start()
    workers[1].start()
    finish(workers)


@pytest.fixture
def many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.faults.web.PAGES", 10)


@pytest.mark.usefixtures("many_pages")
def test_two_of_four_workers_and_one_of_three_servers_are_killed(
    web: FaultyWeb, workers: list[Crawl], servers: list[RedisServer], tmp_path: Path
) -> None:
    with ExitStack() as stack:
        for name in ("three", "four"):
            workers.append(stack.enter_context(closing(workers[0].beside(tmp_path / name))))

        def kill() -> None:
            for worker in workers:
                worker.wait_until_it_crawls()
            servers[1].kill()
            for worker in workers[2:]:
                worker.kill()

        web.after(60, kill)
        for worker in workers:
            worker.start()
        assert [worker.finish() for worker in workers[2:]] == [-signal.SIGKILL] * 2
        for worker in workers[:2]:
            worker.wait_until(partial(notices, worker))
        servers[1].start()
        for worker in workers[2:]:
            worker.start()
        finish(workers)
    asked = Counter(address for address in web.asked if address in graph())
    assert asked.keys() == graph().keys()
    again = asked.total() - len(asked)
    print(f"{len(asked)} pages, each recorded once; {again} requests a second time")


def rebalancing(servers: list[RedisServer]) -> list[str]:
    """Return the command that gives the crawl of the first two of these servers the third, too."""
    return [*SCRAPY, "frontier", address(servers[:2]), "--rebalance", address(servers)]


def copies(first: Redis, third: Redis) -> bool:
    return bool(third.exists("{lswc:th}:units"))


def is_laid_out(first: Redis, third: Redis) -> bool:
    return bool(third.hexists("{lswc:th}:about", "shard"))


def is_over(first: Redis, third: Redis) -> bool:
    return is_laid_out(first, third) and not first.hexists("{lswc:th}:about", "rebalance")


def test_a_third_server_is_added_by_a_command_that_is_killed_at_several_steps(
    web: FaultyWeb, workers: list[Crawl], servers: list[RedisServer]
) -> None:
    two = {"LSWC_FRONTIER": address(servers[:2])}

    def stop() -> None:
        for worker in workers:
            worker.wait_until_it_crawls()
            assert worker.process is not None
            worker.process.send_signal(signal.SIGTERM)

    web.after(30, stop)
    for worker in workers:
        worker.start(**two)
    assert [worker.finish() for worker in workers] == [0, 0], [worker.log for worker in workers]
    with Redis.from_url(servers[0].url) as first, Redis.from_url(servers[2].url) as third:
        for is_reached in (copies, is_laid_out, is_over):  # it may come further before it is killed
            command = subprocess.Popen(rebalancing(servers), cwd=ROOT, env=environment())
            while not is_reached(first, third) and command.poll() is None:
                sleep(0.001)
            command.kill()
            command.wait()
            if first.hexists("{lswc:th}:about", "rebalance"):
                workers[0].start(**two)
                assert workers[0].finish() == 2, workers[0].log
                assert "between its old servers and its new ones" in workers[0].log
    done = run(rebalancing(servers))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert f"LSWC_FRONTIER={address(servers)}" in done.stdout
    workers[0].start(**two)
    assert workers[0].finish() == 2, workers[0].log
    assert "or was rebalanced to" in workers[0].log
    for worker in workers:
        worker.start()
    finish(workers)
