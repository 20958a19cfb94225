"""What holds of a crawl over several Redis servers: it does what one over a single one does."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from redis import Redis

from lswc.errors import AwayError, ConfigError
from lswc.frontier.contract import Caps, FrontierError, Terms
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.sharded import Page, Part, ShardedFrontier
from lswc.frontier.shards import SHARDS, Layout, addresses, shard_of
from lswc.frontier.visit import Offer
from lswc.strategy import REQUISITE, SEED, PageLanguage, Status, Unit, strategy
from tests.frontier.lossy import Killed, Way
from tests.frontier.redis_server import RedisServer
from tests.frontier.test_contract import OTHER, RELEVANT
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lswc.frontier.steps import Awaited, Steps
    from lswc.frontier.visit import Lease

CALLERS = Worker(clock_of_caller=True, time_to_live=60.0)
SITES = ("a", "b", "c")  # of three servers, the third, second, ... as SERVER_OF says
LAYOUT = Layout.of(3)
ON_ALL = ["s.co.th", "a.co.th", "b.co.th", "c.co.th", "d.co.th", "www.a.co.th", "www.b.co.th"]


def offer(url: str, code: int = SEED) -> Offer:
    server = url.split("/")[2]
    return Offer(url, server, server, code, PageLanguage.TARGET, 0)


class Join(Protocol):
    def __call__(
        self, spec: str = ..., worker: Worker = ..., servers: list[RedisServer] | None = ...
    ) -> ShardedFrontier: ...


@pytest.fixture
def join(redis_servers: list[RedisServer]) -> Iterator[Join]:
    with ExitStack() as stack:

        def joined(
            spec: str = "bfs",
            worker: Worker = CALLERS,
            servers: list[RedisServer] | None = None,
        ) -> ShardedFrontier:
            clients = [Redis.from_url(server.url) for server in servers or redis_servers]
            frontier = ShardedFrontier(clients, "c", strategy(spec), {"language": "th"},
                                       worker=worker)  # fmt: skip
            return stack.enter_context(closing(frontier))

        yield joined


def name_on(server: int, number: int = 0) -> str:
    """Return the name of a web server whose site is on that server."""
    names = (f"{n}.co.th" for n in count())
    return [name for name, _ in zip(
        (n for n in names if LAYOUT.server_of(n) == server), range(number + 1), strict=False
    )][number]  # fmt: skip


def leased(frontier: ShardedFrontier, now: float = 0.0) -> Lease:
    lease = frontier.lease(now)
    assert lease is not None
    return lease


def test_a_site_is_always_on_one_server_and_each_has_a_share() -> None:
    assert [shard_of(name) for name in ("example.co.th", "xn--o3cw4h.example")] == [98, 234]
    assert LAYOUT.server_of("www.a.co.th:8080") == LAYOUT.server_of("a.co.th")
    for number in (1, 2, 3, 7, SHARDS):
        held = Layout.of(number).servers
        shares = [held.count(server) for server in range(number)]
        assert max(shares) - min(shares) <= 1


def test_the_servers_that_are_named() -> None:
    assert addresses("redis://a:1/0") == ["redis://a:1/0"]
    both = ["rediss://me:x,y@a:1/2?ssl_cert_reqs=none", "rediss://me:x,y@b/2?ssl_cert_reqs=none"]
    assert addresses("rediss://me:x,y@a:1,b/2?ssl_cert_reqs=none") == both
    assert addresses("unix:///run/a,b.sock") == ["unix:///run/a,b.sock"]
    for wrong in ("redis://a,b,a", "redis://a,,b", "redis://a,b,"):
        with pytest.raises(ConfigError, match="LSWC_FRONTIER"):
            addresses(wrong)


def test_links_go_to_the_server_of_their_site_and_keep_their_referrer(join: Join) -> None:
    f = join()
    hosts = [name_on(server) for server in range(3)]
    f.offer([offer(f"http://{hosts[0]}/")])
    page = leased(f)
    links = [offer(f"http://{host}/1", 0) for host in hosts]
    assert f.commit(ended(page, relevant=True, offers=[*links, *links]))
    found = [leased(f) for _ in range(3)]
    assert {(one.url, one.referrer) for one in found} == {(link.url, page.url) for link in links}
    assert len({one.id for one in found}) == 3
    assert [part.unfinished for part in f.parts] == [1, 1, 1]


def test_a_commit_that_did_not_come_to_its_end_offers_twice_and_changes_nothing(
    join: Join,
) -> None:
    one, two = join(), join()
    here, there = name_on(0), name_on(1)
    one.offer([offer(f"http://{here}/")])
    lost = leased(one)
    links = [offer(f"http://{there}/{n}", 0) for n in range(3)]
    visit = ended(lost, relevant=True, offers=links)
    one.parts[1].offer_from(Page(visit.url, here), links, 1)  # it dies before its own server's turn
    again = leased(two, 61.0)
    while again.server != here:
        two.give_back(ended(again, rest=100.0))
        again = leased(two, 61.0)
    assert again.url == lost.url
    before = two.parts[1].counts()
    assert two.commit(ended(again, relevant=True, offers=links))
    assert two.parts[1].counts() == before
    assert not one.commit(visit), "another worker's by now"
    assert two.counts().tally["finished"] == {"html": 1}
    assert two.unfinished == 3


def test_the_best_cell_of_all_servers_comes_first(join: Join) -> None:
    f = join("soft_focused")
    f.offer([offer(f"http://{name_on(0)}/")])
    page, links = leased(f), []
    for server in range(3):
        links += [
            offer(f"http://{name_on(server, n)}/", code) for n, code in ((1, OTHER), (2, RELEVANT))
        ]
    assert f.commit(ended(page, relevant=True, offers=links))
    cells = [leased(f).cell for _ in links]
    assert cells == sorted(cells)
    assert len(set(cells)) > 1


def test_a_lease_passes_many_cells_of_busy_servers_by_few_calls(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = join("adaptive")
    code_of = {kind: code for code, kind in enumerate(strategy("adaptive").kind_of[:SEED])}
    codes = [code_of[kind] for kind in sorted(code_of)[:100]]
    for server in range(3):
        f.offer([offer(f"http://{name_on(server)}/{code}", code) for code in codes])
    assert {leased(f).server for _ in range(3)} == {name_on(server) for server in range(3)}
    kinds, cells = f._strategy.kind_of, f._strategy.cell_of
    rank = f.parts[0].order.rank
    last = max(codes, key=lambda code: rank(cells[kinds[code]][0]))
    f.offer([offer(f"http://{name_on(1, 1)}/", last)])
    calls: list[Part] = []
    lease_until = Part.lease_until

    def counted(part: Part, *asked: Any) -> Steps[Lease | None]:
        calls.append(part)
        return lease_until(part, *asked)

    monkeypatch.setattr(Part, "lease_until", counted)
    assert leased(f).server == name_on(1, 1)
    assert len(f.parts[0].order._numbers) > 90
    assert len(calls) < 20


def test_what_is_far_worse_waits_though_its_own_server_has_nothing_else(
    redis_servers: list[RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lswc.frontier.contract.FAR", 0.9)
    clients = [Redis.from_url(server.url) for server in redis_servers]
    patient = Terms(haste=0.0)
    f = ShardedFrontier(clients, "c", strategy("adaptive"), {"language": "th"}, patient, CALLERS)
    better, worse = name_on(0), name_on(1)
    with closing(f):
        f.offer([offer(f"http://{name}/") for name in (better, worse)])
        for _ in range(2):
            page = leased(f)
            links = [offer(f"http://{page.server}/{n}", 0) for n in range(8)]
            is_better = page.server == better
            assert f.commit(ended(page, relevant=is_better, offers=links, rest=2.0))
        good = leased(f, 10.0)
        assert good.server == better
        assert f.lease(10.0) is None, "that is under way"
        assert f.commit(ended(good, relevant=True, rest=3.0, since=10.0))
        assert f.lease(12.0) is None, "that rests"
        assert leased(f, 13.0).server == better


def test_the_end_is_two_looks_that_agree(join: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks at servers a page may end on one that was looked at last."""
    f, other = join(), join()
    f.offer([offer(f"http://{name_on(2)}/")])
    lease = leased(other)
    ask = f.parts[0].connection.ask
    asked: list[bool] = []

    def looked(*questions: tuple[str, str, object]) -> list[object]:
        answer = ask(*questions)
        if not asked:  # the first server was seen empty: now a link comes to it
            asked.append(True)
            there = [offer(f"http://{name_on(0)}/", 0)]
            assert other.commit(ended(lease, relevant=True, offers=there))
        return answer

    monkeypatch.setattr(f.parts[0].connection, "ask", looked)
    assert f.unfinished > 0
    assert f.unfinished == 1


