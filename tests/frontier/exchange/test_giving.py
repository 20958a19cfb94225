"""Giving: all that is known of sites comes to their new worker, whoever is killed meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lswc.frontier.exchange.exchange import Exchange
from lswc.frontier.exchange.joining import join
from lswc.frontier.exchange.owners import PARTS, part_of
from lswc.frontier.rules.contract import Terms
from lswc.frontier.rules.visit import Offer, Visit
from lswc.frontier.store.frontier import Frontier
from lswc.outcomes import Outcome
from lswc.strategy import REQUISITE, SEED, PageLanguage, strategy
from lswc.urls import site_of
from tests.frontier.exchange.at_once import at_once
from tests.frontier.exchange.memory_post import MemoryPost

if TYPE_CHECKING:
    from pathlib import Path

SITES = [f"site{number}.example" for number in range(40)]
URLS = """
SELECT url.url, server.name, code, inherited, depth, url.redirects,
    CASE WHEN url.outcome LIKE 'elsewhere: %'
         THEN substr(url.outcome, instr(substr(url.outcome, 12), ' ') + 12) ELSE url.outcome END,
    coalesce(later.tries, 0), coalesce(later.outcome, ''),
    EXISTS (SELECT 1 FROM again WHERE seq = url.seq),
    coalesce((SELECT url FROM url AS page WHERE page.seq = url.referrer),
             (SELECT url FROM elsewhere WHERE id = -url.referrer))
FROM url JOIN server ON server.id = url.server LEFT JOIN later USING (seq) ORDER BY 1, 3
"""
SERVERS = """
SELECT server.name, server.downloaded, server.relevant, server.missed, server.bytes,
    site.downloaded, site.bytes, level, coalesce(server.place, site.place)
FROM server JOIN site ON site.id = server.site ORDER BY 1
"""
REVISITED = """
SELECT url, visited, shape, days, new, seen, kind, visits, due FROM revisited JOIN url USING (seq)
ORDER BY 1
"""


class Worker:
    """A worker with its file, and an exchange that does all at once."""

    def __init__(self, post: MemoryPost, folder: Path, named: str) -> None:
        self._made = post, folder, named
        self.post = post
        folder.mkdir(exist_ok=True)
        self.now = 100.0
        terms = Terms(unproven_share=0.25, revisit=1.0)
        self.frontier = Frontier(
            folder / "frontier.db", strategy(named), {"strategy": named}, terms
        )
        post_of: Any = post
        member = join(self.frontier, post_of, folder.name, {})
        self.exchange = Exchange(self.frontier, post_of, member, at_once, lambda: self.now)

    def turn(self) -> None:
        self.now += 0.6
        self.exchange.turn()

    def restarted(self) -> Worker:
        """Kill it, and start it again."""
        self.frontier.close()
        again = Worker(*self._made)
        again.now = self.now
        return again

    def rows(self, query: str, sites: set[str]) -> list[tuple[Any, ...]]:
        """What its file has of sites; the first column is a URL or a server's name."""
        found = self.frontier._file.db.execute(query).fetchall()
        return [row for row in found if _site(row[0]) in sites]


def _site(name: str) -> str:
    return site_of(name.split("/")[2] if "://" in name else name)


def _offer(url: str, code: int = SEED, depth: int = 0) -> Offer:
    server = url.split("/")[2]
    unit = "/".join(url.split("/")[2:4])
    return Offer(url, server, unit, code, PageLanguage.TARGET, depth)


def _crawled(worker: Worker, by_server: bool) -> None:
    """Let a worker meet, fetch, postpone, and hold URLs of all sites."""
    frontier = worker.frontier
    servers = [f"{part}.{site}" for site in SITES for part in ("www", "m")]
    names = [f"{folder}/{number}" for folder in "ab" for number in range(3)]
    urls = [f"http://{server}/{name}" for server in servers for name in names]

    def offer(url: str, code: int = SEED, depth: int = 0) -> Offer:
        found = _offer(url, code, depth)
        return found._replace(unit=found.server) if by_server else found

    frontier.offer([offer(url) for url in urls[::4]])
    for number in range(70):
        lease = frontier.lease(worker.now)
        if lease is None:
            break
        visit = Visit(lease, worker.now)
        visit.offers = [offer(url, lease.code, 1) for url in urls[number::17]]
        visit.offers = [*visit.offers, offer(f"http://www.{SITES[number % 40]}/i.png", REQUISITE)]
        if number % 5 == 0:
            visit.outcome = Outcome.TIMEOUT
            frontier.postpone(visit, worker.now + 1e6)
            continue
        visit.outcome, visit.relevant = Outcome.HTML, number % 3 > 0
        frontier.commit(visit)


