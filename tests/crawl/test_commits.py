"""Visits from lease to commit; whole crawls are in tests/crawl."""

from __future__ import annotations

import asyncio
import json
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from lswc.crawl import commits
from lswc.errors import ConfigError
from lswc.frontier.redis import RedisFrontier
from lswc.frontier.redis_script import AT_ONCE_OR_NOT
from lswc.frontier.visit import Offer
from lswc.outcomes import Outcome
from lswc.strategy import PageLanguage
from tests.crawl.running import SetUp
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from pathlib import Path


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


def test_a_visit_is_over_whose_url_was_leased_anew(tmp_path: Path) -> None:
    with SetUp(tmp_path) as crawl:
        commits, first = crawl.parts.commits, crawl.visit()
        again = commits.begin(first.lease, 0.0)
        assert (first.is_over, again.is_over) == (True, False)
        commits.commit(first, "html")
        assert not crawl.parts.frontier.counts().tally.get("finished")
        assert list(commits.visits.values()) == [again]


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


def test_what_is_committed_is_made_durable_the_files_first_after_a_while_or_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    now = monotonic()
    monkeypatch.setattr(commits, "monotonic", lambda: now)
    with SetUp(tmp_path, *(f"http://{name}.example/" for name in "abcdef")) as crawl:
        parts = crawl.parts
        for part, name in (
            (parts.archive, "sync"), (parts.frontier, "checkpoint"), (parts.archive, "rotate")
        ):  # fmt: skip
            monkeypatch.setattr(part, name, lambda name=name: done.append(name))
        all_done = ["sync", "checkpoint", "rotate"]
        for unsaved, later, is_prepared, expected in (
            (commits.SAVE_BYTES, commits.SAVE_SECONDS, True, []),
            (commits.SAVE_BYTES + 1, 0.0, False, ["sync"]),
            (0, 0.0, False, []),
            (0, 0.0, True, all_done),
            (0, commits.SAVE_SECONDS, True, []),
            (0, 0.1, True, ["sync", *all_done]),
        ):
            monkeypatch.setattr(parts.frontier, "prepare_checkpoint", lambda it=is_prepared: it)
            monkeypatch.setattr(type(parts.frontier), "unsaved", unsaved)
            now += later
            done.clear()
            parts.commits.commit(crawl.visit(now), "html")
            assert done == expected, (unsaved, later)


def test_of_a_place_that_is_blocked_meanwhile_nothing_is_kept(tmp_path: Path) -> None:
    with SetUp(tmp_path) as crawl:
        visit = crawl.visit()
        link = Offer("http://b.example/", "b.example", "b.example", 1, PageLanguage.TARGET, 1)
        visit.offers, visit.relevant = (link,), True
        visit.tally["discarded", "depth"] += 7
        crawl.parts.commits.end(visit, Outcome.BLOCKED)
        counts = crawl.parts.frontier.counts()
        assert counts.tally == {"finished": {Outcome.BLOCKED: 1}}
        assert (counts.pending, crawl.parts.frontier.unfinished) == ({}, 0)
        stats = crawl.crawler.stats
        assert stats is not None
        assert stats.get_value(f"lswc/finished/{Outcome.BLOCKED}") == 1
        assert stats.get_value("lswc/discarded/depth") is None


def test_what_came_of_a_visit_is_counted_by_what_it_was_of(tmp_path: Path) -> None:
    with SetUp(tmp_path) as crawl:
        visit = crawl.visit()
        visit.tally["discarded", "depth"] += 7
        crawl.parts.commits.end(visit, Outcome.TIMEOUT)
        crawl.parts.commits.end(visit, Outcome.TIMEOUT)
        stats = crawl.crawler.stats
        assert stats is not None
        assert stats.get_value(f"lswc/finished/{Outcome.TIMEOUT}") == 1, "once"
        assert stats.get_value("lswc/discarded/depth") == 7
        assert crawl.parts.frontier.counts().tally["discarded"] == {"depth": 7}


def test_a_page_that_is_visited_again_is_not_postponed(tmp_path: Path) -> None:
    with SetUp(tmp_path, LSWC_REVISIT=24, LSWC_TRY_AGAIN=[60]) as crawl:
        commits, frontier = crawl.parts.commits, crawl.parts.frontier
        visit = crawl.visit()
        visit.relevant = True
        commits.commit(visit, "html")
        assert crawl.visit(1.0) is None
        again = crawl.visit(10_000.0)
        assert again.lease.visits == 1
        commits.commit(again, "timeout")
        assert not again.postponed  # so the log says how it ended
        assert (frontier.held, frontier.later) == (1, 0)
        tally = frontier.counts().tally
        assert tally["finished"] == {"html": 1}
        assert tally["visited again"] == {"not had": 1}
        assert crawl.crawler.stats.get_value("lswc/visited again/not had") == 1


