"""Ten virtual weeks of a crawl that visits pages again, beside its simulation at the same budget.

python -m benchmarks.continuous --out FOLDER [--days 70] [--budget 0.05] [--figure FILE]

The crawl is a process of its own, on the changing demo web, of which a day takes ten seconds. What
it held, and when, is read from its log; what was there, from the web's seed. Days count from when
nearly all of the web's first pages that it ever had were had. Prints a table in Markdown. A folder
that holds such a crawl is only read.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from lswc.archive.log_tables import scan
from lswc.crawl.web import open_web
from lswc.lab.demo.changing import SECONDS_A_DAY, ChangingDemo, prepare
from lswc.lab.simulator.revisits import simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lswc.lab.demo.changing import Life
    from lswc.lab.simulator.changing_web import Rates
    from lswc.lab.simulator.revisits import Outcome

LANGUAGE = "th"
FIRST = 300.0
"""Seconds for the first crawl, at most."""

NEARLY = 0.98
"""Of the first pages that the crawl ever had, those that it has when the days begin."""

POLICIES = ("in_turn", "by_worth", "optimum")
_COLUMNS = ("time", "url", "outcome", "status", "visit")


@dataclass(frozen=True)
class Live:
    """What a crawl held in so many days; as a simulation's outcome, but for rates and seed."""

    rates: Rates
    freshness: NDArray[np.float64]
    within_a_day: NDArray[np.int64]
    born: int
    found: int
    requests: int

    @property
    def budget(self) -> float:
        """Requests a day for each first page."""
        return self.requests / (self.rates.pages * len(self.freshness))


def crawl(folder: Path, days: float, budget: float) -> None:
    """Crawl the changing demo web in a process that is ended by the clock."""
    web = prepare(folder / "changing-web")
    seconds = FIRST + days * SECONDS_A_DAY
    given = {
        "LSWC_WEB": web, "LSWC_CRAWL": folder / "crawl", "LSWC_REVISIT": budget,
        "LSWC_REQUISITES": "none", "DOWNLOAD_DELAY": 0, "CLOSESPIDER_TIMEOUT": seconds,
    }  # fmt: skip
    settings = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "lswc", "crawl", LANGUAGE, "--profile", "continuous"]
    subprocess.run([*command, "--into", str(folder / "crawl"), *settings], check=True)


def read(folder: Path, days: int) -> Live:
    """Return what a crawl held, day by day."""
    web = open_web(folder / "changing-web")
    assert isinstance(web, ChangingDemo)
    had, asked = defaultdict[str, list[float]](list), list[float]()
    for part in scan(folder / "crawl", "attempts", _COLUMNS):
        for row in part.to_pylist():
            day = web.day(row["time"].timestamp())
            asked.append(day)
            if row["outcome"] in ("html", "document"):
                had[row["url"]].append(day)
    first = [one for one in web.first if one.page.language == LANGUAGE and had[one.page.url]]
    begin = float(np.quantile([min(had[one.page.url]) for one in first], NEARLY))
    held = [one for one in first if min(had[one.page.url]) <= begin < one.end]
    born = [new for one in held for new in one.born(begin + days) if new.came > begin]
    waits = [min(had[new.page.url]) - new.came for new in born if had[new.page.url]]
    found = [min(had[new.page.url]) for new in born if had[new.page.url]]
    within = sorted(at for at, wait in zip(found, waits, strict=True) if wait <= 1)
    middles = begin + 0.5 + np.arange(days)
    return Live(
        _rates(web, held),
        np.array([_fresh([*held, *born], had, day) for day in middles]),
        np.array([bisect_right(within, day + 0.5) for day in middles]),
        len(born),
        sum(at <= begin + days for at in found),
        sum(begin < day <= begin + days for day in asked),
    )


def _fresh(lives: Sequence[Life], had: dict[str, list[float]], day: float) -> float:
    there = [one for one in lives if one.came <= day < one.end]
    return sum(_is_held(one, had[one.page.url], day) for one in there) / len(there)


def _is_held(life: Life, had: list[float], day: float) -> bool:
    visits = [at for at in had if at <= day]
    return bool(visits) and max(life.edits(day)[-1:], default=0.0) <= max(visits)


def _rates(web: ChangingDemo, held: Sequence[Life]) -> Rates:
    ours = {id(one) for one in held}
    chosen = np.array([id(one) in ours for one in web.first])
    return replace(web.rates, **{name: one[chosen] for name, one in vars(web.rates).items()})


def draw(live: Live, simulated: Sequence[Outcome], path: Path) -> None:
    """Draw how fresh pages are, and what was found in time, by the day."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    days = np.arange(1, len(live.freshness) + 1)
    drawn = [("live", live), *((one.policy, one) for one in simulated)]
    for name, one in drawn:
        wide = 2.4 if name == "live" else 1.2
        panels[0].plot(days, 100 * one.freshness, label=name, linewidth=wide)
        panels[1].plot(days, one.within_a_day, label=name, linewidth=wide)
    for panel, what in zip(
        panels, ("pages held as they are, %", "found within a day"), strict=True
    ):
        panel.set_ylabel(what)
        panel.set_xlabel("days")
        panel.set_ylim(bottom=0)
        panel.grid(color="#dddddd", linewidth=0.6)
    panels[0].legend(frameon=False)
    figure.savefig(path, dpi=80)


def main() -> None:
    """Crawl, unless that is done; then simulate, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--days", type=int, default=70)
    parser.add_argument("--budget", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    if not (options.out / "crawl").exists():
        crawl(options.out, options.days, options.budget)
    live = read(options.out, options.days)
    simulated = [
        simulate(policy, live.rates, options.days, live.budget, options.seed) for policy in POLICIES
    ]
    print(f"{live.rates.pages:,} pages, {options.days} days, {live.requests:,} requests\n")
    print("| | held as they are | in the last fifth | new pages | found | within a day |")
    print("|---|---|---|---|---|---|")
    for name, one in [("live", live), *((one.policy, one) for one in simulated)]:
        last = one.freshness[-max(1, options.days // 5) :]
        fresh = f"{one.freshness.mean():.1%} | {last.mean():.1%}"
        print(f"| {name} | {fresh} | {one.born:,} | {one.found:,} | {one.within_a_day[-1]:,} |")
    if options.figure:
        draw(live, simulated, options.figure)


if __name__ == "__main__":
    main()
