"""No call of the frontier in Redis does more than so many steps: the next goes on with the rest."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from hypothesis import settings
from hypothesis.stateful import invariant, run_state_machine_as_test
from redis import Redis
from typing_extensions import override

from lswc.frontier import redis, redis_script
from lswc.frontier.contract import DEFAULTS, FULL, Caps, Terms
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.steps import Awaited
from lswc.frontier.visit import Offer
from lswc.outcomes import Outcome
from lswc.strategy import (
    REQUISITE,
    REQUISITES,
    SEED,
    Anchor,
    Facts,
    Locality,
    PageLanguage,
    Status,
    encode,
    strategy,
)
from tests.frontier.test_stores_agree import Stores
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lswc.frontier.steps import Steps
    from lswc.frontier.visit import Lease
    from tests.frontier.redis_server import RedisServer

MANY = 60
FEW = 8
"""Steps of a call, in these tests."""

CODES = range(0, 140, 7)
LINK = 4608
"""Code of a link from a relevant page that strategies which discard take."""


FAR = encode(
    Facts(
        PageLanguage.OTHER, 2, Status.RELEVANT, Status.UNVISITED, Locality.SAME_SITE, False,
        Anchor.NONE, False,
    )
)  # fmt: skip
"""Code of a link that is further from the latest relevant page than others."""

APART = Terms(unproven_share=0.2)
"""Terms by which unproven sites have a share."""


class Join(Protocol):
    def __call__(self, name: str = ..., spec: str = ..., terms: Terms = ...) -> RedisFrontier: ...


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    def most(number: int) -> None:
        monkeypatch.setattr(redis_script, "STEPS", number)
        redis_script.library.cache_clear()

    yield most
    monkeypatch.undo()
    redis_script.library.cache_clear()


@pytest.fixture
def join(redis_server: RedisServer, client: Redis) -> Iterator[Join]:
    with ExitStack() as stack:

        def joined(
            name: str = "c", spec: str = "adaptive", terms: Terms = DEFAULTS
        ) -> RedisFrontier:
            worker = Worker(clock_of_caller=True, time_to_live=1e6)
            client = Redis.from_url(redis_server.url)
            frontier = RedisFrontier(client, name, strategy(spec), {}, terms, worker)
            return stack.enter_context(closing(frontier))

        yield joined


def offer(server: str, page: int, code: int = SEED) -> Offer:
    return Offer(f"http://{server}/{page}", server, server, code, PageLanguage.TARGET, 0)


def leased(frontier: RedisFrontier, now: float = 0.0) -> Lease:
    lease = frontier.lease(now)
    assert lease is not None
    return lease


def blogs(frontier: RedisFrontier) -> Lease:
    """Offer a site of many servers; return the lease of its first page."""
    frontier.offer([offer("www.blogs.co.th", 0)])
    frontier.offer([
        offer(f"b{n}.blogs.co.th", m, CODES[m]) for n in range(MANY) for m in range(2)
    ])  # fmt: skip
    return leased(frontier)


class Counted:
    """Counts what each call of the script writes into sorted sets, the most in one."""

    def __init__(self, client: Redis, frontier: RedisFrontier, patched: pytest.MonkeyPatch) -> None:
        run, send = frontier.connection.run, frontier.connection.send
        self.calls = self.most = 0

        def counted(answered: Callable[[], Any]) -> Any:
            before = self._written(client)
            answer = answered()
            self.calls += 1
            self.most = max(self.most, self._written(client) - before)
            return answer

        def sent(*call: Any) -> Steps[Any]:
            yield from ()
            return counted(Awaited(send(*call)).result)

        patched.setattr(frontier.connection, "run", lambda *call: counted(partial(run, *call)))
        patched.setattr(frontier.connection, "send", sent)

    @staticmethod
    def _written(client: Redis) -> int:
        found: Any = client.info("commandstats")
        return int(found.get("cmdstat_zadd", {"calls": 0})["calls"])


def state(client: Redis, name: str) -> dict[bytes, object]:
    """Return all that is kept of a crawl, but what goes by the clock, and who takes part."""
    start = b"{%s}:" % name.encode()
    keys = (key for key in client.scan_iter(count=1000) if key.startswith(start))
    own = ("clock", "about", "workers", "lives", "latest", "leases", "scored")
    found = {key.removeprefix(start): key for key in keys}
    return {short: _value(client, key) for short, key in found.items() if short.decode() not in own}


def _value(client: Any, key: bytes) -> object:
    match client.type(key):
        case b"hash":
            return client.hgetall(key)
        case b"zset":
            return client.zrange(key, 0, -1, withscores=True)
        case b"set":
            return client.smembers(key)
        case b"list":
            return client.lrange(key, 0, -1)
    return client.get(key)


@pytest.mark.parametrize(
    ("spec", "unit"),
    [("server_aggressive:T=0", "a.co.th"), ("directory_conservative:T=0", "a.co.th/d/")],
)
def test_urls_of_a_server_or_directory_go_in_pieces_whoever_does_them(
    client: Redis, join: Join, steps: Callable[[int], None], spec: str, unit: str
) -> None:
    """What is told is right at once of a server; links to such URLs meet the state that will be."""

    def url(number: int, code: int = LINK) -> Offer:
        return offer("a.co.th", 0, code)._replace(url=f"http://a.co.th/d/{number}", unit=unit)

    states, is_of_server = [], unit == "a.co.th"
    for name, most in (("whole", 10_000), ("pieces", 1)):
        steps(most)
        one, two = join(name, spec), join(name, spec)
        one.offer([*map(url, range(MANY)), url(MANY, REQUISITE), offer("b.co.th", 0, REQUISITE)])
        one.offer([offer("b.co.th", 1)])
        lease, other = leased(one), leased(two)
        assert {lease.server, other.server} == {"a.co.th", "b.co.th"}
        if lease.server == "b.co.th":
            lease, other, one, two = other, lease, two, one
        assert one.commit(ended(lease, relevant=False))
        behind = client.hkeys(f"{{{name}}}:behind")
        assert behind == ([] if most > 1 else [b" a.co.th" if is_of_server else b"/a.co.th/d/"])
        with two.reading() as reader:
            assert (reader.find(url(MANY - 1).url) is None) == (is_of_server or most > 1)
            if is_of_server:
                assert reader.pending() == {REQUISITES: 2}
                assert reader.tallies()["discarded"] == {"server became irrelevant": MANY - 1}
        links = [url(n) for n in range(MANY - 3, MANY + 3)]
        assert two.commit(ended(other, relevant=True, offers=links))
        last = two.lease_requisite(0.0)
        assert last is not None
        two.give_back(ended(last))
        found = state(client, name)
        states.append({key: value for key, value in found.items() if key != b"units"})
        assert not any(key.startswith((b"behind", b"bin")) for key in found)
    assert states[0] == states[1]


def test_links_of_a_page_come_in_pieces_before_its_end(
    client: Redis, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is missing or twice if the worker dies between, and each knows its page."""
    monkeypatch.setattr(redis, "OFFERS", FEW)
    one, two = join(spec="bfs"), join(spec="bfs")
    one.offer([offer("a.co.th", 0, FAR)])
    links = [
        *(offer("a.co.th", n, 7) for n in range(2 * FEW)),
        *(offer(f"b{n}.co.th", 1, 7) for n in range(3 * FEW)),
    ]
    visit = ended(leased(one), relevant=True, offers=links)
    monkeypatch.setattr(one, "_end", lambda *_: pytest.fail("killed"))
    with pytest.raises(pytest.fail.Exception, match="killed"):
        one.commit(visit)
    assert (two.pending, two.unfinished) == (4 * FEW - 1, 4 * FEW), "the last come with its end"
    again = leased(two, 2e6)
    assert again.url == "http://a.co.th/0", "its lease has ended"
    assert again.referrer is None, "its link to itself says nothing"
    counted = Counted(client, two, monkeypatch)
    assert two.commit(ended(again, relevant=True, offers=links))
    assert counted.calls == 6
    with two.reading() as reader:
        assert reader.taken("a.co.th")[0].pages == 1, "it isn't counted twice"
    assert not client.exists("{c}:counted")
    found = []
    while (lease := two.lease(2e6)) is not None:
        assert lease.referrer == "http://a.co.th/0"
        found.append(lease.url)
        assert two.commit(ended(lease))
    assert sorted(found) == sorted(link.url for link in links[1:])


