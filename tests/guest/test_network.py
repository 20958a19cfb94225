"""A failure of the network is told from one of a server, however few requests run."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from lswc.guest.likeness import IN_A_ROW
from lswc.guest.network import Network
from lswc.outcomes import Outcome
from lswc.urls import Url, parse
from tests.guest.world import World
from tests.loop import in_loop


def server(number: int) -> Url:
    url = parse(f"http://www.s{number}.example/")
    assert url is not None
    return url


def after(*silent: int, answers: int | None = None) -> bool:
    """Tell whether a crawl with one request at a time is offline after these servers' silence.

    The one of number ``answers`` answers after the first.
    """

    async def crawl() -> bool:
        network = Network(World(), (), 0.0, lambda *_: None, lambda _: None, lambda: None)
        for number in silent:
            network.silent(server(number))
            network.settle()  # nothing else runs
            if number == silent[0] and answers is not None:
                network.answered(server(answers))
        await asyncio.sleep(0)
        found = network.paused
        network.close()
        return found

    return asyncio.run(crawl())


def test_servers_that_are_silent_one_after_the_other_are_the_network() -> None:
    assert after(*range(IN_A_ROW))


def test_fewer_or_the_same_again_or_an_answer_between_them_are_the_servers() -> None:
    assert not after(*range(IN_A_ROW - 1))
    assert not after(*[1] * IN_A_ROW)
    # One has answered: two silent ones in a row are enough to look at it.
    assert not after(1, 2, answers=3)
    assert after(1, 2, 4, answers=3)


class Named:
    """A network whose visits fail because names aren't found; ``ended`` and ``back`` are ids."""

    def __init__(self, *found: str) -> None:
        self.world = World()
        self.world.found = set(found)
        self.ended: list[int] = []
        self.back: list[int] = []
        self.network = Network(
            self.world,
            (),
            0.0,
            lambda visit, _: self.ended.append(visit.lease.id),
            lambda visit: self.back.append(visit.lease.id),
            lambda: None,
        )

    async def fail(self, *numbers: int, between: int | None = None) -> None:
        """Let the names of servers fail, each visit once; another server answers meanwhile."""
        for number in numbers:
            self.network.silent(server(number), nameless=True)
            if between is not None:
                self.network.answered(server(between))
            visit: Any = SimpleNamespace(lease=SimpleNamespace(id=number), since=0.0)
            assert self.network.takes(visit, Outcome.NAME_NOT_RESOLVED)
            for _ in range(9):
                await asyncio.sleep(0)


@in_loop
async def test_dead_names_among_good_ones_end_and_the_crawl_never_rests() -> None:
    named = Named("www.s0.example")
    named.network.answered(server(0))
    await named.fail(*range(1, 20))
    assert not named.network.paused
    assert (named.ended, named.back, named.network.held) == ([*range(1, 20)], [], set())


@in_loop
async def test_that_names_are_found_says_nothing_of_a_server_that_is_silent() -> None:
    named = Named("www.s0.example")
    for number in (21, 20, 0):
        named.network.answered(server(number))
    named.network.silent(server(9))
    silent: Any = SimpleNamespace(lease=SimpleNamespace(id=9), since=0.0)
    assert named.network.takes(silent, Outcome.TIMEOUT)
    await named.fail(1)
    assert (named.ended, named.back, named.network.held) == ([1], [], {9})
    named.network.answered(server(22))
    assert (named.ended, named.back, named.network.held) == ([1, 9], [], set())
    named.network.close()


@in_loop
async def test_an_answer_doesn_t_end_what_waits_for_its_name_to_be_checked() -> None:
    named = Named()
    named.network.answered(server(20))
    named.network.silent(server(1), nameless=True)
    visit: Any = SimpleNamespace(lease=SimpleNamespace(id=1), since=0.0)
    assert named.network.takes(visit, Outcome.NAME_NOT_RESOLVED)
    named.network.answered(server(22))
    assert (named.ended, named.network.held) == ([], {1})
    for _ in range(9):
        await asyncio.sleep(0)
    assert (named.ended, named.back) == ([], [1]), "no name is found: it was the network"
    named.network.close()


