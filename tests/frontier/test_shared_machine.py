"""Whatever workers do in any order, and whatever befalls them: no URL is lost, none ended twice."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from copy import deepcopy
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from redis import Redis

from lswc.errors import AwayError
from lswc.frontier import redis, redis_script
from lswc.frontier.contract import Caps, Terms
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.sharded import ShardedFrontier
from lswc.frontier.shards import SHARDS, Layout, known_by
from lswc.frontier.visit import Attempt, Offer, Visit
from lswc.outcomes import Outcome, may_return
from lswc.strategy import DISCARD, REQUISITE, REQUISITES, SEED, Pages, Unit, strategy
from tests.frontier.lossy import Killed, Way
from tests.frontier.recount import (
    ENDED,
    FAILED,
    FINISHED,
    LATER,
    LEASED,
    MOVED,
    PENDING,
    WAITING,
    Contents,
    Recount,
    Url,
)
from tests.frontier.test_stores_agree import RESTS, SERVERS, STRATEGIES, links

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from lswc.frontier.visit import Lease
    from tests.frontier.redis_server import RedisServer

pytestmark = pytest.mark.slow

LIFE = 60.0
"""Seconds until a lease expires that nobody renews."""

NOWHERE = Url("")
names = count()
faults = st.none() | st.none() | st.none() | st.tuples(
    st.sampled_from([0, 0, 1, 2]),
    st.sampled_from([0, 0, 0, 1, 2, 4, 8, 16]),
    st.sampled_from(["answer", "answer", "call", "before", "after"]),
    st.booleans(),
)  # fmt: skip
which, which_one = st.integers(0, 1), st.integers(0, 7)
Fault = tuple[int, int, str, bool]
"""The way, how many calls get through before, how one fails then, and whether that lasts."""


class Row(NamedTuple):
    """A visit in a worker's files; one that was postponed has no outcome."""

    url: str
    is_requisite: bool
    outcome: str
    led_to: frozenset[int]

    @property
    def key(self) -> int:
        return known_by(self.url, REQUISITE if self.is_requisite else SEED)


class Held:
    """A lease of a worker's, what its server calls it, and since when.

    ``is_doubtful`` if its server was away since.
    """

    def __init__(self, lease: Lease, called: str, now: float) -> None:
        self.lease, self.called, self.since, self.is_doubtful = lease, called, now, False
        self.key = known_by(lease.url, lease.code)

    def is_valid(self, url: Url, number: int) -> bool:
        """Tell whether it is the lease that the store knows of its URL."""
        return (url.about, url.state, url.number) == (self.called, LEASED, number)


class Step:
    """What is done now, and so what may change."""

    def __init__(
        self,
        name: str,
        *,
        wakes: bool = False,
        visit: Visit | None = None,
        held: Held | None = None,
        ends: str = "",
        links: Collection[Offer] = (),
        reopened: Collection[int] = (),
        retried: Collection[str] = (),
        joins: bool = False,
        closes: Collection[Held] = (),
    ) -> None:
        self.name, self.wakes, self.visit, self.held, self.ends = name, wakes, visit, held, ends
        self.links, self.reopened, self.retried = links, set(reopened), retried
        self.joins, self.closes = joins, {one.key for one in closes}
        self.is_clean = True

    def __repr__(self) -> str:
        return self.name


class Truth:
    """What was committed to one server."""

    def __init__(self) -> None:
        self.finished: Counter[str] = Counter()
        self.units: dict[str, Pages] = {}
        self.cells: Counter[int] = Counter()
        self.received: Counter[str] = Counter()

    def add(self, visit: Visit) -> None:
        self.finished[visit.outcome] += 1
        self.received[visit.lease.server] += visit.received

    def count(self, visit: Visit) -> None:
        """Count a page; of one with many links before its visit ends, which may be never."""
        lease, counted = visit.lease, visit.counted
        if counted is not None:
            before = self.units.get(lease.unit, Pages())
            self.units[lease.unit] = Pages(before.downloaded + 1, before.relevant + counted)
            self.cells[lease.cell] += 1


