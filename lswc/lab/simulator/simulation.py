"""Simulation of one strategy on one trace: from arrays to results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lswc.lab.simulator import kernel
from lswc.lab.simulator.brought import texts_for
from lswc.lab.simulator.strategy_arrays import decisions
from lswc.lab.trace import graph
from lswc.lab.trace.format import Fate, Texts, TraceError
from lswc.strategy import NO_PAGES, Anchor, Experience, Named, Pages, Unit
from lswc.strategy.prior import prior_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.lab.trace.format import Trace
    from lswc.strategy import Strategy

POINTS = 2000
"""A series has about this many rows."""


@dataclass(frozen=True)
class Result:
    """What a strategy achieved.

    ``series`` of shape (rows, 5): pages, relevant pages, queue size, servers accessed, and the
    largest queue so far. ``by_distance`` of shape (2, MAX_DISTANCE + 1): pages by relevance and
    distance from the latest relevant referrer. ``missed`` and ``all_relevant``, of shape
    (levels,): relevant pages not downloaded, and all, at each distance from the seeds.
    ``reliability`` is that of ``kernel.Notes``: what was expected of pages beside what they were.
    ``visits`` are the URLs taken from the queue, in order, if asked for. ``experience`` is what a
    learned order knows of cells from the crawl's own pages, and from what wasn't there.
    """

    strategy: str
    series: NDArray[np.int64]
    by_distance: NDArray[np.int64]
    missed: NDArray[np.int64]
    all_relevant: NDArray[np.int64]
    discarded_links: int
    discarded_urls: int
    reliability: NDArray[np.float64]
    visits: NDArray[np.int32]
    experience: Experience

    @property
    def pages(self) -> int:
        """Pages downloaded."""
        return int(self.series[-1, kernel.PAGES])


_NONE = np.empty(0, np.int32)
_NO_TEXTS = Texts(_NONE, _NONE, np.empty(0, np.int64), _NONE, _NONE)


class Simulation:
    """A strategy made ready for a trace; ``run`` may be called in a thread (it frees the GIL).

    A learned order begins with the prior (``lswc.strategy.prior``), or with another one.
    ``progress`` is the number of pages downloaded so far, in steps. Raises TraceError if the
    trace lacks a fact that the strategy needs.
    """

    def __init__(
        self,
        trace: Trace,
        strategy: Strategy,
        *,
        oracle: NDArray[np.bool_] | None = None,
        keep_visits: bool = False,
        slots: int | None = None,
        prior: Experience | None = None,
    ) -> None:
        self.strategy = strategy
        self._prior = prior_of(strategy) if prior is None else prior
        self._trace = trace
        self._unit = _unit(trace, strategy)
        self._oracle = oracle
        _check_facts(trace, strategy)
        self._texts = texts_for(trace, strategy) or _NO_TEXTS
        tried = int(np.count_nonzero(trace.fate != Fate.NEVER))
        self._slots = tried + tried // 8 + 1 if slots is None else slots
        pages = trace.pages
        self._notes = kernel.blank_notes(
            pages, len(trace.site), _every(pages), tried if keep_visits else 0
        )

    @property
    def progress(self) -> int:
        """Pages downloaded so far."""
        return int(self._notes.control[0])

    def stop(self) -> None:
        """Make ``run`` end early, from another thread."""
        self._notes.control[1] = 1

    def run(self) -> Result:
        """Crawl to the end."""
        decided = decisions(self.strategy)
        sites = int(self._trace.site.max()) + 1
        queues = kernel.queues(
            self._urls(), self._units(), sites, decided, self.strategy.cells, self._slots,
            len(self._texts.paragraphs),
        )  # fmt: skip
        for cell, given in self._prior.cells.items():
            queues.cell[["downloaded", "relevant"]][cell] = given
        web_graph = self._graph()
        rows = kernel.crawl(web_graph, queues, decided, self._notes)
        counts = dict(zip(kernel.COUNTS, queues.counts.tolist(), strict=True))
        missed, everything = _missed(self._trace, queues.url["cell"])
        return Result(
            self.strategy.name,
            self._notes.series[:rows],
            self._notes.by_distance,
            missed,
            everything,
            counts["discarded_links"],
            counts["discarded_urls"],
            self._notes.reliability,
            self._notes.visits[: counts["visits"]],
            self._own(queues.cell),
        )

    def _own(self, cells: NDArray[Any]) -> Experience:
        """Return what was learned from the pages of the crawl itself."""
        own = Experience()
        for cell in np.flatnonzero(cells["downloaded"]).tolist():
            given = self._prior.cells.get(cell, NO_PAGES)
            downloaded = int(cells["downloaded"][cell]) - given.downloaded
            relevant = float(cells["relevant"][cell]) - given.relevant
            if downloaded:
                own.cells[cell] = Pages(downloaded, relevant)
        return own

    def _graph(self) -> kernel.WebGraph:
        trace, facts, texts = self._trace, self.strategy.facts, self._texts
        links, anchors, named = len(trace.targets), trace.anchors, trace.named
        folders = trace.folder if "same_folder" in facts else None
        site_of_unit = np.zeros(int(self._unit.max()) + 1, np.int32)
        site_of_unit[self._unit] = trace.site[trace.server]
        known = np.empty(0, np.bool_)
        if "oracle" in facts:
            known = graph.oracle(trace) if self._oracle is None else self._oracle
        return kernel.WebGraph(
            trace.offsets,
            trace.targets,
            np.full(links, Anchor.NONE, np.int8) if anchors is None else anchors,
            np.full(links, Named.NONE, np.int8) if named is None else named,
            np.empty(0, np.int32) if folders is None else folders,
            known,
            trace.seeds,
            *_members(self._unit),
            *_members(site_of_unit),
            texts.size,
            texts.text,
            texts.offsets,
            texts.paragraphs,
            texts.letters,
        )

    def _urls(self) -> NDArray[Any]:
        url = np.zeros(self._trace.urls, kernel.URL)
        url["unit"] = self._unit
        url["answer"] = self._trace.fate
        url["answer"][self._trace.fate == Fate.PAGE] += self._trace.language[
            self._trace.fate == Fate.PAGE
        ]
        return url

    def _units(self) -> NDArray[Any]:
        trace = self._trace
        unit = np.zeros(int(self._unit.max()) + 1, kernel.UNIT)
        unit["server"][self._unit] = trace.server
        if not np.array_equal(unit["server"][self._unit], trace.server):
            raise TraceError("a directory of the trace has URLs on several servers")
        unit["site"] = trace.site[unit["server"]]
        if trace.tld is not None:
            unit["tld"] = trace.tld[unit["server"]]
        return unit


def _missed(trace: Trace, cell: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return relevant pages not downloaded, and all, by distance from the seeds."""
    relevant = trace.relevant & (trace.distance >= 0)
    everything = np.bincount(trace.distance[relevant], minlength=1)
    relevant &= cell != kernel.FINISHED
    return np.bincount(trace.distance[relevant], minlength=len(everything)), everything


