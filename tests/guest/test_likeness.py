"""Answers that aren't the servers' are told from those that only look so, and aren't kept."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from lswc.frontier.rules.visit import Attempt, Exchange, Lease, Visit
from lswc.guest import network
from lswc.guest.likeness import (
    HEAVY,
    IN_A_ROW,
    KNOWN,
    LIKE_SECONDS,
    TAIL,
    Likeness,
    sign_of_answer,
    sign_of_redirect,
)
from lswc.guest.network import BEFORE, Network
from lswc.outcomes import Outcome
from lswc.strategy import SEED, PageLanguage
from lswc.urls import parse
from tests.guest.world import World
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from lswc.urls import Url

LIE = 0x0F0F_1234_5678_9ABC
OWN = Random(1)


class Crawl:
    """A network whose visits end with signs; ``ended`` and ``back`` are their numbers.

    ``now_said`` gives the sign that a server gives when it is asked once more: its own, unless the
    test says otherwise.
    """

    def __init__(self, *seeds: str) -> None:
        self.world = World()
        self.ended: list[int] = []
        self.back: list[int] = []
        self.stopped = 0
        self.signs: dict[str, int] = {}
        self.distrusted: list[float] = []
        self.now_said: Callable[[Url], int | None] = lambda url: self.signs.get(url.href, 0)
        self.world.signs = lambda url: self.now_said(url)
        self.network = Network(
            self.world,
            seeds,
            0.0,
            lambda visit, _: self.ended.append(visit.lease.id),
            lambda visit: self.back.append(visit.lease.id),
            self._stop,
        )
        self.network.distrusted = self.distrusted.append

    def _stop(self) -> None:
        self.stopped += 1

    async def page(
        self,
        number: int,
        sign: int | None = None,
        *,
        server: str = "",
        rest: float = 1.0,
        cookies: str = "",
    ) -> Visit:
        """Let a visit of a server of its own end as a page with a sign, or one of its own."""
        visit = self.visit(number, server or f"www.s{number}.test", rest)
        sign = OWN.getrandbits(64) if sign is None else sign
        record: Any = SimpleNamespace(simhash=f"{sign:016x}")
        visit.record, visit.simhash, visit.cookies = record, sign, cookies
        self.signs[visit.url] = sign
        await self.take(visit, Outcome.HTML)
        return visit

    async def redirect(self, number: int, target: str) -> None:
        visit = self.visit(number, f"www.s{number}.test", 1.0)
        visit.led_to = target
        await self.take(visit, Outcome.REDIRECT)

    async def answer(self, number: int, status: int, size: int) -> None:
        """Let a visit end with an answer of which nothing was read."""
        visit = self.visit(number, f"www.s{number}.test", 1.0)
        visit.attempts[0].status, visit.attempts[0].size = status, size
        await self.take(visit, f"status {status}")

    async def take(self, visit: Visit, outcome: str) -> None:
        if not self.network.takes(visit, outcome):
            self.ended.append(visit.lease.id)
        self.world.time += 0.01
        await self.settle()

    def visit(self, number: int, name: str, rest: float) -> Visit:
        url = f"http://{name}/{number}"
        lease = Lease(number, url, name, name, SEED, 0, None, PageLanguage.TARGET, 0, 0, None)
        time = datetime.fromtimestamp(self.world.unix_time(), UTC)
        return Visit(lease, self.world.now(), rest=rest, attempts=[Attempt(url, time, 200)])

    async def rest(self, seconds: float) -> None:
        """Let time go by in which nothing comes."""
        self.world.time += seconds
        self.network._tick()
        await self.settle()

    async def settle(self) -> None:
        for _ in range(60):
            await asyncio.sleep(0)

    @property
    def held(self) -> set[int]:
        return self.network.held


def crawl(test: Callable[[Crawl], Coroutine[Any, Any, None]], *seeds: str) -> None:
    async def run() -> None:
        made = Crawl(*seeds)
        try:
            await test(made)
        finally:
            made.network.close()

    asyncio.run(run())


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let looks follow each other at once."""
    monkeypatch.setattr(network, "FIRST", 0.0)


