"""Whatever a network says, for however long, one page is wrong at most, and none waits in vain."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from lswc.frontier.rules.visit import Attempt, Lease, Visit
from lswc.guest.likeness import IN_A_ROW, sign_of
from lswc.guest.network import PATIENCE, PROBED, Network
from lswc.outcomes import Outcome
from lswc.strategy import SEED, PageLanguage
from lswc.urls import parse
from tests.guest.virtual import VirtualLoop
from tests.guest.world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lswc.urls import Url

    Lie = Callable[[Url], "Said"]

PORTAL = "http://login.portal.test/"
OFFLINE = 60.0
"""Seconds that a crawl may be offline on a network that works."""


def sign(*said: object) -> int:
    """Return 64 bits for what is said, which are like those of nothing else."""
    return int.from_bytes(blake2b(repr(said).encode(), digest_size=8).digest())


@dataclass(frozen=True)
class Said:
    """An answer: a page with the sign of its text, if it has one; silence has no status."""

    status: int | None
    text: int | None = None
    size: int = 0
    leads_to: str = ""


SILENCE = Said(None)
COMMON = Said(404, size=153)


def login(url: Url) -> Said:
    return Said(200, sign("login"), 1_000)


def named(url: Url) -> Said:
    """Say what differs a little by name."""
    return Said(200, sign("login") ^ (1 << sign(url.hostname) % 64), 1_000)


def leading(url: Url) -> Said:
    return Said(302, leads_to=PORTAL)


def missing(url: Url) -> Said:
    return Said(404, size=77)


def empty(url: Url) -> Said:
    return Said(200)


def silent(url: Url) -> Said:
    return SILENCE


LIES = (login, named, leading, missing, empty, silent)


@dataclass
class Web:
    """Servers ``s0`` to ``s<domains - 1>``, and what is said in their names.

    Of ``common`` in ten what isn't there has one error page; each page of others has its own. A
    third of all links leads to what isn't there. ``parked`` in ten say one thing for all; pages
    that ``changed`` are others than they were.
    """

    domains: int
    common: int
    parked: int
    changed: int = 0
    lie: Lie | None = None

    def truth(self, url: Url) -> Said:
        number = int(url.hostname.removeprefix("www.s").removesuffix(".test"))
        if number and number % 10 < self.parked:
            return Said(200, sign("for sale"), 900)
        page = url.path.removeprefix("/").removesuffix(".html")
        if page and (not page.isdecimal() or int(page) % 3 == 2):
            return COMMON if number % 10 < self.common else Said(404, size=200 + number)
        return Said(200, sign(url.href, self.changed), 5_000)

    def says(self, url: Url) -> Said:
        return self.truth(url) if self.lie is None else self.lie(url)


@dataclass
class Pending:
    """What a crawl has yet to ask for: a server's pages one after the other, or the same again."""

    pages: dict[int, int] = field(default_factory=dict)
    again: deque[str] = field(default_factory=deque)


class Lying(World):
    """A world in which the web says what it says; time is the loop's."""

    def __init__(self, web: Web, loop: VirtualLoop) -> None:
        super().__init__()
        self.web, self._loop = web, loop

    def now(self) -> float:
        return self._loop.time()

    async def said(self, url: Url) -> Said:
        await asyncio.sleep(0.05)
        return self.web.says(url)

    async def opens(self, url: Url) -> bool:
        return await self.said(url) != SILENCE

    async def finds(self, url: Url) -> bool:
        return await self.said(url) != SILENCE

    async def sign(self, url: Url) -> int | None:
        self.asked.append(url.href)
        await asyncio.sleep(1.0)  # in its server's turn
        said = await self.said(url)
        visit = _visit(0, url.href, self.now(), 0.0)
        return sign_of(visit, end(visit, said)) if said != SILENCE else None


def _visit(number: int, address: str, now: float, rest: float) -> Visit:
    url = parse(address)
    assert url is not None
    lease = Lease(
        number, address, url.server, url.server, SEED, 0, None, PageLanguage.TARGET, 0, 0, None
    )
    attempt = Attempt(address, datetime.fromtimestamp(now, UTC))
    return Visit(lease, now, rest=rest, attempts=[attempt])


def end(visit: Visit, said: Said) -> str:
    """Let a visit bring what is said; return its outcome."""
    attempt = visit.attempts[0]
    attempt.status, attempt.size, attempt.mime = said.status or 0, said.size, "text/html"
    if said == SILENCE:
        visit.attempts.clear()
        return Outcome.DOWNLOAD_FAILED
    if said.leads_to:
        visit.led_to = said.leads_to
        return Outcome.REDIRECT
    if said.text is None:
        return f"status {said.status}"
    visit.simhash = said.text
    record: Any = SimpleNamespace(simhash=f"{said.text:016x}")
    visit.record = record
    return Outcome.HTML


