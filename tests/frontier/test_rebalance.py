"""What holds of a crawl that gets more Redis servers: it goes on as if it had had them before."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis.stateful import precondition, rule, run_state_machine_as_test
from redis import Connection, Redis

from lswc.errors import OlderError
from lswc.frontier.contract import FORMAT, FrontierError, Terms
from lswc.frontier.rebalance import Rebalance, check_grown
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.redis_script import known_as
from lswc.frontier.sharded import ShardedFrontier
from lswc.frontier.shards import SHARDS, Layout
from lswc.frontier.visit import Offer
from lswc.strategy import SEED, PageLanguage, Unit, strategy
from tests.frontier.test_shards import Sharded, offer
from tests.visits import ended

if TYPE_CHECKING:
    from lswc.frontier import Frontier
    from tests.frontier.redis_server import RedisServer

CALLERS = Worker(clock_of_caller=True, known_as="here:crawl", time_to_live=60.0)
SITES = [f"{n}.co.th" for n in range(12)]
STEPS = 31  # from one step at which it is broken off to the next


def silent(what: str, done: float, of: float) -> None:
    """Say nothing."""


class Growing(Sharded):
    """A crawl that gets a third server does what one over one does, before and after."""

    first = 2

    @precondition(lambda self: not self.held and self.number == self.first)
    @rule()
    def grow(self) -> None:
        for frontier in (self.many, self.one):  # a crawl that was stopped tries again at once
            frontier.close()
        self.one = self.joined_one()
        self.number = 3
        Rebalance(self.clients(), self.first, self.name).run(silent)
        self.many = self.joined()
        assert self.many.layout.number == self.number
        for part in self.many.parts:
            for server in part.reader.server_names():
                assert self.many.part_of(server) is part


def test_a_crawl_that_gets_a_server_goes_on_as_one_over_one(
    redis_servers: list[RedisServer],
) -> None:
    class OnServers(Growing):
        servers = redis_servers

    steps = settings(max_examples=6, stateful_step_count=20, deadline=None)
    run_state_machine_as_test(OnServers, settings=steps)


def test_as_few_shards_move_as_can_be() -> None:
    for before, after in ((1, 2), (1, 3), (2, 3), (3, 8), (200, SHARDS)):
        old = Layout.of(before)
        new = old.over(after)
        shares = [new.servers.count(server) for server in range(after)]
        assert max(shares) - min(shares) <= 1
        moved = [
            there for here, there in zip(old.servers, new.servers, strict=True) if here != there
        ]
        assert all(there >= before for there in moved)
        assert len(moved) <= SHARDS * (after - before) // after + after


def opened(servers: list[RedisServer], spec: str = "adaptive") -> RedisFrontier | ShardedFrontier:
    clients = [Redis.from_url(server.url) for server in servers]
    crawl = ("c", strategy(spec), {"language": "th", "strategy": spec}, Terms(unproven_share=0.5))
    if len(clients) == 1:
        return RedisFrontier(clients[0], *crawl, CALLERS)
    return ShardedFrontier(clients, *crawl, CALLERS)


def crawl_some(frontier: RedisFrontier | ShardedFrontier) -> None:
    """Visit some pages, of which some fail, are put off or rest their server."""

    def offer(url: str, code: int = SEED) -> Offer:
        server = url.split("/")[2]
        unit = server if by_server else f"{server}/x/"
        return Offer(url, server, unit, code, PageLanguage.TARGET, 0)

    by_server = frontier._strategy.unit is Unit.SERVER
    frontier.offer([offer(f"http://{site}/") for site in SITES[:6]])
    for n in range(14):
        lease = frontier.lease(100.0 * n)
        assert lease is not None
        links = [offer(f"http://{SITES[(n * 5 + m) % 12]}/{n}/{m}", m % 2) for m in range(8)]
        if n == 3:
            assert frontier.postpone(ended(lease, "timeout"), 5000.0)
        elif n == 5:
            assert frontier.commit(ended(lease, "timeout"))
        else:
            assert frontier.commit(
                ended(lease, relevant=n % 3 > 0, offers=links, rest=n % 2 * 90.0)
            )


def rebalance(servers: list[RedisServer], number: int) -> Rebalance:
    return Rebalance([Redis.from_url(server.url) for server in servers], number, "c")


def known(frontier: RedisFrontier | ShardedFrontier) -> list[object]:
    """Return what is known of a crawl, in words that say no numbers."""
    with frontier.reading() as reader:
        return [
            frontier.counts(), frontier.pending, frontier.unfinished, frontier.later,
            frontier.next_due(), reader.pages_by_cell(), sorted(reader.server_names()),
            reader.longest(20), [reader.taken(site) for site in SITES],
            [reader.waiting_of(site) for site in SITES], sorted(reader.left_out()),
            [(reader.support(site), reader.family_of(site)) for site in SITES],
            seen(frontier),
            sorted(set(map(str, reader.families(9)))),
            [reader.next_of(site, cell, 99) for site in SITES for cell in reader.waiting_of(site)],
        ]  # fmt: skip


def seen(frontier: RedisFrontier | ShardedFrontier) -> dict[int, str]:
    """Return the URLs that were seen, and who finished each, or that it waits."""
    parts = frontier.parts if isinstance(frontier, ShardedFrontier) else [frontier]
    found: dict[int, str] = {}
    for part in parts:
        client, prefix = part.connection.client, part.connection.prefix
        workers = {number: name for name, number in client.hgetall(f"{prefix}workers").items()}
        for key in client.scan_iter(f"{prefix}seen:*", count=1000):
            for field, by in dict[Any, Any](client.hgetall(key)).items():
                name = known_as(int(key.rpartition(b":")[2]), field)
                assert name not in found, "on two servers"
                found[name] = "waits" if by.isdigit() else f"{by[:1]!r} {workers[by[1:]]!r}"
    return found


def drained(frontier: Frontier) -> list[tuple[object, ...]]:
    """Return all that is leased until nothing is left, by URL."""
    found: list[tuple[object, ...]] = []
    now = 5000.0
    while (lease := frontier.lease(now)) is not None:
        found.append(
            (lease.url, lease.cell, lease.referrer, lease.tries, lease.depth, lease.of_domain)
        )
        assert frontier.commit(ended(lease, relevant=True))
        now += 100.0
    return sorted(found, key=str)


def empty(servers: list[RedisServer]) -> None:
    for server in servers:
        server.empty()


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("spec", ["adaptive", "lswc:S=2,T=5", "directory_conservative:T=5"])
def test_everything_of_a_site_moves(
    redis_servers: list[RedisServer], number: int, spec: str
) -> None:
    found = []
    for after in (number, 3):
        empty(redis_servers)
        with closing(opened(redis_servers[:number], spec)) as frontier:
            crawl_some(frontier)
        if after > number:
            moved = rebalance(redis_servers, number).run(silent)
            assert min(moved.pending, moved.finished, moved.servers, moved.sites, moved.sent) > 0
        with closing(opened(redis_servers[:after], spec)) as frontier:
            found.append([*known(frontier), drained(frontier), frontier.counts()])
    for before, now in zip(*found, strict=True):
        assert before == now


class Broken(Exception):
    """The process is killed."""


def test_what_was_broken_off_at_any_step_is_done_by_saying_it_again(
    redis_servers: list[RedisServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    send: Any = Connection.send_packed_command
    sent, most = 0, 10**9

    def counted(self: Any, *args: Any, **more: Any) -> None:
        nonlocal sent
        sent += 1
        if sent > most:
            raise Broken
        send(self, *args, **more)

    monkeypatch.setattr(Connection, "send_packed_command", counted)
    wanted: list[object] = []
    ends, step = 0, 0
    while step <= ends:
        most = 10**9
        empty(redis_servers)
        with closing(opened(redis_servers[:2])) as frontier:
            crawl_some(frontier)
        sent, most = 0, step or most
        try:
            rebalance(redis_servers, 2).run(silent)
        except Broken:
            most = 10**9
            with Redis.from_url(redis_servers[0].url) as client:
                if client.hexists("{c}:about", "rebalance"):
                    for some in (redis_servers[:2], redis_servers):
                        with pytest.raises(FrontierError, match="between its old servers"):
                            opened(some)
            rebalance(redis_servers, 2).run(silent)
        else:
            ends, most = ends or sent, 10**9
        with closing(opened(redis_servers)) as frontier:
            found = known(frontier)
            wanted = wanted or found
            assert found == wanted, step
        step += STEPS


def refused(servers: list[RedisServer], number: int) -> str:
    with pytest.raises(FrontierError) as error:
        rebalance(servers, number)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_is_refused(redis_servers: list[RedisServer]) -> None:
    assert "holds no crawl of this name" in refused(redis_servers, 1)
    with closing(opened(redis_servers[:2])) as frontier:
        crawl_some(frontier)
        assert "a worker runs, here:crawl" in refused(redis_servers, 2)
    assert "and the others aren't named" in refused([redis_servers[0], redis_servers[2]], 1)
    assert "not 1 of 2" in refused([redis_servers[1], redis_servers[0], redis_servers[2]], 2)
    with Redis.from_url(redis_servers[2].url) as client:
        client.hset("{c}:about", "format", "8")
        assert "isn't new" in refused(redis_servers, 2)
        client.flushall()
    assert "named twice" in refused([*redis_servers[:2], redis_servers[0]], 2)
    with Redis.from_url(redis_servers[1].url) as client:
        client.rpush("{c}:outbox:0", "{}")
        assert "start the crawl's workers once more" in refused(redis_servers, 2)
        client.delete("{c}:outbox:0")
        client.hset("{c}:about", "format", "8")
        assert "lswc 0.1" in refused(redis_servers, 2)
        client.hset("{c}:about", "format", str(FORMAT))
        client.hset("{c}:leases", "a.co.th", "token 1 0")
        client.zadd("{c}:busy", {"a.co.th": 1e15})
        assert "holds 1 URL " in refused(redis_servers, 2)
        client.delete("{c}:leases")
    rebalance(redis_servers, 2).run(silent)
    assert rebalance(redis_servers, 2).run(silent).servers == 0
    with pytest.raises(FrontierError, match="not 1 of 2: name in LSWC_FRONTIER the servers"):
        opened(redis_servers[:2])
    for before, after in (("ab", "ab"), ("ab", "a"), ("ab", "bac"), ("ab", "cab")):
        with pytest.raises(FrontierError, match="--rebalance"):
            check_grown(list(before), list(after))
    check_grown(list("ab"), list("abcd"))


def test_a_worker_that_slept_through_it_is_stopped(redis_servers: list[RedisServer]) -> None:
    asleep = opened(redis_servers[:2])
    crawl_some(asleep)
    lease = asleep.lease(1000.0)
    assert lease is not None
    for server in redis_servers[:2]:
        with Redis.from_url(server.url) as client:
            client.delete("{c}:lives")
            for name in client.hkeys("{c}:leases"):
                client.zadd("{c}:busy", {name: 0})
    rebalance(redis_servers, 2).run(silent)
    everywhere = [offer(f"http://{site}/new") for site in SITES]
    with pytest.raises(OlderError):
        asleep.commit(ended(lease, relevant=True, offers=everywhere))
    with pytest.raises(FrontierError, match="shard"):
        asleep.rejoin()
    asleep.close()
    with closing(opened(redis_servers)) as frontier, frontier.reading() as reader:
        assert not any(reader.find(f"http://{site}/new") for site in SITES)