class Crawler:
    """A worker, its ways to the servers, and its files, which outlive it."""

    def __init__(
        self, name: str, servers: list[RedisServer], log: list[Row], aside: list[Row]
    ) -> None:
        self.name, self.log, self.aside = name, log, aside
        self.ways = [Way(server) for server in servers]
        self.frontier: RedisFrontier | ShardedFrontier | None = None
        self.held: list[Held] = []
        self.waits = False

    @property
    def store(self) -> RedisFrontier | ShardedFrontier:
        assert self.frontier is not None
        return self.frontier

    @property
    def is_at_work(self) -> bool:
        return self.frontier is not None and not self.waits

    @property
    def is_whole(self) -> bool:
        """Whether it reaches all servers, as far as it knows."""
        if isinstance(self.frontier, ShardedFrontier):
            return len(self.frontier.live) == len(self.ways)
        return True

    @property
    def lengths(self) -> dict[str, int]:
        return {"log": len(self.log)}

    def doubt(self, part: int) -> None:
        for one in self.held:
            one.is_doubtful |= len(self.ways) == 1 or one.lease.id % SHARDS == part

    def settle(self) -> set[int]:
        """Make the files agree with the store, as a worker that starts or rejoins does.

        Returns the keys of what waits again.
        """
        older, committed = self.store.older_lengths(), self.store.lengths().get("log", 0)
        if older is None:
            self.aside += self.log[committed:]
            del self.log[committed:]
            if len(self.log) == committed:
                return set()
            lost = self.taken_out()  # as its last visit, in doubt, was, and it died
            requisites = [row.url for row in lost if row.is_requisite]
            self.store.reopen([row.url for row in lost], self.lengths, requisites)
            return {row.key for row in lost}
        own = set(self.store.finished_here())
        out = {row for row in self.log if row.outcome and row.key not in own}
        lost = {row for row in self.log[older.get("log", 0) :] if row.outcome and row.key in own}
        lost |= self.taken_out()
        keys = {row.key for row in out | lost}
        self.aside += [row for row in self.log if row.key in keys]
        self.log[:] = [row for row in self.log if row.key not in keys]
        requisites = [row.url for row in lost if row.is_requisite]
        self.store.reopen([row.url for row in lost], self.lengths, requisites)
        return {row.key for row in lost}

    def taken_out(self) -> set[Row]:
        """Return what the store knows as finished, though it is in no file any more."""
        ended = {row.key for row in self.log if row.outcome}
        keys = {*self.store.finished_here()} - ended
        return {row for row in self.aside if row.outcome and row.key in keys}


