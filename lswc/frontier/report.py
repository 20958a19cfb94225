"""What is told of a frontier, whatever store it is in."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lswc.frontier.contract import Counts
    from lswc.frontier.harvest import CellHarvest


@dataclass(frozen=True)
class Queue:
    """A server's queue: pending URLs, and its counters Na and Nr."""

    server: str
    pending: int
    downloaded: int
    relevant: int


@dataclass(frozen=True)
class Report:
    """A frontier as its last commit left it; ``identity`` says what crawl it is of.

    ``queues`` are the longest, ``largest`` those of the servers with most pages. ``cells`` are
    those with URLs or pages, the best first.
    """

    identity: Mapping[str, str]
    counts: Counts
    queues: tuple[Queue, ...]
    largest: tuple[Queue, ...]
    cells: tuple[CellHarvest, ...]


@dataclass(frozen=True)
class Server:
    """A server as the frontier knows it.

    ``queue`` is its queue, ``status`` that of its pages (a server's, also if the strategy counts by
    directory), ``waiting`` the number of its URLs by cell, and ``next`` the URLs that come first
    of it, with their cells. ``strategy`` is the crawl's, which knows what cells are.
    """

    strategy: str
    queue: Queue
    status: str
    waiting: Mapping[int, int]
    next: tuple[tuple[str, int], ...]


def by_kind(rows: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    """Return tallies (kind, name, number) by kind; in each the largest come first."""
    tallies: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for kind, name, number in sorted(rows, key=lambda row: (-row[2], row[1])):
        if number:
            tallies[kind][name] = number
    return dict(tallies)
