"""A Redis that is an older copy, beside files that were closed since: they can't be cut."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow  # noqa: F401  (so that tables are made here, not by a process)
import pytest
from redis import Redis
from typing_extensions import override

from lswc.archive import crawl_log, page_record
from lswc.archive.archive import Archive, FileSizes
from lswc.archive.check.agreement import check_worker
from lswc.archive.check.recovery import settle
from lswc.frontier.contract import Terms
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.sharded import ShardedFrontier
from lswc.frontier.shards import Layout
from lswc.frontier.visit import Attempt, Exchange, Visit
from lswc.strategy import REQUISITE, strategy
from tests.archive.test_visits import _record
from tests.frontier.test_contract import offer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.frontier.visit import Lease
    from tests.frontier.redis_server import RedisServer

DAY = 86_400.0
A, B, C = (f"http://{name}.example/" for name in "abc")


class OneWorker:
    """A worker's frontier and archive, which are opened as a crawl does it."""

    def __init__(self, crawl: TwoWorkers, name: str) -> None:
        self._crawl, self.folder = crawl, crawl.folder / name
        self.is_closed = True
        self._open = ExitStack()

    def __enter__(self) -> OneWorker:
        known_as = Worker(clock_of_caller=True, known_as=self.folder.name)
        self.frontier = self._open.enter_context(closing(self._crawl.joined(known_as)))
        sizes, committed = FileSizes(warc=1e9, part=0), settle(self.folder, self.frontier)
        self.archive = Archive(self.folder, "th", "all", sizes, {}, committed)
        self.frontier.hold(page_record.records(self.folder))
        return self

    def __exit__(self, *_: object) -> None:
        self.archive.close(whole=self.is_closed)
        self._open.close()

    def visit(self) -> Visit:
        """Visit what is next, once it is due: a page of the same text each time, or a requisite."""
        lease = self._lease()
        while lease is None:
            self._crawl.now += DAY / 24
            lease = self._lease()
        now = datetime.fromtimestamp(self._crawl.now, UTC)
        exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", bytearray(b"HTTP/1.1 200\r\n\r\n"), [b"A"])
        visit = Visit(lease, attempts=[Attempt(lease.url, now, 200, exchange=exchange)])
        visit.outcome = "requisite" if lease.is_requisite else "html"
        if visit.is_page:
            about: dict[str, Any] = {"visit": lease.visits + 1, "change": visit.change}
            record = replace(_record(lease.url), id=lease.id, time=now.isoformat(), **about)
            visit.record, visit.relevant, visit.simhash = record, True, 0
        assert self.frontier.commit(visit, self.archive.store(visit))
        return visit

    def _lease(self) -> Lease | None:
        now = self._crawl.now
        return self.frontier.lease(now) or self.frontier.lease_requisite(now)

    def offer(self, url: str, requisite: bool = False) -> None:
        self.frontier.offer([offer(url, REQUISITE) if requisite else offer(url)])

    def records(self) -> list[tuple[str, int]]:
        return [(one["url"], one["visit"]) for one in page_record.records(self.folder)]

    def check(self) -> None:
        """Assert that the files and Redis agree, once all is closed."""
        with self:
            report = check_worker(self.folder, self.frontier, ())
        assert report.agrees, report


