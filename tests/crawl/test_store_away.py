"""A store that is away for an hour, in no time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from lswc.crawl import commits
from lswc.crawl.commits import Commits
from lswc.errors import AwayError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pytest

DAY = 86_400.0


class Away:
    """A frontier that can't be reached until a time; ``tries`` counts who tries."""

    def __init__(self, clock: list[float], until: float) -> None:
        self._clock, self._until = clock, until
        self.tries = 0

    def family_of(self, server: str) -> tuple[str, ...]:
        return ()

    def hold(self, records: Iterable[object]) -> None:
        pass

    def rejoin(self) -> None:
        self.tries += 1
        if self._clock[0] < self._until:
            raise AwayError("it can't be reached")


def hour(
    folder: Path, monkeypatch: pytest.MonkeyPatch, longest: float
) -> tuple[Commits, Away, list[str]]:
    """Look each second of two hours; the store is back after one."""
    clock, stopped = [1_000.0], list[str]()
    monkeypatch.setattr(commits, "monotonic", lambda: clock[0])
    frontier = Away(clock, 4_600.0)
    parts: tuple[Any, Any, Any, Any, Any] = (
        SimpleNamespace(max_offline=longest, folder=folder, lease_seconds=60.0),
        frontier,
        SimpleNamespace(reopen=lambda settle: None),
        SimpleNamespace(limits=SimpleNamespace(reload=lambda records, family_of: list(records))),
        SimpleNamespace(inc_value=lambda name: None),
    )
    found = Commits(*parts, stopped.append)
    found.fail(AwayError("it can't be reached"))
    for _ in range(7_200):
        clock[0] += 1
        found.rejoin()
    return found, frontier, stopped


def test_a_worker_outlives_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, frontier, stopped = hour(tmp_path, monkeypatch, DAY)
    assert (found.joins, found.halted, stopped) == (1, False, [])
    assert frontier.tries < 150, "it doesn't try each second"


def test_a_worker_that_may_wait_for_less_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _, stopped = hour(tmp_path, monkeypatch, 600.0)
    assert (found.joins, found.failed, stopped) == (0, True, ["lost store"])
