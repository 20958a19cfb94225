"""The two stores are one frontier: any sequence of calls gives the same answers."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
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

from lswc.frontier import contract
from lswc.frontier.contract import Caps, Terms
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.redis_script import Connection
from lswc.frontier.report import completion
from lswc.frontier.store.frontier import MEMORY, SqliteFrontier
from lswc.frontier.visit import Attempt, Offer
from lswc.outcomes import OF_QUOTA, Outcome
from lswc.strategy import GUESS, NEVER, REQUISITE, SEED, PageLanguage, Unit, status, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from lswc.frontier.steps import Awaited, Steps
    from lswc.frontier.visit import Lease
    from tests.frontier.redis_server import RedisServer

STRATEGIES = [
    "bfs",
    "soft_focused",
    "limited_distance:N=3",
    "server_aggressive:T=1",
    "server_conservative:T=2",
    "directory_conservative:T=1",
    "lswc:S=2,T=5",
    "tests.strategy.own_rules:supported_first",
    "tests.strategy.own_rules:only_supported:T=1",
    "adaptive",
]
RESTS = st.sampled_from([0.0, 0.0, 2.0, 3.5])
SERVERS = [
    "a.co.th", "www.a.co.th", "b.a.co.th:8080", "b.co.th", "c",
    *(f"{name}.co.th" for name in "defgh"),
]  # fmt: skip
SEEDS = SERVERS[:4]
names = count()


@st.composite
def found(draw: st.DrawFn) -> Offer:
    server = draw(st.sampled_from(SERVERS))
    directory = draw(st.sampled_from([f"{server}/x/", f"{server}/y/"]))
    return Offer(
        f"{draw(st.sampled_from(['http', 'https']))}://{directory}{draw(st.integers(0, 4))}",
        server,
        directory,
        draw(st.sampled_from([0, 1, SEED, SEED, REQUISITE, GUESS]) | st.integers(0, SEED)),
        draw(st.sampled_from(PageLanguage)),
        draw(st.sampled_from([1, 2]) | st.integers(0, 400)),
        draw(st.sampled_from([0, 0, 0, 3])),
    )


links = st.lists(found(), max_size=12)


class Stores(RuleBasedStateMachine):
    url: str

    def __init__(self) -> None:
        super().__init__()
        self.patched = pytest.MonkeyPatch()
        self.patched.setattr(contract, "FAR", 0.9)  # they wait for what is hardly better

    @initialize(
        spec=st.sampled_from(STRATEGIES),
        haste=st.sampled_from([0.0, 0.1, 0.4, 1.0]),
        most=st.sampled_from([0, 0, 3, 5]),
        of_domain=st.sampled_from([0, 4, 6]),
        share=st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0]),
        small=st.sampled_from([0, 0, 1, 16]),
        sites=st.sampled_from([0, 0, 3, 20]),
    )
    def open(
        self, spec: str, haste: float, most: int, of_domain: int, share: float, small: int,
        sites: int,
    ) -> None:  # fmt: skip
        caps = Caps(server=most, domain=of_domain, sites=sites)
        self.caps = caps
        terms = Terms(haste=haste, caps=caps, unproven_share=share, small_family=small)
        chosen = strategy(spec)
        self.by_server = chosen.unit is Unit.SERVER
        self.now = 100.0
        self.held: list[Lease] = []
        self.begun: list[tuple[Awaited[Any], object]] = []
        self.is_new = False
        self.redis = RedisFrontier(
            Redis.from_url(self.url), f"agree{next(names)}", chosen, {}, terms,
            Worker(clock_of_caller=True, time_to_live=1e6),
        )  # fmt: skip
        self.sqlite = SqliteFrontier(MEMORY, chosen, {}, terms)

    def by_unit(self, found: list[Offer]) -> list[Offer]:
        return [o._replace(unit=o.server) for o in found] if self.by_server else found

    def discarded(self) -> int:
        tally = self.sqlite.counts().tally.get("discarded", {})
        reasons = (Outcome.SERVER_BECAME_IRRELEVANT, Outcome.STRATEGY)
        return sum(tally.get(reason, 0) for reason in reasons)

    def begin(self, steps: Steps[Any], expected: object) -> None:
        """Leave it under way: whatever is done next waits for its end first."""
        self.begun.append((self.redis.begin(steps), expected))
        self.is_new = True

    @rule(found=links)
    def offer(self, found: list[Offer]) -> None:
        seeds = [offer for offer in found if offer.server in SEEDS]
        for frontier in (self.sqlite, self.redis):
            frontier.offer(self.by_unit(seeds))

    @rule(wait=st.sampled_from([0.0, 0.0, 0.5, 2.0]), is_awaited=st.booleans())
    def lease(self, wait: float, is_awaited: bool) -> None:
        self.now += wait
        lease = self.sqlite.lease(self.now)
        self.begin(self.redis.leasing(self.now), lease)
        if is_awaited:
            self.end()
        if lease is not None:
            self.held.append(lease)

    def end(self) -> None:
        for awaited, expected in self.begun:
            assert awaited.result() == expected
        self.begun.clear()
        self.is_new = False

    def leased(self, lease: Lease | None, other: Lease | None) -> None:
        assert other == lease
        if lease is not None:
            self.held.append(lease)

    def is_quiet(self) -> bool:
        """Tell whether no postponed URL is due: Redis's workers know that only by ``lease``."""
        due = self.sqlite.next_due()
        return due is None or due > self.now

    @precondition(is_quiet)
    @rule()
    def lease_requisite(self) -> None:
        self.leased(self.sqlite.lease_requisite(self.now), self.redis.lease_requisite(self.now))

    @precondition(is_quiet)
    @rule(wanted=st.lists(st.sampled_from([*SERVERS, "nobody"]), unique=True, max_size=3))
    def lease_among(self, wanted: list[str]) -> None:
        self.leased(
            self.sqlite.lease_among(wanted, self.now), self.redis.lease_among(wanted, self.now)
        )

    @precondition(lambda self: self.held)
    @rule(
        data=st.data(),
        relevant=st.sampled_from([True, False, False, None]),
        found=links,
        outcome=st.sampled_from(["html", "timeout", "blocked", *OF_QUOTA[:1], Outcome.REDIRECT]),
        rest=RESTS,
        is_awaited=st.booleans(),
    )
    def commit(
        self,
        data: st.DataObject,
        relevant: bool | None,
        found: list[Offer],
        outcome: str,
        rest: float,
        is_awaited: bool,
    ) -> None:
        lease = data.draw(st.sampled_from(self.held))
        self.held.remove(lease)
        relevant = relevant if lease.is_page else None
        visit = ended(lease, outcome, relevant=relevant, offers=self.by_unit(found), rest=rest)
        visit.attempts.append(Attempt(lease.url, datetime.now(UTC), size=lease.depth))
        visit.tally["discarded", "depth"] += 1
        discarded = self.sqlite.discarded_by(visit)
        assert sorted(self.redis.discarded_by(visit)) == sorted(discarded)
        before = self.discarded()
        assert self.sqlite.commit(visit)
        self.begin(self.redis.ending(visit, None), True)
        if is_awaited:
            self.end()
            assert not any(frontier.commit(visit) for frontier in (self.sqlite, self.redis))
        # Besides them, links of the page itself may be discarded.
        assert len(discarded) <= self.discarded() - before <= len(discarded) + len(found)

    @precondition(lambda self: self.held)
    @rule(
        data=st.data(),
        wait=st.sampled_from([0.0, 0.5, 3.0]),
        outcome=st.sampled_from(["timeout", "status 503", "paused"]),
        rest=RESTS,
        is_awaited=st.booleans(),
    )
    def postpone(
        self, data: st.DataObject, wait: float, outcome: str, rest: float, is_awaited: bool
    ) -> None:
        lease = data.draw(st.sampled_from(self.held))
        self.held.remove(lease)
        visit = ended(lease, outcome, rest=rest)
        assert self.sqlite.postpone(visit, self.now + wait)
        self.begin(self.redis.ending(visit, self.now + wait), True)
        if is_awaited:
            self.end()
            both = (self.sqlite, self.redis)
            assert not any(frontier.postpone(visit, self.now) for frontier in both)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), rest=RESTS)
    def give_back(self, data: st.DataObject, rest: float) -> None:
        lease = data.draw(st.sampled_from(self.held))
        self.held.remove(lease)
        for frontier in (self.sqlite, self.redis):
            assert frontier.give_back(ended(lease, rest=rest))
            assert not frontier.give_back(ended(lease))

    @rule(
        outcomes=st.sets(st.sampled_from(["timeout", "blocked", "paused", *OF_QUOTA[:1]])),
        refused=st.none() | st.sampled_from(SERVERS),
    )
    def retry(self, outcomes: set[str], refused: str | None) -> None:
        def wanted(url: str, depth: int) -> bool:
            return f"/{refused}/" not in url and depth < 300

        chosen = None if refused is None else wanted
        assert self.redis.retry(outcomes, chosen) == self.sqlite.retry(outcomes, chosen)

    @rule()
    def report(self) -> None:
        """What is told of servers is the same; a leased URL is pending only in a file."""
        assert self.redis.counts() == self.sqlite.counts()
        assert self.redis.servers == self.sqlite.servers
        with self.sqlite.reading() as one, self.redis.reading() as other:
            assert sorted(one.left_out()) == sorted(other.left_out())
            assert completion(one).complete == completion(other).complete
            assert completion(one).cut == completion(other).cut
            assert one.cells() == other.cells()
            assert one.families(9) == other.families(9)
            for site in SERVERS[3:]:
                assert one.family_of(site) == other.family_of(site)
            assert sorted(one.server_names()) == sorted(other.server_names())
            busy = {lease.server for lease in self.held}
            for server in {*SERVERS, "nobody"} - busy:
                assert one.server(server, 5) == other.server(server, 5)
                if one.queue(server):  # else a file doesn't know its domain
                    assert one.taken(server) == other.taken(server)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), relevant=st.sampled_from([True, False, None]), found=links)
    def ask(
        self,
        data: st.DataObject,
        relevant: bool | None,
        found: list[Offer],
    ) -> None:
        lease = data.draw(st.sampled_from(self.held))
        units = {offer.unit for offer in self.by_unit(found)} | {lease.unit}
        expected = self.sqlite.statuses(units, lease, relevant)
        assert self.redis.statuses(units, lease, relevant) == expected

    @invariant()
    def same_counts(self) -> None:
        """What is asked here leaves to the next call what goes with it: `report` doesn't."""
        if self.is_new:
            self.is_new = False
            return
        if hasattr(self, "begun"):
            self.end()
        assert self.redis.pending == self.sqlite.pending
        assert self.redis.unfinished == self.sqlite.unfinished
        assert self.redis.later == self.sqlite.later
        assert self.redis.next_due() == self.sqlite.next_due()

    def teardown(self) -> None:
        self.patched.undo()
        if hasattr(self, "sqlite"):
            self.sqlite.close()
            self.redis.close()


def test_the_stores_agree(redis_server: RedisServer) -> None:
    class OnServer(Stores):
        url = redis_server.url

    steps = settings(max_examples=25, stateful_step_count=40, deadline=None)
    run_state_machine_as_test(OnServer, settings=steps)


@given(st.integers(0, 30), st.integers(0, 30), st.sampled_from([0, 1, 5, 10, NEVER]))
@settings(max_examples=60, deadline=None)
def test_a_units_status_is_the_strategys(
    redis_server: RedisServer, downloaded: int, relevant: int, tolerated: int
) -> None:
    with Redis.from_url(redis_server.url) as client:
        terms: list[object] = ["", tolerated, "server", "", "", "", 0, 0, 1, 0, 0, 0, 0, "", ""]
        answer = Connection(client, "x").run("status", *terms, downloaded, relevant)
    assert answer == status(downloaded, relevant, tolerated)