async def known(of: Crawl, pages: int = 40) -> None:
    """Let pages of many servers be known."""
    for number in range(pages):
        await of.page(number)
    await of.rest(LIKE_SECONDS)
    assert of.ended == [*range(pages)]


def test_an_answer_is_held_while_its_server_rests_and_no_longer() -> None:
    async def test(of: Crawl) -> None:
        await of.page(1, rest=1.0)
        await of.page(2, rest=0.0)
        assert (of.ended, of.held, len(of.network.waiting)) == ([2], {1}, 1)
        await of.rest(1.0)
        assert (of.ended, of.held) == ([2, 1], set())
        for number in range(3, 30):
            await of.page(number, rest=9.0)
        assert of.ended == [2, 1, *range(3, 30 - TAIL)], "no more than so many wait"
        of.network.close()
        assert of.ended == [2, 1, *range(3, 30)], "the crawl closes, and nothing spoke against them"
        assert not of.world.asked

    crawl(test)


def test_what_comes_for_a_server_s_own_cookies_is_its_own() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        of.now_said = lambda url: LIE  # who asks without them gets another page
        for number in range(100, 100 + 2 * IN_A_ROW):
            await of.page(number, LIE, cookies="seen=1")
        assert not of.held
        assert not of.network.offline
        assert not of.world.asked

    crawl(test)


def test_one_page_for_all_is_the_network_s_until_a_page_is_as_it_was() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        truth, of.now_said = of.now_said, lambda url: LIE
        began = of.world.time
        for number in range(100, 100 + IN_A_ROW):
            await of.page(number, LIE ^ number % 2)
        of.world.time += 1.0
        assert of.network.paused
        assert of.network.offline > 0
        assert not of.back
        before = len(of.world.asked)
        assert before >= KNOWN
        of.now_said = truth
        await of.settle()
        assert not of.network.paused
        assert of.ended == [*range(40)]
        assert of.back == [*range(100, 100 + IN_A_ROW)]
        assert of.world.forgot == 1
        (since,) = of.distrusted
        assert began - BEFORE <= since <= of.world.time - BEFORE, "some time before it was doubted"
        await of.page(200)
        assert not of.network.paused

    crawl(test)


def test_what_was_asked_for_before_the_network_was_back_goes_back_however_late_it_ends() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        truth, of.now_said = of.now_said, lambda url: LIE
        late = of.visit(99, "www.s99.test", 1.0)
        for number in range(100, 100 + IN_A_ROW):
            await of.page(number, LIE)
        of.now_said = truth
        await of.settle()
        await of.take(late, Outcome.HTML)
        assert of.back[-1] == 99

    crawl(test)


def test_a_lie_that_is_over_before_enough_heard_it_is_not_believed() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        for number in (100, 101, 102):
            await of.page(number, LIE)
            of.signs[f"http://www.s{number}.test/{number}"] = OWN.getrandbits(64)
        assert of.held == {100, 101, 102}
        await of.rest(LIKE_SECONDS)
        assert of.back == [100, 101, 102]
        assert not of.network.paused
        for number in (100, 101, 102):  # asked for again: that is what they say
            await of.page(number, LIE)
        await of.rest(LIKE_SECONDS)
        assert of.ended[-3:] == [100, 101, 102]

    crawl(test)


def test_hundreds_of_parked_domains_cost_a_few_looks_and_never_a_rest() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        for number in range(100, 600):
            await of.page(number, LIE)
            assert not of.network.paused
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(40), *range(100, 600)]
        assert not of.back
        assert len(of.world.asked) == 2, "a page that is known, and one of theirs"

    crawl(test)


def test_mirrors_cost_a_few_looks() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        for number in range(100, 400, 3):
            sign = OWN.getrandbits(64)
            for more, name in enumerate(("www.a.test", "www.b.test", "www.c.test")):
                await of.page(number + more, sign, server=name)
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(40), *range(100, 400)]
        assert not of.back
        assert len(of.world.asked) <= 2

    crawl(test)


