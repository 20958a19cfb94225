"""Four workers, one crawl: polite as one, whoever comes, dies or restarts."""

from __future__ import annotations

import json
import random
import signal
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from redis import Redis

from tests.archive.reading import check, pages, records
from tests.frontier.redis_server import RedisServer
from tests.scenarios.shared_web import PORT, Gate, SharedWeb
from tests.scenarios.site import BRAKE, ENGLISH, ROOT, SCRAPY, THAI, environment, page, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

SERVERS, PAGES = 16, 6
DELAY = 0.2
IN_FLIGHT = 4
KINDS = ["response", "request", "metadata"]
"""The WARC records of a page that isn't stored elsewhere."""


def url(number: int) -> str:
    return f"http://www.s{number % SERVERS}.example/{number // SERVERS}.html"


def english(number: int) -> str:
    """Return English that no other number's text is."""
    said = random.Random(number).choices(ENGLISH.split(), k=60)
    return ENGLISH + " ".join(said)


def graph() -> dict[str, str]:
    """A random graph of pages, every one of them reachable from the first."""
    choose = random.Random(1)
    total = SERVERS * PAGES
    return {
        url(n): page(
            THAI + words(n) if n % 3 else english(n),
            *(url(m) for m in choose.sample(range(total), 4)),
            *(url(m) for m in (2 * n + 1, 2 * n + 2) if m < total),
        )
        for n in range(total)
    }


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def web(gate: Gate) -> Iterator[SharedWeb]:
    with SharedWeb(graph(), gate) as web:
        yield web
        gate.open()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    server = RedisServer(tmp_path / "redis", "--appendonly", "yes", "--appendfsync", "always")
    yield server
    server.stop()


