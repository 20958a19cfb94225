"""Which servers are complete, which a quota or a cap cut short, and which failed."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.rules.contract import Caps, Terms
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store import report as sqlite_report
from lswc.frontier.store.frontier import Frontier
from lswc.outcomes import Outcome
from lswc.strategy import SEED, PageLanguage, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.frontier.rules.report import Completion

HOW = {
    "complete": ("html", True),
    "failed": ("timeout", None),
    "quota": (Outcome.SERVER_PAGES, None),
    "waits": ("html", True),
    "late": ("html", True),
}


def fill(frontier: Frontier) -> None:
    """Let one server end in each way; of one a URL waits, of one it was postponed."""
    with closing(frontier):
        for server in HOW:
            number = {"waits": 2, "full": 9}.get(server, 1)
            frontier.offer([offer(server, n) for n in range(number)])
        frontier.offer([offer("full", n) for n in range(9)])
        while (lease := frontier.lease(0.0)) is not None:
            if lease.url == "http://waits/1":
                break
            outcome, relevant = HOW.get(lease.server, ("html", True))
            if lease.server == "late" and not lease.tries:
                frontier.postpone(ended(lease, "timeout"), 1e12)
            else:
                frontier.commit(ended(lease, outcome, relevant=relevant))


def offer(server: str, number: int) -> Offer:
    return Offer(f"http://{server}/{number}", server, server, SEED, PageLanguage.TARGET, 0)


@pytest.fixture
def told(tmp_path: Path) -> Completion:
    path, terms = tmp_path / "frontier.db", Terms(caps=Caps(server=4))
    fill(Frontier(path, strategy("bfs"), {"strategy": "bfs"}, terms))
    with sqlite_report.opened(path) as reader:
        return reader.completion()


def test_servers_by_how_they_ended(told: Completion) -> None:
    assert told.complete == 1
    assert told.cut == (
        ("full", Outcome.SERVER_QUEUE_FULL, 5), ("quota", Outcome.SERVER_PAGES, 1),
    )  # fmt: skip
    assert told.cut_number == 2
    assert told.failed == (("failed", "timeout"),)
    assert told.failed_number == 1
