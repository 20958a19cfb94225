"""Second tries: each after its own wait, so many, and a crawl waits for soon ones only."""

from __future__ import annotations

from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from lswc.crawl.leases import STAY
from lswc.guest.rests import FAR, SecondTries
from lswc.outcomes import Outcome
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from pathlib import Path

WAITS = (60.0, 600.0, 3600.0)


def visit(tries: int, server: str = "a.example") -> Any:
    return SimpleNamespace(lease=SimpleNamespace(server=server, tries=tries))


def test_each_try_has_its_wait_and_there_is_none_after_the_last() -> None:
    due = [SecondTries(WAITS).due(visit(tries), Outcome.TIMEOUT, 1000.0) for tries in range(5)]
    assert due == [1060.0, 1600.0, 4600.0, None, None]


def test_what_is_certain_is_not_tried_again_and_what_is_paused_is_postponed() -> None:
    tries = SecondTries(WAITS)
    assert tries.due(visit(0), Outcome.NAME_NOT_RESOLVED, 0.0) is None
    assert tries.due(visit(0), Outcome.PAUSED, 5.0) == 5.0 + FAR
    assert SecondTries(()).due(visit(0), Outcome.TIMEOUT, 0.0) is None


def test_other_urls_of_a_server_share_what_keeps_it_away() -> None:
    tries = SecondTries(WAITS)
    assert tries.due(visit(1), Outcome.CONNECTION_REFUSED, 0.0) == 600.0
    assert tries.away("a.example", 599.0) == Outcome.CONNECTION_REFUSED
    assert tries.due(visit(0), Outcome.CONNECTION_REFUSED, 100.0) == 600.0, "with the first"
    assert tries.away("a.example", 600.0) is None
    assert tries.away("b.example", 0.0) is None
    tries.due(visit(0, "b.example"), Outcome.TIMEOUT, 0.0)
    assert tries.away("b.example", 0.0) is None, "of one URL"


@pytest.mark.parametrize(("wait", "stays"), [(STAY - 5, True), (STAY + 5, False)])
def test_a_crawl_waits_for_a_second_try_that_is_soon(
    tmp_path: Path, wait: float, stays: bool
) -> None:
    with SetUp(tmp_path, LSWC_TRY_AGAIN=[wait], DOWNLOAD_DELAY=0) as crawl:
        crawl.parts.commits.commit(crawl.visit(monotonic()), Outcome.TIMEOUT)
        assert crawl.parts.leases.stays() is stays
