"""Downloads that each strategy needs: python -m benchmarks.strategies TRACE ... [options].

For every trace (one language each), for several sets of seeds: the pages downloaded until 50, 80,
90, 95 and 99 % of the relevant pages that can be reached, as a multiple of what `perfect` needs.
Seeds are those of the trace; those of them that are relevant; and three in English, drawn by lot,
from which enough relevant pages are reached. At the end, geometric means over all cases in which
a strategy gets there, in how many it does, and the worst case: by kind of seeds, over all, and
over all without relevant pages that are their server's only one. Minutes, and what an hour is worth
against downloads, are told by ``lswc simulate --delay 1 --haste 0.1``.

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
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from lswc.strategy import Strategy

SHARES = (0.5, 0.8, 0.9, 0.95, 0.99)
STRATEGIES = (
    "bfs", "soft_focused", "limited_distance:N=3", "server_aggressive:T=10",
    "server_conservative:T=10", "lswc:S=3,T=5", "tld_anchor", "site_queues", "adaptive",
)  # fmt: skip
LEAST = 50
"""A case has at least so many relevant pages."""

DRAWS = 50
EVERY, COMPANY = "every case", "without pages that are their server's only one"
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


def in_company(trace: Trace) -> NDArray[np.bool_]:
    """Return which of these aren't the only one of their server."""
    wanted = reached(trace)
    found: NDArray[np.bool_] = wanted & (
        np.bincount(trace.server[wanted], minlength=len(trace.site))[trace.server] > 1
    )
    return found


def downloaded(trace: Trace, chosen: Strategy) -> NDArray[np.int32]:
    """Return the pages that a strategy downloads, in order."""
    visits = Simulation(trace, chosen, keep_visits=True).run().visits
    pages: NDArray[np.int32] = visits[trace.fate[visits] == Fate.PAGE]
    return pages


def needed(pages: NDArray[np.int32], wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the pages downloaded until each of SHARES; infinity if that is never reached."""
    found = np.cumsum(wanted[pages])
    at = np.searchsorted(found, np.ceil(np.array(SHARES) * wanted.sum())) + 1.0
    return np.where(at > len(found), np.inf, at)


def row(label: str, name: str, multiples: Sequence[float]) -> str:
    """Return a line of the table."""
    cells = ("   never" if np.isinf(m) else f"{m:8.2f}" for m in multiples)
    return f"{label:28} {name:26}" + "".join(cells)


def means(found: Mapping[str, Mapping[str, Sequence[NDArray[np.float64]]]]) -> None:
    """Print each strategy's geometric means over the cases, by what they have in common."""
    for label, by_name in found.items():
        print(f"\n{label + ': mean (cases) worst':55}" + "".join(f"{s:18.0%}" for s in SHARES))
        for name, multiples in by_name.items():
            parts = []
            for column in np.array(multiples).T:
                got = column[np.isfinite(column)]
                mean = np.exp(np.log(got).mean()) if len(got) else np.inf
                parts.append(f"{mean:6.2f} ({len(got):2}) {column.max():6.2f}")
            print(f"{'':28} {name:26}" + "  ".join(parts))


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES)
    parser.add_argument("--without", nargs="*", default=(), choices=FACTS)
    options = parser.parse_args(arguments)
    lost: dict[str, Any] = dict.fromkeys(options.without)
    labels = ("all", "own", "english", EVERY, COMPANY)
    found: dict[str, dict[str, list[NDArray[np.float64]]]] = {
        label: {name: [] for name in options.strategies} for label in labels
    }
    print(f"{'':55}" + "".join(f"{share:8.0%}" for share in SHARES))
    for folder in options.traces:
        for seeds, trace in cases(Trace.read(folder)):
            best = downloaded(trace, strategy("perfect"))
            wanted, company = reached(trace), in_company(trace)
            for name in options.strategies:
                pages = downloaded(dataclasses.replace(trace, **lost), strategy(name))
                multiples = needed(pages, wanted) / needed(best, wanted)
                for label in (seeds.partition("-")[0], EVERY):
                    found[label][name].append(multiples)
                if company.any():
                    of_company = needed(pages, company) / needed(best, company)
                    found[COMPANY][name].append(of_company)
                print(row(f"{folder.name} {seeds}", name, multiples.tolist()), flush=True)
    means(found)


if __name__ == "__main__":
    main(sys.argv[1:])
