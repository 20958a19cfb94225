"""What only the frontier of one process promises."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from threading import Timer
from typing import TYPE_CHECKING

import pytest

from lswc.errors import StorageError
from lswc.frontier.rules.contract import Caps, FrontierError, Terms
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store import servers
from lswc.frontier.store.frontier import Frontier, open_existing
from lswc.frontier.store.report import opened
from lswc.outcomes import Outcome
from lswc.strategy import SEED, Experience, PageLanguage, Pages, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = {"language": "th"}


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    with (
        closing(Frontier(path, strategy("bfs"), IDENTITY)),
        pytest.raises(FrontierError, match="another process"),
    ):
        Frontier(path, strategy("bfs"), IDENTITY)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "frontier.db").write_bytes(b"something else entirely" * 100)
    with pytest.raises(FrontierError, match="not a frontier of lswc"):
        Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY)


def test_a_lock_of_another_program_is_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "frontier.db"
    with (
        closing(Frontier(path, strategy("bfs"), IDENTITY)) as frontier,
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
    ):
        frontier._file.db.execute("PRAGMA busy_timeout = 20")
        other.execute("BEGIN IMMEDIATE")
        ends = Timer(0.3, other.execute, ["ROLLBACK"])
        ends.start()
        frontier.offer([Offer("http://a/", "a", "a", SEED, PageLanguage.TARGET, 0)])
        ends.join()
        assert frontier.unfinished == 1
        assert caplog.text.count("another program") == 1
        monkeypatch.setattr(servers, "LOCKED", 0.1)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked"):
            frontier.offer([Offer("http://b/", "b", "b", SEED, PageLanguage.TARGET, 0)])


def test_what_a_failed_write_brought_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"

    def of(server: str) -> Offer:
        return Offer(f"http://{server}/", server, server, SEED, PageLanguage.TARGET, 0)

    with (
        closing(Frontier(path, strategy("bfs"), IDENTITY)) as frontier,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        frontier.offer([of("seed")])
        lease = frontier.lease(0.0)
        assert lease is not None
        fail = "BEFORE UPDATE ON tally BEGIN SELECT RAISE(ABORT, 'no'); END"  # the last of all
        other.execute(f"CREATE TRIGGER full {fail}")
        with pytest.raises(StorageError):
            frontier.commit(ended(lease, relevant=True, offers=[of("a"), of("a"), of("b")]))
        other.execute("DROP TRIGGER full")
        assert frontier.commit(ended(lease, relevant=True, offers=[of("b"), of("a")]))
        found = [frontier.lease(0.0), frontier.lease(0.0)]
        assert [(lease.server, lease.url) for lease in found if lease is not None] == [
            ("b", "http://b/"),
            ("a", "http://a/"),
        ]
        assert frontier.tallies() == {"finished": {"html": 1}}
        assert frontier.pages_of("seed").downloaded == 1


def test_a_store_that_fails_says_so_whatever_is_asked_of_it(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    with (
        closing(Frontier(path, strategy("server_aggressive:T=1"), IDENTITY)) as frontier,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        frontier.offer([Offer("http://a/", "a", "a", SEED, PageLanguage.TARGET, 0)])
        lease = frontier.lease(0.0)
        assert lease is not None
        assert frontier.postpone(ended(lease, "timeout"), 5.0)
        other.execute("CREATE TRIGGER t BEFORE UPDATE ON url BEGIN SELECT RAISE(ABORT, 'no'); END")
        asked = frontier.lease, lambda now: frontier.lease_among(["a"], now)
        for ask in (*asked, frontier.lease_requisite):
            with pytest.raises(StorageError, match="no"):
                ask(9.0)
        other.execute("DROP TRIGGER t")
        lease = frontier.lease(9.0)
        assert lease is not None
        frontier.checkpoint()
        other.execute("ALTER TABLE server RENAME TO gone")
        other.execute("ALTER TABLE url RENAME TO lost")
        visit = ended(lease, relevant=False)
        with pytest.raises(StorageError, match="no such table"):
            frontier.statuses({"b"}, lease, False)
        with pytest.raises(StorageError, match="no such table"):
            frontier.foresee(visit)


def test_who_reads_for_long_doesnt_have_each_commit_saved(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"

    def grow(frontier: Frontier, first: int) -> None:
        urls = [f"http://a.example/{page}" for page in range(first, first + 100)]
        server = "a.example"
        frontier.offer([Offer(u, server, server, SEED, PageLanguage.TARGET, 0) for u in urls])

    with (
        closing(Frontier(path, strategy("bfs"), IDENTITY)) as frontier,
        closing(sqlite3.connect(path, isolation_level=None)) as reader,
    ):
        grow(frontier, 0)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM url").fetchall()
        grow(frontier, 100)
        assert (unsaved := frontier.unsaved) > 0
        frontier.checkpoint()
        assert frontier.unsaved == 0  # more can't be saved while the reader reads
        grow(frontier, 200)
        assert 0 < frontier.unsaved < unsaved
        reader.execute("COMMIT")
        frontier.checkpoint()
        assert frontier.unsaved == 0
        grow(frontier, 300)
        assert frontier.unsaved > 0  # the log began anew


def test_what_was_passed_over_for_a_busy_server_is_leased_after_a_restart(tmp_path: Path) -> None:
    """Its lines are left out of the search meanwhile, and that is committed with other visits."""
    path = tmp_path / "frontier.db"

    def of(server: str, page: str) -> Offer:
        return Offer(f"http://{server}/{page}", server, server, SEED, PageLanguage.TARGET, 0)

    with closing(Frontier(path, strategy("bfs"), IDENTITY)) as frontier:
        frontier.offer([of("a", "1"), of("a", "2"), of("b", "1")])
        busy, other = frontier.lease(0.0), frontier.lease(0.0)
        assert busy is not None
        assert other is not None
        assert (busy.server, other.server) == ("a", "b")
        assert frontier.commit(ended(other))
    with closing(Frontier(path, strategy("bfs"), IDENTITY)) as frontier:
        found = []
        while (lease := frontier.lease(0.0)) is not None:
            found.append(lease.url)
            assert frontier.commit(ended(lease))
        assert found == ["http://a/1", "http://a/2"]


@pytest.mark.parametrize("name", ["lswc:S=3,T=5", "directory_conservative:T=10", "adaptive"])
def test_a_frontier_is_opened_as_the_crawl_that_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / "frontier.db"
    identity = {"language": "th", "strategy": name}
    terms = Terms(experience=Experience({1: Pages(8, 6)}, Pages(8, 6)))
    urls = {f"http://a.example/{page}": "a.example" for page in range(3)}
    with closing(Frontier(path, strategy(name), identity, terms)) as begun:
        begun.offer(
            [Offer(url, host, host, SEED, PageLanguage.TARGET, 0) for url, host in urls.items()]
        )
    with closing(open_existing(path)) as again:
        assert again.counts().pending == {0: 3}
        lease = again.lease(0.0)
        assert lease is not None
        assert lease.url in urls
    with pytest.raises(FrontierError, match="doesn't exist"):
        open_existing(tmp_path / "none.db")


def test_beyond_a_cap_what_a_learned_order_expects_least_of_is_discarded(tmp_path: Path) -> None:
    chosen = strategy("adaptive")
    codes = {chosen.cell(code, 0): code for code in range(SEED)}
    bad, good = min(codes), max(codes)  # by their numbers it would be the other way round
    taught = Experience({bad: Pages(40, 0), good: Pages(40, 40)}, Pages(80, 40))
    terms = Terms(caps=Caps(server=2), experience=taught)
    identity = {"language": "th", "strategy": "adaptive"}
    with closing(Frontier(tmp_path / "frontier.db", chosen, identity, terms)) as frontier:
        frontier.offer(
            [
                Offer(f"http://a.example/{n}", "a.example", "a.example", codes[cell],
                      PageLanguage.TARGET, 0)
                for n, cell in enumerate((bad, good, bad, good))
            ]
        )  # fmt: skip
        assert frontier.counts().pending == {good: 2}


def test_a_server_whose_quota_is_raised_is_cut_no_more(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    with closing(Frontier(path, strategy("bfs"), IDENTITY | {"strategy": "bfs"})) as frontier:
        for page in range(2):
            url = f"http://a.example/{page}"
            frontier.offer([Offer(url, "a.example", "a.example", SEED, PageLanguage.TARGET, 0)])
            lease = frontier.lease(0.0)
            assert lease is not None
            frontier.commit(ended(lease, Outcome.SERVER_PAGES))
        with opened(path) as reader:
            assert reader.completion().cut == (("a.example", Outcome.SERVER_PAGES, 2),)
        assert frontier.retry([Outcome.SERVER_PAGES], lambda url, _: url.endswith("1")) == 1
        with opened(path) as reader:
            assert reader.completion().cut == (("a.example", Outcome.SERVER_PAGES, 1),)
        assert frontier.retry([Outcome.SERVER_PAGES]) == 1
        with opened(path) as reader:
            assert reader.completion().cut == ()


def test_a_second_try_that_went_well_is_forgotten(tmp_path: Path) -> None:
    path, url = tmp_path / "frontier.db", "http://a.example/"
    identity = IDENTITY | {"strategy": "bfs"}
    with closing(Frontier(path, strategy("bfs"), identity)) as frontier:
        frontier.offer([Offer(url, "a.example", "a.example", SEED, PageLanguage.TARGET, 0)])
        lease = frontier.lease(0.0)
        assert lease is not None
        frontier.postpone(ended(lease, Outcome.TIMEOUT), 60.0)
        assert frontier.later == 1
        again = frontier.lease(60.0)
        assert again is not None
        assert (again.url, again.tries) == (url, 1)
        frontier.commit(ended(again))
        assert frontier.retry([Outcome.TIMEOUT]) == frontier.later == frontier.unfinished == 0
    with closing(Frontier(path, strategy("bfs"), identity)) as frontier:
        assert frontier.later == frontier.unfinished == 0
        assert frontier.reopen([url], {}) == 1
        anew = frontier.lease(0.0)
        assert anew is not None
        assert anew.tries == 0
