from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.rules.contract import FULL, Caps, FrontierError, Terms, VersionError
from lswc.frontier.rules.report import Queue, Standing
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.frontier.store.report import lengths, opened
from lswc.strategy import SEED, PageLanguage, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from pathlib import Path


def offer(server: str, page: int, code: int = SEED) -> Offer:
    url = f"http://{server}/{page}"
    return Offer(url, server, server, code, PageLanguage.TARGET, 0)


def test_report_reads_a_frontier_in_use(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    frontier = Frontier(path, strategy("bfs"), {"language": "th", "strategy": "bfs"})
    frontier.offer([offer("a.example", page) for page in range(3)])
    frontier.offer([offer("b.example", page) for page in range(5)])
    lease = frontier.lease(0.0)
    assert lease is not None
    frontier.commit(ended(lease, relevant=True, tally=Counter({("discarded", "depth"): 2})))

    with opened(path) as reader:
        report = reader.report(top=1)
    assert report.identity["language"] == "th"
    assert report.counts.pending == {0: 7}
    assert report.counts.servers == {"relevant": 1, "unvisited": 1}
    assert report.counts.tally == {"finished": {"html": 1}, "discarded": {"depth": 2}}
    assert report.queues == (Queue("b.example", 5, 0, 0),)
    frontier.close()


def test_what_is_known_of_a_server_and_of_a_url(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    chosen = strategy("soft_focused")
    identity = {"language": "th", "strategy": chosen.name}
    near, far = (next(c for c in range(SEED) if chosen.cell(c, 0) == tier) for tier in (0, 1))
    frontier = Frontier(path, chosen, identity, Terms(caps=Caps(server=5)))
    frontier.offer([offer("a.example", page, far) for page in range(3)])
    frontier.offer([offer("a.example", page, near) for page in (7, 8)])
    frontier.offer([offer("a.example", page, far) for page in (10, 11)])
    with opened(path) as reader:
        found = reader.server("a.example", top=4)
        assert found is not None
        following = [(f"http://a.example/{page}", tier) for page, tier in
                     ((7, 0), (8, 0), (0, 1), (1, 1))]  # fmt: skip
        assert list(found.next) == following
        assert (found.strategy, found.status, found.waiting) == (
            chosen.name, "unvisited", {0: 2, 1: 3}
        )  # fmt: skip
        assert (found.queue.server, found.queue.pending) == ("a.example", 5)
        assert reader.server("b.example") is None
        assert reader.standing("http://a.example/7") == Standing(None, near)
        assert reader.standing("http://a.example/11") == Standing(FULL["server"])
        assert reader.standing("http://b.example/") is None
        assert reader.standing("no URL") is None
    frontier.close()


def test_missing_file_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(FrontierError, match="doesn't exist"):
        opened(tmp_path / "frontier.db").__enter__()


@pytest.mark.parametrize("content", [b"", b"not a database" * 100])
def test_foreign_file_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "frontier.db"
    path.write_bytes(content)
    with pytest.raises(FrontierError, match="not a frontier of lswc"), opened(path) as reader:
        reader.report()


@pytest.mark.parametrize(("format_", "name"), [("9", "lswc 0.1"), ("99", "a later version")])
def test_a_frontier_of_another_version_is_named_as_that(
    tmp_path: Path, format_: str, name: str
) -> None:
    path = tmp_path / "frontier.db"
    Frontier(path, strategy("bfs"), {"language": "th", "strategy": "bfs"}).close()
    assert lengths(path) == {}
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE about SET value = ? WHERE key = 'format'", (format_,))
        db.execute("DROP TABLE url")
    with pytest.raises(VersionError, match=name):
        lengths(path)
    with pytest.raises(VersionError, match=name), opened(path) as reader:
        list(reader.finished())


@pytest.mark.parametrize("few", [1, 2, 3, 1000])
def test_servers_that_are_counted_a_few_at_a_time_are_all_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr("lswc.frontier.store.lines.SLICE", few)
    path = tmp_path / "frontier.db"
    identity = {"language": "th", "strategy": "bfs"}
    with closing(Frontier(path, strategy("bfs"), identity)) as frontier:
        for number in range(1, 8):
            frontier.offer([offer(f"s{number}.example", page) for page in range(number % 5)])
        with opened(path) as reader:
            report = reader.report(top=3)
        assert report.counts.pending == frontier.counts().pending == {0: 13}
        assert [(queue.server, queue.pending) for queue in report.queues] == [
            ("s4.example", 4), ("s3.example", 3), ("s2.example", 2),
        ]  # fmt: skip
    with closing(Frontier(path, strategy("bfs"), identity)) as frontier:
        assert frontier.pending == 13