@in_loop
async def test_a_server_whose_address_is_remembered_says_nothing_of_names() -> None:
    named = Named()
    named.network.answered(server(0))
    await named.fail(1, 2, between=0)
    assert named.network.paused
    assert (named.ended, named.back) == ([], [1, 2])
    named.network.close()


@in_loop
async def test_names_fail_for_nothing_that_answered_until_enough_did() -> None:
    named = Named()
    await named.fail(*range(1, IN_A_ROW))
    assert named.network.held == set(range(1, IN_A_ROW))
    named.network.settle()  # nothing else runs
    assert named.ended == [*range(1, IN_A_ROW)]
    await named.fail(IN_A_ROW)
    assert named.network.paused
    assert named.back == [IN_A_ROW]
    named.network.close()


class Cut:
    """A network that is cut off until a look of a certain number; time goes by in ``slept``."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, seeds: tuple[str, ...], longest: float, back_at: int
    ) -> None:
        self.world, self.slept = World(), list[float]()
        self.knocked: list[list[str]] = [[]]
        self.ended: list[tuple[int, str]] = []
        self.back: list[int] = []
        self.stopped = self.resumed = 0
        at_once = asyncio.sleep

        async def sleep(seconds: float) -> None:
            if seconds:
                self.slept.append(seconds)
                self.knocked.append([])
                self.world.time += seconds
            await at_once(0)

        async def opens(url: Url) -> bool:
            self.knocked[-1].append(url.hostname)
            return len(self.knocked) >= back_at

        monkeypatch.setattr(asyncio, "sleep", sleep)
        monkeypatch.setattr(self.world, "opens", opens)
        self.network = Network(
            self.world,
            seeds,
            longest,
            lambda visit, outcome: self.ended.append((visit.lease.id, outcome)),
            lambda visit: self.back.append(visit.lease.id),
            self.stop,
        )
        self.network.resumed = self.resume

    def stop(self) -> None:
        self.stopped += 1

    def resume(self) -> None:
        self.resumed += 1

    def hear(self, *numbers: int) -> None:
        for number in numbers:
            self.network.answered(server(number))

    async def fall_silent(self, *numbers: int) -> None:
        for number in numbers:
            self.network.silent(server(number))
            visit: Any = SimpleNamespace(lease=SimpleNamespace(id=number), since=0.0)
            assert self.network.takes(visit, Outcome.TIMEOUT)
        for _ in range(99):
            await asyncio.sleep(0)


@in_loop
async def test_a_crawl_without_its_network_looks_again_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = Cut(monkeypatch, ("http://seed.example/", "no URL"), 0.0, back_at=10)
    cut.network.answered(server(0))
    await cut.fall_silent(1, 2)
    assert cut.slept == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert cut.knocked[0] == cut.knocked[8] == ["www.s0.example", "seed.example"]
    assert cut.knocked[9] == ["www.s0.example"], "one that opens is enough"
    assert (cut.ended, cut.back) == ([], [1, 2])
    assert (cut.resumed, cut.stopped, cut.network.paused) == (1, 0, False)
    assert cut.network.offline == 0.0
    await cut.fall_silent(3)
    assert not cut.network.paused, "the row begins anew"


@pytest.mark.parametrize("longest", [7.0, 10.0, 14.9])
@in_loop
async def test_a_crawl_that_is_cut_off_for_too_long_ends(
    monkeypatch: pytest.MonkeyPatch, longest: float
) -> None:
    cut = Cut(monkeypatch, (), longest, back_at=99)
    cut.network.answered(server(0))
    await cut.fall_silent(1, 2)
    assert cut.slept == [1, 2, 4, 8]
    assert (cut.stopped, cut.resumed, cut.network.paused) == (1, 0, True)
    assert cut.network.offline == 15.0
    assert cut.back == [1, 2]


@in_loop
async def test_the_latest_five_that_answered_are_knocked_at_and_no_seeds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = Cut(monkeypatch, ("http://seed.example/",), 0.0, back_at=2)
    cut.hear(0, 1, 2, 3, 4, 5, 1)
    await cut.fall_silent(*range(10, 15))
    assert cut.knocked[0][0] == "www.s1.example", "the latest first"
    assert sorted(cut.knocked[0]) == [f"www.s{number}.example" for number in range(1, 6)]
    assert cut.resumed == 1


@in_loop
async def test_where_few_have_answered_seeds_are_knocked_at_besides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = Cut(monkeypatch, ("http://seed.example/",), 0.0, back_at=2)
    cut.hear(0, 1, 2)
    await cut.fall_silent(*range(10, 14))
    assert sorted(cut.knocked[0]) == [
        "seed.example", *(f"www.s{number}.example" for number in range(3)),
    ]  # fmt: skip


@in_loop
async def test_where_the_network_is_there_the_failures_are_the_servers_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = Cut(monkeypatch, (), 0.0, back_at=1)
    cut.network.answered(server(0))
    await cut.fall_silent(1, 2)
    assert (cut.slept, cut.back) == ([], [])
    assert cut.ended == [(1, Outcome.TIMEOUT), (2, Outcome.TIMEOUT)]
    assert cut.resumed == 1


@in_loop
async def test_an_answer_that_was_on_its_way_says_nothing_of_failures_after_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = Cut(monkeypatch, (), 0.0, back_at=9)
    cut.hear(0, 1, 2)
    cut.world.time = 2_010.0
    await cut.fall_silent(11)
    cut.network.answered(server(0), since=2_009.0)
    assert (cut.ended, cut.network.held) == ([], {11})
    await cut.fall_silent(12, 13)
    assert (cut.ended, cut.back) == ([], [11, 12, 13]), "three in a row: nobody opens"


@in_loop
async def test_an_answer_that_was_asked_for_between_two_failures_ends_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = Cut(monkeypatch, (), 0.0, back_at=9)
    cut.hear(0, 1, 2)
    cut.world.time = 2_010.0
    await cut.fall_silent(11)
    cut.world.time = 2_012.0
    await cut.fall_silent(12)
    cut.network.answered(server(0), since=2_011.0)
    assert (cut.ended, cut.network.held) == ([(11, Outcome.TIMEOUT)], {12})
    await cut.fall_silent(13)
    assert not cut.network.paused, "two in a row"


@pytest.mark.parametrize(("back_at", "ended", "back"), [(1, [11], []), (3, [], [11])])
@in_loop
async def test_where_nothing_else_runs_one_that_answered_is_knocked_at(
    monkeypatch: pytest.MonkeyPatch, back_at: int, ended: list[int], back: list[int]
) -> None:
    cut = Cut(monkeypatch, (), 0.0, back_at=back_at)
    cut.hear(0, 1, 2)
    await cut.fall_silent(11)
    assert not cut.network.paused, "one in a row"
    cut.network.settle()
    for _ in range(99):
        await asyncio.sleep(0)
    assert ([number for number, _ in cut.ended], cut.back) == (ended, back)
    assert cut.resumed == 1


@in_loop
async def test_where_no_other_has_answered_a_failure_is_the_server_s_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut = Cut(monkeypatch, (), 0.0, back_at=9)
    cut.network.answered(server(11))
    await cut.fall_silent(11)
    cut.network.settle()
    assert cut.ended == [(11, Outcome.TIMEOUT)]


@in_loop
async def test_what_was_asked_for_while_the_network_was_away_goes_back() -> None:
    cut = Named()
    cut.network._back = 100.0
    for since, gone_back in ((99.0, [1]), (100.0, [1])):
        cut.network.silent(server(1))
        visit: Any = SimpleNamespace(lease=SimpleNamespace(id=1), since=since)
        assert cut.network.takes(visit, Outcome.DOWNLOAD_FAILED)
        assert cut.back == gone_back
    assert cut.network.held == {1}
    cut.network.close()
