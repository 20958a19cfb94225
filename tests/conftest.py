"""Settings of all tests, and what several folders of them use."""

from __future__ import annotations

import atexit
import gc
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from tests.frontier.redis_server import RedisServer
from tests.scenarios.site import THAI, Site, page

ROOT = Path(__file__).parents[1]
Serve = Callable[[Path], AbstractContextManager[int]]
COMPILED = ("analysis", "simulator", "synthetic", "trace")  # rooms of code that is slow to compile

APART = (
    "tests/faults/test_lies.py", "tests/faults/test_network.py",
    "tests/hostile/test_farms.py", "tests/workbench/test_blocking.py",
    "tests/scenarios/test_machines.py",
    "tests/scenarios/test_rendering.py", "tests/scenarios/test_workers.py",
    "tests/test_deploy.py", "tests/test_readers.py",
)  # fmt: skip
"""Files of whole crawls that share nothing: none of their tests waits for another."""

LONG = (
    "tests/seams/test_seams.py", "tests/scenarios/test_kill.py", "tests/crawl/test_browsers.py",
    "tests/test_readers.py",
)  # fmt: skip
"""Files that take minutes, which come first: else the last of them runs alone at the end."""

MOST_WORK = 200
"""Plain pages of the same length that a hostile one may cost; none that works costs 40."""

# What numba compiles outlives a run; a process of numba's reads this when it begins.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".pytest_cache" / "numba"))

# What is loaded and collected stays: looking through it for garbage is a tenth of all work.
gc.disable()

# No test asserts a time: machines are noisy.
settings.register_profile("lswc", deadline=None)
settings.load_profile("lswc")


PROCESS = os.getpid()


def leave() -> None:
    """End a process of pytest-xdist without taking apart all that was loaded in it."""
    if os.getpid() == PROCESS:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


if "PYTEST_XDIST_WORKER" in os.environ:
    atexit.register(leave)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


def pytest_collection_finish() -> None:
    """Have garbage collected from now on, among what tests make."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)  # tests make much, and little of it lives
    gc.enable()


def pytest_unconfigure() -> None:
    """Have all of it searched at the end, else bindings tell of what leaked."""
    gc.unfreeze()


class Together(LoadFileScheduling):
    """Has what tests share made once: those of a file run in one process, as those of COMPILED.

    Those of APART go wherever a process has nothing to do.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file in APART:
            return nodeid
        return "compiled" if Path(file).parent.name in COMPILED else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    """Return what says which process of the tests runs which of them."""
    return Together(config, log)


STORES = ("redis_server", "redis_servers")
"""What the tests of one process share, each of which finds it empty."""


@pytest.fixture(autouse=True)
def nothing_is_stored(request: pytest.FixtureRequest) -> None:
    """Which tests ran before, in this process, makes no difference."""
    for name in STORES:
        if name in request.fixturenames:
            stores = request.getfixturevalue(name)
            for store in stores if isinstance(stores, list) else [stores]:
                store.empty()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A redis-server that the tests of one process share."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis_servers(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[RedisServer]]:
    """Three of them, for a crawl that is laid over all."""
    more = [RedisServer(tmp_path_factory.mktemp("redis")) for _ in range(2)]
    yield [redis_server, *more]
    for server in more:
        server.stop()


@pytest.fixture(scope="session")
def plain_work() -> float:
    """Seconds of the processor for a plain page of half a million bytes, on this machine."""
    from lswc.language.html import parse  # not above: most tests can do without

    html = page(THAI, *(f"/{number}" for number in range(1_000)))
    body = html.encode() * (500_000 // len(html.encode()))
    seconds = []
    for _ in range(3):
        start = process_time()
        assert len(parse(body, "http://plain.example/").links) > 1_000
        seconds.append(process_time() - start)
    return min(seconds)


@pytest.fixture
def brake(plain_work: float) -> Iterator[None]:
    """Fails a test of hostile input that costs far more of the processor than a plain page.

    What costs a square of its length is ended after two minutes of the processor.
    """

    def stop(*_: object) -> None:
        raise TimeoutError("the processor was held for two minutes")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, 120)
    start = process_time()
    yield
    seconds = process_time() - start
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)
    assert seconds < MOST_WORK * plain_work, f"{seconds:.2f} s, a plain page {plain_work:.3f} s"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A small frozen web for a test to fill."""
    return Site(tmp_path / "web", tmp_path / "crawl")


@pytest.fixture(scope="session")
def serve() -> Serve:
    """Serve a web by ``python -m lswc.crawl.web`` as long as the context lasts; give its port."""

    @contextmanager
    def serving(web: Path) -> Iterator[int]:
        command = [sys.executable, "-W", "error", "-m", "lswc.crawl.web", str(web), "--port", "0"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                found = re.search(r":(\d+)/", server.stdout.readline())
                assert found
                yield int(found[1])
            finally:
                server.terminate()

    return serving