def test_what_a_server_that_is_away_was_to_have_is_delivered(
    join: Join, tmp_path: Path, redis_servers: list[RedisServer]
) -> None:
    third = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    f = join(servers=[*redis_servers[:2], third])
    here, there = name_on(0), name_on(2)
    f.offer([offer(f"http://{here}/{n}") for n in range(2)] + [offer(f"http://{there}/")])
    leases = [leased(f), leased(f)]
    own, away = sorted(leases, key=lambda lease: lease.server != here)
    third.kill()
    assert f.commit(ended(own, relevant=True, offers=[offer(f"http://{there}/1", 0)]))
    assert not f.commit(ended(away)), "nobody knows whether it could be said"
    assert [part.is_away for part in f.parts] == [False, False, True]
    assert f.statuses([there], away, None) == {there: Status.UNDECIDED}, "though none is known"
    assert leased(f).server == here
    assert f.renew(0.0) == [away.id]
    assert f.unfinished > 1
    third.start()
    f.parts[2].next_try = 0.0
    f.renew(0.0)
    assert not f.parts[2].is_away
    assert f.parts[2].unfinished == 2
    assert {leased(f, 61.0).url for _ in range(1)} <= {f"http://{there}/", f"http://{there}/1"}
    f.close()
    third.stop()


