"""Downloads that each strategy needs: python -m benchmarks.strategies TRACE ... [options].

For every trace (one language each), for several sets of seeds: the pages downloaded until 50, 80,
90, 95 and 99 % of the relevant pages that can be reached, as a multiple of what `perfect` needs.
Seeds are those of the trace; those of them that are relevant; and three in English, drawn by lot,
from which enough relevant pages are reached. At the end, over all cases in which a strategy gets
there: geometric mean, median, in brackets the range of that mean without any one host, then in
how many cases it gets there, and the worst. By kind of seeds, over all, and over all without
relevant pages that are their server's only one. Without a host its pages count neither as relevant
nor as downloads; the crawl is the same. Minutes, and what an hour is worth
against downloads, are told by ``lswc simulate --delay 1 --haste 0.1``.

--without FACT leaves a fact of the links out (named, anchors, tld, folder): what it is worth.
--untranslated N makes English of the first N relevant pages of each folder whose name names the
language, by their distance from the seeds: many a translation begins so.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from lswc.lab.simulator.simulation import Simulation
from lswc.lab.trace import graph
from lswc.lab.trace.format import Fate, Trace
from lswc.reading.named_language import named
from lswc.strategy import Named, PageLanguage, strategy
from lswc.urls import parse

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

LARGE = 0.01
"""A host is left out if it has at least this share of a case's relevant pages."""

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


def named_folder(language: str, address: str) -> str:
    """Return a URL's shortest folder that names a language, "" if none does."""
    at = address.find("/", address.find("://") + 3)
    while (at := address.find("/", at + 1)) > 0:
        folder = parse(address[: at + 1])
        if folder is not None and named(language, folder) == Named.TARGET:
            return address[: at + 1]
    return ""


def untranslated(trace: Trace, folder: Path, first: int) -> Trace:
    """Return the trace of a folder in which each named folder begins with English pages."""
    if not first:
        return trace
    urls = pq.read_table(folder / "urls.parquet", columns=["url"])["url"].to_pylist()
    language, seen = trace.language.copy(), Counter[str]()
    wanted = np.flatnonzero(reached(trace))
    for url in wanted[np.argsort(trace.distance[wanted], kind="stable")].tolist():
        name = named_folder(trace.about.language, urls[url])
        seen[name] += 1
        if name and seen[name] <= first:
            language[url] = PageLanguage.ENGLISH
    return dataclasses.replace(trace, language=language)


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


class Multiples(NamedTuple):
    """Of one case: downloads for each of SHARES as a multiple of the oracle's, shape (shares,).

    And the same without each large host, by its trace's source and its server there: NaN if too
    little is left.
    """

    all: NDArray[np.float64]
    without: dict[tuple[str, int], NDArray[np.float64]]


def multiples_of(
    trace: Trace, pages: NDArray[np.int32], best: NDArray[np.int32], wanted: NDArray[np.bool_]
) -> Multiples:
    """Compare what a strategy downloaded with what the oracle did, in all and without each host."""
    at_server = np.bincount(trace.server[wanted], minlength=len(trace.site))
    without = {}
    for host in np.flatnonzero(at_server >= LARGE * at_server.sum()).tolist():
        others = wanted & (trace.server != host)
        ours, theirs = (some[trace.server[some] != host] for some in (pages, best))
        without[trace.about.source, host] = (
            needed(ours, others) / needed(theirs, others)
            if others.sum() >= LEAST
            else np.full(len(SHARES), np.nan)
        )
    return Multiples(needed(pages, wanted) / needed(best, wanted), without)


def row(label: str, name: str, multiples: Sequence[float]) -> str:
    """Return a line of the table."""
    cells = ("   never" if np.isinf(m) else f"{m:8.2f}" for m in multiples)
    return f"{label:28} {name:26}" + "".join(cells)


def _mean(column: NDArray[np.float64]) -> float:
    got = column[np.isfinite(column)]
    return float(np.exp(np.log(got).mean())) if len(got) else np.inf


def without_one(cases: Sequence[Multiples]) -> NDArray[np.float64]:
    """Return the least and the largest geometric mean without any one host, shape (2, shares)."""
    found = [np.full(len(SHARES), np.inf)]
    for host in {host: None for case in cases for host in case.without}:
        left = [case.without.get(host, case.all) for case in cases]
        found.append([_mean(column) for column in np.array(left).T])
    means_without = np.where(np.isfinite(found), found, np.nan)
    return np.array([np.nanmin(means_without, 0), np.nanmax(means_without, 0)])


def means(found: Mapping[str, Mapping[str, Sequence[Multiples]]]) -> None:
    """Print each strategy's mean, median and range over the cases, by what they have in common."""
    heading = ": mean median (without a host) cases worst"
    for label, by_name in found.items():
        print(f"\n{label + heading:55}" + "".join(f"{s:>36.0%}" for s in SHARES))
        for name, cases in by_name.items():
            if not cases:
                continue
            parts = []
            table = np.array([case.all for case in cases])
            for column, (low, high) in zip(table.T, without_one(cases).T, strict=True):
                got = column[np.isfinite(column)]
                middle, most = (np.median(got), got.max()) if len(got) else (np.inf, np.inf)
                span = f"({low:.2f}-{high:.2f})"
                parts.append(
                    f"{_mean(column):6.2f} {middle:5.2f} {span:13}{len(got):3} {most:6.2f}"
                )
            print(f"{'':28} {name:26}" + "".join(parts))


def main(arguments: Sequence[str]) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES)
    parser.add_argument("--untranslated", type=int, default=0, metavar="N")
    parser.add_argument("--without", nargs="*", default=(), choices=FACTS)
    options = parser.parse_args(arguments)
    lost: dict[str, Any] = dict.fromkeys(options.without)
    labels = ("all", "own", "english", EVERY, COMPANY)
    found: dict[str, dict[str, list[Multiples]]] = {
        label: {name: [] for name in options.strategies} for label in labels
    }
    print(f"{'':55}" + "".join(f"{share:8.0%}" for share in SHARES))
    for folder in options.traces:
        for seeds, trace in cases(untranslated(Trace.read(folder), folder, options.untranslated)):
            best = downloaded(trace, strategy("perfect"))
            wanted, company = reached(trace), in_company(trace)
            for name in options.strategies:
                pages = downloaded(dataclasses.replace(trace, **lost), strategy(name))
                multiples = multiples_of(trace, pages, best, wanted)
                for label in (seeds.partition("-")[0], EVERY):
                    found[label][name].append(multiples)
                if company.any():
                    found[COMPANY][name].append(multiples_of(trace, pages, best, company))
                print(row(f"{folder.name} {seeds}", name, multiples.all.tolist()), flush=True)
    means(found)


if __name__ == "__main__":
    main(sys.argv[1:])