class Crawl:
    """A crawl of a web by so many requests at a time, each server resting between two."""

    def __init__(self, web: Web, loop: VirtualLoop, requests: int, rest: float) -> None:
        self.web, self.loop, self.requests, self.rest = web, loop, requests, rest
        self.world = Lying(web, loop)
        self.pending = Pending(dict.fromkeys(range(web.domains), 0))
        self.ready = dict.fromkeys(range(web.domains), 0.0)
        self.recorded: deque[tuple[str, int]] = deque(maxlen=5 * PROBED)
        self.wrong: Counter[tuple[int, int]] = Counter()
        self.ended = 0
        self.lie = self.runs = 0
        self.tasks: set[asyncio.Task[None]] = set()
        self.numbers: Iterator[int] = iter(range(10**9))
        self.network = self._begin()

    def _begin(self) -> Network:
        self.said: dict[int, tuple[bool, int]] = {}  # was it true, and the latest lie
        self.under_way: dict[int, Visit] = {}
        self.busy = set[int]()  # a server's next URL waits until the one before has ended
        seeds = [f"http://www.s{number}.test/" for number in range(min(20, self.web.domains))]
        network = Network(self.world, seeds, 0.0, self._end, self._give_back, lambda: None)
        for address, known in self.recorded:
            url = parse(address)
            assert url is not None
            network.answered(url)
            network.know(url, known)
        network.resumed = self._go_on
        return network

    def _end(self, visit: Visit, outcome: str) -> None:
        if visit.is_over:
            return
        is_right, lie = self.said.pop(visit.lease.id)
        del self.under_way[visit.lease.id]
        self.busy.discard(_number(visit.url))
        url = parse(visit.url)
        assert url is not None
        self.ended += 1
        if outcome == Outcome.DOWNLOAD_FAILED:
            self.pending.again.append(visit.url)  # it is postponed
        elif not is_right:
            self.wrong[lie, self.runs] += 1
        if visit.record is not None:
            self.recorded.append((visit.url, int(visit.record.simhash, 16)))

    def _give_back(self, visit: Visit) -> None:
        if visit.is_over:
            return
        self.said.pop(visit.lease.id, None)
        del self.under_way[visit.lease.id]
        self.busy.discard(_number(visit.url))
        self.pending.again.append(visit.url)

    def restart(self, *, is_killed: bool) -> None:
        """End the crawl, and start it again: what has not ended is asked for again."""
        self.runs += 1
        for task in self.tasks:
            task.cancel()
        self.tasks.clear()
        if is_killed:
            for visit in self.under_way.values():
                visit.is_over = True
        self.network.close()
        self.pending.again.extend(visit.url for visit in self.under_way.values())
        self.network = self._begin()

    async def run(self, seconds: float) -> None:
        """Crawl for a while."""
        until = self.loop.time() + seconds
        while self.loop.time() < until:
            self._go_on()
            await asyncio.sleep(min(1.0 if self.network.paused else 0.25, until - self.loop.time()))

    def _go_on(self) -> None:
        network = self.network
        while not network.paused and len(self.under_way) - len(network.waiting) < self.requests:
            address = self._next()
            if address is None:
                break
            visit = _visit(next(self.numbers), address, self.loop.time(), self.rest)
            self.under_way[visit.lease.id] = visit
            task = asyncio.ensure_future(self._ask(visit))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        if not self.tasks:
            network.settle()

    def _next(self) -> str | None:
        now = self.loop.time()
        for _ in range(len(self.pending.again)):
            address = self.pending.again.popleft()
            if self._takes_turn(_number(address), now):
                return address
            self.pending.again.append(address)
        for number, page in self.pending.pages.items():
            if self._takes_turn(number, now):
                del self.pending.pages[number]  # to the end
                self.pending.pages[number] = page + 1
                return f"http://www.s{number}.test/{page or ''}" + (".html" if page else "")
        return None

    def _takes_turn(self, number: int, now: float) -> bool:
        is_ready = self.ready[number] <= now and number not in self.busy
        if is_ready:
            self.busy.add(number)
            self.ready[number] = now + max(self.rest, 0.1)
        return is_ready

    async def _ask(self, visit: Visit) -> None:
        url = parse(visit.url)
        assert url is not None
        network = self.network
        said = await self.world.said(url)
        self.said[visit.lease.id] = said == self.web.truth(url), self.lie
        outcome = end(visit, said)
        if said == SILENCE:
            network.silent(url)
        else:
            network.answered(url, visit.since)
        if not network.takes(visit, outcome, len(self.under_way)):
            self._end(visit, outcome)

    def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        self.network.close()


