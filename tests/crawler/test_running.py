"""Visits from lease to commit; whole crawls are in tests/crawl."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING

from tests.crawler.running import SetUp

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer


def test_a_visit_whose_lease_expired_goes_on_if_no_other_worker_took_it(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    store = {"LSWC_FRONTIER": redis_server.url, "LSWC_REDIS_KEY": "expired"}
    with SetUp(tmp_path, LSWC_LEASE_SECONDS=0.05, DOWNLOAD_DELAY=0, **store) as crawl:
        visit = crawl.visit()
        sleep(0.1)  # as a process does whose machine was suspended
        assert crawl.running.lease(0.0) is None, "the URL was handed out to its own worker"
        crawl.running.commit(visit, "html")
        assert crawl.running.frontier.counts().tally["finished"] == {"html": 1}
        assert not crawl.running.frontier.unfinished