class Workers:
    """Processes of one crawl, each with a folder of its own.

    On a busy machine a worker may stand still for seconds, so the leases of those that are to
    live are long.
    """

    def __init__(self, folder: Path, web: SharedWeb, redis: RedisServer) -> None:
        self.folder = folder
        self._web = web
        self.client = Redis.from_url(redis.url, retry=None)
        self._settings = {
            "LSWC_FRONTIER": redis.url,
            "LSWC_PROFILE": "bfs",
            "TWISTED_DNS_RESOLVER": "tests.scenarios.shared_web.Resolver",
            "LSWC_CONTACT": "https://library.example/crawl",
            "DOWNLOAD_DELAY": DELAY,
            "CONCURRENT_REQUESTS": IN_FLIGHT,
        }
        self.running: list[subprocess.Popen[str]] = []
        (folder / "seeds.txt").write_text(url(0))

    def start(self, **settings: object) -> None:
        folder = self.folder / f"worker{len(self.running)}"
        own = {"LSWC_CRAWL": folder, **self._settings, **settings}
        lines = [part for name, value in own.items() for part in ("-s", f"{name}={value}")]
        seeds = f"seeds={self.folder / 'seeds.txt'}"
        self.running.append(
            subprocess.Popen(
                [*SCRAPY, "crawl", "lswc", "-a", "lang=th", "-a", seeds, *lines],
                cwd=ROOT,
                env={**environment(), PORT: str(self._web.port)},
                text=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        )

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds while a worker runs."""
        until = monotonic() + BRAKE
        while not holds():
            assert monotonic() < until
            assert any(worker.poll() is None for worker in self.running), self.logs()
            sleep(0.02)

    @property
    def crawling(self) -> int:
        """How many workers ask for pages, if there are any for them."""
        return len(list(self.folder.glob("worker*/now.json")))

    def finish(self) -> None:
        for worker in self.running:
            worker.wait(timeout=BRAKE)

    def logs(self) -> list[str]:
        return [worker.communicate(timeout=BRAKE)[1] for worker in self.running]

    def recorded(self) -> list[str]:
        """The URLs of the records of all workers that were committed."""
        urls = []
        workers: Any = self.client.hkeys("{lswc:th}:workers")
        for worker in map(bytes.decode, workers):
            length: Any = self.client.hget(f"{{lswc:th}}:files:{worker}", "pages.jsonl")
            if length:
                folder = Path(worker.partition(":")[2])
                lines = (folder / "pages.jsonl").read_bytes()[: int(length)].splitlines()
                urls += [json.loads(line)["url"] for line in lines]
        return urls

    def lost(self) -> set[str]:
        return set(graph()) - set(self.recorded())

    def close(self) -> None:
        for worker in self.running:
            worker.kill()
            worker.communicate()
        self.client.close()


@pytest.fixture
def workers(tmp_path: Path, web: SharedWeb, redis: RedisServer) -> Iterator[Workers]:
    with closing(Workers(tmp_path, web, redis)) as workers:
        yield workers


def test_four_workers_do_what_one_would_and_no_server_is_asked_sooner(
    workers: Workers, web: SharedWeb
) -> None:
    for _ in range(4):
        workers.start()
    logs = workers.logs()
    assert [worker.returncode for worker in workers.running] == [0] * 4, logs
    assert not any("Traceback" in log or "ERROR" in log for log in logs), logs
    assert sorted(workers.recorded()) == sorted(graph())
    assert sorted(web.fetched) == sorted(graph()), "a page was fetched twice"
    assert web.shortest_gap() > DELAY - 0.005, "Redis counts in whole milliseconds"


def test_two_of_four_killed_cost_their_leases_a_second_fetch_and_nothing_else(
    workers: Workers, web: SharedWeb, gate: Gate
) -> None:
    free = 30
    gate.shut(free)
    for life in (60, 15, 15, 60):  # time enough for a machine that is busy to renew them
        # All servers are at one address here.
        own = {"LSWC_MAX_PER_ADDRESS": 0, "DOWNLOAD_TIMEOUT": BRAKE}
        workers.start(LSWC_LEASE_SECONDS=life, **own)
    workers.wait_until(lambda: gate.held > 2 * IN_FLIGHT)  # so more than two workers wait
    # What is still being read is no request any more, but its lease would be lost, too.
    workers.wait_until(lambda: len(workers.recorded()) == free)
    for worker in workers.running[1:3]:
        worker.kill()
    gate.open()
    workers.finish()
    assert [worker.returncode for worker in workers.running] == [0, -9, -9, 0]
    assert not workers.lost()
    assert max(Counter(workers.recorded()).values()) == 1
    again = len(web.fetched) - len(set(web.fetched))
    assert 0 < again <= 2 * IN_FLIGHT


def test_redis_restarted_mid_crawl_loses_nothing(
    workers: Workers, web: SharedWeb, gate: Gate, redis: RedisServer
) -> None:
    gate.shut(30)
    for _ in range(2):
        workers.start(DOWNLOAD_TIMEOUT=BRAKE)
    workers.wait_until(lambda: gate.held > 0 and workers.crawling == 2)
    redis.kill()
    gate.open()
    redis.missed(2)
    redis.start()
    workers.finish()
    assert [worker.returncode for worker in workers.running] == [0, 0]
    assert not workers.lost()
    assert max(Counter(workers.recorded()).values()) == 1
    again = len(web.fetched) - len(set(web.fetched))
    assert again <= 2 * IN_FLIGHT


def test_a_fed_seed_is_crawled_by_a_waiting_worker(workers: Workers, web: SharedWeb) -> None:
    workers.client.rpush("lswc:th:start_urls", "http://fed.example/")
    workers.start()
    workers.finish()
    assert "http://fed.example/" in web.fetched
    assert not workers.client.exists("lswc:th:start_urls")


def test_a_worker_that_slept_through_its_lease_leaves_nothing_of_it(
    tmp_path: Path, redis: RedisServer
) -> None:
    """While the first worker sleeps, the second takes its page; then the first has the copy."""
    first, copy = url(0), f"{url(0)}?copy"
    html = page(THAI, copy)
    times = 0

    def asleep(asked: str) -> None:
        nonlocal times
        times += asked == first
        if asked == first and times == 1:
            crew.running[0].send_signal(signal.SIGSTOP)

    with (
        SharedWeb({first: html, copy: html}, asleep) as web,
        closing(Workers(tmp_path, web, redis)) as crew,
    ):
        # The delay is longer than the second worker needs to close.
        own = {"DOWNLOAD_DELAY": 3, "ROBOTSTXT_OBEY": False}
        crew.start(**own, LSWC_LEASE_SECONDS=5, DOWNLOAD_TIMEOUT=600)
        crew.wait_until(lambda: bool(web.fetched))
        crew.start(**own, CLOSESPIDER_ITEMCOUNT=1)
        crew.running[1].wait(timeout=BRAKE)
        crew.running[0].send_signal(signal.SIGCONT)
        logs = crew.logs()
    assert [worker.returncode for worker in crew.running] == [0, 0], logs
    assert "stood still for longer than they last, or their Redis was away: 1;" in logs[0]
    assert web.fetched == [first, first, copy]
    for number, kept in enumerate((copy, first)):
        folder = tmp_path / f"worker{number}"
        assert pages(folder) == [kept]
        assert [r.type for r in records(folder) if r.url == kept] == KINDS
        assert {r.url for r in records(folder)} == {"", kept}
        rows = pq.read_table(folder / "log" / "attempts-00001.parquet").to_pylist()
        assert [row["url"] for row in rows if row["outcome"] == "html"] == [kept]
        check(folder)