def test_an_organisation_that_moved_to_one_host_is_believed() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        for number in range(100, 150):
            of.signs[f"http://www.s{number}.test/{number}"] = redirect(number)
            await of.redirect(number, "http://www.all.test/")
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(40), *range(100, 150)]
        assert not of.back
        assert len(of.world.asked) == 2

    def redirect(number: int) -> int:
        url, target = parse(f"http://www.s{number}.test/"), parse("http://www.all.test/")
        assert url is not None
        assert target is not None
        return sign_of_redirect(url, target) or 0

    crawl(test)


def test_a_content_network_s_error_page_is_no_lie() -> None:
    """Failures (5xx) are tried again anyway; a refusal (403) that many give is looked at once."""

    async def test(of: Crawl) -> None:
        await known(of)
        for number in range(100, 150):
            await of.answer(number, 503, 1_234)
        assert not of.world.asked
        of.now_said = lambda url: of.signs.get(url.href)
        for number in range(200, 250):
            await of.answer(number, 403, 1_234)
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(40), *range(100, 150), *range(200, 250)]
        assert len(of.world.asked) == 2

    crawl(test)


@pytest.mark.parametrize("same", [5, 24])
def test_domains_with_a_common_error_page_are_no_less_doubted_than_others(same: int) -> None:
    """A web server's own 404 page is theirs; what a portal says in their names isn't."""

    async def test(of: Crawl) -> None:
        await known(of)
        of.now_said = lambda url: of.signs.get(url.href)
        for number in range(100, 100 + same):
            await of.answer(number, 404, 196)
            of.world.time += 0.5
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(40), *range(100, 100 + same)]
        of.now_said = lambda url: LIE
        for number in range(200, 200 + same):
            await of.page(number, LIE, server=f"www.s{number - 100}.test")
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(40), *range(100, 100 + same)]
        assert of.network.paused
        of.now_said = lambda url: of.signs.get(url.href, 0)
        await of.rest(LIKE_SECONDS)
        async with asyncio.timeout(BRAKE):
            while not of.back:
                await asyncio.sleep(0)
        await of.settle()
        assert sorted(of.back) == [*range(200, 200 + same)]

    crawl(test)


def test_known_pages_that_all_changed_do_not_stop_a_crawl() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        of.now_said = lambda url: LIE if int(url.path[1:]) >= 100 else OWN.getrandbits(64)
        for number in range(100, 120):
            await of.page(number, LIE)
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(40), *range(100, 120)]
        assert len(of.world.asked) == KNOWN + 1

    crawl(test)


def url(address: str) -> Url:
    found = parse(address)
    assert found is not None
    return found


SEEDS = [f"http://www.s{number}.test/{number}" for number in range(50)]


@pytest.mark.parametrize("seeds", [SEEDS, SEEDS[:IN_A_ROW]])
def test_a_crawl_that_knows_nothing_asks_seeds_and_then_for_what_there_is_not(
    seeds: list[str],
) -> None:
    """So seeds that are mirrors of each other are believed, if they know what they don't have."""

    async def test(of: Crawl) -> None:
        of.now_said = lambda url: LIE if url.path in {f"/{n}" for n in range(IN_A_ROW)} else 5
        for number in range(IN_A_ROW):
            await of.page(number, LIE)
        assert of.ended == [*range(IN_A_ROW)]
        assert not of.network.paused

    crawl(test, *seeds)


def test_seeds_of_one_publisher_that_all_lead_to_its_consent_page_are_believed_in_the_end() -> None:
    """Nothing tells them from a portal's at first: the crawl knows no page."""

    async def test(of: Crawl) -> None:
        consent = sign_of_redirect(url("http://www.s1.test/"), url("http://consent.test/")) or 0
        of.now_said = lambda _: consent
        for number in range(20):
            await of.redirect(number, "http://consent.test/")
        assert of.network.paused
        of.world.time += network.PATIENCE + 1.0
        await of.settle()
        assert not of.network.paused
        assert sorted(of.ended + of.back) == [*range(20)]
        again = len(of.back)
        for number in range(20, 100):
            await of.redirect(number, "http://consent.test/")
            of.world.time += 200.0  # for good
        await of.rest(LIKE_SECONDS)
        assert sorted(of.ended + of.back) == [*range(100)]
        assert len(of.back) == again
        assert not of.network.paused

    crawl(test, *SEEDS[:20])


