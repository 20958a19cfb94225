"""Links between workers: each is sent once, and again only where that may change anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.frontier.exchange import outbox
from lswc.frontier.exchange.messages import Links, Vouching, pack
from lswc.frontier.exchange.neighbours import Neighbours
from lswc.frontier.exchange.owners import PARTS, first, part_of
from lswc.frontier.exchange.status import Status, encode
from lswc.strategy import SEED, PageLanguage
from lswc.strategy.families import PROVEN, UNPROVEN
from tests.frontier.exchange.memory_post import MemoryPost
from tests.frontier.exchange.test_giving import SITES, Worker, _offer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Worker, Worker]]:
    """Two workers, each with half of the sites."""
    post = MemoryPost()
    one = Worker(post, tmp_path / "first", "bfs")
    other = Worker(post, tmp_path / "second", "bfs")
    while len(other.frontier.outbox.own) < PARTS // 2:
        one.turn()
        other.turn()
    for _ in range(5):
        one.turn()
        other.turn()
    yield one, other
    one.frontier.close()
    other.frontier.close()


def sites_of(worker: Worker) -> list[str]:
    return [site for site in SITES if part_of(site) in worker.frontier.outbox.own]


def of(worker: Worker) -> list[str]:
    """Return URLs of a worker's sites."""
    return [f"http://{site}/" for site in sites_of(worker)]


def test_what_waits_for_an_answer_is_not_sent_again(pair: tuple[Worker, Worker]) -> None:
    one, other = pair
    one.frontier.offer([_offer(of(other)[0])])
    for _ in range(4):
        one.turn()
    entries = one.post.held.streams[other.exchange.others.me]
    numbers = [number for entry in entries for number, _ in entry.messages]
    assert len(numbers) == len(set(numbers))


def test_a_link_that_was_sent_lately_is_sent_again_if_it_comes_by_a_shorter_way(
    pair: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    monkeypatch.setattr(outbox, "REMEMBERED", 3)
    box, urls = one.frontier.outbox, of(other)

    def is_sent(url: str, depth: int) -> bool:
        before = box.links
        one.frontier.offer([_offer(url, depth=depth)])
        return bool(box.links > before)

    assert [is_sent(urls[0], depth) for depth in (5, 5, 6, 4, 4)] == [
        True, False, False, True, False,
    ]  # fmt: skip
    assert all(is_sent(url, 4) for url in urls[1:4])
    assert not is_sent(urls[0], 4), "what was sent before these is remembered, too"
    assert all(is_sent(url, 4) for url in urls[4:10])
    assert is_sent(urls[0], 4), "but not for ever"


def test_only_what_a_worker_told_is_kept_for_good() -> None:
    others = Neighbours(1, first(1))
    assert others.kept(2) == 0
    told = Status(2, "second", "run", 1, 1, (), {}, {}, {1: 7, 3: 9}, {})
    others.hear({2: encode(told)}, 0.0)
    assert (others.kept(2), others.kept(3)) == (7, 0)


def test_what_is_told_of_a_site_is_kept_unless_it_is_ones_own(pair: tuple[Worker, Worker]) -> None:
    one, other = pair
    (theirs, own), (to, *_) = (sites_of(one)[0], sites_of(other)[0]), sites_of(other)[1:]
    number = other.frontier.inbox.received.get(one.exchange.others.me, 0)

    def level_of(site: str, level: int) -> int:
        """Have the other worker told that a site has this level; return what it has then."""
        nonlocal number
        number += 1
        row = (f"http://{to}/{number}", to, to, SEED, int(PageLanguage.TARGET), 1, 0)
        message = Links(f"http://{site}/", Vouching(site, level), [row])
        with other.frontier.transaction():
            other.frontier.inbox.receive(one.exchange.others.me, [(number, pack(message))])
        query = "SELECT name, level FROM site"
        return int(dict(other.frontier._file.db.execute(query).fetchall())[site])

    assert [level_of(theirs, level) for level in (UNPROVEN, PROVEN)] == [UNPROVEN, PROVEN]
    before = level_of(own, UNPROVEN)
    assert level_of(own, PROVEN) == before
