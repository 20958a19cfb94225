"""Steps whose answers come later: in a loop, or as somebody waits for them."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.steps import Awaited, UnderWay
from tests.loop import in_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.frontier.steps import Steps

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    with ExitStack() as stack:
        here, there = socket.socketpair()
        yield stack.enter_context(here), stack.enter_context(there)


def read(here: socket.socket, times: int) -> Steps[bytes]:
    found = b""
    for _ in range(times):
        yield here.fileno()
        found += here.recv(1)
    return found


def test_steps_go_on_in_a_loop_as_answers_come(pair: Pair) -> None:
    async def crawl() -> bytes:
        awaited, over = Awaited(read(pair[0], 2)), asyncio.Event()
        assert awaited.goes_on(over.set)
        for byte in (b"a", b"b"):
            assert not over.is_set()
            pair[1].send(byte)
            await asyncio.sleep(0)
        await over.wait()
        return awaited.result()

    assert asyncio.run(crawl()) == b"ab"


@in_loop
async def test_if_somebody_waits_for_the_end_it_is_told_once_too(pair: Pair) -> None:
    awaited, told = Awaited(read(pair[0], 2)), list[bytes]()
    assert awaited.goes_on(lambda: told.append(awaited.result()))
    pair[1].send(b"abc")
    for _ in range(2):
        assert awaited.result() == b"ab"
        await asyncio.sleep(0)
    assert told == [b"ab"]
    assert not asyncio.get_running_loop().remove_reader(pair[0]), "what comes is others' now"


def test_without_a_loop_or_when_they_are_over_nothing_is_watched(pair: Pair) -> None:
    pair[1].send(b"a")
    awaited = Awaited(read(pair[0], 1))
    assert not awaited.goes_on(pytest.fail)
    assert awaited.result() == b"a"

    async def crawl() -> bool:
        return awaited.goes_on(pytest.fail)

    assert not asyncio.run(crawl())


def test_what_they_raise_is_told_to_who_asks_for_the_result_each_time() -> None:
    def steps() -> Steps[None]:
        yield from ()
        raise ConnectionError("lost")

    under_way = UnderWay()
    awaited = under_way.begin(steps())
    under_way.finish()
    assert under_way.begin(iter_of("next")).result() == "next"
    for _ in range(2):
        with pytest.raises(ConnectionError, match="lost"):
            awaited.result()


def iter_of(found: str) -> Steps[str]:
    yield from ()
    return found


def test_one_thing_is_under_way_at_a_time_and_its_own_steps_dont_wait_for_it(pair: Pair) -> None:
    under_way, done = UnderWay(), list[str]()

    def steps(name: str) -> Steps[None]:
        yield from read(pair[0], 1)
        under_way.finish()
        done.append(name)

    pair[1].send(b"ab")
    under_way.begin(steps("first"))
    assert not done
    second = under_way.begin(steps("second"))
    assert done == ["first"]
    second.finish()
    assert done == ["first", "second"]