@pytest.mark.parametrize("seeds", [SEEDS[:2], SEEDS[: IN_A_ROW - 1]])
def test_a_few_seeds_that_are_alike_are_believed_at_once(seeds: list[str]) -> None:
    async def test(of: Crawl) -> None:
        of.now_said = lambda _: LIE
        for number in range(len(seeds)):
            await of.page(number, LIE)
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(len(seeds))]
        assert not of.network.paused

    crawl(test, *seeds)


def test_a_portal_is_waited_for_without_end_where_a_page_is_known_that_was_another() -> None:
    """Also after a restart: the latest pages of the record are known then."""

    async def test(of: Crawl) -> None:
        of.network.know(url("http://www.s99.test/"), 5)
        of.now_said = lambda _: LIE
        for number in range(IN_A_ROW):
            await of.page(number, LIE)
        assert of.network.paused
        of.world.time += 100 * network.PATIENCE
        await of.settle()
        assert of.network.paused
        assert not of.ended
        of.network.forget(lambda address: "s99" in address)  # it is blocked
        await of.settle()
        assert not of.network.paused
        assert sorted(of.ended + of.back) == [*range(IN_A_ROW)]

    crawl(test, *SEEDS)


def test_a_blog_hosts_default_page_and_the_empty_pages_of_one_system_cost_a_few_looks() -> None:
    """Every third site has nothing yet, or answers without a body; those between are as ever."""

    async def test(of: Crawl) -> None:
        await known(of)
        of.now_said = lambda url: of.signs.get(url.href)
        for number in range(100, 400, 3):
            await of.page(number, LIE)
            await of.page(number + 1)
            await of.answer(number + 2, 200, 0)
            of.world.time += 0.5
            assert not of.network.paused
        await of.rest(LIKE_SECONDS)
        assert sorted(of.ended) == [*range(40), *range(100, 400)]
        assert not of.back
        assert len(of.world.asked) < 10

    crawl(test)


def test_what_is_ended_once_more_while_it_is_held_ends_as_it_did_first() -> None:
    async def test(of: Crawl) -> None:
        visit = await of.page(1)
        assert of.network.takes(visit, Outcome.NO_RECORD)
        await of.rest(LIKE_SECONDS)
        assert of.ended == [1]
        assert not of.held

    crawl(test)


def test_no_more_is_held_than_memory_has_room_for() -> None:
    async def test(of: Crawl) -> None:
        for number in range(4):
            visit = of.visit(number, f"www.s{number}.test", 9.0)
            visit.attempts[0] = replace(
                visit.attempts[0], status=404, size=HEAVY // 3 + number, exchange=Exchange()
            )
            await of.take(visit, "status 404")
        assert of.ended == [0, 1]
        assert of.held == {2, 3}

    crawl(test)


def test_a_crawl_that_knows_nothing_rests_while_whatever_it_asks_for_is_alike() -> None:
    async def test(of: Crawl) -> None:
        of.now_said = lambda url: LIE
        for number in range(IN_A_ROW):
            await of.page(number, LIE)
        assert of.network.paused
        assert not of.ended
        of.now_said = lambda url: int(url.path[1:]) if url.path[1:].isdecimal() else 5
        await of.settle()
        assert not of.network.paused
        assert of.back == [*range(IN_A_ROW)]

    crawl(test, *SEEDS)


def test_no_answer_is_no_proof() -> None:
    async def test(of: Crawl) -> None:
        await known(of)
        of.now_said = lambda url: None
        for number in range(100, 100 + IN_A_ROW):
            await of.page(number, LIE)
        assert of.network.paused
        assert not of.back

    crawl(test)


