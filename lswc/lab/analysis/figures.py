"""Figures of the report, drawn without pyplot's global state and with Latin text alone."""

from __future__ import annotations

import io
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes

COLOURS = ("#0b6e75", "#e0912f", "#8a94a6", "#d3d8e0", "#7a4fa3", "#c2453d")
"""Target language first, then English, other, unknown; apart also for the colour-blind."""

_WIDTH = 8.0
_SHEET, _GAP = 1400, 24
"""Pixels: width of a sheet of figures, and between two of them."""


def _style() -> AbstractContextManager[None]:
    return rc_context(
        {
            "font.family": "DejaVu Sans",  # comes with matplotlib: figures are the same everywhere
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": "#5a6472",
            "axes.axisbelow": True,
            "grid.color": "#e4e8ee",
            "svg.hashsalt": "lswc",
            "svg.fonttype": "path",
        }
    )


def label(text: str) -> str:
    """Return text that any font can draw: what isn't printable ASCII is escaped, $ is no maths."""
    return label_title(text if len(text) <= 24 else text[:23] + "~")


def label_title(text: str) -> str:
    """Return a title safe to draw, uncut."""
    return "".join(c if " " <= c <= "~" else "?" for c in text).replace("$", r"\$")


def render(figure: Figure, kind: str) -> bytes:
    """Return a figure as "svg" or "png", the same bytes for the same figure."""
    buffer = io.BytesIO()
    with _style():
        figure.savefig(
            buffer,
            format=kind,
            dpi=130,
            metadata={"Date": None} if kind == "svg" else {"Software": None},
        )
    return buffer.getvalue()


