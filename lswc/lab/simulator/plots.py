"""Plots: the papers' figures, one file each; many strategies are small plots, one a family."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import (
    EngFormatter,
    FixedLocator,
    FuncFormatter,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
    ScalarFormatter,
)

from lswc.frontier.rules.harvest import wilson
from lswc.strategy import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from lswc.lab.simulator.hours import InHours
    from lswc.lab.simulator.revisits import Outcome
    from lswc.lab.simulator.run import Simulated

    Drawn = Simulated | InHours

FORMATS = ("png", "svg")
_PAGES = "Pages downloaded"
TOGETHER = 8
"""Strategies that fit into one plot; more get a small plot a family."""

BESIDE = {"bfs": "-", "perfect": "--"}
"""What every family is drawn beside, and the style of its line."""

_FEW = ("#0b6e75", "#d62728", "#e0912f", "#7a4fa3", "#1f77b4", "#2ca02c")
_STYLES = ("-", "--", ":", "-.")
_COLOURS = (
    "#000000", "#d62728", "#1f77b4", "#2ca02c", "#98c379", "#ff7f0e", "#9467bd", "#8c564b",
    "#e377c2", "#17becf", "#bcbd22", "#7f7f7f", "#4b5bd6", "#b8860b", "#00a087",
)  # fmt: skip


def draw(outcomes: Sequence[Simulated], folder: Path) -> list[Path]:
    """Draw every figure that the strategies allow, as PNG and SVG; return the files.

    Raises OSError.
    """
    over_pages = (
        ("coverage", _COVERAGE, _coverage),
        ("harvest_rate", _HARVEST, _harvest),
        ("queue_size", "URLs in the queue", _column("queue")),
        ("servers", "Servers accessed", _column("servers")),
    )
    files = []
    for name, label, values in over_pages:
        files += _plot(outcomes, folder / name, label, values)
    if any(_family(o) in _LIMITED for o in outcomes):
        beside = [o for o in outcomes if _family(o) in (*_LIMITED, "soft_focused")]
        files += _plot(beside, folder / "queue_size_by_limit", *over_pages[2][1:])
    files += _miss_ratio(outcomes, folder / "miss_ratio")
    files += _by_distance(outcomes, folder / "pages_by_distance")
    learned = [o for o in outcomes if o.brier]
    if learned:
        files += _reliability(learned, folder / "reliability")
    return files


def draw_hours(outcomes: Sequence[InHours], folder: Path) -> list[Path]:
    """Draw coverage and harvest rate by the hour, or by the minute if all end in two hours.

    Beside them coverage by the pages that were downloaded meanwhile. Returns the files. Raises
    OSError.
    """
    by_pages = [
        replace(one, result=replace(one.result, hours=np.arange(1.0, 1 + len(one.result.hours))))
        for one in outcomes
    ]
    files = _plot(by_pages, folder / "coverage_by_pages_in_time", _COVERAGE, _coverage)
    across = "Hours"
    if max(one.along[-1] for one in outcomes) < _FEW_HOURS:
        across = "Minutes"
        scaled = (replace(one.result, hours=one.result.hours * 60) for one in outcomes)
        outcomes = [replace(one, result=r) for one, r in zip(outcomes, scaled, strict=True)]
    files += _plot(outcomes, folder / "coverage_by_hours", _COVERAGE, _coverage, across)
    return files + _plot(outcomes, folder / "harvest_rate_by_hours", _HARVEST, _harvest, across)


def draw_revisits(outcomes: Sequence[Outcome], folder: Path) -> list[Path]:
    """Draw, for each budget, how fresh pages are and what was found in time, by the day.

    Returns the files. Raises OSError.
    """
    budgets = sorted({one.budget for one in outcomes})
    figure = Figure(figsize=(4.2 * len(budgets) + 1.5, 6), layout="constrained")
    grid = figure.subplots(2, len(budgets), squeeze=False, sharex=True, sharey="row")
    names = list(dict.fromkeys(one.policy for one in outcomes))
    for one in outcomes:
        fresh, found = grid[:, budgets.index(one.budget)]
        days = np.arange(1, len(one.freshness) + 1)
        look = {"color": _FEW[names.index(one.policy)], "label": one.policy, "linewidth": 1.6}
        look["linestyle"] = "--" if one.policy == "optimum" else "-"  # it is a bound, no choice
        fresh.plot(days, one.freshness, **look)
        found.plot(days, one.within_a_day, **look)
        fresh.set_title(f"{one.budget:g} requests a page and day", fontsize=10)
    for axes in grid.flat:
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
    for axes in grid[1]:
        axes.set_xlabel("Days")
    grid[0, 0].yaxis.set_major_formatter(PercentFormatter(1))
    grid[0, 0].set_ylabel("Pages as at their latest visit")
    grid[1, 0].set_ylabel("New pages found within a day")
    handles, _ = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9)
    return save_figure(figure, folder / "revisits")


_FEW_HOURS = 2
_COVERAGE, _HARVEST = "Coverage of relevant pages", "Harvest rate"
_LIMITED = ("distance", "limited_distance")


def _coverage(outcome: Drawn) -> Any:
    return outcome.coverage


def _harvest(outcome: Drawn) -> Any:
    return outcome.harvest_rate


def _column(name: str) -> Any:
    return lambda outcome: outcome.column(name)


def _looks(outcomes: Sequence[Drawn]) -> list[dict[str, Any]]:
    """Return a look for each strategy: a colour a name, a line style a choice of parameters."""
    used: dict[str, int] = {}
    looks = []
    for outcome in outcomes:
        name = outcome.result.strategy.partition(":")[0]
        number = NAMES.index(name) if name in NAMES else len(NAMES)  # a user's own
        colour = _COLOURS[number % len(_COLOURS)]
        style = _STYLES[used.get(name, 0) % len(_STYLES)]
        used[name] = used.get(name, 0) + 1
        label = outcome.result.strategy.replace(":", " ").replace(",", ", ")
        looks.append({"color": colour, "linestyle": style, "linewidth": 1.6, "label": label})
    return looks


def _axes(rows: int = 1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(11, 6 * rows), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0]
    for one in axes:
        one.grid(color="#dddddd", linewidth=0.6)
        one.spines[["top", "right"]].set_visible(False)
    return figure, list(axes)


def _save(outcomes: Sequence[Drawn], figure: Figure, path: Path) -> list[Path]:
    handles, _ = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside right upper", frameon=False, fontsize=9)
    _say_size(outcomes, figure)
    return save_figure(figure, path)


def _say_size(outcomes: Sequence[Drawn], figure: Figure) -> None:
    pages, relevant = outcomes[0].trace_pages, outcomes[0].trace_relevant
    figure.supxlabel(
        f"n = {pages:,} pages on the trace, {relevant:,} of them relevant", fontsize=8, x=0.99,
        ha="right", color="#5a6472",
    )  # fmt: skip


def save_figure(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as PNG and SVG; return the files. Raises OSError."""
    files = [path.with_suffix(f".{suffix}") for suffix in FORMATS]
    # A fixed salt keeps the ids in an SVG, and with them the file, the same from run to run.
    with mpl.rc_context({"svg.hashsalt": "lswc", "svg.fonttype": "none"}):
        for file in files:
            figure.savefig(
                file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None
            )
    return files