@pytest.mark.parametrize("named", ["adaptive", "directory_conservative"])
@pytest.mark.parametrize("killed", [(), (0,), (1,), (0, 1)])
def test_all_that_is_known_of_sites_comes_with_them(
    tmp_path: Path, named: str, killed: tuple[int, ...]
) -> None:
    post = MemoryPost()
    first = Worker(post, tmp_path / "first", named)
    by_server = first.frontier._file.lines.by_server
    _crawled(first, by_server)
    gone = set(SITES)
    before = {query: first.rows(query, gone) for query in (URLS, SERVERS, REVISITED)}
    second = Worker(post, tmp_path / "second", named)
    workers = [first, second]
    for step in range(200):
        if killed and step % 7 == 3:
            which = killed[step % len(killed)]
            workers[which] = workers[which].restarted()
        for worker in workers:
            worker.turn()
        if len(workers[1].frontier.outbox.own) == PARTS // 2 and not killed:
            break
    first, second = workers
    own = {site for site in SITES if part_of(site) in second.frontier.outbox.own}
    assert 5 < len(own) < 35
    for query in (URLS, SERVERS, REVISITED):
        assert second.rows(query, own) == [row for row in before[query] if _site(row[0]) in own]
    left = first.frontier._file.db.execute("SELECT url FROM url WHERE outcome IS NULL").fetchall()
    assert not [url for (url,) in left if _site(url) in own]
    assert first.frontier.unfinished + second.frontier.unfinished == sum(
        row[6] in (None, Outcome.POSTPONED) for row in before[URLS]
    )
    for worker in workers:
        _counts_are_right(worker)
        worker.frontier.close()


def _begun(post: MemoryPost, folder: Path) -> Worker:
    """Return a worker that has crawled some of all sites."""
    first = Worker(post, folder / "first", "adaptive")
    _crawled(first, by_server=True)
    return first


def _joined(first: Worker, folder: Path) -> Worker:
    """Return another worker once it was given half of the sites."""
    second = Worker(first.post, folder / "second", "adaptive")
    while len(second.frontier.outbox.own) < PARTS // 2:
        first.turn()
        second.turn()
    return second


def test_a_page_that_moved_is_no_first_visit_of_its_new_worker(tmp_path: Path) -> None:
    first = _begun(MemoryPost(), tmp_path)
    second = _joined(first, tmp_path)
    frontier = second.frontier
    frontier._file.db.execute("UPDATE revisited SET due = 0, visited = 0")
    for _ in range(200):
        second.now += 1000.0
        lease = frontier.lease(second.now)
        if lease is not None and lease.visits:
            break
        if lease is not None:
            visit = Visit(lease, second.now, outcome=Outcome.TIMEOUT)
            frontier.postpone(visit, second.now + 1e9)
    assert lease is not None
    assert lease.visits
    assert lease.url not in dict(frontier.finished() or ())
    frontier.commit(Visit(lease, second.now, outcome=Outcome.HTML, relevant=True))
    assert lease.url not in dict(frontier.finished() or ())
    with frontier.reading() as reader:
        assert lease.url in (reader.finished_elsewhere() or ())
    assert not frontier.tallies().get("finished")
    for worker in (first, second):
        worker.frontier.close()


def test_what_is_visited_again_is_so_when_its_site_comes_back(tmp_path: Path) -> None:
    post = MemoryPost()
    first = _begun(post, tmp_path)
    every = set(SITES)
    pages = first.rows(REVISITED, every)
    number = first.frontier._file.revisited.number
    second = _joined(first, tmp_path)
    assert 5 < len(first.rows(REVISITED, every)) < len(pages) - 5
    table = post.held.owners
    assert table is not None
    assert post.replace(table.left(second.exchange.me), table.version)
    while len(first.frontier.outbox.own) < PARTS:
        first.turn()
        second.turn()
    assert first.rows(REVISITED, every) == pages
    assert first.frontier._file.revisited.number == number
    assert not second.rows(REVISITED, every)
    for worker in (first, second):
        _counts_are_right(worker)
        worker.frontier.close()


def test_pages_of_a_lost_disk_are_visited_at_once_or_fetched_again(tmp_path: Path) -> None:
    first = _begun(MemoryPost(), tmp_path)
    second = _joined(first, tmp_path)
    with second.frontier.reading() as reader:
        lost = set(reader.finished_elsewhere() or ())
    pages = {row[0] for row in second.rows(REVISITED, set(SITES))}
    assert pages < lost
    second.frontier.sharing.fetch_again(first.exchange.me)
    missed = "SELECT count(*) FROM revisited WHERE misses = 1 AND due <= ?"
    now = second.frontier._file.revisited._now
    assert second.frontier._file.db.execute(missed, (now,)).fetchone() == (len(pages),)
    with second.frontier.reading() as reader:
        assert set(reader.finished_elsewhere() or ()) == pages
    assert second.frontier.tallies()["postponed"][Outcome.LOST] == len(lost - pages)
    for worker in (first, second):
        worker.frontier.close()


def _counts_are_right(worker: Worker) -> None:
    """What is counted in memory is what the file has."""
    frontier = worker.frontier
    waiting = +frontier._file.lines.waiting
    frontier._file.load()
    assert +frontier._file.lines.waiting == waiting
