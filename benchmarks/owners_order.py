"""Order of a crawl that several workers share, beside that of one: the same webs, crawled by each.

``python -m benchmarks.owners_order TRACE... [--owners 1,2,4] [--out docs/lab/owners_order.png]``
from the project's folder. Each trace (``lswc trace``, ``lswc synthesize``) is crawled by the
default strategy in its own time, with 32 requests at a time in all. Printed: harvest at the
quarters, pages and hours to 90, 95 and 99 %; drawn: harvest rate and coverage by pages.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from lswc.frontier.exchange.exchange import Exchange
from lswc.frontier.exchange.joining import join
from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.lab.simulator.hours import InHours
from lswc.lab.simulator.timed import Pace, TimedSimulation
from lswc.lab.trace.format import Trace
from lswc.strategy import strategy
from tests.frontier.exchange.at_once import at_once
from tests.frontier.exchange.memory_post import MemoryPost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.frontier.rules.contract import Terms
    from lswc.frontier.rules.visit import Lease, Offer, Visit
    from lswc.strategy import Status

SLOTS = 32
LOOKS = ("#0b6e75", "#d62728", "#7b3fa0", "#c47f00")


@dataclass
class Worker:
    """A worker, and how many of its requests are under way."""

    frontier: Frontier
    exchange: Exchange
    under_way: int = 0


class Shared:
    """Frontiers of several workers, in the place of one; time passes as the caller says."""

    def __init__(self, number: int, terms: Terms, named: str) -> None:
        self.now, self._beat = 0.0, 0.0
        self._owner: dict[int, Worker] = {}
        post = MemoryPost()
        self.workers = []
        for one in range(number):
            frontier = Frontier(MEMORY, strategy(named), {}, terms)
            member = join(frontier, post, f"worker {one}", {})  # type: ignore[arg-type]
            exchange = Exchange(frontier, post, member, at_once, lambda: self.now)  # type: ignore[arg-type]
            self.workers.append(Worker(frontier, exchange))
        self._slots = SLOTS // number
        for _ in range(40):  # the sites are shared out before it begins
            self._turn()
            self.now += 1.0
        self._start, self._turns = self.now, 0

    def _turn(self) -> None:
        for worker in self.workers:
            worker.exchange.turn()

    def _go(self, now: float) -> None:
        """Let time pass: all beat once a second."""
        self.now = self._start + now
        if self.now - self._beat >= 0.25:
            self._beat = self.now
            self._turn()

    def offer(self, offers: Sequence[Offer]) -> None:
        self.workers[0].frontier.offer(offers)

    def lease(self, now: float) -> Lease | None:
        self._go(now)
        self._turns += 1
        for step in range(len(self.workers)):
            worker = self.workers[(self._turns + step) % len(self.workers)]
            if worker.under_way < self._slots:
                lease = worker.frontier.lease(self.now)
                if lease is not None:
                    worker.under_way += 1
                    self._owner[id(lease)] = worker
                    return lease
        return None

    def next_ready(self) -> float | None:
        if all(one.frontier.unfinished == 0 and one.exchange.is_over for one in self.workers):
            return None
        times = [
            ready - self._start
            for one in self.workers
            if one.under_way < self._slots and (ready := one.frontier.next_ready()) is not None
        ]
        return min([*times, self.now - self._start + 0.25])

    def statuses(self, units: set[str], lease: Lease, counted: float | None) -> dict[str, Status]:
        return self._owner[id(lease)].frontier.statuses(units, lease, counted)

    def commit(self, visit: Visit) -> None:
        worker = self._owner.pop(id(visit.lease))
        worker.under_way -= 1
        worker.frontier.commit(visit)

    def close(self) -> None:
        for worker in self.workers:
            worker.frontier.close()


@dataclass
class Replay(TimedSimulation):
    """A crawl of a trace by so many workers."""

    owners: int = 1
    shared: list[Shared] = field(default_factory=list)

    def frontier(self, terms: Terms) -> Any:
        if self.owners == 1:
            return super().frontier(terms)
        self.shared.append(Shared(self.owners, terms, self.strategy.name))
        return self.shared[-1]


def crawled(folder: Path, owners: int, slow: float) -> InHours:
    """Crawl a trace, and print what came of it."""
    trace = Trace.read(folder)
    pace = Pace(delay=1.0, workers=SLOTS, answer=0.2, slow=slow)
    replay = Replay(trace, strategy("adaptive"), pace, owners=owners)
    result = replay.run()
    relevant = int(np.count_nonzero(trace.relevant))
    found = InHours(result, trace.pages, relevant)
    pages = len(result.hours)
    at = [np.mean(result.relevant[: trace.pages * part // 4]) for part in (1, 2, 3)]
    to = [result.pages_to(share * relevant) for share in (0.9, 0.95, 0.99)]
    hours = [result.hours_to(share * relevant) for share in (0.9, 0.95, 0.99)]
    print(
        f"{folder.name}, {owners} worker(s): {pages:,} pages, harvest at quarters "
        f"{', '.join(f'{share:.2%}' for share in at)}; pages to 90, 95, 99 % {to}; "
        f"hours {[None if one is None else round(one, 3) for one in hours]}, "
        f"in all {result.hours[-1]:.2f}",
        flush=True,
    )
    return found


def draw(traces: Sequence[Path], owners: Sequence[int], found: Any, out: Path) -> None:
    """Draw harvest rate above coverage, a column a trace."""
    figure = Figure(figsize=(4.6 * len(traces) + 1.5, 6), layout="constrained")
    grid: Any = figure.subplots(2, len(traces), squeeze=False, sharex="col", sharey="row")
    for column, trace in zip(grid.T, traces, strict=True):
        for number, colour in zip(owners, LOOKS, strict=False):
            one = found[trace, number]
            label = f"{number} worker{'s' * (number > 1)}"
            look = {"color": colour, "linewidth": 1.6, "label": label}
            column[0].plot(one.rows + 1, one.harvest_rate, **look)
            column[1].plot(one.rows + 1, one.coverage, **look)
        column[0].set_title(f"{trace.name}, {one.trace_pages:,} pages", fontsize=10)
        column[1].set_xlabel("Pages downloaded")
        column[1].xaxis.set_major_formatter(EngFormatter(sep=""))
    for axes in grid.flat:
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    grid[0, 0].set_ylabel("Harvest rate")
    grid[1, 0].set_ylabel("Coverage of relevant pages")
    handles, _ = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9)
    figure.savefig(out, dpi=110)


def main() -> None:
    """Crawl each trace by so many workers; print, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", type=Path, nargs="+")
    parser.add_argument("--owners", default="1,2,4")
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    owners = [int(one) for one in given.owners.split(",")]
    found = {
        (trace, number): crawled(trace, number, given.slow)
        for trace in given.traces
        for number in owners
    }
    if given.out is not None:
        draw(given.traces, owners, found, given.out)


if __name__ == "__main__":
    main()