def test_one_domain_says_what_it_likes() -> None:
    async def test(of: Crawl) -> None:
        for number in range(100):
            await of.page(number, LIE, server=f"www{number}.one.test")
        await of.rest(LIKE_SECONDS)
        assert of.ended == [*range(100)]
        assert not of.world.asked

    crawl(test)


def test_a_url_that_is_visited_again_as_its_lease_expired_ends_by_the_second_visit() -> None:
    async def test(of: Crawl) -> None:
        ended: list[Visit] = []
        of.network = Network(
            of.world, (), 0.0, lambda visit, _: ended.append(visit), ended.append, of._stop
        )
        await of.page(1)
        second = await of.page(1)
        assert of.held == {1}
        await of.rest(LIKE_SECONDS + 1)
        assert ended == [second]
        assert not of.held

    crawl(test)


@pytest.mark.parametrize(
    ("given", "has_sign"),
    [
        ({"status": 200, "mime": "text/html", "size": 9}, True),
        ({"status": 200, "mime": "image/png", "size": 9}, False),
        ({"status": 200, "mime": "image/png", "size": 0}, True),
        ({"status": 299, "mime": "image/png", "size": 9}, False),
        ({"status": 300, "mime": "image/png", "size": 9}, True),
        ({"status": 404, "mime": "image/png", "size": 9}, True),
        ({"status": 304}, False),
        ({"status": 429}, False),
        ({"status": 499}, True),
        ({"status": 500}, False),
        ({"status": 511}, True),
        ({"status": 503}, False),
        ({"status": None}, False),
        ({"status": 503, "truncated": "disconnect"}, True),
    ],
)
def test_which_answers_say_something_of_who_gave_them(
    given: dict[str, Any], has_sign: bool
) -> None:
    attempt = replace(Attempt("http://a.test/", datetime.now(UTC)), **given)
    assert (sign_of_answer(attempt) is not None) is has_sign


def test_what_is_held_ends_when_it_is_due_though_nothing_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def due(of: Crawl) -> None:
        later: list[tuple[float, Callable[[], None]]] = []
        loop = asyncio.get_running_loop()
        at = loop.call_later

        def noted(seconds: float, call: Callable[..., None], *given: Any, **more: Any) -> Any:
            if call == of.network._tick:
                later.append((seconds, call))
            return at(seconds, call, *given, **more)

        monkeypatch.setattr(loop, "call_later", noted)
        await of.page(1, rest=5.0)
        (seconds, call), *_ = later
        assert 0.0 < seconds <= max(5.0, LIKE_SECONDS)
        of.world.time += max(5.0, LIKE_SECONDS)
        call()
        assert of.ended == [1]

    crawl(due)