def _plot(
    outcomes: Sequence[Drawn], path: Path, label: str, values: Any, across: str = _PAGES
) -> list[Path]:
    if len(outcomes) > TOGETHER:
        return _by_family(outcomes, path, label, values, across)
    figure, (axes,) = _axes()
    for outcome, look in zip(outcomes, _looks(outcomes), strict=True):
        _draw_line(axes, outcome, values, **look)
    _finish(axes, path.name.startswith(_SHARES), across, label)
    if across != _PAGES:
        axes.xaxis.set_major_formatter(ScalarFormatter())
    return _save(outcomes, figure, path)


_SHARES = ("coverage", "harvest_rate")


def _draw_line(axes: Axes, outcome: Drawn, values: Any, **look: Any) -> None:
    along, heights = outcome.along, values(outcome)
    (line,) = axes.plot(along, heights, **look)
    # A dot shows where a crawl ends, also where its line lies under another.
    axes.plot(along[-1:], heights[-1:], "o", markersize=4, color=line.get_color())


def _finish(axes: Axes, share: bool, across: str, up: str) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(PercentFormatter(1) if share else EngFormatter(sep=""))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)


def _family(outcome: Drawn) -> str:
    return outcome.result.strategy.partition(":")[0]


def _by_family(
    outcomes: Sequence[Drawn], path: Path, label: str, values: Any, across: str
) -> list[Path]:
    """Draw a small plot for each family of strategies, beside breadth-first and the oracle."""
    beside = [o for o in outcomes if _family(o) in BESIDE]
    families = list(dict.fromkeys(_family(o) for o in outcomes if o not in beside))
    columns = min(4, len(families))
    rows = -(-len(families) // columns)
    figure = Figure(figsize=(3.4 * columns, 2.8 * rows), layout="constrained")
    panels = iter(figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flat)
    for family, axes in zip(families, panels, strict=False):
        for outcome in beside:
            look = {"color": "#9aa4b2", "linewidth": 1, "linestyle": BESIDE[_family(outcome)]}
            _draw_line(axes, outcome, values, **look)
            _name_line(axes, outcome, values, _family(outcome), "#5a6472")
        own = [o for o in outcomes if _family(o) == family]
        for outcome, colour in zip(own, _FEW, strict=False):
            _draw_line(axes, outcome, values, color=colour, linewidth=1.6)
            parameters = outcome.result.strategy.partition(":")[2]
            _name_line(axes, outcome, values, parameters or family, colour)
        axes.set_title(family.replace("_", " "), loc="left", fontsize=10, fontweight="bold")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        _finish(axes, path.name.startswith(_SHARES), "", "")
        if across != _PAGES:
            axes.xaxis.set_major_formatter(ScalarFormatter())
    longest = max(outcome.along[-1] for outcome in outcomes)
    for number, axes in enumerate(figure.axes):
        axes.set_xlim(0, 1.2 * longest)
        axes.tick_params(labelbottom=number + columns >= len(families))
    for axes in panels:  # without a family
        axes.set_axis_off()
    figure.supylabel(label, fontsize=10)
    figure.suptitle(f"by {across.lower()}", fontsize=9, x=0.01, ha="left")
    _say_size(outcomes, figure)
    return save_figure(figure, path)


def _name_line(axes: Axes, outcome: Drawn, values: Any, name: str, colour: str) -> None:
    """Write a line's name at its end."""
    end = outcome.along[-1], values(outcome)[-1]
    axes.annotate(
        name, end, (4, 0), textcoords="offset points", fontsize=7, color=colour, va="center"
    )


def _miss_ratio(outcomes: Sequence[Simulated], path: Path) -> list[Path]:
    figure, (axes,) = _axes()
    for outcome, look in zip(outcomes, _looks(outcomes), strict=True):
        ratio = outcome.miss_ratio
        axes.plot(np.arange(len(ratio)), ratio, marker=".", **look)
    axes.set_xlabel("Distance from the seeds, at most")
    axes.set_ylabel("Miss ratio of relevant pages")
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    return _save(outcomes, figure, path)


def _by_distance(outcomes: Sequence[Simulated], path: Path) -> list[Path]:
    figure, both = _axes(2)
    for axes, kind, title in zip(both, (1, 0), ("Relevant", "Irrelevant"), strict=True):
        for outcome, look in zip(outcomes, _looks(outcomes), strict=True):
            counts = outcome.result.by_distance[kind, 1:]
            heights = np.where(counts > 0, counts, np.nan)
            axes.plot(np.arange(1, len(counts) + 1), heights, marker=".", **look)
        axes.set_yscale("log")
        axes.set_ylabel(f"{title} pages downloaded")
    both[1].set_xlabel("Distance from the latest relevant referrer")
    both[1].xaxis.set_major_locator(MaxNLocator(integer=True))
    return _save(outcomes, figure, path)


_ENOUGH = 50
"""Pages of a dot of the reliability diagram, at least."""

_TICKS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)


