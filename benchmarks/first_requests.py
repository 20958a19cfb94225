"""A crawl's first requests: how many of them bring relevant pages, and how long that takes.

``python -m benchmarks.first_requests TRACE... [--delay 1] [--seconds 0.2] [--haste 0.1]`` from the
project's folder. Each trace (``lswc trace``, ``lswc synthesize``) is crawled by the default
strategy one request at a time, and with 32 at a time in its own time. Every request counts: those
for robots.txt (with 32 at a time), redirects, and what isn't there.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lswc.lab.simulator.simulation import Simulation
from lswc.lab.simulator.timed import Pace, TimedSimulation
from lswc.lab.trace.format import Fate, Trace
from lswc.settings import LSWC_HASTE
from lswc.strategy import strategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SLOTS = 32
REQUESTS = (100, 250, 500, 1_000, 2_000)
SHARES = (0.05, 0.1, 0.25, 0.5, 0.8, 0.9, 0.95, 0.99)


def found(trace: Trace, urls: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many relevant pages came with each request; a URL below 0 is none."""
    is_relevant = (urls >= 0) & (trace.fate[urls] == Fate.PAGE) & trace.relevant[urls]
    return np.cumsum(is_relevant)


def line(trace: Trace, so_far: NDArray[np.int64], ends: NDArray[np.float64] | None) -> str:
    """Return what the first requests brought, and when shares of all relevant pages had come."""
    most = int(trace.relevant[trace.distance >= 0].sum())
    first = [str(so_far[min(number, len(so_far)) - 1]) for number in REQUESTS]
    needed = []
    for share in SHARES:
        at = int(np.searchsorted(so_far, share * most))
        if at < len(so_far):
            needed.append(f"{at + 1:,}" + ("" if ends is None else f" in {ends[at]:.1f} s"))
    return f"{' / '.join(first)}; requests to {'/'.join(f'{s:.0%}' for s in SHARES)}: " + (
        ", ".join(needed)
    )


def one_by_one(trace: Trace) -> str:
    """Crawl one request at a time."""
    visits = Simulation(trace, strategy("adaptive"), keep_visits=True).run().visits
    asked = visits[trace.fate[visits] != Fate.NEVER].astype(np.int64)
    return line(trace, found(trace, asked), None)


def at_once(trace: Trace, pace: Pace, haste: float) -> str:
    """Crawl with SLOTS requests at a time."""
    timed = TimedSimulation(trace, strategy("adaptive"), pace, haste=haste).run()
    requests = sorted(timed.requests, key=lambda request: request.end)
    urls = np.array([request.url for request in requests], np.int64)
    ends = np.array([request.end for request in requests])
    return line(trace, found(trace, urls), ends)


def main(given: Sequence[str] | None = None) -> None:
    """Print both for each trace."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", type=Path, nargs="+")
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--haste", type=float, default=LSWC_HASTE)
    options = parser.parse_args(given)
    pace = Pace(options.delay, SLOTS, options.seconds)
    print("relevant of the first", " / ".join(f"{number:,}" for number in REQUESTS), "requests")
    for folder in options.traces:
        trace = Trace.read(folder)
        for slots, told in ((1, one_by_one(trace)), (SLOTS, at_once(trace, pace, options.haste))):
            print(f"{folder.name}, {slots} at a time: {told}", flush=True)


if __name__ == "__main__":
    main()