def sheet(pictures: Sequence[bytes]) -> bytes:
    """Return PNG pictures in two columns that end at the same height, as one small PNG."""
    opened = [Image.open(io.BytesIO(picture)).convert("RGB") for picture in pictures]
    width = _SHEET // 2
    scaled = [
        picture.resize((width, picture.height * width // picture.width), Image.Resampling.LANCZOS)
        for picture in opened
    ]
    columns = _columns([picture.height + _GAP for picture in scaled])
    height = max(sum(scaled[i].height + _GAP for i in column) for column in columns)
    whole = Image.new("RGB", (_SHEET, height), "white")
    for number, column in enumerate(columns):
        missing = height - sum(scaled[i].height + _GAP for i in column)
        top = 0
        for place, i in enumerate(column):
            # What a column lacks is white above each of its pictures but the first.
            white = missing * place // max(len(column) - 1, 1)
            whole.paste(scaled[i], (number * width, top + white))
            top += scaled[i].height + _GAP
    buffer = io.BytesIO()
    whole.quantize(64).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def _columns(heights: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return which pictures stand left and right, the first one left, so that the heights agree."""
    rest, half = range(1, len(heights)), sum(heights) / 2
    chosen = min(
        (chosen for number in range(len(heights)) for chosen in combinations(rest, number)),
        key=lambda chosen: abs(heights[0] + sum(heights[i] for i in chosen) - half),
    )
    left = [0, *chosen]
    return left, [i for i in rest if i not in chosen]


def _axes(height: float, panels: int = 1) -> tuple[Figure, list[Axes]]:
    with _style():
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        return figure, [figure.add_subplot(1, panels, i + 1) for i in range(panels)]


def _count(value: float, _: object = None) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:g}"


def stacked(
    names: Sequence[str], parts: Mapping[str, Sequence[float]], title: str, axis: str
) -> Figure:
    """Draw one horizontal bar per name, stacked of named parts."""
    figure, (axes,) = _axes(0.9 + 0.34 * max(len(names), 2))
    left = [0.0] * len(names)
    for colour, (part, values) in zip(COLOURS, parts.items(), strict=False):
        if not any(values):
            continue
        axes.barh(range(len(names)), values, left=left, color=colour, label=label(part))
        left = [a + b for a, b in zip(left, values, strict=True)]
    axes.set_yticks(range(len(names)), [label(name) for name in names])
    axes.invert_yaxis()
    _finish(axes, title, axis, "x")
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    if len(parts) > 1:  # beside the bars: any of them may be the longest
        figure.legend(frameon=False, loc="outside right upper")
    return figure


def grouped(
    names: Sequence[str], parts: Mapping[str, Sequence[float | None]], title: str
) -> Figure:
    """Draw shares of 1 as one group of vertical bars per name."""
    figure, (axes,) = _axes(3.4)
    width = 0.8 / len(parts)
    for number, (part, values) in enumerate(parts.items()):
        places = [i + (number - (len(parts) - 1) / 2) * width for i in range(len(names))]
        heights = [value or 0.0 for value in values]
        bars = axes.bar(places, heights, width * 0.94, color=COLOURS[number], label=label(part))
        axes.bar_label(bars, [_percent(value) for value in values], fontsize=8, padding=1)
    axes.set_xticks(range(len(names)), [label(name) for name in names])
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.margins(y=0.12)
    _entitle(axes, title, "y")
    axes.legend(frameon=False)
    return figure


def _percent(value: float | None) -> str:
    if value is None:
        return "no links"
    return f"{value:.1%}" if value < 0.1 else f"{value:.0%}"


def by_distance(
    distances: Sequence[int],
    pages: Sequence[int],
    shares: Mapping[str, Sequence[float]],
    title: str,
    language: str,
) -> Figure:
    """Draw cumulative pages and shares of a language's pages by distance from the seeds."""
    figure, (left, right) = _axes(3.5, panels=2)
    figure.suptitle(label_title(title), x=0.01, ha="left", fontweight="bold", fontsize=11)
    left.plot(distances, pages, "o-", color=COLOURS[0], markersize=4)
    _count_up(left)
    for colour, (name, values) in zip(COLOURS, shares.items(), strict=False):
        right.plot(distances, values, "o-", color=colour, markersize=4, label=label(name))
    right.set_ylim(0, 1.02)
    right.yaxis.set_major_formatter(PercentFormatter(1))
    right.legend(frameon=False)
    panels = ((left, "pages within the distance"), (right, f"share of {language} pages"))
    for axes, name in panels:
        axes.set_title(label_title(name), loc="left", fontsize=10)
        axes.set_xlabel("links from the seeds")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid()
    return figure


def histogram(values: Mapping[int, int], title: str, axis: str) -> Figure | None:
    """Draw counts by a whole number, on a logarithmic scale; nothing for a single one."""
    if len(values) < 2:
        return None
    figure, (axes,) = _axes(3.0)
    bars = axes.bar(list(values), list(values.values()), color=COLOURS[0])
    _count_up(axes)
    axes.set_ylim(0.7, 3 * max(values.values()))
    if len(values) <= 16:
        axes.bar_label(bars, [_count(value) for value in values.values()], fontsize=8, padding=1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(axis)
    _entitle(axes, title, "y")
    return figure


def over_pages(pages: Sequence[int], rates: Sequence[float], title: str) -> Figure:
    """Draw a share of 1 by pages so far."""
    figure, (axes,) = _axes(3.0)
    axes.plot(pages, rates, color=COLOURS[0])
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    _finish(axes, title, "pages downloaded", "y")
    return figure


def estimates(
    names: Sequence[str], values: Sequence[float], kept: Sequence[bool], mean: float
) -> Figure:
    """Draw one estimate per pair of words, those left out in grey, and their mean."""
    figure, (axes,) = _axes(0.9 + 0.2 * max(len(names), 3))
    colours = [COLOURS[0] if keep else COLOURS[2] for keep in kept]
    axes.scatter(values, range(len(names)), c=colours, s=22, zorder=3)
    axes.axvline(mean, color=COLOURS[1], label=f"mean {_count(mean)}")
    named = [name if name.isascii() else f"pair {i + 1}" for i, name in enumerate(names)]
    axes.set_yticks(range(len(names)), [label(name) for name in named], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(min(*values, mean) / 1.5, max(*values, mean) * 1.5)
    axes.set_xscale("log")
    _finish(axes, f"Estimated size by pair of words (n = {sum(kept)} pairs)", "pages", "x")
    axes.legend(frameon=False)
    return figure


def _finish(axes: Axes, title: str, axis: str, grid: Literal["x", "y"]) -> None:
    axes.xaxis.set_major_formatter(FuncFormatter(_count))
    axes.set_xlabel(axis)
    _entitle(axes, title, grid)


def _entitle(axes: Axes, title: str, grid: Literal["x", "y"]) -> None:
    axes.grid(axis=grid)
    axes.set_title(label_title(title), loc="left", fontweight="bold", fontsize=11)


def _count_up(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(_count))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
