"""Comparison of two crawls side by side, and what a strategy missed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lswc.frontier.rules.harvest import wilson
from lswc.lab.analysis import figures
from lswc.lab.analysis.collection import AnalysisError
from lswc.lab.analysis.locality import NEEDS_LINKS
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table, share
from lswc.lab.simulator.simulation import Simulation
from lswc.lab.trace import links
from lswc.lab.trace.graph import breadth_first_tree
from lswc.lab.trace.links import Step
from lswc.strategy import strategy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lswc.lab.analysis.collection import Collection
    from lswc.lab.trace.format import Trace

EXAMPLES = 1000
"""Missed pages whose path is written out."""


def difference(part_a: int, whole_a: int, part_b: int, whole_b: int) -> tuple[float, float, float]:
    """Return a / n_a - b / n_b and its 95 % interval (Newcombe 1998, method 10).

    The method joins the Wilson intervals of the two shares, so it holds for small counts and
    shares near 0 or 1. A share of nothing is 0, with an interval from 0 to 1.
    """
    p, q = share(part_a, whole_a) or 0.0, share(part_b, whole_b) or 0.0
    (low_p, high_p), (low_q, high_q) = wilson(part_a, whole_a), wilson(part_b, whole_b)
    low = p - q - math.hypot(p - low_p, high_q - q)
    high = p - q + math.hypot(high_p - p, q - low_q)
    return p - q, low, high


def side_by_side(experiment: Collection, control: Collection) -> Section:
    """Pages per language of an experiment and its control."""
    purpose = (
        "What a strategy does to the languages that a crawl collects, beside a control without it "
        "(Chan & Yamana 2010 Table 4). Difference: of the shares, with its 95 % interval "
        "(Newcombe 1998)."
    )
    query = (
        "SELECT coalesce(language, 'unknown') AS name, count(*) FROM urls WHERE page"
        " GROUP BY ALL ORDER BY count(*) DESC, name"
    )
    ours, theirs = dict(experiment.rows(query)), dict(control.rows(query))
    all_ours, all_theirs = sum(ours.values()), sum(theirs.values())
    rows = []
    for name in ours | theirs:
        a, b = ours.get(name, 0), theirs.get(name, 0)
        parts = difference(a, all_ours, b, all_theirs)
        rows.append((name, b, share(b, all_theirs), a, share(a, all_ours), *parts))
    heads = (
        "language", "control pages", "share of control", "experiment pages",
        "share of experiment", "difference", "difference, low", "difference, high",
    )  # fmt: skip
    name = f"Pages per language: control {control.name}, experiment {experiment.name}"
    top = rows[:8]
    shares = {"control": [row[2] for row in top], "experiment": [row[4] for row in top]}
    figure = figures.grouped(
        [row[0] for row in top],
        shares,
        f"Share of pages per language (n = {all_ours:,} and {all_theirs:,})",
    )
    finding = (f"Control: {control.name}, {all_theirs:,} pages. "
            f"Experiment: {experiment.name}, {all_ours:,} pages.",)  # fmt: skip
    table = Table("side_by_side", name, heads, rows, shown=15)
    return Section("side_by_side", "Two crawls side by side", purpose, finding, (table,), figure)


def in_common(reference: Collection, other: Collection) -> NDArray[np.int64]:
    """Return the ids of the reference's URLs that are pages of the other collection, sorted.

    Raises AnalysisError if either lacks URLs in words, as synthetic webs do.
    """
    for collection in (reference, other):
        if (
            "url" not in collection.columns
            or not collection.rows("SELECT count(url) FROM urls")[0][0]
        ):
            raise AnalysisError(f"{collection.name} has no URLs in words to compare pages by")
    reader = other.db.sql("SELECT url FROM urls WHERE page AND url IS NOT NULL").to_arrow_reader()
    reference.db.register("incoming", reader)
    reference.db.execute("CREATE OR REPLACE TEMP TABLE theirs AS SELECT DISTINCT url FROM incoming")
    reference.db.unregister("incoming")
    found = reference.db.execute(
        "SELECT id FROM urls SEMI JOIN theirs USING (url) ORDER BY id"
    ).fetchnumpy()
    ids: NDArray[np.int64] = np.asarray(found["id"], np.int64)
    return ids


def recaptured(experiment: Collection, control: Collection) -> tuple[int, int, int]:
    """Return the relevant pages of one crawl, of the other, and of both."""
    query = "SELECT count(*) FROM urls WHERE page AND language = $target"
    ids = in_common(experiment, control)
    experiment.db.register("common", pa.table({"id": ids}))
    both = experiment.rows(
        "SELECT count(*) FROM urls SEMI JOIN common USING (id) WHERE page AND language = $target"
    )[0][0]
    experiment.db.unregister("common")
    return experiment.rows(query)[0][0], control.rows(query)[0][0], both


def visited(trace: Trace, spec: str) -> NDArray[np.int64]:
    """Return the ids that a strategy such as "lswc:S=3,T=5" takes from its queue on a trace.

    Raises StrategyError, or TraceError if the trace lacks a fact that the strategy needs.
    """
    result = Simulation(trace, strategy(spec), keep_visits=True).run()
    return result.visits.astype(np.int64)


def missed(
    reference: Collection, downloaded: NDArray[np.int64], by: str, name: str = "missed"
) -> Section:
    """The relevant pages of the reference that aren't among the downloaded ids, and the ways.

    ``by`` says in words who missed them; ``name`` begins the names of the tables.
    """
    purpose = (
        f"Which {reference.language} pages of {reference.name} {by} does not have, and the "
        "shortest path from the seeds that leads to them: the languages on that path, and the "
        "most irrelevant URLs in a row, say what a strategy would have had to tolerate."
    )
    section = (name, f"Relevant pages missed by {by}", purpose)
    trace = reference.trace
    if trace is None:
        return Section(*section, (NEEDS_LINKS,))
    relevant = trace.relevant
    lost = relevant.copy()
    lost[downloaded] = False
    if not lost.any():
        return Section(*section, (f"None of the {int(relevant.sum()):,} is missed.",))
    parent, order = breadth_first_tree(trace.offsets, trace.targets, trace.seeds)
    shapes, longest = links.walk(parent, order, links.steps(trace))
    reached = np.flatnonzero(lost & (parent > -2))
    tables = (
        _by_distance(trace, relevant, lost),
        _shapes(reference, parent, shapes, reached),
        _by_run(longest[reached]),
        _pages(reference, parent, longest, reached),
    )
    return Section(
        *section,
        tuple(_said_of_missed(relevant, lost, reached)),
        tuple(replace(table, name=f"{name}_{table.name}") for table in tables),
        _missed_figure(tables[2], reference.language),
    )


def _said_of_missed(
    relevant: NDArray[np.bool_], lost: NDArray[np.bool_], reached: NDArray[np.int64]
) -> Iterable[str]:
    all_lost = int(lost.sum())
    yield (
        f"{all_lost:,} of {int(relevant.sum()):,} relevant pages are missed "
        f"({all_lost / int(relevant.sum()):.1%})."
    )
    if len(reached) < all_lost:
        yield f"No path leads from the seeds to {all_lost - len(reached):,} of them."


def _by_distance(trace: Trace, relevant: NDArray[np.bool_], lost: NDArray[np.bool_]) -> Table:
    known = trace.distance >= 0
    there = np.bincount(trace.distance[relevant & known], minlength=1)
    gone = np.bincount(trace.distance[lost & known], minlength=len(there))
    within, gone_within = np.cumsum(there).tolist(), np.cumsum(gone).tolist()
    rows = [
        (distance, here, away, share(away, here), share(gone_within[distance], within[distance]))
        for distance, (here, away) in enumerate(zip(there.tolist(), gone.tolist(), strict=True))
    ]
    heads = ("distance", "relevant pages", "missed", "share missed", "share missed within")
    return Table("by_distance", "Missed pages by distance from the seeds", heads, rows)


def _by_run(longest: NDArray[np.int16]) -> Table:
    counts = np.bincount(longest, minlength=1).tolist()
    rows = [(run, pages, share(pages, len(longest))) for run, pages in enumerate(counts) if pages]
    heads = ("irrelevant in a row", "missed pages", "share")
    title = "Missed pages by the most irrelevant URLs in a row on the shortest path"
    return Table("by_run", title, heads, rows)


def _missed_figure(table: Table, name: str) -> Figure | None:
    number = sum(row[1] for row in table.rows)
    title = f"Missed {name} pages by what lies on the shortest path (n = {number:,})"
    axis = "most irrelevant URLs in a row on the path"
    return figures.histogram({row[0]: row[1] for row in table.rows}, title, axis)


def _path(parent: NDArray[np.int32], url: int) -> list[int]:
    path = [url]
    while parent[path[-1]] >= 0:
        path.append(int(parent[path[-1]]))
    return path[::-1]


def _words(reference: Collection, paths: Sequence[Sequence[int]]) -> list[str]:
    """Write paths of ids as URLs, each with its language."""
    ids = sorted({url for path in paths for url in path})
    reference.db.register("wanted", pa.table({"id": pa.array(ids, pa.int64())}))
    query = "SELECT id, url, language, page FROM urls SEMI JOIN wanted USING (id)"
    named = {
        number: f"{address or f'#{number}'} ({language or 'unknown' if page else 'redirect'})"
        for number, address, language, page in reference.rows(query)
    }
    reference.db.unregister("wanted")
    return [" > ".join(named[number] for number in path) for path in paths]


def _shapes(
    reference: Collection,
    parent: NDArray[np.int32],
    shapes: NDArray[np.int64],
    reached: NDArray[np.int64],
) -> Table:
    names = {
        Step.TARGET: reference.language,
        Step.ENGLISH: "English",
        Step.OTHER: "other",
        Step.UNKNOWN: "unknown",
        Step.NO_PAGE: "redirect",
    }
    kinds, first, counts = np.unique(shapes[reached], return_index=True, return_counts=True)
    common = np.argsort(-counts, kind="stable")[:EXAMPLES]
    paths = [_path(parent, int(reached[first[i]])) for i in common]
    rows = [
        (
            " > ".join(names[step] for step in links.unfold(int(kinds[i]))),
            int(counts[i]),
            share(int(counts[i]), len(reached)),
            example,
        )
        for i, example in zip(common, _words(reference, paths), strict=True)
    ]
    heads = ("languages on the path", "missed pages", "share", "for example")
    title = "Paths to missed pages, neighbours of one kind taken as one"
    return Table("paths", title, heads, rows, shown=12)


def _pages(
    reference: Collection,
    parent: NDArray[np.int32],
    longest: NDArray[np.int16],
    reached: NDArray[np.int64],
) -> Table:
    order = np.lexsort((reached, longest[reached]))
    nearest = reached[order[:EXAMPLES]].tolist()
    paths = [_path(parent, url) for url in nearest]
    rows = [
        (len(path) - 1, int(longest[url]), words)
        for url, path, words in zip(nearest, paths, _words(reference, paths), strict=True)
    ]
    heads = ("distance", "irrelevant in a row", "path from a seed to the page")
    title = f"Missed pages, the easiest to reach first (at most {EXAMPLES:,})"
    return Table("pages", title, heads, rows, shown=0)
