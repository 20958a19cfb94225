"""Overloaded servers rest longer each time, also after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.guest.rests import LONGEST_REST_SECONDS, Backoff

if TYPE_CHECKING:
    from pathlib import Path


def test_a_rest_doubles_up_to_a_day_and_goes_on_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "backoff.jsonl"
    backoff = Backoff(file, 60)
    assert [backoff.overloaded("a", 1000.0) for _ in range(3)] == [60, 120, 240]
    assert backoff.overloaded("b", 1000.0) == 60
    backoff.overloaded("c", 1000.0)
    backoff.answered("c")
    backoff.close()
    with file.open("a") as torn:
        torn.write('{"server": "a", "ti')

    again = Backoff(file, 60)
    assert [again.remaining(server, 1100.0) for server in "abc"] == [140, 0, 0]
    assert again.overloaded("a", 1240.0) == 480
    assert [again.overloaded("a", 2000.0) for _ in range(20)][-1] == LONGEST_REST_SECONDS
    assert again.overloaded("c", 2000.0) == 60
    again.close()


def test_a_clock_that_is_set_back_costs_one_rest_at_most(tmp_path: Path) -> None:
    backoff = Backoff(tmp_path / "backoff.jsonl", 60)
    backoff.overloaded("a", 100_000.0)
    assert backoff.remaining("a", 5_000.0) == 60
    assert backoff.remaining("a", 5_059.0) == pytest.approx(1)
    assert backoff.remaining("a", 5_060.0) == 0
    backoff.close()
