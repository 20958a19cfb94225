"""The files of one worker of many: what its frontier in Redis says that they hold."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from lswc.archive.appended_files import ArchiveError
from lswc.archive.check.agreement import check_worker, repair_worker
from lswc.archive.url_history import history
from lswc.crawl.workers import existing
from tests.archive.test_take_out import ROW
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.archive.check.agreement import CheckReport
    from lswc.frontier.redis import RedisFrontier
    from lswc.frontier.sharded import ShardedFrontier
    from tests.frontier.redis_server import RedisServer

JOURNAL = "log/00001.jsonl"
LINK = {
    "targets": ["http://b.example/"],
    "anchors": [0],
    "named": [0],
    "tiers": [0],
    "dropped": [None],
}
URLS = [f"http://{name}.example/" for name in "abc"]


class Worker:
    """A worker that has finished three URLs, and the log of another, which links to the second.

    The log that the worker has left names the first only, as far as Redis knows it, and the second
    beyond.
    """

    def __init__(self, folder: Path, redis: RedisServer) -> None:
        self.client = Redis.from_url(redis.url)
        given = {"LSWC_FRONTIER": redis.url, "LSWC_REDIS_KEY": "lost", "DOWNLOAD_DELAY": 0}
        with SetUp(folder, *URLS, **given) as crawl:
            for _ in URLS:
                crawl.parts.commits.commit(crawl.visit(), "status 404")
        self.folder, self.other = folder / "crawl", folder / "other"
        self._log(self.other, row("http://d.example/", **LINK))
        with self.opened() as frontier:
            known = frontier.lengths()[JOURNAL]
        for table in (self.folder / "log").iterdir():
            table.unlink()
        rows = row(URLS[0]) + row(URLS[0], outcome="retry", error="")
        rows = rows.replace('"error": ""', f'"error": "{"x" * (known - len(rows))}"')
        assert len(rows) == known
        self._log(self.folder, rows + row(URLS[1]))

    def _log(self, crawl: Path, rows: str) -> None:
        (crawl / "log").mkdir(parents=True, exist_ok=True)
        (crawl / JOURNAL).write_text(rows, "utf-8")

    def opened(self) -> closing[RedisFrontier | ShardedFrontier]:
        return closing(existing([self.client], "lost", self.folder))

    def check(self, *others: Path) -> CheckReport:
        with self.opened() as frontier:
            return check_worker(self.folder, frontier, others)


def row(url: str, **given: object) -> str:
    return json.dumps({"url": url, **ROW, "outcome": "status 404", **given}) + "\n"


@pytest.fixture
def worker(tmp_path: Path, redis_server: RedisServer) -> Iterator[Worker]:
    worker = Worker(tmp_path, redis_server)
    yield worker
    worker.client.close()


def test_what_its_log_has_lost_is_named_as_far_as_anybody_knows_it(worker: Worker) -> None:
    assert list(worker.check().lost.values()) == [None, None]
    report = worker.check(worker.other)
    assert sorted(report.lost.values(), key=str) == [None, URLS[1]]
    found = {one.file: one.faults for one in report.findings}
    assert found["Redis"] == {"missing": 2, "unknown": 0, "double": 0, "torn": 0}
    assert not report.agrees


def test_what_is_lost_waits_again_or_is_forgotten(worker: Worker) -> None:
    lost = worker.check(worker.other).lost
    with worker.opened() as frontier:
        done = repair_worker(worker.folder, frontier, lost)
        assert done[-2] == "1 lost URL pending again"
        assert done[-1].startswith("1 more that were lost are known by nobody")
        assert frontier.unfinished == 1
        lease = frontier.lease(0.0)
        assert lease is not None
        assert lease.url == URLS[1]
    assert not worker.check(worker.other).lost


def test_the_log_tells_who_linked_to_a_url_and_when_it_was_asked_for(worker: Worker) -> None:
    found = history(worker.other, "http://b.example/")
    assert [link["target"] for link in found.links] == ["http://b.example/"], found.links
    assert found.attempts == []
    twin = history(worker.other, "https://d.example/")
    assert twin.links == []
    assert [(one["url"], one["outcome"]) for one in twin.attempts] == [
        ("http://d.example/", "status 404")
    ]
    with pytest.raises(ArchiveError, match="is not a crawl folder: it has no crawl log"):
        history(worker.folder.parent / "none", URLS[0])
