"""Speed of the simulator: python -m benchmarks.simulator [--scale 1.0] [--all].

Prints, for a synthetic web of that scale: the time to make and to read it, each strategy's time
on one core, the peak of memory, and the kernel beside the plain Python reference of the tests
on one small graph. Compiling isn't counted. Times are of this machine, as busy as it is.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from lswc.lab.simulator.run import EVERY, simulate
from lswc.lab.simulator.simulation import Simulation
from lswc.lab.synthetic.synthesis import SCALES, synthesize
from lswc.lab.trace import graph
from lswc.lab.trace.format import Trace
from lswc.strategy import strategy
from tests.lab.simulator import reference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FEW = ("bfs", "soft_focused", "server_conservative:T=10", "lswc:S=3,T=5")
SMALL = SCALES[0]
"""Scale of the graph that the reference can crawl in reasonable time: 9,000 pages."""


def timed(what: str, work: Callable[[], Any]) -> Any:
    """Run something and print its time: on the clock, and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{what:46} {clock:8.1f} s {processor:8.1f} s CPU  {peak():5.2f} GiB peak", flush=True)
    return result


def peak() -> float:
    """Return the most memory that this process has had, in GiB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / 2 ** (30 if sys.platform == "darwin" else 20)


def beside_the_reference(trace: Trace) -> None:
    """Time kernel and reference on one graph."""
    for name in FEW:
        chosen = strategy(name)
        oracle = np.zeros(trace.urls, np.bool_)
        begin = time.perf_counter()
        expected = list(reference.Crawl(trace, chosen, oracle).visits)
        plain = time.perf_counter() - begin
        Simulation(trace, chosen).run()  # the strategy is asked once, as for the reference
        run = Simulation(trace, chosen, keep_visits=True)
        begin = time.perf_counter()
        visits = run.run().visits.tolist()
        compiled = time.perf_counter() - begin
        assert visits == expected
        faster = plain / compiled
        print(f"{name:30} reference {plain:8.2f} s, kernel {compiled:8.4f} s: x {faster:.0f}")


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument(
        "--all", action="store_true", help="every strategy of the papers, all cores"
    )
    options = parser.parse_args(arguments)
    small = synthesize(SMALL).trace  # compiles, too
    simulate(small, [strategy("bfs"), strategy("perfect")])
    beside_the_reference(small)
    with TemporaryDirectory() as folder:
        web = timed(f"make a web of scale {options.scale}", partial(synthesize, options.scale))
        timed("write it", partial(web.write, Path(folder) / "web"))
        del web
        trace = timed("read it", partial(Trace.read, Path(folder) / "web"))
        timed("breadth-first tree alone", partial(graph.oracle, trace))
        for name in FEW:
            timed(name, Simulation(trace, strategy(name)).run)
        if options.all:
            every = [strategy(name) for name in EVERY]
            timed(f"{len(every)} strategies, all cores", partial(simulate, trace, every))


if __name__ == "__main__":
    main(sys.argv[1:])