def _number(address: str) -> int:
    return int(address.split(".")[1].removeprefix("s"))


class Doubt(RuleBasedStateMachine):
    """A crawl whose network lies and works again, which is killed and started again."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualLoop()
        self.made: Crawl | None = None
        self.true_since = self.loop.time()

    @initialize(
        domains=st.sampled_from([1, 2, 3, 4, 5, 6, 8, 20, 100, 1000]),
        common=st.integers(0, 10),
        parked=st.sampled_from([0, 0, 1, 3, 9]),
        requests=st.sampled_from([1, 4, 16]),
        rest=st.sampled_from([1.0, 2.0, 5.0, 20.0]),
        seconds=st.sampled_from([0.0, 10.0, 100.0]),
    )
    def begins(
        self, domains: int, common: int, parked: int, requests: int, rest: float, seconds: float
    ) -> None:
        async def make() -> Crawl:
            return Crawl(Web(domains, common, parked), self.loop, requests, rest)

        self.made = self.loop.run_until_complete(make())
        self.goes_on(seconds)

    @property
    def crawl(self) -> Crawl:
        assert self.made is not None
        return self.made

    @rule(seconds=st.sampled_from([0.3, 3.0, 30.0, 200.0]))
    def goes_on(self, seconds: float) -> None:
        until = self.loop.time() + seconds
        while (left := until - self.loop.time()) > 0.001:
            self.loop.run_until_complete(self.crawl.run(min(left, 5.0)))
            works = self.crawl.web.lie is None and self.loop.time() - self.true_since
            assert works < OFFLINE or not self.crawl.network.offline, "offline in vain"

    @rule(
        lie=st.sampled_from(LIES),
        seconds=st.sampled_from([0.5, 3.0, 25.0, 400.0, 3_600.0]),
        restarts=st.sampled_from([0, 0, 1, 2]),
        is_killed=st.booleans(),
    )
    def lies(self, lie: Lie, seconds: float, restarts: int, is_killed: bool) -> None:
        if not self.can_be_seen(lie, seconds):
            return
        self.crawl.lie += 1
        self.crawl.web.lie = lie
        self.goes_on(seconds / (restarts + 1))
        for _ in range(restarts):
            self.starts_again(is_killed)
            self.goes_on(seconds / (restarts + 1))
        self.crawl.web.lie = None
        self.true_since = self.loop.time()

    def can_be_seen(self, lie: Lie, seconds: float) -> bool:
        """Tell whether what is known is enough to see it, as docs/lab/faults.md says."""
        domains, has_known = self.crawl.web.domains, len(self.crawl.recorded) > 1
        if lie == silent or (has_known and not (domains == 1 and lie == missing)):
            return True
        if domains >= IN_A_ROW:
            return True
        return domains > 1 and lie != missing and seconds < PATIENCE

    @rule(is_killed=st.booleans())
    def starts_again(self, is_killed: bool) -> None:
        async def restart() -> None:
            self.crawl.restart(is_killed=is_killed)

        self.loop.run_until_complete(restart())

    @rule()
    def pages_change(self) -> None:
        self.crawl.web.changed += 1

    @invariant()
    def one_page_is_wrong_at_most(self) -> None:
        """Of each lie, in each process of the crawl."""
        wrong = self.made.wrong if self.made is not None else Counter()
        assert max(wrong.values(), default=0) <= 1

    def teardown(self) -> None:
        async def close(crawl: Crawl) -> None:
            crawl.close()
            left = asyncio.all_tasks() - {asyncio.current_task()}
            await asyncio.gather(*left, return_exceptions=True)

        if self.made is not None:
            self.loop.run_until_complete(close(self.made))
        self.loop.close()


def live(examples: int, steps: int) -> None:
    """Let so many crawls live through so many steps each."""
    slow = [HealthCheck.too_slow]  # a machine may be busy
    given = settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=slow
    )
    run_state_machine_as_test(Doubt, settings=given)


def test_lies_acquittals_and_restarts() -> None:
    live(8, 6)


@pytest.mark.slow
def test_many_lies_acquittals_and_restarts() -> None:
    live(150, 12)
