"""Runs of several strategies on one trace, on all cores; and what is kept of them."""

from __future__ import annotations

import gc
import json
import os
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lswc.files import whole_folder
from lswc.lab.simulator import kernel
from lswc.lab.simulator.simulation import Simulation
from lswc.lab.trace import graph
from lswc.lab.trace.format import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lswc.lab.simulator.simulation import Result
    from lswc.lab.trace.format import Trace
    from lswc.strategy import Strategy

EVERY = (
    "bfs", "hard_focused", "soft_focused", "distance", "limited_distance:N=2",
    "limited_distance:N=3", "server_aggressive:T=5", "server_aggressive:T=10",
    "server_aggressive:T=20", "server_conservative:T=5", "server_conservative:T=10",
    "server_conservative:T=20", "directory_conservative:T=5", "directory_conservative:T=10",
    "directory_conservative:T=20", "lswc:S=1,T=1", "lswc:S=1,T=2", "lswc:S=3,T=5", "tld_anchor",
    "tld", "anchor", "site_queues", "perfect", "adaptive",
)  # fmt: skip
"""Every strategy that counts pages, those of the papers with the parameters that they report."""

POLL = 0.2
"""Seconds between two reports of progress."""


@dataclass(frozen=True)
class Simulated:
    """A result with the rates that need the trace. Rates have the shape of the series' rows."""

    result: Result
    trace_pages: int
    trace_relevant: int

    @property
    def along(self) -> Any:
        """Pages downloaded, what a figure's lines go along."""
        return self.column("pages")

    @property
    def harvest_rate(self) -> Any:
        """Relevant among the pages downloaded so far."""
        return self.result.series[:, kernel.RELEVANT] / np.maximum(self.column("pages"), 1)

    @property
    def coverage(self) -> Any:
        """Relevant pages downloaded so far, of all relevant pages in the trace."""
        return self.result.series[:, kernel.RELEVANT] / max(self.trace_relevant, 1)

    @property
    def miss_ratio(self) -> Any:
        """Relevant pages not downloaded, of all within a distance from the seeds (cumulative)."""
        within = np.cumsum(self.result.all_relevant)
        return np.cumsum(self.result.missed) / np.maximum(within, 1)

    @property
    def reliability(self) -> Any:
        """Pages, mean expected relevance and relevant share, by expected relevance.

        Shape (bins, 3), without the bins that have no page; 0 if the strategy expects nothing.
        """
        bins = self.result.reliability[self.result.reliability[:, 0] > 0]
        return np.column_stack([bins[:, 0], bins[:, 1] / bins[:, 0], bins[:, 2] / bins[:, 0]])

    @property
    def brier(self) -> tuple[float, float] | None:
        """Brier score of the expected relevance, and that of always guessing the mean.

        The mean squared difference between what was expected of a page and what it was
        (Brier 1950). None if the strategy expects nothing. Seeds don't count.
        """
        pages, _, relevant, squares = self.result.reliability.sum(axis=0).tolist()
        if not pages:
            return None
        mean = relevant / pages
        return squares / pages, mean * (1 - mean)

    def column(self, name: str) -> Any:
        """Return a column of the series, by its name in ``kernel.COUNTS``."""
        return self.result.series[:, kernel.COUNTS.index(name)]

    def harvest_rate_at(self, pages: int) -> float | None:
        """Return the harvest rate after so many pages; None if the crawl ended before."""
        row = int(np.searchsorted(self.column("pages"), pages))
        return float(self.harvest_rate[row]) if row < len(self.result.series) else None


def simulate(
    trace: Trace,
    strategies: Sequence[Strategy],
    progress: Callable[[int, int], None] = lambda number, pages: None,
    finished: Callable[[list[Simulated]], None] = lambda outcomes: None,
) -> list[Simulated]:
    """Crawl a trace by each strategy; a core each, as far as there are cores.

    ``progress`` gets the number of a strategy and its pages so far, ``finished`` the outcomes
    so far whenever there is another. Raises TraceError if the trace lacks a fact that a strategy
    needs.
    """
    if not strategies:
        raise TraceError("name at least one strategy")
    known = graph.oracle(trace) if any("oracle" in s.facts for s in strategies) else None
    runs = [Simulation(trace, s, oracle=known) for s in strategies]
    relevant = int(np.count_nonzero(trace.relevant))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(_run, run) for run in runs]
        waiting = set(futures)

        def outcomes() -> list[Simulated]:
            ended = (f for f in futures if f not in waiting)
            return [Simulated(f.result(), trace.pages, relevant) for f in ended]

        try:
            while waiting:
                done, waiting = wait(waiting, POLL)
                if done and waiting:
                    finished(outcomes())
                for number, run in enumerate(runs):
                    progress(number, run.progress)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for run in runs:
                run.stop()
    return outcomes()


def _run(run: Simulation) -> Result:
    """Run a strategy and let its arrays go.

    The first one is compiled for; what that leaves behind holds the arrays that it was called with
    until Python looks for garbage, which none of the runs makes it do.
    """
    try:
        return run.run()
    finally:
        gc.collect()


def marks(pages: int) -> tuple[int, int]:
    """Return two round numbers of pages to compare harvest rates at: 1 and 2 million of 18."""
    steps = [10**k * factor for k in range(12) for factor in (1, 2, 5)]
    return min(steps, key=lambda s: abs(s - pages / 18)), min(
        steps, key=lambda s: abs(s - pages / 9)
    )


def save(outcomes: Sequence[Simulated], trace: Trace, folder: Path) -> None:
    """Write ``series.parquet`` and ``summary.json``. Raises OSError."""
    summary = {
        "trace": {
            "language": trace.about.language,
            "source": trace.about.source,
            "urls": trace.urls,
            "links": len(trace.targets),
            "pages": outcomes[0].trace_pages,
            "relevant": outcomes[0].trace_relevant,
        },
        "strategies": {o.result.strategy: _summary(o) for o in outcomes},
    }
    with whole_folder(folder) as beside:
        pq.write_table(pa.concat_tables([_series(o) for o in outcomes]), beside / "series.parquet")
        (beside / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", "utf-8")


def _series(outcome: Simulated) -> pa.Table:
    columns = {name: outcome.column(name) for name in ("pages", "relevant", "queue", "servers")}
    columns |= {"harvest_rate": outcome.harvest_rate, "coverage": outcome.coverage}
    names = pa.array([outcome.result.strategy] * len(outcome.result.series))
    return pa.table({"strategy": names, **columns})


def _summary(outcome: Simulated) -> dict[str, Any]:
    result = outcome.result
    last = dict(zip(kernel.COUNTS, result.series[-1].tolist(), strict=False))
    at = {str(mark): outcome.harvest_rate_at(mark) for mark in marks(outcome.trace_pages)}
    irrelevant, relevant = result.by_distance[:, 1:].tolist()
    return {
        "pages": last["pages"],
        "relevant": last["relevant"],
        "harvest_rate": float(outcome.harvest_rate[-1]),
        "harvest_rate_at": at,
        "coverage": float(outcome.coverage[-1]),
        "largest_queue": last["largest"],
        "queue": last["queue"],
        "servers": last["servers"],
        "discarded_links": result.discarded_links,
        "discarded_urls": result.discarded_urls,
        "miss_ratio_by_distance_from_seeds": outcome.miss_ratio.tolist(),
        "pages_by_distance_from_relevant": {"relevant": relevant, "irrelevant": irrelevant},
        "brier": dict(zip(("expected", "mean"), outcome.brier, strict=True))
        if outcome.brier
        else None,
    }
