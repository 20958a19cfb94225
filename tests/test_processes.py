"""Time that a process has to answer, whatever stands still meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.processes import in_time
from tests.seams.clock import Clock, Loop

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def loop() -> Iterator[Loop]:
    loop = Loop(Clock())
    yield loop
    loop.close()


def test_an_answer_has_its_seconds_and_no_more(loop: Loop) -> None:
    waiting = loop.create_task(in_time(loop.create_future(), 60))
    loop.let(59)
    assert not waiting.done()
    loop.let(2)
    assert waiting.result() is False


def test_seconds_in_which_all_stood_still_are_not_those_of_an_answer(loop: Loop) -> None:
    answer = loop.create_future()
    waiting = loop.create_task(in_time(answer, 60))
    loop.let(1)
    for _ in range(3):
        loop.clock.now += 500
        loop.let(1)
        assert not waiting.done()
    answer.set_result("late")
    loop.let(1)
    assert waiting.result() is True


def test_an_answer_at_zero_seconds_may_take_any_time(loop: Loop) -> None:
    answer = loop.create_future()
    waiting = loop.create_task(in_time(answer, 0))
    loop.let(1e6)
    assert not waiting.done()
    answer.set_result("late")
    loop.let(1)
    assert waiting.result() is True