class Alone:
    """A likeness without a network, at any time."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.likeness = Likeness(lambda visit, _: self.ended.append(visit.lease.server))
        self.numbers = count(1)

    def hear(
        self,
        now: float,
        sign: int,
        sites: int,
        *,
        rest: float = 1.0,
        others: bool = False,
        **given: Any,
    ) -> None:
        """Take pages of so many sites that were never heard of, with one sign."""
        for number in (next(self.numbers) for _ in range(sites)):
            name = f"www.s{number}.test"
            lease = Lease(
                number,
                f"http://{name}/",
                name,
                name,
                SEED,
                0,
                None,
                PageLanguage.TARGET,
                0,
                0,
                None,
            )
            attempt = Attempt(lease.url, datetime.fromtimestamp(now, UTC), 200, **given)
            record: Any = SimpleNamespace(simhash=f"{sign:016x}")
            visit = Visit(lease, now, rest=rest, attempts=[attempt], simhash=sign, record=record)
            assert self.likeness.takes(visit, Outcome.HTML, now, others=others)

    def suspects(self, now: float, sign: int, sites: int) -> bool:
        """Tell whether pages of so many other sites with one sign are suspected, after a while."""
        self.hear(now, sign, sites)
        self.likeness.believe_due(now + LIKE_SECONDS)
        assert self.likeness.suspect in (None, sign)
        return self.likeness.suspect is not None

    def unlike(self) -> int:
        """Return a sign that is like no other."""
        return Random(next(self.numbers)).getrandbits(64)


def test_a_sign_that_is_the_servers_own_is_believed_twice_as_long_each_time_up_to_an_hour() -> None:
    of, now = Alone(), 0.0
    for seconds in (60, 120, 240, 480, 960, 1920, 3600, 3600):
        assert of.suspects(now, LIE, IN_A_ROW)
        of.likeness.acquit(now)
        assert not of.suspects(now + seconds - 1, LIE ^ 1, IN_A_ROW), seconds
        now += seconds


def test_few_that_are_alike_are_looked_at_ever_more_seldom_up_to_once_an_hour() -> None:
    of, now = Alone(), 0.0
    for number in range(KNOWN):  # else two were enough
        of.likeness.know(f"s{number}", f"http://s{number}/", of.unlike())
    assert of.suspects(now, of.unlike(), 2)
    for seconds in (60, 120, 240, 480, 960, 1920, 3600, 3600):
        now += LIKE_SECONDS  # it is looked at when what is held is due
        of.likeness.acquit(now)
        assert not of.suspects(now + seconds - LIKE_SECONDS - 1, of.unlike(), 2), seconds
        now += seconds - LIKE_SECONDS
        assert of.suspects(now, of.unlike(), 2), seconds


def test_what_was_acquitted_last_is_remembered() -> None:
    of = Alone()
    for number in range(70):
        sign = Random(number).getrandbits(64)
        assert of.suspects(float(number), sign, IN_A_ROW)
        of.likeness.acquit(float(number), for_good=True)
    assert not of.suspects(1e9, sign, IN_A_ROW), "for good"
    assert of.suspects(1e9, Random(0).getrandbits(64), IN_A_ROW), "the oldest was forgotten"


def test_the_latest_servers_are_known_each_by_its_latest_page() -> None:
    known = Alone().likeness
    for number in (*range(KNOWN), 0, KNOWN):
        known.know(f"s{number}", f"http://s{number}/{len(known.known)}", number)
    assert list(known.known) == [f"s{number}" for number in (*range(2, KNOWN), 0, KNOWN)]
    known.forget(lambda url: url.startswith("http://s0/"))
    assert "s0" not in known.known


def test_while_nothing_is_known_an_answer_waits_for_the_next_if_there_is_one_and_time_for_it() -> (
    None
):
    for rest, others, waits in ((1.0, False, 1.0), (1.0, True, LIKE_SECONDS), (0.0, True, None)):
        of = Alone()
        of.hear(100.0, of.unlike(), 1, rest=rest, others=others)
        assert of.likeness.next_due == (None if waits is None else 100.0 + waits)
        assert bool(of.ended) is (waits is None)
    of.hear(101.0, of.unlike(), 1, others=True)
    assert of.likeness.next_due == 102.0, "something is known"


def test_a_page_that_was_cut_is_none_to_ask_for_again() -> None:
    of = Alone()
    of.hear(0.0, of.unlike(), 1)
    of.likeness.believe_due(LIKE_SECONDS)
    of.hear(9.0, of.unlike(), 1, truncated="length")
    of.likeness.believe_due(9.0 + LIKE_SECONDS)
    assert len(of.ended) == 2
    assert list(of.likeness.known) == of.ended[:1]


def test_what_is_held_is_weighed_until_it_is_believed_or_given_back() -> None:
    of = Alone()
    exchange = Exchange()
    for _ in range(3):
        of.hear(0.0, of.unlike(), 1, size=1_000, exchange=exchange)
    of.hear(0.0, of.unlike(), 1, size=500)
    assert of.likeness.weight == 3_000, "of a body that is kept"
    of.likeness.believe_due(LIKE_SECONDS)
    assert (of.likeness.weight, of.likeness.next_due) == (0, None)
    for _ in range(2):
        of.hear(9.0, of.unlike(), 1, size=1_000, exchange=exchange)
    assert len(of.likeness.condemn(9.0, is_over=False)) == 2
    assert (of.likeness.weight, of.likeness.next_due, of.likeness.held) == (0, None, {})