@pytest.mark.usefixtures("join")
def test_links_are_delivered_by_their_worker_and_by_others_once_it_is_gone(
    redis_servers: list[RedisServer],
) -> None:
    """So the one that can visit their page again knows if the server forgets them."""
    ways = {name: [Way(server) for server in redis_servers] for name in ("one", "two")}

    def joined(name: str) -> ShardedFrontier:
        worker = Worker(known_as=name, clock_of_caller=True, time_to_live=60.0)
        clients = [way.client() for way in ways[name]]
        return ShardedFrontier(clients, "c", strategy("bfs"), {"language": "th"}, Terms(), worker)

    one, two = joined("one"), joined("two")
    one.offer([offer(f"http://{name_on(0)}/{n}") for n in range(3)])
    there = one.parts[2]

    def keep(number: int) -> None:
        """End a page while the server of its link is away, for its worker."""
        ways["one"][2].is_cut = True
        ways["one"][2].break_off()
        link = offer(f"http://{name_on(2)}/{number}", 0)
        assert one.commit(ended(leased(one), relevant=True, offers=[link]), {"log": number})
        ways["one"][2].is_cut = False
        there.next_try = 0.0

    keep(1)
    two.renew(0.0)
    two.renew(59.0)
    assert two.parts[2].pending == 0
    with Redis.from_url(redis_servers[2].url) as client:
        before = {key: client.dump(key) for key in client.keys("{c}:*")}
        one.renew(60.0)
        assert there.pending == 1
        client.delete(*client.keys("{c}:*"))
        for key, kept in before.items():
            client.restore(key, 0, kept or b"")
    ways["one"][2].break_off()
    with pytest.raises(AwayError, match="has forgotten"):
        one.renew(60.0)
    one.rejoin()
    assert one.older_lengths() is not None
    one.reopen([], {"log": 1})
    assert one.older_lengths() is None
    two.renew(61.0)
    keep(2)
    two.renew(62.0)
    two.renew(121.0)
    assert two.parts[2].pending == 0
    two.renew(122.0)
    assert two.parts[2].pending == 1
    for way in chain(*ways.values()):
        way.break_off()