class TwoWorkers:
    """Two workers of a crawl in a Redis that can be set back, on a clock of their own."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.now = folder, 20_000 * DAY
        self.client: Any = Redis.from_url(url)
        self.one, self.other = OneWorker(self, "one"), OneWorker(self, "other")
        for worker in (self.one, self.other):
            worker.folder.mkdir()
        self.kept: dict[bytes, bytes] = {}

    def joined(self, worker: Worker) -> RedisFrontier | ShardedFrontier:
        terms = Terms(revisit=24.0, clock=lambda: self.now)
        chosen, about = strategy("soft_focused"), {"language": "th"}
        return RedisFrontier(self.client, "older", chosen, about, terms, worker)

    def save(self) -> None:
        self.kept = {key: self.client.dump(key) for key in self.client.scan_iter()}

    def set_back(self) -> None:
        self.client.flushall()
        for key, value in self.kept.items():
            self.client.restore(key, 0, value)


class OnTwoServers(TwoWorkers):
    """The same on two servers, of which that of the ``client`` is meant."""

    def __init__(self, folder: Path, servers: list[RedisServer]) -> None:
        super().__init__(folder, servers[0].url)
        self.clients = [Redis.from_url(server.url) for server in servers[:2]]

    @override
    def joined(self, worker: Worker) -> ShardedFrontier:
        chosen, about = strategy("soft_focused"), {"language": "th"}
        return ShardedFrontier(self.clients, "older", chosen, about, Terms(), worker)


@pytest.fixture
def crawl(tmp_path: Path, redis_server: RedisServer) -> Iterator[TwoWorkers]:
    crawl = TwoWorkers(tmp_path, redis_server.url)
    with closing(crawl.client):
        yield crawl


def test_what_a_page_shows_is_known_and_what_came_since_is_taken_out(crawl: TwoWorkers) -> None:
    with crawl.one as worker:
        worker.offer(A)
        worker.visit()
        worker.offer(shown := f"{A}x.png", requisite=True)
        assert worker.visit().lease.is_requisite
        crawl.save()
        worker.offer(B)
        worker.visit()
    crawl.set_back()
    with crawl.one as worker:
        assert set(crawl_log.ended(worker.folder)) == {A, shown}
        assert (worker.records(), worker.frontier.unfinished) == ([(A, 1)], 0)
    crawl.one.check()


def test_a_page_that_was_shown_by_another_since_waits_again(crawl: TwoWorkers) -> None:
    """What is taken out of a URL is all of it."""
    with crawl.one as worker:
        worker.offer(A)
        worker.visit()
        crawl.save()
        worker.offer(A, requisite=True)
        worker.visit()
    crawl.set_back()
    with crawl.one as worker:
        assert (worker.records(), worker.frontier.pending) == ([], 1)
        worker.visit()
        assert worker.records() == [(A, 1)]
    crawl.one.check()


@pytest.mark.parametrize("as_one", [True, False])
def test_visits_again_that_it_does_not_know_are_counted(crawl: TwoWorkers, as_one: bool) -> None:
    """Whoever visited the page at first."""
    with crawl.one as first:
        first.offer(A)
        first.visit()
        crawl.save()
    again = crawl.one if as_one else crawl.other
    with again as worker:
        assert worker.visit().lease.visits == 1
    crawl.set_back()
    with again as worker:
        assert worker.visit().lease.visits == 2
        assert worker.records() == [(A, 1), (A, 2), (A, 3)][not as_one :]
    again.check()


def test_a_later_visit_of_a_page_that_it_does_not_know_goes_with_the_first(
    crawl: TwoWorkers,
) -> None:
    with crawl.one as worker:
        worker.offer(A)
        worker.visit()
        crawl.save()
        worker.offer(B)
        worker.visit()
        assert {worker.visit().url for _ in range(2)} == {A, B}
    crawl.set_back()
    with crawl.one as worker:
        assert worker.records() == [(A, 1), (A, 2)]
    crawl.one.check()


@pytest.mark.parametrize("is_closed", [True, False])
def test_copies_of_two_times_one_after_the_other(crawl: TwoWorkers, is_closed: bool) -> None:
    """What was taken out is known as finished by the later one, but waits again."""
    crawl.one.is_closed = is_closed
    with crawl.one as worker:
        worker.offer(A)
        crawl.save()
        before = crawl.kept
        worker.offer(shown := f"{A}x.png", requisite=True)
        assert [worker.visit().url for _ in range(2)] == [A, shown]
        crawl.save()
        worker.offer(B)
        worker.visit()
    later, crawl.kept = crawl.kept, before
    crawl.set_back()
    with crawl.one as worker:
        assert (worker.records(), worker.frontier.unfinished) == ([], 1)
    crawl.kept = later
    crawl.set_back()
    with crawl.one as worker:
        assert (worker.records(), worker.frontier.unfinished) == ([], 2)
        assert [worker.visit().url for _ in range(2)] == [A, shown]
    crawl.one.check()


def test_two_servers_are_older_one_after_the_other(
    tmp_path: Path, redis_servers: list[RedisServer]
) -> None:
    """What waits again on the second as the first is older is finished there in its copy."""
    crawl = OnTwoServers(tmp_path, redis_servers)
    first, second = (name_of(server) for server in range(2))
    with crawl.one as worker:
        worker.offer(first)
        crawl.save()
        before = crawl.kept
        assert worker.visit().url == first
        worker.offer(second)
        assert worker.visit().url == second
        crawl.client = crawl.clients[1]
        crawl.save()
    later, crawl.kept, crawl.client = crawl.kept, before, crawl.clients[0]
    crawl.set_back()
    with crawl.one as worker:
        assert (worker.records(), worker.frontier.pending) == ([], 2)
    crawl.kept, crawl.client = later, crawl.clients[1]
    crawl.set_back()
    with crawl.one as worker:
        assert (worker.records(), worker.frontier.pending) == ([], 2)
        assert {worker.visit().url for _ in range(2)} == {first, second}
    crawl.one.check()
    for client in crawl.clients:
        client.close()


def name_of(server: int) -> str:
    """Return the address of a site whose place is on one of two servers."""
    names = (f"s{number}.co.th" for number in count())
    return next(f"http://{name}/" for name in names if Layout.of(2).server_of(name) == server)
