"""When a guest asks: each wait is worked out by hand, on a clock that only the test moves."""

from __future__ import annotations

import asyncio
from asyncio import run
from dataclasses import replace
from email.utils import formatdate
from functools import wraps
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Response

from lswc.guest import guest, rests, slots
from lswc.guest.control import change
from lswc.guest.decisions import End, Fails, Go, Refuse, Wait
from lswc.guest.internet import ROBOTS, TDMREP, ClosingError
from lswc.guest.learned import FILE as LEARNED
from lswc.guest.learned import CrawlDelays, Learned
from lswc.guest.learned import read as read_learned
from lswc.guest.rests import seconds
from lswc.guest.server_rules import lifetime
from lswc.outcomes import Outcome
from lswc.safety.server_limits import NOTHING_TAKEN
from tests.guest.world import BEGIN, POLITE, Hosted, hosted, url_of

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
OK = End(200)


async def waits(host: Hosted, address: str) -> float:
    """Ask for a URL; return the seconds to wait, to the millisecond."""
    decision = await host.may(address)
    assert isinstance(decision, Wait)
    return round(decision.seconds, 3)


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def wrapped(*arguments: Any, **named: Any) -> None:
        run(test(*arguments, **named))

    return wrapped


# --- How long a server rests -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "rest"),
    [
        (End(200), 1.0),  # DOWNLOAD_DELAY
        (End(200, latency=0.1), 1.0),
        (End(200, latency=2.0), 10.0),  # five times as long as it took
        (End(404, latency=2.0), 10.0),
        (End(500, latency=2.0), 10.0),
        (End(429, retry_after="120"), 120.0),
        (End(503, latency=30.0, retry_after="120"), 150.0),
        (End(429, retry_after=formatdate(BEGIN + 2 + 90, usegmt=True)), 90.0),  # it is 0:02 then
        (End(429, retry_after="3600"), 3600.0),
        (End(429), 60.0),
        (End(503, retry_after="soon"), 60.0),
        (End(timed_out=True), 300.0),  # five times DOWNLOAD_TIMEOUT
        (End(is_live=False), 1.0),  # the connection broke
    ],
)
@in_loop
async def test_a_server_rests_after_an_answer(tmp_path: Path, end: End, rest: float) -> None:
    with hosted(tmp_path) as host:
        assert await host.rest(A, end) == rest
        assert isinstance(await host.may(B), Wait), "for its robots.txt only"
        host.world.time += 1.0
        assert isinstance(await host.may(B), Go), "another server doesn't rest"
        host.world.time += rest - 2.125  # a second for B's robots.txt, one for its rest
        assert await host.may(A) == Wait(0.125)
        host.world.time += 0.125
        assert isinstance(await host.may(A), Go)


@in_loop
async def test_a_server_is_asked_once_at_a_time(tmp_path: Path) -> None:
    with hosted(tmp_path, replace(POLITE, per_address=9, robot="")) as host:
        found = await asyncio.gather(*(host.may(f"{A}{number}") for number in range(5)))
        assert [isinstance(decision, Go) for decision in found] == [True, *[False] * 4]
    with hosted(tmp_path) as host:
        go = await host.go(A)
        assert await host.may(A) == Wait(1.0)
        host.guest.ended(go, OK)
        host.world.time += 1.0
        assert isinstance(await host.may(A), Go)