@pytest.mark.parametrize("is_postponed", [False, True])
@pytest.mark.parametrize("is_killed", [False, True])
def test_the_files_of_a_worker_that_is_gone_are_as_before_a_visit_in_doubt(
    join: Join, redis_servers: list[RedisServer], is_postponed: bool, is_killed: bool
) -> None:
    """What it wrote next may be as long: it would be taken for that visit, and fetched again."""
    ways = [Way(server) for server in redis_servers]
    worker = Worker(known_as="one", clock_of_caller=True, time_to_live=60.0)
    crawl = ("c", strategy("bfs"), {"language": "th"}, Terms(), worker)
    one = ShardedFrontier([way.client() for way in ways], *crawl)
    one.offer([offer(f"http://{name_on(server)}/") for server in range(2)])
    first, doubtful = sorted((leased(one), leased(one)), key=lambda lease: lease.url)
    assert one.commit(ended(first), {"log": 3})
    away = one.layout.server_of(doubtful.server)
    ways[away].plan(0, "answer", lasts=True)
    if is_postponed:
        assert not one.postpone(ended(doubtful, "timeout"), 9.0, {"log": 5})
    else:
        assert not one.commit(ended(doubtful), {"log": 5})
    for way in ways:
        way.heal()
        way.break_off()
    for calls in range(40 if is_killed else 0):  # that its next starts come to
        ways[away].plan(calls, "before", lasts=True)
        with suppress(Killed):
            ShardedFrontier([way.client() for way in ways], *crawl)
        for way in ways:
            way.heal()
            way.break_off()
    again = ShardedFrontier([way.client() for way in ways], *crawl)
    with closing(again):
        assert again.lengths() == {"log": 3}
        assert again.pending == 1, "it waits again"
    for way in ways:
        way.break_off()


def test_all_servers_away_is_told(join: Join, tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(2)]
    for folder in folders:
        folder.mkdir()
    servers = [RedisServer(folder) for folder in folders]
    f = join(servers=servers)
    for server in servers:
        server.kill()
    with pytest.raises(AwayError):
        f.lease(0.0)