class Shared(RuleBasedStateMachine):
    """Two workers of one crawl, and all that may happen to them."""

    servers: list[RedisServer]

    def __init__(self) -> None:
        super().__init__()
        self.patched = pytest.MonkeyPatch()
        self.crawlers: list[Crawler] = []
        self.now, self.is_sound = 100.0, True
        for module in ("redis", "redis_order", "sharded"):
            self.patched.setattr(f"lswc.frontier.{module}.monotonic", lambda: self.now)
        self.patched.setattr("redis.retry.sleep", lambda seconds: None)
        self.patched.setattr("lswc.frontier.contract.FAR", 0.9)

    @initialize(
        spec=st.sampled_from(STRATEGIES),
        haste=st.sampled_from([0.0, 0.4, 1.0, 1.0]),
        most=st.sampled_from([0, 0, 3, 5]),
        of_domain=st.sampled_from([0, 0, 4, 6]),
        share=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        small=st.sampled_from([0, 0, 1, 16]),
        sites=st.sampled_from([0, 0, 3, 20]),
        number=st.sampled_from([1, 3]),
        steps=st.sampled_from([100, 100, 1, 3]),
        offers=st.sampled_from([200, 200, 2, 5]),
        may_be_older=st.booleans(),
        found=links,
    )
    def begin(
        self, spec: str, haste: float, most: int, of_domain: int, share: float, small: int,
        sites: int, number: int, steps: int, offers: int, may_be_older: bool, found: list[Offer],
    ) -> None:  # fmt: skip
        self.patched.setattr(redis_script, "STEPS", steps)
        if steps < 100:  # the hashes of known URLs are split from the beginning
            self.patched.setattr(redis_script, "KNOWN_A_HASH", 0.25)
            self.patched.setattr(redis_script, "SPLITS", steps)
        redis_script.library.cache_clear()
        self.patched.setattr(redis, "OFFERS", offers)
        self.servers = self.servers[:number]
        for server in self.servers:
            server.empty()
        caps = Caps(server=most, domain=of_domain, sites=sites)
        self.terms = Terms(haste=haste, caps=caps, unproven_share=share, small_family=small)
        self.of_part = self.terms
        if number > 1:
            self.of_part = Terms(
                haste=haste, caps=Caps(server=most, domain=of_domain, sites=-(-sites // number)),
                unproven_share=share, small_family=-(-small // number),
            )  # fmt: skip
        self.strategy, self.may_be_older = strategy(spec), may_be_older
        self.by_server = self.strategy.unit is Unit.SERVER
        self.may_discard = bool(most or of_domain or sites) or any(
            DISCARD in row for row in self.strategy.cell_of
        )
        self.name, self.layout = f"shared{next(names)}", Layout.of(number)
        self.admins = [Redis.from_url(server.url) for server in self.servers]
        self.truths = [Truth() for _ in self.servers]
        self.saved: dict[int, tuple[list[Any], Truth]] = {}
        self.logs: dict[str, list[Row]] = {}
        self.asides: dict[str, list[Row]] = {}
        self.offered: set[int] = set()
        self.twins: set[int] = set()
        self.forgotten: set[int] = set()
        self.lost: set[int] = set()
        self.seeds: set[Offer] = set()
        self.doubts: defaultdict[str, set[int]] = defaultdict(set)
        self.workers = count()
        self.found = [self.recount(part) for part in range(number)]
        self.urls: dict[int, Url] = {}
        self.crawlers = [self.crawler() for _ in range(2)]
        for one in self.crawlers:
            self.join(one)
        self.offer(0, found, None)

    # -- the model --------------------------------------------------------------------------------

    def recount(self, part: int) -> Contents:
        found = Contents(self.admins[part], self.name, by_server=self.by_server)
        Recount(found, self.strategy, self.of_part).check()
        return found

    def look(self) -> dict[int, Url]:
        """Return all URLs; each is on the server of its site only."""
        self.found = [self.recount(part) for part in range(len(self.admins))]
        urls: dict[int, Url] = {}
        for part, found in enumerate(self.found):
            assert not urls.keys() & found.urls.keys(), "two servers know a URL"
            urls |= found.urls
            for server in found.site_of_server:
                assert self.part_of(server) == part, f"{server} is on another server"
        return urls

    def part_of(self, server: str) -> int:
        part: int = self.layout.server_of(server) if len(self.servers) > 1 else 0
        return part

    def own_number(self, held: Held) -> int:
        return held.lease.id // SHARDS if len(self.servers) > 1 else held.lease.id

    def busy_until(self, server: str) -> int:
        return self.found[self.part_of(server)].busy.get(server, 0)

    def discarded(self) -> int:
        counts = (count for found in self.found for count in found.tally.items())
        return sum(number for (kind, _), number in counts if kind == "discarded")

    def kept(self) -> int:
        return sum(found.kept for found in self.found)

    def act(
        self,
        who: Crawler,
        step: Step,
        done: Callable[[], Any],
        fault: Fault | None = None,
    ) -> Any:
        """Do a step, maybe with a fault; compare what became of it with what may.

        Returns what was answered; None if the worker has to wait for its store, or was killed.
        """
        assert self.is_sound
        self.is_sound = False
        keys = [known_by(offer.url, offer.code) for offer in step.links]
        self.offered |= set(keys)
        self.twins |= {
            key for key, o in zip(keys, step.links, strict=True)
            if o.redirects and o.url.startswith("https:")
        }  # fmt: skip
        if fault is not None:
            part, after, how, lasts = fault
            part %= len(who.ways)
            who.ways[part].plan(after, how, lasts=lasts or how in ("before", "after"))
        before, discarded, kept = self.urls, self.discarded(), self.kept()
        was_counted = [found.counted for found in self.found]
        self.busy = {s: t for found in self.found for s, t in found.busy.items()}
        step.joins |= not who.is_whole
        step.is_clean = not any(way.is_cut for way in who.ways) and who.is_whole
        answer = None
        try:
            answer = done()
        except AwayError:
            step.is_clean = False
            who.waits, who.held = True, []
        except Killed:
            step.is_clean = False
            self.end(who)
        for part, way in enumerate(who.ways):
            if way.faults or way.is_cut:
                step.is_clean = False
                who.doubt(part)
            way.heal()
        after_it = self.look()
        if step.held is not None and step.visit is not None:
            part, number = self.part_of(step.held.lease.server), self.own_number(step.held)
            was, now = before.get(step.held.key, NOWHERE), after_it.get(step.held.key, NOWHERE)
            is_ended = step.ends == "commit" and self.is_held(step.held, was) and now != was
            if number not in was_counted[part] and (is_ended or number in self.found[part].counted):
                self.truths[part].count(step.visit)
        vanished = self.explain(who, step, before, after_it)
        delta = self.discarded() - discarded
        assert vanished <= delta, f"{vanished} vanished, {delta} were counted"
        assert delta == 0 or self.may_discard
        if step.is_clean and not kept:
            refused = sum(key not in before and key not in after_it for key in set(keys))
            if answer is not False:
                assert vanished + refused <= delta, "a link was refused and not counted"
            offered = len(keys) + len(step.reopened | self.doubts[who.name])
            assert delta <= vanished + offered, "more were counted than discarded"
        self.urls = after_it
        self.compare()
        self.is_sound = True
        return answer

    def explain(
        self, who: Crawler, step: Step, before: dict[int, Url], after: dict[int, Url]
    ) -> int:
        """Check that each change is one that the step may make; return how many URLs vanished."""
        vanished = 0
        for key in before.keys() | after.keys():
            was, now = before.get(key, NOWHERE), after.get(key, NOWHERE)
            if was == now:
                continue
            changes = [(was, now)]
            if was.number and now.number and was.number != now.number:
                # It was discarded, or http redirected to https, and a link brought it at once.
                is_own = step.held is not None and step.held.key == key and step.ends == "commit"
                between = Url(MOVED) if is_own else NOWHERE
                changes = [(was, between), (between, now)]
            for one, other in changes:
                assert self.may_change(who, step, key, one, other), f"{step}: {one} -> {other}"
            is_reopened = key in step.reopened | self.doubts[who.name]
            vanished += was.state in WAITING and changes[0][1] is NOWHERE and not is_reopened
            if was.state == LEASED and changes[0][1].state in ENDED:
                assert step.visit is not None
                self.truths[self.part_of(was.server)].add(step.visit)
            if was.state == LEASED and now.state == LATER:
                assert step.visit is not None
                truth = self.truths[self.part_of(was.server)]
                truth.received[was.server] += step.visit.received
            if was.state == FAILED:
                self.truths[self.part_of(was.server)].finished[was.about] -= 1
        return vanished

    def may_change(self, who: Crawler, step: Step, key: int, was: Url, now: Url) -> bool:
        """Tell whether a URL may go from one state to another by a step."""
        is_own = step.held is not None and step.held.key == key and self.is_held(step.held, was)
        expired = step.wakes and self.busy.get(was.server, 0) <= self.now * 1000
        is_due = step.joins or (was.state == LATER and int(was.about) <= self.now * 1000)
        returns = key in step.reopened or key in self.doubts[who.name]
        if was.state == "":
            is_new = key in self.offered or returns
            return is_new and (now.state == PENDING or (now.state == LEASED and step.wakes))
        if was.state == PENDING:
            return now.state == "" or (now.state == LEASED and step.wakes)
        if was.state == LEASED:
            if is_own and now.state in ENDED:
                assert step.visit is not None
                return now.state == self.ended_as(step.visit) and step.ends == "commit"
            if is_own and now.state == LATER:
                return step.ends == "postpone"
            is_freed = (is_own and step.ends == "give back") or key in step.closes
            return (expired or is_freed) and now.state in (PENDING, LEASED, "")
        if was.state == LATER and now.state == LATER:
            return now.about == "0" and bool(step.retried or step.joins)
        if was.state == LATER:
            return step.wakes and is_due and now.state in (PENDING, LEASED, "")
        if was.state == FAILED and now.state == LATER:
            return was.about in step.retried and now.about == "0"
        if was.state == MOVED and key in self.twins and now.state in (PENDING, LEASED):
            return True
        return returns and now.state in ("", PENDING, LEASED)

    def is_held(self, held: Held, url: Url) -> bool:
        return held.is_valid(url, self.own_number(held))

    def ended_as(self, visit: Visit) -> str:
        if may_return(visit.outcome):
            return FAILED
        moved = visit.outcome == Outcome.REDIRECT and visit.url.startswith("http:")
        return MOVED if moved else FINISHED

    def compare(self) -> None:
        """Compare all counts with what was committed."""
        for truth, found in zip(self.truths, self.found, strict=True):
            told = {name: n for (kind, name), n in found.tally.items() if kind == "finished"}
            assert told == +truth.finished, "URLs finished by outcome"
            pages = {name: unit.pages for name, unit in found.units.items()}
            visited = {name: of_unit for name, of_unit in pages.items() if of_unit.downloaded}
            assert visited == truth.units, "pages of units"
            relevant = sum(of_unit.relevant for of_unit in truth.units.values())
            expected = {"n": truth.cells.total(), "r": int(relevant)}
            expected |= {f"n:{cell}": number for cell, number in truth.cells.items()}
            counted = found.counts("experience").items()
            assert {k: n for k, n in counted if k[:2] != "r:"} == +Counter(expected), "experience"
            taken = found.counts("taken").items()
            sizes = {k[6:]: n for k, n in taken if k.startswith("bytes ") and k[6:8] != "*."}
            assert sizes == +truth.received, "bytes taken"

    def by_unit(self, offers: list[Offer]) -> list[Offer]:
        return [o._replace(unit=o.server) for o in offers] if self.by_server else offers

    # -- workers come and go ----------------------------------------------------------------------

    def crawler(self, name: str = "") -> Crawler:
        name = name or f"worker {next(self.workers)}"
        log, aside = (of.setdefault(name, []) for of in (self.logs, self.asides))
        return Crawler(name, self.servers, log, aside)

    def join(self, who: Crawler, fault: Fault | None = None) -> None:
        """Let a worker join, or rejoin, and make its files agree."""
        worker = Worker(known_as=who.name, clock_of_caller=True, time_to_live=LIFE)
        crawl = (self.name, self.strategy, {"language": "th"}, self.terms, worker)
        rows = (row for row in [*who.log, *who.aside] if row.outcome)
        step = Step("join", joins=True, reopened={row.key for row in rows})

        def joined() -> bool:
            if who.frontier is not None:
                who.store.rejoin()
            elif len(who.ways) == 1:
                who.frontier = RedisFrontier(who.ways[0].client(), *crawl)
            else:
                who.frontier = ShardedFrontier([way.client() for way in who.ways], *crawl)
            who.settle()
            who.waits = False
            return True

        who.held = []
        if not self.act(who, step, joined, fault) and who.frontier is None:
            self.end(who)

    def end(self, who: Crawler) -> None:
        """End a worker as it is: nobody hears of it."""
        for way in who.ways:
            way.heal()
            way.break_off()
        who.frontier, who.waits, who.held = None, False, []

    @rule(n=which, fault=faults, is_same=st.booleans())
    def come(self, n: int, fault: Fault | None, is_same: bool) -> None:
        who = self.crawlers[n]
        if who.frontier is None:
            who = self.crawlers[n] = self.crawler(who.name if is_same else "")
        elif not who.waits:
            return
        self.join(who, None if self.may_be_older else fault)

    @rule(n=which, rest=st.none() | RESTS)
    def leave(self, n: int, rest: float | None) -> None:
        """Let a worker end in order, or die."""
        who = self.crawlers[n]
        if rest is None:
            self.end(who)
            return
        if not who.is_at_work:
            return
        valid = [one for one in who.held if self.is_held(one, self.urls.get(one.key, NOWHERE))]
        under_way = [Visit(one.lease, one.since, rest=rest) for one in who.held]
        self.act(who, Step("leave", closes=valid), lambda: who.store.close(under_way))
        self.end(who)

    # -- what workers do --------------------------------------------------------------------------

    def at_work(self, n: int) -> Crawler | None:
        """Return the worker of this place, or the other one; if none is at work, this one comes."""
        first, other = self.crawlers[n], self.crawlers[1 - n]
        if not first.is_at_work and not other.is_at_work:
            self.join(first)
        return first if first.is_at_work else other if other.is_at_work else None

    @rule(n=which, found=links, fault=faults)
    def offer(self, n: int, found: list[Offer], fault: Fault | None) -> None:
        if who := self.at_work(n):
            offers = [one for one in self.by_unit(found) if one.code <= SEED]
            self.give_seeds(who, offers, fault)

    def give_seeds(self, who: Crawler, seeds: list[Offer], fault: Fault | None = None) -> None:
        def given() -> bool:
            who.store.offer(seeds)
            return True

        if self.act(who, Step("offer", links=seeds), given, fault):
            self.seeds |= set(seeds)

    @rule(
        n=which,
        how=st.sampled_from(["lease", "lease", "lease", "lease", "among", "requisite"]),
        wanted=st.lists(st.sampled_from([*SERVERS, "nobody"]), unique=True, max_size=3),
        wait=st.sampled_from([0.0, 0.0, 0.5, 2.0]),
        fault=faults,
    )
    def lease(
        self,
        n: int,
        how: str,
        wanted: list[str],
        wait: float,
        fault: Fault | None,
    ) -> None:
        self.now += wait
        if who := self.at_work(n):
            self.leased(who, how, wanted, fault)

    def leased(
        self,
        who: Crawler,
        how: str = "lease",
        wanted: Collection[str] = (),
        fault: Fault | None = None,
    ) -> Held | None:
        calls: dict[str, Callable[[], Lease | None]] = {
            "lease": lambda: who.store.lease(self.now),
            "among": lambda: who.store.lease_among(list(wanted), self.now),
            "requisite": lambda: who.store.lease_requisite(self.now),
        }
        lease = self.act(who, Step(how, wakes=True), calls[how], fault)
        if lease is None:
            return None
        called = self.urls.get(known_by(lease.url, lease.code), NOWHERE).about
        assert called.endswith(f":{lease.token}"), "of this worker: each counts its own"
        held = Held(lease, called, self.now)
        held.is_doubtful = any(way.is_cut for way in who.ways)
        assert self.is_held(held, self.urls.get(held.key, NOWHERE)), f"{lease} isn't leased"
        assert self.busy.get(lease.server, 0) <= self.now * 1000, f"{lease.server} rested"
        if how == "among":
            assert lease.server in wanted
        assert (lease.cell >= REQUISITES) <= (how != "lease"), "a requisite as a page"
        who.held = [one for one in who.held if one.lease.id != lease.id]  # the lease before is over
        who.held.append(held)
        return held

    @rule(n=which, relevant=st.booleans(), found=links, rest=RESTS)
    def visit_one(self, n: int, relevant: bool, found: list[Offer], rest: float) -> None:
        who = self.at_work(n)
        if who is not None and (held := self.leased(who)) is not None:
            self.committed(who, held, "html", relevant, self.by_unit(found), rest)

    def one_held(self, n: int, at: int) -> tuple[Crawler, Held] | None:
        """Return a worker at work and one of its leases; it asks for one if it has none."""
        who = self.at_work(n)
        if who is None or (not who.held and self.leased(who) is None):
            return None
        return who, who.held[at % len(who.held)]

    @rule(
        n=which,
        at=which_one,
        relevant=st.sampled_from([True, False, False, None]),
        found=links,
        outcome=st.sampled_from(
            ["html", "html", "timeout", "blocked", "server's page limit", Outcome.REDIRECT]
        ),
        rest=RESTS,
        fault=faults,
    )
    def commit(
        self,
        n: int,
        at: int,
        relevant: bool | None,
        found: list[Offer],
        outcome: str,
        rest: float,
        fault: Fault | None,
    ) -> None:
        if one := self.one_held(n, at):
            self.committed(*one, outcome, relevant, self.by_unit(found), rest, fault)

    def committed(
        self,
        who: Crawler,
        held: Held,
        outcome: str = "html",
        relevant: bool | None = None,
        offers: list[Offer] | None = None,
        rest: float = 0.0,
        fault: Fault | None = None,
    ) -> None:
        lease, links = held.lease, offers or []
        visit = self.visit(held, outcome, rest)
        visit.relevant, visit.offers = relevant if lease.is_page else None, links
        keys = frozenset(known_by(link.url, link.code) for link in links)
        self.ends(
            who, held, visit, Row(lease.url, lease.is_requisite, outcome, keys), fault, "commit"
        )

    def visit(self, held: Held, outcome: str, rest: float) -> Visit:
        visit = Visit(held.lease, held.since, outcome=outcome, rest=rest)
        visit.attempts.append(Attempt(held.lease.url, datetime.now(UTC), size=held.lease.depth))
        return visit

    def ends(
        self,
        who: Crawler,
        held: Held,
        visit: Visit,
        row: Row,
        fault: Fault | None,
        how: str,
        due: float = 0.0,
    ) -> None:
        """End a visit: write it, then say so; take it out again if the lease had ended."""
        who.held.remove(held)
        if fault is not None:  # most on the way to its own server
            fault = (fault[0] + self.part_of(held.lease.server), *fault[1:])
        was_valid = self.is_held(held, self.urls.get(held.key, NOWHERE))
        step = Step(how, visit=visit, held=held, ends=how, links=visit.offers)
        is_told = False

        def ended() -> bool:
            nonlocal is_told
            visit.discarded = who.store.discarded_by(visit)
            who.log.append(row)
            if how == "commit":
                is_ended = who.store.commit(visit, who.lengths)
            else:
                is_ended = who.store.postpone(visit, due, who.lengths)
            is_told = True
            if not is_ended:
                who.log.pop()
            return is_ended

        is_ended = self.act(who, step, ended, fault)
        now = self.urls.get(held.key, NOWHERE)
        is_done = was_valid and (now.state in (*ENDED, LATER) or held.key in self.twins)
        if is_told and not is_ended and is_done and how == "commit":
            assert not step.is_clean
            self.doubts[who.name].add(held.key)
        if step.is_clean and not held.is_doubtful:
            assert is_ended == was_valid, "a lease that held wasn't ended, or one that had was"
        if is_ended:
            assert is_done, "said to be ended"
            self.check_rest(held, visit.rest)

    def check_rest(self, held: Held, rest: float) -> None:
        """Check that a server rests as was told; it isn't busy for another reason."""
        until = round(held.since * 1000) + round(rest * 1000) if rest else 0
        assert self.busy_until(held.lease.server) == until, f"{held.lease.server} rests"

    @rule(
        n=which,
        at=which_one,
        wait=st.sampled_from([0.0, 0.5, 3.0, 100.0]),
        outcome=st.sampled_from(["timeout", "status 503", "paused"]),
        rest=RESTS,
        fault=faults,
    )
    def postpone(
        self,
        n: int,
        at: int,
        wait: float,
        outcome: str,
        rest: float,
        fault: Fault | None,
    ) -> None:
        one = self.one_held(n, at)
        if one is None:
            return
        who, held = one
        row = Row(held.lease.url, held.lease.is_requisite, "", frozenset())
        visit = self.visit(held, outcome, rest)
        visit.postponed = True
        self.ends(who, held, visit, row, fault, "postpone", self.now + wait)

    @rule(n=which, at=which_one, rest=RESTS, fault=faults)
    def give_back(
        self,
        n: int,
        at: int,
        rest: float,
        fault: Fault | None,
    ) -> None:
        one = self.one_held(n, at)
        if one is None:
            return
        who, held = one
        who.held.remove(held)
        was_valid = self.is_held(held, self.urls.get(held.key, NOWHERE))
        visit, step = self.visit(held, "", rest), Step("give back", held=held, ends="give back")
        is_given = self.act(who, step, lambda: who.store.give_back(visit), fault)
        if step.is_clean and not held.is_doubtful:
            assert is_given == was_valid
        if is_given:
            assert self.urls.get(held.key, NOWHERE).state in (PENDING, "")
            self.check_rest(held, rest)

    @rule(n=which, fault=faults)
    def renew(self, n: int, fault: Fault | None) -> None:
        if who := self.at_work(n):
            self.renewed(who, fault)

    def renewed(self, who: Crawler, fault: Fault | None = None) -> None:
        step = Step("renew")
        lost = self.act(who, step, lambda: who.store.renew(self.now), fault)
        if lost is None:
            return
        left = [one for one in who.held if one.lease.id not in lost]
        gone = [one for one in who.held if one.lease.id in lost]
        who.held = left
        for one in left:
            if step.is_clean and not one.is_doubtful:
                assert self.is_held(one, self.urls.get(one.key, NOWHERE)), "it had expired"
                assert self.busy_until(one.lease.server) == round((self.now + LIFE) * 1000)
        for one in gone:
            is_held = self.is_held(one, self.urls.get(one.key, NOWHERE))
            assert not is_held or one.is_doubtful or not step.is_clean

    @rule(
        n=which,
        outcomes=st.sets(
            st.sampled_from(["timeout", "blocked", "paused", "server's page limit"]), min_size=1
        ),
        refused=st.none() | st.sampled_from(SERVERS),
        fault=faults,
    )
    def retry(
        self,
        n: int,
        outcomes: set[str],
        refused: str | None,
        fault: Fault | None,
    ) -> None:
        def wanted(url: str, depth: int) -> bool:
            return f"/{refused}/" not in url and depth < 300

        if who := self.at_work(n):
            chosen, step = None if refused is None else wanted, Step("retry", retried=outcomes)
            self.act(who, step, lambda: who.store.retry(outcomes, chosen), fault)

    @precondition(lambda self: not self.may_be_older)  # it would know lengths from before
    @rule(n=which, at=which_one, is_named=st.booleans())
    def lose_rows(self, n: int, at: int, is_named: bool) -> None:
        """Let a worker's files lose visits: those whose URL is known wait again, others are
        forgotten.
        """
        who = self.at_work(n)
        if who is None or not who.is_whole:
            return
        rows = [row for row in who.log if row.outcome and not may_return(row.outcome)]
        rows = [row for row in rows if self.urls.get(row.key, NOWHERE).state in ENDED]
        if not rows or any(way.is_cut for way in who.ways):
            return
        row = rows[at % len(rows)]
        self.lost.add(row.key)
        step = Step("lose rows", reopened=[row.key])
        who.log[:] = [one for one in who.log if one.key != row.key]

        def reopened() -> None:
            requisites = [row.url] if row.is_requisite else []
            who.store.reopen([row.url] if is_named else [], who.lengths, requisites)
            if not is_named:
                self.forgotten.add(row.key)
                who.store.forget([row.key])

        self.act(who, step, reopened)

    @rule(n=which)
    def settle(self, n: int) -> None:
        if who := self.at_work(n):
            self.act(who, Step("settle"), who.store.settle)

    # -- what happens -----------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([1.0, 5.0, LIFE / 2, LIFE + 1]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(n=which, both=st.booleans(), part=st.integers(0, 2), is_back=st.booleans())
    def cut(self, n: int, both: bool, part: int, is_back: bool) -> None:
        """Let a server be away, for one worker or for both; or let it be back."""
        if is_back:
            for who in self.crawlers:
                who.ways[part % len(who.ways)].is_cut = False
            return
        for who in self.crawlers if both else [self.crawlers[n]]:
            way = who.ways[part % len(who.ways)]
            way.is_cut = True
            way.break_off()
            who.doubt(part % len(who.ways))

    @precondition(lambda self: self.may_be_older)
    @rule(part=st.integers(0, 2))
    def save(self, part: int) -> None:
        part %= len(self.servers)
        client = self.admins[part]
        keys = sorted(client.keys(f"{{{self.name}}}:*"))
        self.saved[part] = [(key, client.dump(key)) for key in keys], deepcopy(self.truths[part])

    @precondition(lambda self: self.may_be_older and self.saved)
    @rule(at=which_one)
    def come_back_older(self, at: int) -> None:
        part = sorted(self.saved)[at % len(self.saved)]
        client, (rows, truth) = self.admins[part], self.saved[part]
        client.delete(*client.keys(f"{{{self.name}}}:*"))
        for key, dumped in rows:
            client.restore(key, 0, dumped)
        self.truths[part] = deepcopy(truth)
        for who in self.crawlers:
            who.ways[part].break_off()
            who.doubt(part)
        self.urls = self.look()

    # -- what is told -----------------------------------------------------------------------------

    @rule(n=which)
    def report(self, n: int) -> None:
        who = self.at_work(n)
        if who is None or not who.is_whole or any(way.is_cut for way in who.ways):
            return
        step = Step("report")
        told = self.act(who, step, lambda: (who.store.counts(), who.store.unfinished))
        if told is None:
            return
        counts, unfinished = told
        states = Counter(url.state for url in self.urls.values())
        again = sum(found.again for found in self.found)
        assert sum(counts.pending.values()) + counts.requisites == states[PENDING]
        assert counts.leased == states[LEASED] + again
        assert unfinished == sum(states[state] for state in WAITING) + again + self.kept()
        assert who.store.pending == states[PENDING] + states[LATER]
        assert who.store.later == states[LATER]
        tally: Counter[tuple[str, str]] = Counter()
        units: dict[str, Pages] = {}
        for found in self.found:
            tally += Counter(found.tally)
            units |= {name: unit.pages for name, unit in found.units.items()}
        flat = {(kind, name): n for kind, of in counts.tally.items() for name, n in of.items() if n}
        assert flat == tally
        assert who.store.pages(set(units)) == units
        with who.store.reading() as reader:
            for server in SERVERS:
                self.check_server(reader, server)

    def check_server(self, reader: Any, server: str) -> None:
        own = [url for url in self.urls.values() if url.server == server and url.state == PENDING]
        queue = reader.queue(server)
        assert (0 if queue is None else queue.pending) == len(own)
        if queue is not None:
            assert sum(reader.waiting_of(server).values()) == len(own)

    # -- the end ----------------------------------------------------------------------------------

    def teardown(self) -> None:
        try:
            if self.crawlers and self.is_sound:
                self.finish()
        finally:
            for who in self.crawlers:
                self.end(who)
            for client in getattr(self, "admins", ()):
                client.close()
            self.patched.undo()
            redis_script.library.cache_clear()

    def finish(self) -> None:
        """Let all come back, and the crawl end; then nothing is missing and nothing twice."""
        for who in self.crawlers:
            for way in who.ways:
                way.is_cut = False
        for name in self.logs.keys() - {who.name for who in self.crawlers}:
            gone = self.crawler(name)
            self.back_at_work(gone)
            self.act(gone, Step("leave"), gone.store.close)
            self.end(gone)
        for who in self.crawlers:
            self.back_at_work(who)
        seeds = sorted(self.seeds)
        if self.may_be_older:
            self.give_seeds(self.crawlers[0], seeds)
        for turn in range(2_000):
            who = self.crawlers[turn % 2]
            self.back_at_work(who)
            held = who.held[0] if who.held else self.leased(who) or self.leased(who, "requisite")
            if held is not None:
                self.committed(who, held)
                continue
            self.renewed(who)
            if who.is_at_work and not who.store.unfinished:
                break
            self.now += LIFE + 1
        else:
            raise AssertionError(f"it doesn't end: {set(self.urls.values())}")
        self.check_end()

    def back_at_work(self, who: Crawler) -> None:
        for _ in range(10):
            if who.is_at_work and who.is_whole:
                return
            if who.is_at_work:
                self.now += LIFE + 1
                self.renewed(who)
            else:
                self.join(who)
        raise AssertionError("a worker doesn't come back")

    def check_end(self) -> None:
        for who in self.crawlers:
            self.back_at_work(who)
            self.renewed(who)
        ended: Counter[tuple[str, bool]] = Counter()
        discarded = {name: n for f in self.found for (kind, name), n in f.tally.items()
                     if kind == "discarded"}  # fmt: skip
        for name, log in self.logs.items():
            own = {key for found in self.found for key in found.finished_by(name)}
            rows = {row.key for row in log if row.outcome and not may_return(row.outcome)}
            rows -= self.twins  # where http has redirected, who ended the https twin is known
            own -= self.twins
            assert not rows - own, f"the store has none of {rows - own} of {name}"
            # A store that comes back older knows again what was lost before, and let wait.
            known = self.lost if self.may_be_older else set()
            assert not own - rows - known, f"the files of {name} have none of {own - rows}"
            for row in log:
                if row.outcome and not may_return(row.outcome):
                    ended[row.url, row.is_requisite] += 1
                if row.outcome and not discarded:
                    missing = row.led_to - self.urls.keys() - self.forgotten
                    assert not missing, f"links of {row.url} in {name} are missing"
        twice = {url for url, n in ended.items() if n > 1}
        assert not twice, f"twice: {twice}"
        if not discarded:
            seeds = {known_by(seed.url, seed.code) for seed in self.seeds}
            missing_seeds = seeds - self.urls.keys() - self.forgotten
            assert not missing_seeds, f"seeds are missing: {missing_seeds}"
        for found in self.found:
            Recount(found, self.strategy, self.of_part).check_rest()


EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
"""Examples of a long hunt, each time others; 0 for the few that are always the same."""


def test_nothing_is_lost_or_twice_whatever_happens(redis_servers: list[RedisServer]) -> None:
    class OnServers(Shared):
        servers = redis_servers

    few = settings(
        max_examples=EXAMPLES or 60,
        stateful_step_count=40,
        deadline=None,
        derandomize=not EXAMPLES,
    )
    run_state_machine_as_test(OnServers, settings=few)
