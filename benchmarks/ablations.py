"""Ablations of the learned order: python -m benchmarks.ablations TRACE ...

What each of its parts is worth: the order without it, on the cases of ``benchmarks.strategies``.
Prints the geometric mean over all cases of the pages downloaded until 50, 80, 90, 95 and 99 % of
the relevant pages, as a multiple of what `perfect` needs, and the worst case to 99 %.

A feature of the links, or what is known of servers, is taken out by putting what it tells apart
into the same cells. A constant is compiled into the kernel, so it is changed in a process of its
own, with nothing kept of what is compiled there.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.strategies import SHARES, cases, downloaded, needed, reached
from lswc.lab.trace.format import Trace
from lswc.strategy import adaptive, strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from lswc.strategy import Strategy

FEATURES = {
    "named": "language that the link names",
    "referrer": "language of the referrer",
    "near": "where the link leads: folder, server, site",
    "anchor": "language of the anchor text",
    "tld": "top-level domain",
}
CONSTANTS = {
    "price of a look": ("FLOOR", 0.0),
    "first look": ("LOOK", 0),
    "the cell's own pages": ("OWN_PRIOR", 1e12),
    "damping of features": ("DAMPING", 1.0),
}
FIRST_WELL_KNOWN = 1 + 2 * adaptive.BUCKETS
SUNK = adaptive.EDGES.index(0.1)
"""The last bucket below 10 %."""


def without_feature(name: str) -> Strategy:
    """Return the learned order that takes all values of a feature for its first."""
    at = adaptive.NAMES.index(name)
    size, step = adaptive.SIZES[at], math.prod(adaptive.SIZES[at + 1 :])
    whole = strategy("adaptive")
    rows = [whole.cell_of[kind - kind // step % size * step] for kind in range(adaptive.KINDS)]
    return replace(whole, name=f"adaptive without {name}", cell_of=(*rows, whole.cell_of[-1]))


def _bucket(place: int) -> int:
    return (place - 1) % adaptive.BUCKETS


def _unknown(_: int) -> int:
    return adaptive.SITE_UNVISITED


def _however_many_pages(place: int) -> int:
    return FIRST_WELL_KNOWN + _bucket(place) if place else place


def _no_lower(place: int) -> int:
    return place + max(0, SUNK - _bucket(place)) if place else place


def _alone(place: int) -> int:
    return place if place > adaptive.BUCKETS else adaptive.SITE_UNVISITED


PLACES: dict[str, Callable[[int], int]] = {
    "all that is known of servers": _unknown,
    "number of the server's pages": _however_many_pages,
    "shares below 10 % told apart": _no_lower,
    "the site, for unvisited servers": _alone,
}


def without_places(name: str) -> Strategy:
    """Return the learned order to which some places are the same."""
    whole = strategy("adaptive")
    columns = [PLACES[name](place) for place in range(adaptive.PLACES)]
    columns += [adaptive.PLACES + column for column in columns]  # during a first look
    rows = tuple(tuple(row[column] for column in columns) for row in whole.cell_of)
    return replace(whole, name=f"adaptive without {name}", cell_of=rows)


def all_cases(folders: Sequence[Path]) -> list[Trace]:
    """Return all cases of these traces."""
    return [trace for folder in folders for _, trace in cases(Trace.read(folder))]


def needs(traces: Sequence[Trace], chosen: Strategy) -> NDArray[np.float64]:
    """Return the pages that a strategy needs in each case, of shape (cases, SHARES)."""
    return np.array([needed(downloaded(trace, chosen), reached(trace)) for trace in traces])


def with_constant(folders: Sequence[Path], name: str, value: float) -> NDArray[np.float64]:
    """Return ``needs`` of the order with another constant; call it before anything is compiled."""
    setattr(adaptive, name, value)
    return needs(all_cases(folders), strategy("adaptive"))


def in_own_process(folders: Sequence[Path], name: str, value: float) -> NDArray[np.float64]:
    """Return ``with_constant`` of a process that keeps what it compiles to itself."""
    with TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # read by numba as it is imported
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn) as process:
            return process.submit(with_constant, folders, name, value).result()


def show(label: str, found: NDArray[np.float64]) -> None:
    """Print a line of the table."""
    means = np.exp(np.log(found).mean(axis=0))
    parts = "".join(f"{mean:8.2f}" for mean in means)
    print(f"{label:46}{parts}{found[:, -1].max():8.2f}", flush=True)


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", type=Path)
    folders = parser.parse_args(arguments).traces
    traces = all_cases(folders)
    best = needs(traces, strategy("perfect"))
    print(
        f"{len(traces)} cases, without".ljust(46) + "".join(f"{s:8.0%}" for s in SHARES), " worst"
    )
    show("(nothing)", needs(traces, strategy("adaptive")) / best)
    for name, words in FEATURES.items():
        show(words, needs(traces, without_feature(name)) / best)
    for name in PLACES:
        show(name, needs(traces, without_places(name)) / best)
    for name, constant in CONSTANTS.items():
        show(name, in_own_process(folders, *constant) / best)


if __name__ == "__main__":
    main(sys.argv[1:])
