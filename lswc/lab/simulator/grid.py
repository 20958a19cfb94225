"""Grid: a strategy over ranges of its parameters, ``lswc:S=1..5,T=1..6``."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter

from lswc.lab.simulator.plots import save_figure
from lswc.lab.simulator.run import marks
from lswc.strategy import StrategyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from lswc.lab.simulator.run import Simulated

    _Number = Callable[[float], str]

STRATEGIES_OF_A_GRID = 400
"""Strategies that one specification may stand for."""

_RANGE = re.compile(r"([^=,:]+)=(\d+)\.\.(\d+)")


def expand(specification: str) -> list[str]:
    """Return the specifications that one with ranges stands for; itself if it has none.

    Raises StrategyError for an empty range, and for more than STRATEGIES_OF_A_GRID strategies.
    """
    ranges = _RANGE.findall(specification)
    for name, low, high in ranges:
        if int(low) > int(high):
            raise StrategyError(f"{specification}: the range of {name} is empty: {low}..{high}")
    sizes = [range(int(low), int(high) + 1) for _, low, high in ranges]
    if np.prod([float(len(size)) for size in sizes]) > STRATEGIES_OF_A_GRID:
        raise StrategyError(
            f"{specification} stands for more than {STRATEGIES_OF_A_GRID} strategies"
        )
    form = _RANGE.sub(r"\1={}", specification)
    return [form.format(*values) for values in product(*sizes)]


def draw_grids(outcomes: Sequence[Simulated], folder: Path) -> list[Path]:
    """Draw each strategy that ran with several values of one or two parameters.

    Three panels: harvest rate at a budget of pages, coverage, pages downloaded. Returns the
    files, named ``grid_<strategy>``. Raises OSError.
    """
    kinds: defaultdict[str, list[tuple[dict[str, int], Simulated]]] = defaultdict(list)
    for outcome in outcomes:
        kind, _, assignments = outcome.result.strategy.partition(":")
        pairs = (part.partition("=") for part in assignments.split(",") if "=" in part)
        values = {name: int(value) for name, _, value in pairs if value.isdecimal()}
        kinds[kind].append((values, outcome))
    files = []
    for kind, runs in kinds.items():
        varied = [name for name in runs[0][0] if len({values.get(name) for values, _ in runs}) > 1]
        if varied and len(varied) <= 2 and len(runs) > 3:
            files += _draw(kind, varied, runs, folder / f"grid_{kind}")
    return files


def _draw(
    kind: str, varied: list[str], runs: Sequence[tuple[dict[str, int], Simulated]], path: Path
) -> list[Path]:
    outcome = runs[0][1]
    mark = marks(outcome.trace_pages)[0]
    measures: dict[str, list[float]] = {
        f"Harvest rate after {mark:,} pages": [_harvest(one, mark) for _, one in runs],
        "Coverage at the end": [float(one.coverage[-1]) for _, one in runs],
        "Pages downloaded": [float(one.result.pages) for _, one in runs],
    }
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    for axes, (title, values) in zip(figure.subplots(1, 3), measures.items(), strict=True):
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
        number = EngFormatter(sep="").format_eng if title.startswith("Pages") else _percent
        if len(varied) == 1:
            _line(axes, varied[0], [one[varied[0]] for one, _ in runs], values, number)
        else:
            _map(axes, varied, [one for one, _ in runs], values, number)
    figure.suptitle(
        f"{kind}: n = {len(runs)} runs on {outcome.trace_pages:,} pages, "
        f"{outcome.trace_relevant:,} of them relevant",
        fontsize=9,
    )
    return save_figure(figure, path)


def _percent(value: float) -> str:
    return f"{value:.0%}"


def _harvest(outcome: Simulated, mark: int) -> float:
    rate = outcome.harvest_rate_at(mark)
    return float(outcome.harvest_rate[-1]) if rate is None else rate  # it ended before


def _line(axes: Axes, name: str, places: list[int], values: list[float], number: _Number) -> None:
    order = np.argsort(places)
    axes.plot(np.array(places)[order], np.array(values)[order], "o-", color="#0b6e75")
    axes.set_xlabel(name)
    axes.set_xticks(sorted(places))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axes.set_ylim(bottom=0)
    axes.grid(color="#e4e8ee")


def _map(
    axes: Axes, names: list[str], places: list[dict[str, int]], values: list[float], number: _Number
) -> None:
    across, down = (sorted({place[name] for place in places}) for name in reversed(names))
    cells: NDArray[np.float64] = np.full((len(down), len(across)), np.nan)
    for place, value in zip(places, values, strict=True):
        cells[down.index(place[names[0]]), across.index(place[names[1]])] = value
    axes.imshow(cells, cmap="YlGnBu", aspect="auto")
    middle = (np.nanmin(cells) + np.nanmax(cells)) / 2
    for (row, column), value in np.ndenumerate(cells):
        if not np.isnan(value):
            colour = "white" if value > middle else "black"
            axes.text(
                column, row, number(value), ha="center", va="center", fontsize=8, color=colour
            )
    axes.set_xticks(range(len(across)), [str(value) for value in across])
    axes.set_yticks(range(len(down)), [str(value) for value in down])
    axes.set_xlabel(names[1])
    axes.set_ylabel(names[0])
