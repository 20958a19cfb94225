"""What is told of a crawl of several workers: by Redis while they run and after, and by folders."""

from __future__ import annotations

import json
import subprocess
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import BRAKE, ROOT, SCRAPY, THAI, Site, environment, page, run, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

pytestmark = pytest.mark.slow

SEED = "http://www.one.co.th/"
SITES = 30
DELAY = 6


class Crawl:
    """Two workers of a web with many sites, each of which has some pages."""

    def __init__(self, folder: Path, redis: RedisServer) -> None:
        self.redis = redis.url
        self.sites = [Site(folder / "web", folder / name) for name in ("one", "two")]
        site = self.sites[0]
        site.seeds(SEED)
        servers = [f"http://www.s{number}.co.th/" for number in range(SITES)]
        site.add("www.one.co.th/", page(THAI, *servers))
        for server in servers:
            pages = [f"{server}{number}.html" for number in range(60)]
            for url in [server, *pages]:
                body = page(words(url) + THAI, *pages)
                site.add(url.removeprefix("http://"), body)
        self.running: list[subprocess.Popen[str]] = []

    @property
    def folders(self) -> list[str]:
        return [str(site.folder) for site in self.sites]

    def start(self) -> None:
        for site in self.sites[: 2 - len(self.running)]:
            command = site.command(LSWC_FRONTIER=self.redis, DOWNLOAD_DELAY=DELAY)
            pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
            process = subprocess.Popen(command, cwd=ROOT, env=environment(), **pipes)  # type: ignore[call-overload]
            self.running.append(process)
            self.wait_until((site.folder / "now.json").exists)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        until = monotonic() + BRAKE
        while not holds():
            assert monotonic() < until
            for worker in self.running:
                assert worker.poll() is None, worker.communicate()
            sleep(0.1)

    def told(self, command: str, *arguments: str, code: int = 0) -> str:
        done = run([*SCRAPY, command, *arguments])
        assert done.returncode == code, (done.stdout, done.stderr)
        return done.stderr if code else done.stdout

    @property
    def pages(self) -> int:
        return sum(len(site.urls) for site in self.sites)


@pytest.fixture
def crawl(tmp_path: Path, redis_server: RedisServer) -> Iterator[Crawl]:
    redis_server.empty()
    crawl = Crawl(tmp_path, redis_server)
    crawl.start()
    yield crawl
    for worker in crawl.running:
        worker.kill()
        worker.communicate()


def test_all_is_told_of_all_workers(crawl: Crawl) -> None:
    redis = crawl.redis
    crawl.wait_until(lambda: all(_pages(site) > 3 for site in crawl.sites))
    shown = crawl.told("workers", redis)
    assert shown.count(" running ") == 2, shown
    assert "128" in shown
    # A worker that runs isn't lost, nor is one that there isn't.
    number = json.loads((crawl.sites[1].folder / "redis.json").read_text())["worker"]
    assert "runs, or ran some seconds ago" in crawl.told("workers", redis, "lost", number, code=2)
    assert "has no worker 5" in crawl.told("workers", redis, "lost", "5", code=2)
    # Instructions reach both.
    crawl.told("control", redis, "block", "s3.co.th", "--why", "asked")
    crawl.wait_until(
        lambda: all("s3.co.th" in _text(site.folder / "control.toml") for site in crawl.sites)
    )
    assert "s3.co.th" in crawl.told("control", crawl.folders[1])
    assert "pending" in crawl.told("frontier", redis)
    crawl.told("control", redis, "stop")
    for worker in crawl.running:
        worker.communicate(timeout=BRAKE)
    crawl.running.clear()
    found = crawl.told("frontier", redis)
    assert found == crawl.told("frontier", *crawl.folders)
    assert f"{crawl.pages}" in found
    for url in (crawl.sites[0].urls[-1], crawl.sites[1].urls[-1]):
        assert "html" in crawl.told("why", redis, url)
        assert "html" in crawl.told("why", *crawl.folders, url)
    assert "between these workers" in crawl.told("check", redis)
    assert "between these workers" in crawl.told("check", *crawl.folders)
    assert " ended " in crawl.told("workers", crawl.folders[0])
    out = crawl.sites[0].folder.parent / "all.wacz"
    assert f"{crawl.pages:,} pages" in crawl.told("wacz", redis, "--out", str(out))
    assert f"of {crawl.pages:,} that were read" in crawl.told("corpus", redis)


def _pages(site: Site) -> int:
    return int(json.loads((site.folder / "now.json").read_text())["pages"])


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