def _reliability(outcomes: Sequence[Simulated], path: Path) -> list[Path]:
    """Draw what was expected against what was seen, in log odds.

    A dot stands for at least _ENOUGH pages, and its area is by their number; its line is the 95 %
    interval of what was seen (Wilson 1927).
    """
    figure, (axes,) = _axes()
    ends = (_TICKS[0] / 2, 1 - _TICKS[0] / 2)
    axes.plot(ends, ends, color="#999999", linewidth=0.8, label="as expected")
    for outcome, look in zip(outcomes, _looks(outcomes), strict=True):
        pages, expected, seen = _dots(outcome.reliability).T
        expected = np.clip(expected, *ends)
        intervals = [wilson(round(n * share), n) for n, share in zip(pages, seen, strict=True)]
        low, high = np.clip(intervals, 1e-4, 1 - 1e-4).T
        axes.vlines(expected, low, high, color=look["color"], linewidth=0.8)
        area = 12 + 300 * pages / pages.sum()
        same = {"color": look["color"], "label": look["label"]}
        axes.scatter(expected, np.clip(seen, *ends), area, alpha=0.6, **same)
    axes.set(xscale="logit", yscale="logit", xlim=ends, ylim=ends)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(FixedLocator(_TICKS))
        axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
        axis.set_minor_locator(NullLocator())
    axes.set_xlabel("Expected share of relevant pages")
    axes.set_ylabel("Relevant pages among them")
    return _save(outcomes, figure, path)


def _dots(bins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Put neighbouring bins together until each has _ENOUGH pages; columns as in the bins."""
    dots: list[NDArray[np.float64]] = []
    for pages, expected, seen in bins:
        sums = np.array([pages, pages * expected, pages * seen])
        if dots and dots[-1][0] < _ENOUGH:
            dots[-1] += sums
        else:
            dots.append(sums)
    if len(dots) > 1 and dots[-1][0] < _ENOUGH:
        last = dots.pop()
        dots[-1] += last
    table = np.array(dots)
    table[:, 1:] /= table[:, :1]
    return table
