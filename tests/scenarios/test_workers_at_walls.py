"""Two workers at walls, doorways and copies: what one would have had, whoever has which host."""

from __future__ import annotations

import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.frontier.redis_server import RedisServer
from tests.scenarios.reported_web import PAGES, ReportedWeb
from tests.scenarios.site import BRAKE, ROOT, Site, environment
from tests.scenarios.test_odd_hosts import host

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

HOSTS = (
    "hops", "queries", "coded", "probing", "entry", "consent", "ticket", "header", "stairs",
    "clicked", "quiet", "direct", "chain", "folder", "stamped",
)  # fmt: skip


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    server = RedisServer(tmp_path / "redis")
    yield server
    server.stop()


def test_two_workers_have_each_host_whole(tmp_path: Path, redis: RedisServer) -> None:
    sites = [Site(tmp_path / "web", tmp_path / f"worker{n}") for n in range(2)]
    with ReportedWeb(3) as web:
        commands = [
            web.command(site, HOSTS, LSWC_FRONTIER=redis.url, LSWC_MAX_DUPLICATES=0)
            for site in sites
        ]
        workers = [
            subprocess.Popen(
                command, cwd=ROOT, env=environment(), text=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )
            for command in commands
        ]  # fmt: skip
        for worker in workers:
            _, said = worker.communicate(timeout=BRAKE)
            assert worker.returncode == 0, said
            assert "Traceback" not in said, said
    shown = {(host(r["url"]), r["simhash"]) for site in sites for r in site.records}
    assert Counter(name for name, _ in shown) == dict.fromkeys(HOSTS, PAGES + 1)
    assert {r["language"] for site in sites for r in site.records} == {"th"}
