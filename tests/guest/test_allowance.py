"""URLs that a quota ended come back when more is taken: in both stores, and once each."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from lswc.frontier.store import report as sqlite_report
from lswc.guest.control import InFolder, change
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from lswc.frontier.rules.report import Completion
    from lswc.frontier.store.report import Reader
    from lswc.guest.control.store import Instructions

SEEDS = [f"http://{name}.one.co.th/{n}" for name in ("a", "b") for n in range(4)]


class Store:
    """Where a crawl keeps its frontier, and what is said to it."""

    def __init__(
        self, settings: dict[str, object], where: Instructions, read: Callable[[], Any]
    ) -> None:
        self.settings = settings
        self.where = where
        self.read: Callable[[], Completion] = read


def ended(opened: AbstractContextManager[Reader]) -> Completion:
    with opened as reader:
        return reader.completion()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    folder = tmp_path / "crawl"
    path = folder / "frontier.db"
    return Store(
        {"LSWC_FRONTIER": "sqlite"}, InFolder(folder), lambda: ended(sqlite_report.opened(path))
    )


def crawl(folder: Path, store: Store, **settings: object) -> SetUp:
    return SetUp(folder, *SEEDS, **store.settings, DOWNLOAD_DELAY=0, **settings)


def fetch(set_up: SetUp) -> list[str]:
    """Fetch what may be had, each URL a page; return the servers."""
    parts, servers = set_up.parts, []
    while (visit := parts.leases.next(monotonic())) is not None:
        visit.relevant = True
        servers.append(visit.lease.server[0])
        parts.commits.commit(visit, "html")
    return sorted(servers)


def finished(set_up: SetUp) -> dict[str, int]:
    return dict(set_up.parts.frontier.counts().tally["finished"])


def test_a_crawl_that_goes_on_with_a_larger_quota(tmp_path: Path, store: Store) -> None:
    with crawl(tmp_path, store, LSWC_MAX_SERVER_PAGES=1) as first:
        assert fetch(first) == ["a", "b"]
        assert finished(first) == {"html": 2, "server's page limit": 6}
    assert sorted(store.read().cut) == [
        (f"{name}.one.co.th", "server's page limit", 3) for name in "ab"
    ]
    for server, domain in ((1, 0), (3, 2)):
        limits = {"LSWC_MAX_SERVER_PAGES": server, "LSWC_MAX_DOMAIN_PAGES": domain}
        with crawl(tmp_path, store, **limits) as full:
            assert full.parts.frontier.unfinished == 0, "URLs came back for nothing"
    with crawl(tmp_path, store, LSWC_MAX_SERVER_PAGES=3, LSWC_MAX_DOMAIN_PAGES=5) as more:
        assert len(fetch(more)) == 3
        assert finished(more)["html"] == 5
        assert sum(finished(more).values()) == 8
    cut = store.read().cut
    assert sum(number for *_, number in cut) == 3
    assert {reason for _, reason, _ in cut} <= {"server's page limit", "site's page limit"}
    with crawl(tmp_path, store, LSWC_MAX_SERVER_PAGES=0, LSWC_MAX_DOMAIN_PAGES=0) as whole:
        assert len(fetch(whole)) == 3
        assert finished(whole) == {"html": 8}
        assert not whole.parts.frontier.counts().tally.get("postponed")
    assert store.read().complete == 2
    assert not store.read().cut


def test_a_quota_that_is_raised_while_the_crawl_runs(tmp_path: Path, store: Store) -> None:
    with crawl(tmp_path, store) as set_up:
        parts = set_up.parts

        def say(most: int | None) -> list[str]:
            change(store.where, "max_pages", most, "a.one.co.th")
            assert [parts.upkeep.look(), parts.upkeep.look()] == [False, True]
            return fetch(set_up)

        assert say(2) == ["a", "a", "b", "b", "b", "b"]
        assert say(3) == ["a"]
        assert say(1) == []
        assert finished(set_up) == {"html": 7, "server's page limit": 1}
        assert say(None) == ["a"]
        assert finished(set_up) == {"html": 8}


def test_more_may_be_taken_of_a_place_than_the_settings_say(tmp_path: Path, store: Store) -> None:
    limits = {"LSWC_MAX_SERVER_PAGES": 1, "LSWC_MAX_DOMAIN_PAGES": 2}
    with crawl(tmp_path, store, **limits) as set_up:
        assert fetch(set_up) == ["a", "b"]
        change(store.where, "max_pages", 3, "a.one.co.th/")  # the narrowest is heard
        change(store.where, "max_pages", 6, "one.co.th")
        change(store.where, "max_pages", 1, "th")
        assert [set_up.parts.upkeep.look(), set_up.parts.upkeep.look()] == [False, True]
        assert fetch(set_up) == ["a", "a", "b", "b"]