@pytest.mark.parametrize("is_relevant", [True, False])
def test_links_of_a_page_to_its_own_server_go_by_what_it_counts(
    client: Redis, join: Join, monkeypatch: pytest.MonkeyPatch, is_relevant: bool
) -> None:
    """In pieces as at once: also if the server becomes irrelevant, or may have fewer URLs."""
    states, spec = [], "server_aggressive:T=0"
    for name, most in (("whole", 10_000), ("pieces", FEW)):
        monkeypatch.setattr(redis, "OFFERS", most)
        frontier = join(name, spec, Terms(caps=Caps(server=3 * FEW)))
        frontier.offer([offer("a.co.th", n) for n in range(FEW)])
        links = [offer("a.co.th", n, LINK if n % 2 else REQUISITE) for n in range(5 * FEW)]
        assert frontier.commit(ended(leased(frontier), relevant=is_relevant, offers=links))
        left_out = frontier.counts().tally["discarded"]
        assert (Outcome.SERVER_BECAME_IRRELEVANT in left_out) == (not is_relevant)
        assert left_out[FULL["server"]] > 0
        frontier.give_back(ended(leased(frontier)))
        states.append(state(client, name))
    assert states[0] == states[1]


@pytest.mark.parametrize("most", [1, 3])
def test_the_stores_agree_though_each_call_does_little(
    redis_server: RedisServer,
    steps: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    most: int,
) -> None:
    """Also if hashes of known URLs are split all the time, and most pages have many links."""

    class OnServer(Stores):
        url = redis_server.url

        @override
        @invariant()
        def same_counts(self) -> None:
            # What is too much is discarded after each piece of the seeds, or left out of a page's.
            capped = self.caps.server or self.caps.domain or self.caps.sites
            monkeypatch.setattr(redis, "OFFERS", MANY if capped else most)
            for frontier in (self.sqlite, self.redis):  # what a commit left is done before a lease
                assert frontier.lease_among(["nobody"], self.now) is None
            super().same_counts()

    steps(most)
    monkeypatch.setattr(redis_script, "KNOWN_A_HASH", 0.02)
    few = settings(max_examples=12, stateful_step_count=40, deadline=None)
    run_state_machine_as_test(OnServer, settings=few)


