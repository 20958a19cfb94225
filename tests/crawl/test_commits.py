"""Visits from lease to commit; whole crawls are in tests/crawl."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

import pytest

from lswc.crawl import commits
from lswc.errors import ConfigError
from lswc.frontier.rules.visit import Offer
from lswc.outcomes import Outcome
from lswc.strategy import PageLanguage
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from pathlib import Path


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
        assert (frontier.revisited, frontier.later) == (1, 0)
        tally = frontier.counts().tally
        assert tally["finished"] == {"html": 1}
        assert tally["visited again"] == {"not had": 1}
        assert crawl.crawler.stats.get_value("lswc/visited again/not had") == 1
