"""Downloads that each strategy needs: python -m benchmarks.strategies TRACE ... [options].

For every trace (one language each), for several sets of seeds: the pages downloaded until 50, 80,
90, 95 and 99 % of the relevant pages that can be reached, as a multiple of what `perfect` needs.
Seeds are those of the trace; those of them that are relevant; and three in English, drawn by lot,
from which enough relevant pages are reached. At the end, geometric means over all cases in which
a strategy gets there, and in how many it does.

--without FACT leaves a fact of the links out (named, anchors, tld, folder): what it is worth.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lswc.lab.simulator.simulation import Simulation
from lswc.lab.trace import graph
from lswc.lab.trace.format import Fate, Trace
from lswc.strategy import PageLanguage, strategy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

SHARES = (0.5, 0.8, 0.9, 0.95, 0.99)
STRATEGIES = (
    "bfs", "soft_focused", "limited_distance:N=3", "server_aggressive:T=10",
    "server_conservative:T=10", "lswc:S=3,T=5", "tld_anchor", "site_queues", "adaptive",
)  # fmt: skip
LEAST = 50
"""A case has at least so many relevant pages."""

DRAWS = 50
FACTS = ("named", "anchors", "tld", "folder")


def seeded(trace: Trace, seeds: NDArray[np.int32]) -> Trace:
    """Return the trace with other seeds."""
    distance = graph.distances(trace.offsets, trace.targets, seeds)
    return dataclasses.replace(trace, seeds=seeds, distance=distance)


def reached(trace: Trace) -> NDArray[np.bool_]:
    """Return which URLs are relevant pages that a path leads to."""
    found: NDArray[np.bool_] = trace.relevant & (trace.distance >= 0)
    return found


def cases(trace: Trace) -> Iterator[tuple[str, Trace]]:
    """Yield the trace with each set of seeds that has enough to find."""
    pages = trace.seeds[trace.fate[trace.seeds] >= Fate.REDIRECT]
    sets = {"all": pages, "own": pages[trace.language[pages] == PageLanguage.TARGET]}
    english = np.array(_one_per_server(trace, pages[trace.language[pages] == PageLanguage.ENGLISH]))
    random = np.random.default_rng(len(english))
    for name in ("english-1", "english-2"):
        for _ in range(DRAWS if len(english) >= 3 else 0):
            drawn = np.sort(random.choice(english, 3, replace=False)).astype(np.int32)
            if reached(seeded(trace, drawn)).sum() >= LEAST:
                sets[name] = drawn
                break
    for name, seeds in sets.items():
        if len(seeds) and reached(seeded(trace, seeds)).sum() >= LEAST:
            yield name, seeded(trace, seeds)


def _one_per_server(trace: Trace, urls: NDArray[np.int32]) -> list[int]:
    first: dict[int, int] = {}
    for url in urls.tolist():
        first.setdefault(int(trace.server[url]), url)
    return list(first.values())


def downloads(trace: Trace, name: str) -> list[float]:
    """Return the pages downloaded until each of SHARES; infinity if that is never reached."""
    visits = Simulation(trace, strategy(name), keep_visits=True).run().visits
    pages = visits[trace.fate[visits] == Fate.PAGE]
    wanted = reached(trace)
    found = np.cumsum(wanted[pages])
    needed = np.ceil(np.array(SHARES) * wanted.sum())
    at = np.searchsorted(found, needed) + 1.0
    return list(np.where(at > len(found), np.inf, at))


def row(label: str, name: str, multiples: Sequence[float]) -> str:
    """Return a line of the table."""
    cells = ("   never" if np.isinf(m) else f"{m:8.2f}" for m in multiples)
    return f"{label:28} {name:26}" + "".join(cells)


def means(found: dict[str, list[list[float]]]) -> None:
    """Print each strategy's geometric means over the cases."""
    print(f"\n{'geometric mean (cases)':28} {'':26}" + "".join(f"{s:14.0%}" for s in SHARES))
    for name, multiples in found.items():
        table = np.array(multiples)
        parts = []
        for column in table.T:
            got = column[np.isfinite(column)]
            mean = np.exp(np.log(got).mean()) if len(got) else np.inf
            parts.append(f"{mean:8.2f} ({len(got):2})")
        print(f"{'':28} {name:26}" + "  ".join(parts))


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES)
    parser.add_argument("--without", nargs="*", default=(), choices=FACTS)
    options = parser.parse_args(arguments)
    lost: dict[str, Any] = dict.fromkeys(options.without)
    found: dict[str, list[list[float]]] = {name: [] for name in options.strategies}
    print(f"{'':55}" + "".join(f"{share:8.0%}" for share in SHARES))
    for folder in options.traces:
        for seeds, trace in cases(Trace.read(folder)):
            best = downloads(trace, "perfect")
            for name in options.strategies:
                needed = downloads(dataclasses.replace(trace, **lost), name)
                multiples = [a / b for a, b in zip(needed, best, strict=True)]
                found[name].append(multiples)
                print(row(f"{folder.name} {seeds}", name, multiples), flush=True)
    means(found)


if __name__ == "__main__":
    main(sys.argv[1:])