@in_loop
async def test_a_crawl_delay_is_kept_for_people_to_see(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        learned = Learned(tmp_path / LEARNED)
        host.guest.rules.heard_delay = CrawlDelays(learned).heard
        host.world.says("a.example", "User-agent: lswc\nCrawl-delay: 7")
        await host.may("http://a.example/")
        await host.may("http://b.example/")
        kept = read_learned(tmp_path / LEARNED)
        assert kept == {("a.example", "Crawl-delay"): 7.0}
        assert not read_learned(tmp_path / LEARNED, "b.example")
        learned.close()
        learned = Learned(tmp_path / LEARNED)
        CrawlDelays(learned).heard("a.example", 0.0)
        learned.close()
    assert not read_learned(tmp_path / LEARNED)


@pytest.mark.parametrize(("asked", "rest"), [("0.5", 1.0), ("7", 7.0), ("300", 300.0)])
@in_loop
async def test_a_crawl_delay_counts_from_robots_txt_on(
    tmp_path: Path, asked: str, rest: float
) -> None:
    with hosted(tmp_path) as host:
        host.world.says("a.example", f"User-agent: lswc\nCrawl-delay: {asked}")
        assert await host.may(A) == Wait(rest), "robots.txt was asked for just now"
        assert await host.rest(A, OK) == rest
        assert await host.rest(A, End(200, latency=100.0)) == 500.0


@in_loop
async def test_what_is_asked_too_much_leaves_a_server_alone(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        host.world.says("a.example", "User-agent: *\nCrawl-delay: 300.1")
        assert await host.may(A) == Refuse(Outcome.CRAWL_DELAY_TOO_LONG)
        assert await host.rest(B, End(429, retry_after="3601")) == 1.0
        assert host.limits.closed(url_of(B)) == Outcome.RETRY_AFTER_TOO_LONG
        assert host.guest.asks_too_much("3601")
        assert not host.guest.asks_too_much("3600")


@in_loop
async def test_a_back_off_doubles_up_to_a_day_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    polite = replace(POLITE, robot="")  # an answer to robots.txt ends the row
    with hosted(tmp_path, polite) as host:
        waits = [await host.rest(A, End(503)) for _ in range(3)]
        assert waits == [60, 120, 240]
        host.world.time += 100.0
        now = host.world.time
    with hosted(tmp_path, polite) as again:
        again.world.time = now
        assert await again.may(A) == Wait(140)
        again.world.time += 140.0
        waits = [await again.rest(A, End(503)) for _ in range(9)]
        assert waits == [480, 960, 1920, 3840, 7680, 15360, 30720, 61440, 86400]
        await again.rest(A, End(500))
        assert await again.rest(A, End(503)) == 86400, "an error is no answer"
        await again.rest(A, OK)
        assert await again.rest(A, End(503)) == 60


@in_loop
async def test_the_network_hears_of_a_name_without_an_address(tmp_path: Path) -> None:
    """Then it isn't known yet whose failure that was, and the visit waits."""
    with hosted(tmp_path) as host:
        host.guest.ended(await host.go(A), End(nameless=True))
        visit: Any = SimpleNamespace(lease=SimpleNamespace(id=1), since=0.0)
        assert host.guest.network.takes(visit, Outcome.NAME_NOT_RESOLVED)
        assert host.guest.network.held == {1}


@in_loop
async def test_a_silent_server_rests_twice_as_long_each_time(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        waits = []
        for _ in range(5):
            waits.append(await host.rest(A, End(timed_out=True)))
            host.limits.answered(url_of(A), False)
        assert waits == [300, 600, 1200, 2400, 3600]
        host.limits.answered(url_of(A), True)
        assert await host.rest(A, End(timed_out=True)) == 300


@pytest.mark.parametrize(
    ("value", "wait"),
    [("0", 0), ("120", 120), (" 7 ", 7), ("Fri, 31 Dec 1999 23:59:59 GMT", 0), ("soon", None),
     ("-5", None), ("1.5", None), ("", None), ("99999-99-99", None),
     (formatdate(BEGIN + 3600, usegmt=True), 3600)],
)  # fmt: skip
def test_retry_after(value: str, wait: float | None) -> None:
    assert seconds(value, BEGIN) == wait


@given(st.text())
def test_any_retry_after_gets_an_answer(value: str) -> None:
    wait = seconds(value, BEGIN)
    assert wait is None or wait >= 0


# --- Addresses and registered domains --------------------------------------------------------


@in_loop
async def test_an_address_has_so_many_slots_that_rest(tmp_path: Path) -> None:
    with hosted(tmp_path, replace(POLITE, per_address=2, robot="")) as host:
        first, _ = await host.go(A), await host.go(B)
        assert await waits(host, C) == 0.1
        host.guest.ended(first, OK)
        assert await waits(host, C) == 1.0, "it rests as the server does"
        assert await waits(host, "http://d.example/") == 1.4, "one by one"
        host.world.time += 1.0
        assert isinstance(await host.may(C), Go)
        host.world.addresses["e.example"] = "192.0.2.2"
        assert isinstance(await host.may("http://e.example/"), Go)


@in_loop
async def test_a_slot_rests_only_if_something_was_asked(tmp_path: Path) -> None:
    with hosted(tmp_path, replace(POLITE, per_address=1)) as host:
        host.world.says("a.example", "User-agent: *\nDisallow: /")
        host.world.files["c.example", ROBOTS] = Refuse(Outcome.ADDRESS_NOT_PUBLIC)
        host.guest.ended(await host.go(B), OK)
        host.world.time += 1.0
        assert await host.may(C) == Refuse(Outcome.ADDRESS_NOT_PUBLIC)
        assert await host.may(A) == Refuse(Outcome.ROBOTS)
        assert await waits(host, B) == 1.0, "robots.txt was asked for"
        host.world.time += 1.0
        assert await host.may(A) == Refuse(Outcome.ROBOTS), "that is known by now"
        assert isinstance(await host.may(B), Go)


@in_loop
async def test_a_domain_has_so_many_slots_that_do_not_rest(tmp_path: Path) -> None:
    one, two = "http://one.example.co.th/", "http://two.example.co.th/"
    with hosted(tmp_path, replace(POLITE, per_domain=1, robot="")) as host:
        go = await host.go(one)
        assert await waits(host, two) == 0.1
        assert isinstance(await host.may("http://two.other.co.th/"), Go)
        host.guest.ended(go, OK)
        assert isinstance(await host.may(two), Go)


@in_loop
async def test_a_content_network_has_more_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "NETWORK", 3)
    with hosted(tmp_path, replace(POLITE, per_address=1, robot="")) as host:
        found = [await host.may(f"http://www.s{number}.example/") for number in range(10)]
        assert [isinstance(decision, Go) for decision in found] == [
            True, False, *[True] * 7, False
        ], "one at a time; from the third domain on eight"  # fmt: skip


@in_loop
async def test_the_addresses_of_an_ipv6_network_share_their_slots(tmp_path: Path) -> None:
    with hosted(tmp_path, replace(POLITE, per_address=2, robot="")) as host:
        for number in range(200):
            host.world.addresses[f"www.s{number}.example"] = f"2606:4700:0:1::{number:x}"
        found = [await host.may(f"http://www.s{number}.example/") for number in range(200)]
        assert sum(isinstance(decision, Go) for decision in found) == 2
        host.world.addresses["e.example"] = "2606:4700:0:2::1"
        assert isinstance(await host.may("http://e.example/"), Go)


@in_loop
async def test_an_ipv6_network_of_many_domains_is_a_content_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "NETWORK", 3)
    with hosted(tmp_path, replace(POLITE, per_address=1, robot="")) as host:
        for number in range(10):
            host.world.addresses[f"www.s{number}.example"] = f"2606:4700:0:1::{number:x}"
        found = [await host.may(f"http://www.s{number}.example/") for number in range(10)]
        assert sum(isinstance(decision, Go) for decision in found) == 8


@in_loop
async def test_a_domain_under_an_unknown_tld_has_one_domain_s_slots(tmp_path: Path) -> None:
    with hosted(tmp_path, replace(POLITE, per_domain=2, robot="")) as host:
        found = [await host.may(f"http://w{number}.farm.unheardof/") for number in range(5)]
        assert sum(isinstance(decision, Go) for decision in found) == 2


@in_loop
async def test_a_frozen_web_has_neither(tmp_path: Path) -> None:
    with hosted(tmp_path, replace(POLITE, per_address=1, per_domain=1, robot="")) as host:
        host.world.is_frozen = True
        assert [isinstance(await host.may(url), Go) for url in (A, B, C)] == [True] * 3


# --- What servers say ------------------------------------------------------------------------


@in_loop
async def test_robots_txt_is_obeyed_and_asked_for_again_when_it_has_expired(
    tmp_path: Path,
) -> None:
    with hosted(tmp_path) as host:
        host.world.says("a.example", "User-agent: *\nDisallow: /1\nContent-Usage: train-ai=n")
        go = await host.go(A)
        assert go.opt_outs == ("train-ai=n (robots.txt)",)
        host.guest.ended(go, OK)
        host.world.time += 86_397.0  # a day less the three seconds since it came
        assert await host.may(f"{A}1") == Refuse(Outcome.ROBOTS)
        assert host.world.fetched == [("a.example", ROBOTS)]
        host.world.says("a.example", "")
        host.world.time += 3.0
        host.guest.ended(await host.go(f"{A}1"), OK)
        assert host.world.fetched == [("a.example", ROBOTS)] * 2
        host.world.files["a.example", ROBOTS] = OSError()
        host.world.time += 86_400.0
        await host.go(A)
        assert host.world.fetched == [("a.example", ROBOTS)] * 3, "its rules go on meanwhile"


@in_loop
async def test_rules_that_came_while_another_answered_for_servers_are_forgotten_and_named(
    tmp_path: Path,
) -> None:
    with hosted(tmp_path) as host:
        host.guest.ended(await host.go(A), OK)
        host.world.time += 10.0
        since = host.world.time
        host.guest.ended(await host.go(B), OK)
        are_forgotten = host.guest.rules.forget(since)
        told = [are_forgotten(url) for url in (A, f"{B}1", "https://b.example/", C, "no URL")]
        assert told == [False, True, True, False, False]
        host.world.time += 10.0
        for url in (A, B):
            host.guest.ended(await host.go(url), OK)
        assert [server for server, _ in host.world.fetched] == [
            "a.example", "b.example", "b.example",
        ]  # fmt: skip


@in_loop
async def test_however_short_it_holds_it_holds_for_its_page(tmp_path: Path) -> None:
    headers = {"Cache-Control": "max-age=1"}
    body = b"User-agent: *\nCrawl-delay: 60"
    with hosted(tmp_path) as host:
        host.world.files["a.example", ROBOTS] = Response("http://x/", headers=headers, body=body)
        for times in (1, 2):
            host.guest.ended(await host.go(A), OK)
            assert host.world.fetched == [("a.example", ROBOTS)] * times


@in_loop
async def test_without_robots_txt_no_page_is_asked_for(tmp_path: Path) -> None:
    with hosted(tmp_path, replace(POLITE, try_again=(600.0,))) as host:
        host.world.says("a.example", "", status=503)
        assert isinstance(await host.may(A), Fails)
        host.world.time += 1.0
        assert host.guest.give_up(url_of(A)) == Refuse(Outcome.ROBOTS_UNAVAILABLE)
        assert await host.may(A) == Wait(60.0)
        host.world.files["b.example", ROBOTS] = OSError("cut")
        with pytest.raises(OSError, match="cut"):
            await host.may(B)
        host.world.files["c.example", ROBOTS] = Refuse(Outcome.ADDRESS_NOT_PUBLIC)
        assert await host.may(C) == Refuse(Outcome.ADDRESS_NOT_PUBLIC)


RESERVED = '[{"location": "/closed", "tdm-reservation": 1}]'


@in_loop
async def test_a_server_is_asked_once_in_its_turn_what_it_reserves(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        host.world.says("a.example", RESERVED, file=TDMREP)
        host.guest.ended(await host.go(A), End(200, latency=2.0))
        before = host.world.time
        reserved = ("tdm-reservation=1 (tdmrep.json)",)
        assert await host.reserved(f"{A}closed") == reserved
        assert host.world.time == before + 10.0 + 1.0, "it rests first; the answer takes a second"
        assert await host.may(A) == Wait(1.0)
        assert await host.reserved(A) == ()
        assert host.world.fetched == [("a.example", ROBOTS), ("a.example", TDMREP)]


@pytest.mark.parametrize("failure", [OSError(), Refuse(Outcome.TOO_LARGE), 500, "forbidden"])
@in_loop
async def test_what_a_server_reserves_that_cannot_say_it(tmp_path: Path, failure: Any) -> None:
    with hosted(tmp_path) as host:
        if failure == "forbidden":
            host.world.says("a.example", "User-agent: *\nDisallow: /.well-known/")
        elif failure == 500:
            host.world.says("a.example", RESERVED, 500, file=TDMREP)
        else:
            host.world.files["a.example", TDMREP] = failure
        host.guest.ended(await host.go(A), OK)
        assert await host.reserved(f"{A}closed") == ()
        asked = list(host.world.fetched)
        host.world.time += 3_599.0
        assert await host.reserved(f"{A}closed") == ()
        assert host.world.fetched == asked
        host.world.files.clear()
        host.world.time += 86_400.0
        host.world.says("a.example", RESERVED, file=TDMREP)
        host.guest.ended(await host.go(f"{A}1"), OK)
        assert await host.reserved(f"{A}closed"), "it is asked again an hour later"


@in_loop
async def test_a_crawl_that_closes_waits_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest, "MOST_PAGES", 1)
    with hosted(tmp_path) as host:
        host.guest.ended(await host.go(A), OK)
        full: list[bool] = []

        async def closing(_: float) -> None:
            full.append(host.guest.is_full)
            raise ClosingError

        monkeypatch.setattr(host.world, "sleep", closing)
        with pytest.raises(ClosingError):
            await host.reserved(A)
        assert full == [True], "so many pages wait at most"
        assert not host.guest.is_full


# --- What people instruct --------------------------------------------------------------------


def instruct(host: Hosted, key: str, value: object, place: str = "") -> bool:
    """Instruct a guest; tell whether that allows more than before."""
    change(host.where, key, value, place)
    assert host.guest.look() == (False, False)
    changed, allows = host.guest.look()
    assert changed
    return allows


@in_loop
async def test_the_narrowest_of_three_places_counts(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        for place, delay in (("example", 20), ("a.example", 30), ("a.example/x/", 40)):
            instruct(host, "delay", delay, place)
        assert await host.rest(f"{A}x/1", OK) == 40.0
        assert await host.rest(f"{A}y", OK) == 30.0
        assert await host.rest(B, OK) == 20.0
        assert await host.rest("http://other.test/", OK) == 1.0
        instruct(host, "block", True, "example")
        instruct(host, "block", False, "a.example")
        instruct(host, "block", True, "a.example/x/")
        blocked = [await host.may(url) == Refuse(Outcome.BLOCKED) for url in (f"{A}x/1", A, B)]
        assert blocked == [True, False, True]


@in_loop
async def test_what_is_taken_back_allows_more(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        for key, value in (("max_depth", 1), ("block", True), ("pause", True), ("tolerate", 3)):
            assert not instruct(host, key, value, "a.example")
            assert instruct(host, key, None, "a.example"), key
        assert host.guest.admission.of_link(url_of(A), 2) is None
        instruct(host, "max_depth", 1, "a.example")
        assert host.guest.admission.of_link(url_of(A), 1) is None
        assert host.guest.admission.of_link(url_of(A), 2) == Outcome.DEPTH


@in_loop
async def test_an_instruction_halts_the_whole_crawl(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        instruct(host, "pause", True)
        assert host.guest.halt == "paused"
        instruct(host, "pause", None)
        assert not host.guest.halt


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ([], 86_400.0),  # RFC 9309 §2.4: no longer than 24 hours
        (["max-age=90000"], 86_400.0),
        (["max-age=3600"], 3600.0),
        (["public, Max-Age=10"], 10.0),
        (["s-max-age=10"], 86_400.0),
        (["public", "max-age=20"], 20.0),
        (["max-age=0"], 600.0),
        (["no-store"], 600.0),
        (["No-Cache, max-age=50"], 600.0),
    ],
)
def test_how_long_rules_hold(said: list[str], holds: float) -> None:
    answer = Response("http://a.example/robots.txt", headers={"Cache-Control": said})
    assert lifetime(answer) == holds


# --- What is left alone ----------------------------------------------------------------------


def test_what_a_page_in_the_browser_needs_is_held_by_instructions_and_limits(
    tmp_path: Path,
) -> None:
    with hosted(tmp_path) as host:
        admission = host.guest.admission

        def refusal(address: str) -> str | None:
            return admission.of_file(address, host.world.now())

        instruct(host, "block", True, "a.example")
        instruct(host, "pause", True, "b.example")
        instruct(host, "max_depth", 0, "c.example")
        assert refusal(f"{A}style.css") == Outcome.BLOCKED
        assert refusal(f"{B}style.css") == Outcome.PAUSED
        assert refusal(f"{C}style.css") is None, "no link leads there, so it has no depth"
        assert refusal("ftp://d.example/") is not None
        host.limits.close(url_of("http://d.example/").server, Outcome.SERVER_PAGES)
        host.limits.close(url_of("http://e.example/").server, Outcome.SERVER_BYTES)
        assert refusal("http://d.example/x.png") is None, "a limit of pages"
        assert refusal("http://e.example/x.png") == Outcome.SERVER_BYTES


def test_servers_that_have_rested_are_forgotten_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rests, "REMEMBERED", 3)
    now = 1_000.0
    known = rests.Rests(1.0, lambda: now)
    for server, rest in (("rested", 0.0), ("resting", 60.0)):
        known.begin(server)
        known.end(server, rest)
    now += 30.0
    for server in ("asked", "latest"):
        known.begin(server)
    # Both have the crawl's delay behind them; a longer one shows who is still known.
    assert known.wait("rested", crawl_delay=90.0) == 0.0
    assert known.wait("resting", crawl_delay=90.0) == 60.0
    assert known.wait("asked") == known.wait("latest") == 1.0
    known.end("asked", 5.0)
    assert known.wait("asked") == 5.0


@pytest.mark.parametrize("is_page", [True, False])
def test_a_server_that_cannot_be_had_is_asked_for_nothing_else(
    tmp_path: Path, is_page: bool
) -> None:
    with hosted(tmp_path, replace(POLITE, try_again=(60.0, 600.0))) as host:
        lease: Any = SimpleNamespace(
            listing=None, server="a.example", url=A, depth=0, tries=0, unit="a.example",
            is_requisite=not is_page, visits=0, of_server=NOTHING_TAKEN, of_domain=NOTHING_TAKEN,
        )  # fmt: skip
        visit: Any = SimpleNamespace(lease=lease, url=A, is_page=is_page)
        admission, now = host.guest.admission, host.world.now()
        assert admission.of_visit(visit, now) is None
        assert host.guest.tries.due(visit, Outcome.CONNECTION_REFUSED, now) == now + 60.0
        assert admission.of_visit(visit, now + 59.0) == Outcome.CONNECTION_REFUSED
        assert admission.of_file(f"{A}style.css", now + 59.0) == Outcome.CONNECTION_REFUSED
        assert admission.of_file(f"{B}style.css", now + 59.0) is None
        assert admission.of_visit(visit, now + 60.0) is None
