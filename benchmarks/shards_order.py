"""Order of three Redis servers beside that of one: the same webs, crawled by both.

``python -m benchmarks.shards_order TRACE... [--out docs/shards_order.png]`` from the project's
folder, with servers of its own. Each trace (``lswc trace``, ``lswc synthesize``) is crawled by the
default strategy, 32 requests at a time, in its own time. After each fifth lease all servers are
asked whether one had a URL that should bring more. Printed: how many leases were of less than
the best that any server had, and what that cost; drawn: harvest rate and coverage by pages.
"""

from __future__ import annotations

import argparse
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import redis
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.sharded import ShardedFrontier
from lswc.lab.simulator.hours import InHours
from lswc.lab.simulator.timed import Pace, TimedSimulation
from lswc.lab.trace.format import Trace
from lswc.strategy import strategy
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.frontier import Frontier
    from lswc.frontier.contract import Terms
    from lswc.frontier.visit import Lease

EVERY = 5  # leases
PACE = Pace(delay=1.0, workers=32, answer=0.2)
WORKER = Worker(clock_of_caller=True, time_to_live=1e6)
LOOKS = {1: ("#0b6e75", "-", "one server"), 3: ("#d62728", "--", "three servers")}


@dataclass
class Replay(TimedSimulation):
    """A crawl of a trace on so many servers; ``losses`` are the shares of relevant pages by which
    the leases that were looked at fell behind the best URL of the other servers.
    """

    urls: Sequence[str] = ()
    losses: list[float] = field(default_factory=list)

    def frontier(self, terms: Terms) -> Frontier:
        clients: list[redis.Redis] = [redis.Redis.from_url(url) for url in self.urls]
        for client in clients:
            client.flushall()
        if len(clients) == 1:
            return RedisFrontier(clients[0], "order", self.strategy, {}, terms, WORKER)
        frontier = ShardedFrontier(clients, "order", self.strategy, {}, terms, WORKER)
        leases, lease_next = iter(range(10**9)), frontier.lease

        def lease(now: float) -> Lease | None:
            found = lease_next(now)
            if found is not None and found.expected is not None and next(leases) % EVERY == 0:
                self._judge(frontier, found, now)
            return found

        frontier.lease = lease  # type: ignore[method-assign]
        return frontier

    def _judge(self, frontier: ShardedFrontier, lease: Lease, now: float) -> None:
        """Compare a lease with what waits on all servers, those that have rested since included."""
        order = frontier._common.order
        own, worth = frontier.parts[lease.id % 256], order.worth(lease.cell) or 0.0
        best = dict.fromkeys(frontier.parts, worth)
        for part in frontier.parts:
            part._call("lease", "none", part._life, b"", 0, 0, 1, now=now)  # servers wake, no more
            cells = [c for c in part.order._numbers if (order.worth(c) or 0.0) > worth + 1e-9]
            lines = part.connection.ask(*(("ZRANGE", f"ready:{c}", (0, 9)) for c in cells))
            for cell, found in zip(cells, lines, strict=True):
                names = [line.partition(b" ")[2] for line in found]
                if any(part.connection.ask(*(("SISMEMBER", "free", (n,)) for n in names))):
                    best[part] = max(best[part], order.worth(cell) or 0.0)
        if best[own] == worth:  # else it was an unproven site's turn, as on one server
            self.losses.append(max(best.values()) - worth)


def crawled(folder: Path, urls: Sequence[str]) -> InHours:
    """Crawl a trace, and print what came of it."""
    trace = Trace.read(folder)
    replay = Replay(trace, strategy("adaptive"), PACE, urls=urls)
    found = InHours(replay.run(), trace.pages, int(np.count_nonzero(trace.relevant)))
    pages = len(found.result.hours)
    at = [np.mean(found.result.relevant[: pages * part // 4]) for part in (1, 2, 3)]
    print(
        f"{folder.name}, {len(urls)} server(s): harvest at a quarter, half, three quarters "
        f"{', '.join(f'{share:.2%}' for share in at)}; hours {found.result.hours[-1]:.2f}"
    )
    if replay.losses:
        losses = np.array(replay.losses)
        print(
            f"  of {len(losses):,} leases {np.mean(losses > 0):.2%} weren't of the best; lost on "
            f"the mean {losses.mean():.5f}, at those {losses[losses > 0].mean():.4f}, at most "
            f"{losses.max():.3f}",
            flush=True,
        )
    return found


def draw(traces: Sequence[Path], found: dict[tuple[Path, int], InHours], out: Path) -> None:
    """Draw harvest rate above coverage, a column a trace."""
    figure = Figure(figsize=(4.6 * len(traces) + 1.5, 6), layout="constrained")
    grid: Any = figure.subplots(2, len(traces), squeeze=False, sharex="col", sharey="row")
    for column, trace in zip(grid.T, traces, strict=True):
        for number, (colour, style, label) in LOOKS.items():
            one = found[trace, number]
            look = {"color": colour, "linestyle": style, "linewidth": 1.6, "label": label}
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
    """Crawl each trace by one and by three servers; print, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("docs/shards_order.png"))
    given = parser.parse_args()
    with ExitStack() as stack:
        urls = []
        for _ in range(3):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            server = RedisServer(Path(folder))
            stack.callback(server.stop)
            urls.append(server.url)
        found = {
            (trace, number): crawled(trace, urls[:number])
            for trace in given.traces
            for number in LOOKS
        }
    draw(given.traces, found, given.out)


if __name__ == "__main__":
    main()
