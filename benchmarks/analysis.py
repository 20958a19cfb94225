"""Time and memory of a report, step by step: ``python benchmarks/analysis.py TRACE [STRATEGY]``.

For a synthetic web, also compares the link tables with those its generator counts.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lswc.analysis import links
from lswc.analysis.analyze import Questions, analyze
from lswc.simulator import calibration
from lswc.simulator.trace import Trace


class Watch:
    """Prints how long each step took."""

    def __init__(self) -> None:
        self._begin = self._last = time.perf_counter()
        self._step = ""

    def __call__(self, step: str) -> None:
        now = time.perf_counter()
        if self._step:
            print(f"{now - self._last:7.1f} s  {memory():5.2f} GiB  {self._step}", flush=True)
        self._last, self._step = now, step

    def end(self) -> None:
        self("")
        print(f"{self._last - self._begin:7.1f} s  {memory():5.2f} GiB  in all")


def memory() -> float:
    """Return the largest resident memory so far, mapped files included, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def agree(folder: Path) -> None:
    """Check the census and the nearest pages against the generator's own count."""
    trace = Trace.read(folder)
    assert trace.anchors is not None
    kinds = calibration.kinds(trace)
    places, words = calibration._count(
        kinds, trace.server, trace.site, trace.offsets, trace.targets, trace.anchors
    )
    census = links.census(trace)
    assert np.array_equal(census.sum(axis=3), places[: len(census)])
    assert np.array_equal(census.sum(axis=2), words[: len(census)])
    print(f"the generator counts the same {int(census.sum()):,} links in every cell")
    ours, theirs = links.nearest_relevant(trace), calibration.nearest_relevant(trace)
    print("nearest relevant pages, ours and the generator's, which lets a page be its own:")
    print(*zip(ours[1:].tolist(), theirs[1:].tolist(), strict=False))


def main() -> None:
    folder = Path(sys.argv[1])
    watch = Watch()
    with TemporaryDirectory() as out:
        asked = Questions(strategy=sys.argv[2] if len(sys.argv) > 2 else "")
        analyze(folder, Path(out) / "report", asked, watch)
    watch.end()
    if "synthetic" in (folder / "trace.json").read_text("utf-8"):
        agree(folder)


if __name__ == "__main__":
    main()
