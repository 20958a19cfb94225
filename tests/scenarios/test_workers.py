"""Four workers, one crawl: polite as one, whoever comes, dies or restarts."""

from __future__ import annotations

import json
import random
import subprocess
from contextlib import closing
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from tests.frontier.redis_server import RedisServer
from tests.scenarios.shared_web import PORT, Gate, SharedWeb
from tests.scenarios.site import BRAKE, ENGLISH, ROOT, SCRAPY, THAI, environment, page, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SERVERS, PAGES = 16, 6
DELAY = 0.2
IN_FLIGHT = 4


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
    server = RedisServer(tmp_path / "redis")
    yield server
    server.stop()


class Workers:
    """Processes of one crawl, each with a folder of its own."""

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

    def start(self, number: int | None = None, **settings: object) -> None:
        folder = self.folder / f"worker{len(self.running) if number is None else number}"
        own = {"LSWC_CRAWL": folder, **self._settings, **settings}
        lines = [part for name, value in own.items() for part in ("-s", f"{name}={value}")]
        seeds = f"seeds={self.folder / 'seeds.txt'}"
        process = subprocess.Popen(
            [*SCRAPY, "crawl", "lswc", "-a", "lang=th", "-a", seeds, *lines],
            cwd=ROOT,
            env={**environment(), PORT: str(self._web.port)},
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if number is None:
            self.running.append(process)
        else:
            self.running[number].communicate()
            self.running[number] = process

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

    def restart(self, number: int, **settings: object) -> None:
        """Start the worker of a folder again."""
        self.start(number, **settings)

    def who_recorded(self) -> list[Path]:
        """The workers' folders that have records."""
        return [one for one in self.folder.glob("worker*/pages.jsonl") if one.stat().st_size]

    def recorded(self) -> list[str]:
        """The URLs of the records of all workers."""
        urls = []
        for record in self.folder.glob("worker*/pages.jsonl"):
            whole = record.read_bytes().rpartition(b"\n")[0]
            urls += [json.loads(line)["url"] for line in whole.splitlines()]
        return urls

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
    assert len(workers.who_recorded()) > 1


def test_workers_that_are_killed_go_on_with_their_sites(
    workers: Workers, web: SharedWeb, gate: Gate
) -> None:
    free = 30
    gate.shut(free)
    # All servers are at one address here.
    own: dict[str, Any] = {"LSWC_MAX_PER_ADDRESS": 0, "DOWNLOAD_TIMEOUT": BRAKE}
    for _ in range(4):
        workers.start(**own)
    workers.wait_until(lambda: gate.held > 0 and workers.crawling == 4)
    workers.wait_until(lambda: len(workers.recorded()) == free)
    for number in (1, 2):
        workers.running[number].kill()
        workers.running[number].wait()
        workers.restart(number, **own)
    gate.open()
    workers.finish()
    assert [worker.returncode for worker in workers.running] == [0] * 4, workers.logs()
    assert sorted(workers.recorded()) == sorted(graph())
    again = len(web.fetched) - len(set(web.fetched))
    assert again <= 2 * IN_FLIGHT


def test_a_redis_that_comes_back_empty_costs_nothing(
    workers: Workers, web: SharedWeb, gate: Gate, redis: RedisServer
) -> None:
    gate.shut(30)
    for _ in range(3):
        workers.start(DOWNLOAD_TIMEOUT=BRAKE)
    workers.wait_until(lambda: gate.held > 0 and workers.crawling == 3)
    redis.kill()
    gate.open()
    redis.missed(3)
    redis.start()
    redis.empty()
    logs = workers.logs()
    assert [worker.returncode for worker in workers.running] == [0] * 3, logs
    assert sorted(workers.recorded()) == sorted(graph())
    assert sorted(web.fetched) == sorted(graph()), "a page was fetched twice"


def test_a_redis_that_lets_its_clients_wait_costs_nothing(
    workers: Workers, web: SharedWeb, gate: Gate
) -> None:
    """It does late what clients have given up after five seconds, and asked for again."""
    gate.shut(30)
    for _ in range(3):
        workers.start(DOWNLOAD_TIMEOUT=BRAKE)
    workers.wait_until(lambda: gate.held > 0 and workers.crawling == 3)
    workers.client.client_pause(8_000)
    gate.open()
    logs = workers.logs()
    assert [worker.returncode for worker in workers.running] == [0] * 3, logs
    assert sorted(workers.recorded()) == sorted(graph())
    assert sorted(web.fetched) == sorted(graph()), "a page was fetched twice"


def test_a_worker_joins_a_crawl_that_runs_and_has_its_share(
    workers: Workers, web: SharedWeb, gate: Gate
) -> None:
    gate.shut(20)
    workers.start(DOWNLOAD_TIMEOUT=BRAKE)
    workers.wait_until(lambda: gate.held > 0)
    workers.start()
    workers.wait_until(lambda: workers.crawling == 2)
    gate.open()
    logs = workers.logs()
    assert [worker.returncode for worker in workers.running] == [0, 0], logs
    assert sorted(workers.recorded()) == sorted(graph())
    assert sorted(web.fetched) == sorted(graph()), "a page was fetched twice"
    assert len(workers.who_recorded()) == 2, logs


def test_a_fed_seed_is_crawled_by_the_worker_that_has_its_site(
    workers: Workers, web: SharedWeb
) -> None:
    workers.client.rpush("lswc:th:start_urls", "http://fed.example/")
    workers.start()
    workers.finish()
    assert "http://fed.example/" in web.fetched
    assert not workers.client.exists("lswc:th:start_urls")