def test_a_site_of_many_servers_moves_in_pieces_whoever_does_them(
    client: Redis, join: Join, steps: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state is as if it were done at once: also if the worker that began it is gone."""
    states = []
    for name, most in (("whole", 10_000), ("pieces", FEW)):
        steps(most)
        one, two = join(name), join(name)
        lease = blogs(one)
        counted = Counted(client, two, monkeypatch)
        assert one.commit(ended(lease, relevant=True))
        assert client.exists(f"{{{name}}}:behind") == (most == FEW)
        two.give_back(ended(leased(two)))
        states.append(state(client, name))
        if most == FEW:
            assert counted.calls > MANY * 2 / FEW
            assert counted.most <= 3 * (FEW + 3), "a line is written to two or three sets"
    assert states[0] == states[1]
    assert not any(b"behind" in key for key in states[1])


def spam(frontier: RedisFrontier) -> list[Lease]:
    """Offer an unproven site of many servers; return leases of two pages that may support it."""
    frontier.offer([offer("seed.co.th", 0)])
    pages = [offer(f"page{n}.co.th", 0) for n in range(3)]
    frontier.commit(ended(leased(frontier), relevant=True, offers=pages))
    first, *others = [leased(frontier) for _ in pages]
    links = [offer(f"b{n}.spam.co.th", m, CODES[m]) for n in range(MANY) for m in range(2)]
    frontier.commit(ended(first, relevant=True, offers=links))
    return others


@pytest.mark.parametrize("spec", ["adaptive", "soft_focused"])
def test_a_site_of_many_servers_is_proven_in_pieces_whoever_does_them(
    client: Redis,
    join: Join,
    steps: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
) -> None:
    """What comes to one of its servers meanwhile, and what was leased of it: all as if at once."""
    states = []
    for name, most in (("whole", 10_000), ("pieces", FEW)):
        steps(most)
        one, two = join(name, spec, APART), join(name, spec, APART)
        supporter, other = spam(one)
        returned, finished = (one.lease_among([f"b{n}.spam.co.th"], 0.0) for n in (7, 8))
        counted = Counted(client, two, monkeypatch)
        assert one.commit(ended(supporter, relevant=True, offers=[offer("b9.spam.co.th", 9)]))
        proving = client.hexists(f"{{{name}}}:behind", "+spam.co.th")
        assert proving == (most == FEW)
        links = [
            *(offer(f"b{n}.spam.co.th", m, CODES[m + 1]) for n in (0, 3, 20) for m in range(3)),
            offer("new.spam.co.th", 0), offer("b30.spam.co.th", 0, REQUISITE),
        ]  # fmt: skip
        assert one.commit(ended(other, relevant=True, offers=links))
        assert returned is not None
        assert finished is not None
        one.give_back(ended(returned))
        assert one.commit(ended(finished, relevant=False, offers=links[:1]))
        last = leased(two)
        with two.reading() as reader:
            assert reader.unproven() == {}
        two.give_back(ended(last))
        states.append(state(client, name))
        assert counted.most <= 6 * FEW or most > FEW
    assert states[0] == states[1]
    assert not any(b"behind" in key for key in states[1])


def test_a_server_of_a_proven_site_moves_as_one_though_its_lines_are_many(
    client: Redis, join: Join, steps: Callable[[int], None]
) -> None:
    """What supports its site changes its place at once, and its lines become proven before."""
    states, spec = [], "tests.strategy.own_rules:supported_and_near"
    codes = range(0, SEED, 500)
    for name, most in (("whole", 10_000), ("pieces", FEW)):
        steps(most)
        frontier = join(name, spec, APART)
        frontier.offer([offer("seed.co.th", 0)])
        pages = [offer(f"page{n}.co.th", 0) for n in range(2)]
        frontier.commit(ended(leased(frontier), relevant=True, offers=pages))
        first, second = [leased(frontier) for _ in pages]
        links = [offer("spam.co.th", n, code) for n, code in enumerate(codes)]
        frontier.commit(ended(first, relevant=True, offers=links))
        assert client.zcard(f"{{{name}}}:lines:spam.co.th") > FEW
        with frontier.reading() as reader:
            before = sum(reader.unproven().values())
            frontier.commit(ended(second, relevant=True, offers=[offer("spam.co.th", 0, 7)]))
            frontier.give_back(ended(leased(frontier)))
            assert (before, reader.unproven()) == (len(codes), {})
        states.append(state(client, name))
    assert states[0] == states[1]


def test_a_place_that_changes_again_while_servers_are_behind(
    client: Redis, join: Join, steps: Callable[[int], None]
) -> None:
    """An offer to such a server, a page of it, a server that is new: all as if done at once."""
    states = []
    for name, most in (("whole", 10_000), ("pieces", FEW)):
        steps(most)
        frontier = join(name)
        first = blogs(frontier)
        others = [leased(frontier) for _ in range(6)]
        assert frontier.commit(ended(first, relevant=True, offers=[offer("b9.blogs.co.th", 5, 21)]))
        for lease in others:
            new = offer(f"new{lease.id}.blogs.co.th", 1, 7)
            assert frontier.commit(ended(lease, relevant=False, offers=[new]))
        frontier.give_back(ended(leased(frontier)))
        states.append(state(client, name))
    assert states[0] == states[1]


def test_servers_that_rested_together_are_freed_in_pieces(
    client: Redis, join: Join, steps: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps(FEW)
    frontier = join()
    frontier.offer([offer(f"s{n}.co.th", m) for n in range(MANY) for m in range(2)])
    for _ in range(MANY):
        frontier.commit(ended(leased(frontier), rest=5.0))
    counted = Counted(client, frontier, monkeypatch)
    assert leased(frontier, 10.0).url == "http://s0.co.th/1", (
        "all are looked at before one is leased"
    )
    assert counted.most <= 2 * FEW
    assert counted.calls > MANY / FEW


def test_a_server_that_rested_puts_back_only_the_lines_that_were_met(
    client: Redis, join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = join()
    frontier.offer([offer("a.co.th", code, code) for code in range(0, 2000, 7)])
    frontier.commit(ended(leased(frontier), relevant=True, rest=5.0))
    lines = client.zcard("{c}:lines:a.co.th")
    assert lines > 5 * FEW
    counted = Counted(client, frontier, monkeypatch)
    for now in (5.0, 10.0, 15.0):
        frontier.commit(ended(leased(frontier, now), rest=5.0))
    assert counted.most <= FEW
    frontier.offer([offer("b.co.th", n, CODES[n]) for n in range(len(CODES))])
    for _ in CODES:
        lease = leased(frontier, 16.0)
        assert lease.server == "b.co.th", "lines of the other are met now"
        frontier.commit(ended(lease))
    for now in range(25, 25 + 5 * client.zcard("{c}:queue:a.co.th"), 5):
        frontier.commit(ended(leased(frontier, float(now)), rest=5.0))
    assert frontier.pending == 0, "none is forgotten"


def test_an_offer_to_a_server_that_is_behind_meets_it_at_its_place(
    join: Join, steps: Callable[[int], None]
) -> None:
    """A page supports a site of many servers: the URL that it links to there is kept."""
    steps(FEW)
    frontier = join(spec="tests.strategy.own_rules:only_supported:T=1")
    frontier.offer([offer(f"seed{n}.co.th", m) for n in range(2) for m in range(2)])
    servers = [f"b{n}.blogs.co.th" for n in range(MANY)]
    first, second = leased(frontier), leased(frontier)
    assert frontier.commit(ended(first, relevant=True, offers=[offer(s, 1, 0) for s in servers]))
    assert frontier.counts().tally["discarded"] == {"strategy": MANY}
    frontier.commit(ended(second, relevant=True, offers=[offer(servers[-1], 2, 0)]))
    assert frontier.counts().tally["discarded"] == {"strategy": MANY}
