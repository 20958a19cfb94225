"""Visits from lease to commit; whole crawls are in tests/crawl."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING

import pytest

from lswc.errors import ConfigError
from tests.crawl.running import SetUp

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
        assert crawl.parts.leases.lease(0.0) is None, "the URL was handed out to its own worker"
        crawl.parts.commits.commit(visit, "html")
        assert crawl.parts.frontier.counts().tally["finished"] == {"html": 1}
        assert not crawl.parts.frontier.unfinished


def test_in_order_a_url_waits_for_the_one_before_and_for_every_rest(tmp_path: Path) -> None:
    seeds = "http://a.example/", "http://b.example/", "http://a.example/2"
    with SetUp(tmp_path, *seeds, LSWC_IN_ORDER=1, DOWNLOAD_DELAY=2) as crawl:
        parts = crawl.parts
        first = crawl.visit(10.0)
        assert first.url == seeds[0]
        assert parts.leases.lease(10.5) is None
        assert parts.leases.next_ready(10.5) is None  # its end is told
        first.rest = 2.0
        parts.commits.commit(first, "html")
        assert parts.leases.lease(11.5) is None, "b.example is free, but may not come before"
        assert parts.leases.next_ready(11.5) == 12.0
        assert [crawl.visit(12.0).url] == [seeds[1]]


def test_only_one_worker_can_keep_the_order(tmp_path: Path) -> None:
    redis = {"LSWC_FRONTIER": "redis://127.0.0.1:1/0", "LSWC_IN_ORDER": 1}
    with (
        pytest.raises(ConfigError, match="LSWC_IN_ORDER"),
        SetUp(tmp_path, **redis) as crawl,
    ):
        assert crawl.parts