def test_each_server_is_asked_once_whether_it_is_older(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = join()
    asked, lengths = [], Part.lengths

    def counted(part: Part) -> dict[str, int]:
        asked.append(part.index)
        return lengths(part)

    monkeypatch.setattr(Part, "lengths", counted)
    assert f.older_lengths() is None
    assert asked == [0, 1, 2]


def refused(join: Join, servers: list[RedisServer]) -> str:
    with pytest.raises(FrontierError) as error:
        join(servers=servers)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_servers_that_are_not_those_of_the_crawl(
    join: Join, redis_servers: list[RedisServer]
) -> None:
    one, two, three = redis_servers
    join().close()
    join().close()
    assert "holds shard 2 of 3, not 1 of 3" in refused(join, [two, one, three])
    assert "holds shard 1 of 3, not 1 of 2" in refused(join, [one, two])
    with pytest.raises(FrontierError, match="and the others aren't named"):
        RedisFrontier(Redis.from_url(two.url), "c", strategy("bfs"), {"language": "th"})
    with pytest.raises(FrontierError, match="this crawl has language 'th', not 'lo'"):
        ShardedFrontier([Redis.from_url(s.url) for s in redis_servers], "c", strategy("bfs"),
                        {"language": "lo"})  # fmt: skip
    three.empty()
    assert "doesn't hold shard 3 of 3" in refused(join, redis_servers)
    with Redis.from_url(three.url) as client:
        assert client.dbsize() == 0
    RedisFrontier(Redis.from_url(three.url), "c", strategy("bfs"), {}).close()
    assert "holds a whole crawl of this name" in refused(join, redis_servers)


def test_files_are_compared_with_all_servers_or_not_yet(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a server that goes away meanwhile knows of them would be moved aside."""
    f = join()

    def goes_away() -> None:
        raise AwayError("it can't be reached")

    monkeypatch.setattr(f.parts[1], "lengths", goes_away)
    needs_all: list[Callable[[], object]] = [
        f.older_lengths, f.lengths,
        lambda: f.reopen((), {}), lambda: f.forget(()), lambda: next(f.finished_here()),
    ]  # fmt: skip
    for asked in needs_all:
        with pytest.raises(AwayError, match="what it knows is needed"):
            asked()


def test_a_server_of_another_crawl(join: Join, redis_servers: list[RedisServer]) -> None:
    one, two, three = redis_servers
    join().close()
    with Redis.from_url(two.url) as client:
        kept = client.dump("{c}:about")
        for server in redis_servers:
            server.empty()
        join().close()
        assert kept is not None
        client.restore("{c}:about", 0, kept, replace=True)
    assert "holds a shard of another crawl" in refused(join, [one, two, three])


def test_a_beginning_that_was_broken_off_goes_on(
    join: Join, redis_servers: list[RedisServer]
) -> None:
    join().close()
    with Redis.from_url(redis_servers[0].url) as client:
        client.hdel("{c}:about", "whole")
    for server in redis_servers[1:]:
        server.empty()
    f = join()
    f.offer([offer(f"http://{name_on(server)}/") for server in range(3)])
    assert [part.unfinished for part in f.parts] == [1, 1, 1]


names = count()


class Sharded(RuleBasedStateMachine):
    """A crawl over three servers does what one over one does, but for the order within a second."""

    servers: list[RedisServer]
    first = 3
    """How many of them it begins with."""
    begun: Awaited[bool] | None = None
    is_new = False

    def clients(self) -> list[Redis]:
        return [Redis.from_url(server.url) for server in self.servers[: self.number]]

    def joined(self) -> ShardedFrontier:
        return ShardedFrontier(self.clients(), self.name, *self.crawl)

    def joined_one(self) -> RedisFrontier:
        client = Redis.from_url(self.servers[0].url)
        return RedisFrontier(client, f"{self.name}-one", *self.crawl)

    @initialize(
        spec=st.sampled_from(["bfs", "server_aggressive:T=1", "directory_conservative:T=1",
                              "lswc:S=2,T=5", "adaptive"]),
        most=st.sampled_from([0, 0, 3]),
        share=st.sampled_from([1.0, 0.5]),
    )  # fmt: skip
    def open(self, spec: str, most: int, share: float) -> None:
        chosen, name = strategy(spec), f"model{next(names)}"
        terms, self.is_shared = Terms(caps=Caps(server=most), unproven_share=share), share < 1
        worker = Worker(clock_of_caller=True, time_to_live=1e6)
        self.by_server = chosen.unit is Unit.SERVER
        self.crawl = (chosen, {"strategy": spec}, terms, worker)
        self.name, self.number = name, self.first
        self.many = self.joined()
        self.one = self.joined_one()
        self.now, self.held = 100.0, list[tuple["Lease", "Lease"]]()

    def offers(self, found: list[tuple[str, int, int]]) -> list[Offer]:
        return [
            Offer(f"http://{server}/x/{n}", server, server if self.by_server else f"{server}/x/",
                  code, PageLanguage.TARGET, 1)
            for server, n, code in found
        ]  # fmt: skip

    links = st.lists(
        st.tuples(
            st.sampled_from(ON_ALL), st.integers(0, 4), st.sampled_from([0, 1, SEED, REQUISITE])
        ),
        max_size=8,
    )

    @rule(found=links)
    def offer(self, found: list[tuple[str, int, int]]) -> None:
        for frontier in (self.one, self.many):
            frontier.offer(self.offers(found))

    @rule(wait=st.sampled_from([0.0, 2.0]), requisite=st.booleans())
    def lease(self, wait: float, requisite: bool) -> None:
        """Let both hand out the same URL: the one over many chooses, among those of a best cell."""
        self.now += wait
        for frontier in (self.one, *self.many.parts):  # each sees what is due when it is asked
            assert frontier.lease_among(["nobody"], self.now) is None
        lease_one = self.one.lease_requisite if requisite else self.one.lease
        lease_many = self.many.lease_requisite if requisite else self.many.lease
        mine = lease_many(self.now)
        if mine is None:  # each server has its own credit for the unproven
            assert self.is_shared or lease_one(self.now) is None
            return
        among = self.one.lease_among
        theirs = lease_one(self.now) if requisite else among([mine.server], self.now)
        assert theirs is not None
        if requisite and theirs.url != mine.url:  # another server's turn
            assert self.one.give_back(ended(theirs))
            assert self.many.give_back(ended(mine))
            return
        assert (theirs.url, theirs.cell, theirs.tries) == (mine.url, mine.cell, mine.tries)
        assert (theirs.referrer, theirs.of_domain) == (mine.referrer, mine.of_domain)
        self.held.append((mine, theirs))

    @precondition(lambda self: self.held)
    @rule(
        data=st.data(),
        relevant=st.booleans(),
        found=links,
        rest=st.sampled_from([0.0, 2.0]),
        is_left=st.booleans(),
    )
    def commit(
        self, data: st.DataObject, relevant: bool, found: list[tuple[str, int, int]], rest: float,
        is_left: bool,
    ) -> None:  # fmt: skip
        """End a visit, or leave its end under way: whatever is done next waits for it first."""
        mine, theirs = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        is_page = relevant if mine.is_page else None
        visit, other = (
            ended(lease, relevant=is_page, offers=self.offers(found), rest=rest)
            for lease in (mine, theirs)
        )
        assert self.one.commit(other)
        self.begun = self.many.begin(self.many.ending(visit, None))
        self.is_new = is_left
        if not is_left:
            assert self.begun.result()
            assert not any((self.many.commit(visit), self.one.commit(other)))

    @precondition(lambda self: self.held)
    @rule(data=st.data(), back=st.booleans())
    def put_off(self, data: st.DataObject, back: bool) -> None:
        mine, theirs = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        for frontier, lease in ((self.many, mine), (self.one, theirs)):
            if back:
                assert frontier.give_back(ended(lease))
            else:
                assert frontier.postpone(ended(lease, "timeout"), self.now + 2.0)

    @rule()
    def retry(self) -> None:
        assert self.many.retry({"timeout"}) == self.one.retry({"timeout"})

    @invariant()
    def same(self) -> None:
        """What is asked here leaves to the next call what goes with it: `report` doesn't."""
        if self.is_new:
            self.is_new = False
            return
        assert self.begun is None or self.begun.result()
        assert (self.many.pending, self.many.unfinished) == (self.one.pending, self.one.unfinished)
        assert (self.many.later, self.many.next_due()) == (self.one.later, self.one.next_due())

    @rule()
    def report(self) -> None:
        units = set(ON_ALL)
        assert self.many.counts() == self.one.counts()
        assert self.many.pages(units) == self.one.pages(units)
        with self.many.reading() as mine, self.one.reading() as theirs:
            assert mine.pages_by_cell() == theirs.pages_by_cell()
            assert sorted(mine.server_names()) == sorted(theirs.server_names())
            assert mine.longest(3) == theirs.longest(3)
            ours, of_one = mine.families(99), theirs.families(99)
            assert {one[:3] for one in ours} == {one[:3] for one in of_one}
        for server in ON_ALL:
            assert self.many.family_of(server) == self.one.family_of(server)

    def teardown(self) -> None:
        if hasattr(self, "one"):
            self.many.close()
            self.one.close()


def test_three_servers_do_what_one_does(redis_servers: list[RedisServer]) -> None:
    class OnServers(Sharded):
        servers = redis_servers

    steps = settings(max_examples=6, stateful_step_count=20, deadline=None)
    run_state_machine_as_test(OnServers, settings=steps)
