"""Time and memory of a report, step by step: ``python -m benchmarks.analysis TRACE [STRATEGY]``."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from lswc.lab.analysis.questions import Questions, analyze


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


def main() -> None:
    folder = Path(sys.argv[1])
    watch = Watch()
    with TemporaryDirectory() as out:
        asked = Questions(strategy=sys.argv[2] if len(sys.argv) > 2 else "")
        analyze(folder, Path(out) / "report", asked, watch)
    watch.end()


if __name__ == "__main__":
    main()