NAMES = "abcd"
SERVERS = [f"http://{name}.example/" for name in NAMES]


def shared(server: RedisServer, name: str) -> dict[str, object]:
    return {"LSWC_FRONTIER": server.url, "LSWC_REDIS_KEY": name, "DOWNLOAD_DELAY": 0}


def logged(folder: Path, files: str = "crawl/log/*.jsonl") -> list[str]:
    """Return the URLs of the crawl log, in its order."""
    lines = [line for path in folder.glob(files) for line in path.read_bytes().splitlines()]
    return [json.loads(line)["url"] for line in lines]


def test_of_ends_under_way_that_of_an_expired_lease_leaves_nothing(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """Its page is the latest that was written, whatever ends meanwhile."""

    async def ends(crawl: SetUp) -> None:
        first, expired, *others = [crawl.visit() for _ in NAMES]
        with Redis.from_url(redis_server.url) as client:
            client.hdel("{ends}:leases", expired.lease.server)
        for visit in (first, expired, *others):
            crawl.parts.commits.commit(visit, "html")
            assert crawl.parts.commits.ending is not None
        assert crawl.parts.frontier.counts().tally["finished"] == {"html": 3}
        crawl.parts.commits.settle()
        assert logged(tmp_path) == [visit.url for visit in (first, *others)]

    with SetUp(tmp_path, *SERVERS, **shared(redis_server, "ends")) as crawl:
        asyncio.run(ends(crawl))


def test_in_a_loop_the_end_is_heard_of_when_it_is_answered(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    async def end(crawl: SetUp) -> None:
        commits, heard = crawl.parts.commits, asyncio.Event()
        commits.settled = heard.set
        visit = crawl.visit()
        commits.commit(visit, "html")
        assert commits.ending is not None
        assert visit.is_over
        assert not commits.visits
        await heard.wait()
        assert commits.ending is None
        stats = crawl.crawler.stats
        assert stats is not None
        assert stats.get_value("lswc/finished/html") == 1

    with SetUp(tmp_path, *SERVERS, **shared(redis_server, "heard")) as crawl:
        asyncio.run(end(crawl))


def test_a_crawl_that_closes_waits_for_the_end_that_is_under_way(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    async def close(crawl: SetUp) -> str:
        visit = crawl.visit()
        crawl.parts.commits.commit(visit, "html")
        crawl.parts.close()
        stats = crawl.crawler.stats
        assert stats is not None
        assert stats.get_value("lswc/finished/html") == 1
        return visit.url

    crawl = SetUp(tmp_path, *SERVERS, **shared(redis_server, "closes"))
    url = asyncio.run(close(crawl))
    with SetUp(tmp_path, *SERVERS, **shared(redis_server, "closes")) as again:
        assert again.parts.frontier.counts().tally["finished"] == {"html": 1}
        left = {again.visit().url for _ in SERVERS[1:]}
        assert left == set(SERVERS) - {url}


def test_an_end_whose_store_went_away_before_it_is_not_in_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its URL waits again, as those do that were being fetched."""
    monkeypatch.setattr(RedisFrontier, "_patience", AT_ONCE_OR_NOT)
    server = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")

    async def lose(crawl: SetUp) -> None:
        commits = crawl.parts.commits
        committed, lost, other = (crawl.visit() for _ in range(3))
        commits.commit(committed, "html")
        commits.settle()
        with Redis.from_url(server.url) as client:
            client.client_pause(60_000)
        commits.commit(lost, "html")
        assert not commits.away
        assert logged(tmp_path) == [committed.url, lost.url]
        server.kill()
        while commits.ending is not None:
            await asyncio.sleep(0)
        assert commits.away
        assert other.is_over
        server.start()
        assert commits.rejoin()
        assert logged(tmp_path, "crawl/aside/*/*.jsonl") == [lost.url]
        assert not logged(tmp_path)  # what was committed is a table by now
        assert crawl.parts.frontier.counts().tally["finished"] == {"html": 1}
        assert crawl.parts.frontier.unfinished == len(SERVERS) - 1

    with SetUp(tmp_path, *SERVERS, **shared(server, "away")) as crawl:
        asyncio.run(lose(crawl))
    server.stop()
