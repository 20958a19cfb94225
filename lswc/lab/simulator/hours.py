"""Results of a crawl in time: harvest and coverage by the hour, and the servers of its tail."""

from __future__ import annotations

import csv
import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lswc.lab.simulator.timed import TimedSimulation
from lswc.lab.trace.format import Trace, TraceError
from lswc.strategy import strategy
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lswc.lab.simulator.timed import Pace, Timed

SHARES = (0.5, 0.9, 0.99)
"""Shares of the relevant pages whose hours are reported."""

TAIL = 20
"""Servers of the tail that are listed."""

_ROWS = 2_000


@dataclass(frozen=True)
class InHours:
    """A result in time with the rates that need the trace, of shape (rows,), a row a page or more.

    ``rows`` are the pages that they are reported at.
    """

    result: Timed
    trace_pages: int
    trace_relevant: int

    @property
    def rows(self) -> NDArray[np.int64]:
        """Numbers of pages, from 0; about 2,000 of them, and the last."""
        pages = len(self.result.hours)
        step = max(1, pages // _ROWS)
        return np.unique(np.append(np.arange(step - 1, pages, step), pages - 1))

    @property
    def along(self) -> Any:
        """Hours."""
        return self.result.hours[self.rows]

    @property
    def relevant(self) -> Any:
        """Relevant pages so far."""
        return np.cumsum(self.result.relevant)[self.rows]

    @property
    def harvest_rate(self) -> Any:
        """Relevant among the pages so far."""
        return self.relevant / (self.rows + 1)

    @property
    def coverage(self) -> Any:
        """Relevant pages so far, of all in the trace."""
        return self.relevant / max(self.trace_relevant, 1)

    def hours_to(self, share: float) -> float | None:
        """Return the hours until a share of the trace's relevant pages had come; None if never."""
        return self.result.hours_to(share * self.trace_relevant)

    def pages_to(self, share: float) -> int | None:
        """Return the pages downloaded until then; None if never."""
        return self.result.pages_to(share * self.trace_relevant)

    def cost(self, share: float) -> float | None:
        """Return those hours as a multiple of what they were if no worker ever had to wait."""
        hours = self.hours_to(share)
        if hours is None or not self.result.pace.answer:
            return None
        return hours / self.result.without_rest(hours)


def simulate_hours(
    folder: Path, names: Sequence[str], pace: Pace, haste: float
) -> Iterator[InHours]:
    """Crawl the trace in a folder by each strategy, a process each; yield them in order.

    ``haste`` is LSWC_HASTE. Raises TraceError if the trace lacks a fact that a strategy needs, or
    its seeds give no page.
    """
    # Not forked: Arrow has threads.
    simulated = partial(_simulated, folder, pace, haste)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        yield from pool.map(simulated, names)


def _simulated(folder: Path, pace: Pace, haste: float, name: str) -> InHours:
    trace = Trace.read(folder)
    timed = TimedSimulation(trace, strategy(name), pace, haste=haste).run()
    if not len(timed.hours):
        raise TraceError(f"the seeds of {folder} lead {name} to no page, so there are no hours")
    return InHours(timed, trace.pages, int(np.count_nonzero(trace.relevant)))


def save(outcomes: Sequence[InHours], folder: Path, out: Path) -> None:
    """Write ``hours.parquet``, ``hours.json`` and ``tail.csv``; ``folder`` is the trace's.

    Raises OSError.
    """
    pq.write_table(pa.concat_tables([_series(one) for one in outcomes]), out / "hours.parquet")
    summary = {one.result.strategy: _summary(one) for one in outcomes}
    pace = vars(outcomes[0].result.pace)
    text = json.dumps({"pace": pace, "strategies": summary}, indent=1)
    (out / "hours.json").write_text(text + "\n", "utf-8")
    tails = {one.result.strategy: tail(one.result) for one in outcomes}
    names = _names(folder, sorted({server for rows in tails.values() for server, *_ in rows}))
    with (out / "tail.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("strategy", "server", "pages", "relevant", "first hour", "last hour"))
        for name, rows in tails.items():
            writer.writerows((name, names.get(row[0], row[0]), *row[1:]) for row in rows)


def tail(timed: Timed) -> list[tuple[int, int, int, float, float]]:
    """Return the servers whose last pages came latest, the latest first.

    Each with its pages, relevant pages, and the hours of its first and its last page.
    """
    servers, first, where = np.unique(timed.server, return_index=True, return_inverse=True)
    pages = np.bincount(where)
    relevant = np.bincount(where, timed.relevant).astype(int)
    last = np.zeros(len(servers))
    np.maximum.at(last, where, timed.hours)
    began = timed.hours[first]
    columns = (servers, pages, relevant, began, last)
    latest = np.argsort(-last, kind="stable")[:TAIL]
    rows = zip(*(column[latest].tolist() for column in columns), strict=True)
    return list(rows)


def _series(one: InHours) -> pa.Table:
    return pa.table(
        {
            "strategy": [one.result.strategy] * len(one.rows),
            "hours": one.along,
            "pages": one.rows + 1,
            "relevant": one.relevant,
            "harvest_rate": one.harvest_rate,
            "coverage": one.coverage,
        }
    )


def _summary(one: InHours) -> dict[str, Any]:
    return {
        "hours": float(one.result.hours[-1]),
        "requests": len(one.result.requests),
        "pages": len(one.result.hours),
        "pages_to_coverage": {str(share): one.pages_to(share) for share in SHARES},
        "hours_to_coverage": {str(share): one.hours_to(share) for share in SHARES},
        "multiple_of_no_rest": {str(share): one.cost(share) for share in SHARES},
    }


def _names(folder: Path, servers: Sequence[int]) -> dict[int, str]:
    """Return the names of servers, as far as the trace has URLs."""
    path = folder / "urls.parquet"
    if "url" not in pq.read_schema(path).names:
        return {}
    wanted = pc.field("server").isin(servers)
    table = pq.read_table(path, columns=["url", "server"], filters=wanted)
    rows = zip(table["server"].to_pylist(), table["url"].to_pylist(), strict=True)
    found = {server: parse(url) for server, url in rows}
    return {server: url.server for server, url in found.items() if url is not None}