def _every(pages: int) -> int:
    """Return the step of a series: 1, 2 or 5 times a power of ten, for at most POINTS rows."""
    step = 1
    for factor in (2, 2.5, 2) * 10:
        if pages <= step * POINTS:
            break
        step = int(step * factor)
    return step


def _unit(trace: Trace, strategy: Strategy) -> NDArray[np.int32]:
    if strategy.unit is Unit.SERVER:
        return trace.server
    return _needed(trace.directory, strategy, "directory")


_COLUMNS = {"tld": "tld", "anchor": "anchors", "named": "named", "same_folder": "folder"}
"""Columns of a trace, not all of which have all, by the facts that are known from them."""


def lacking(trace: Trace, strategy: Strategy) -> list[str]:
    """Return the columns that a strategy that learns does without, as the trace lacks them."""
    return [
        column
        for fact, column in _COLUMNS.items()
        if strategy.learns and fact in strategy.facts and getattr(trace, column) is None
    ]


def _check_facts(trace: Trace, strategy: Strategy) -> None:
    if strategy.learns:
        return
    for fact in strategy.facts & _COLUMNS.keys():
        _needed(getattr(trace, _COLUMNS[fact]), strategy, _COLUMNS[fact])
    if "tld" in strategy.facts and not trace.about.tlds:
        raise TraceError(
            f"strategy {strategy.name} needs the language's top-level domains, "
            "and the trace names none"
        )


def _needed(column: NDArray[Any] | None, strategy: Strategy, name: str) -> NDArray[Any]:
    if column is None:
        raise TraceError(f"strategy {strategy.name} needs the column {name}, which the trace lacks")
    return column


def _members(group: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each group's members start, and all members; none if they are in order."""
    starts = np.zeros(int(group.max()) + 2, np.int64)
    np.cumsum(np.bincount(group), out=starts[1:])
    ordered = bool(np.all(group[1:] >= group[:-1]))
    members = (
        np.empty(0, np.int32) if ordered else np.argsort(group, kind="stable").astype(np.int32)
    )
    return starts, members
