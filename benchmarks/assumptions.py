"""Effect of the synthetic web's assumptions on each strategy: ``python -m benchmarks.assumptions``.

``--scale 0.1 --out FOLDER [--only NAME ...] [--strategy SPEC ...]``

Makes the web with the usual value of every assumption, then with the lowest and the highest of each
(``lswc/lab/synthetic/assumptions.toml``), and simulates the strategies on all of them. Writes
``runs.jsonl`` (a line as soon as it is known; what is there isn't done again), ``ranges.csv`` and
``assumptions.png``, and prints which conclusions hold throughout.
"""

from __future__ import annotations

import argparse
import csv
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from lswc.lab.simulator.run import Simulated, marks, simulate
from lswc.lab.synthetic.assumptions import ASSUMED, RANGES
from lswc.lab.synthetic.synthesis import synthesize
from lswc.strategy import strategy

STRATEGIES = (
    "bfs", "hard_focused", "soft_focused", "distance", "limited_distance:N=2",
    "server_aggressive:T=10", "server_conservative:T=10", "lswc:S=3,T=5", "adaptive", "perfect",
)  # fmt: skip
MEASURES = ("harvest", "coverage")


def cases(names: list[str]) -> list[tuple[str, float]]:
    """Return the usual web, as ("usual", 0), and each assumption at its ends."""
    ends = [(name, end) for name in names for end in (RANGES[name].low, RANGES[name].high)]
    return [("usual", 0.0), *((name, end) for name, end in ends if end != RANGES[name].value)]


def run(scale: float, seed: int, name: str, value: float, specs: list[str]) -> dict[str, Any]:
    """Return each strategy's harvest rate at the mark and its coverage at the end."""
    given = {} if name == "usual" else {name: type(RANGES[name].value)(value)}
    trace = synthesize(scale, seed, ASSUMED._replace(**given)).trace
    outcomes = simulate(trace, [strategy(spec) for spec in specs])
    mark = marks(trace.pages)[0]
    return {
        "assumption": name,
        "value": value,
        "pages": trace.pages,
        "mark": mark,
        "near_seeds": int(np.count_nonzero(trace.distance == 1)),
        "strategies": {o.result.strategy: _measured(o, mark) for o in outcomes},
    }


def _measured(outcome: Simulated, mark: int) -> dict[str, float]:
    harvest = outcome.harvest_rate_at(mark)
    last = float(outcome.harvest_rate[-1])  # of one that ended before the mark
    return {
        "harvest": last if harvest is None else harvest,
        "coverage": float(outcome.coverage[-1]),
    }


def conclusions(runs: list[dict[str, Any]]) -> list[str]:
    """Say of each pair of strategies whether the one that leads usually does so in every web."""
    usual, lines = runs[0]["strategies"], []
    for measure in MEASURES:
        for a, b in combinations(usual, 2):
            first, second = sorted((a, b), key=lambda name: -usual[name][measure])
            gaps = [
                r["strategies"][first][measure] - r["strategies"][second][measure] for r in runs
            ]
            if not any(gaps):
                continue
            lost = [r["assumption"] for r, gap in zip(runs, gaps, strict=True) if gap < 0]
            held = "throughout" if not lost else f"but not for {', '.join(dict.fromkeys(lost))}"
            lines.append(f"{measure}: {first} over {second} by {gaps[0]:.1%}, {held}")
    return lines


def table(runs: list[dict[str, Any]], file: Path) -> None:
    """Write the usual value and the range of every measure, and what moves it most."""
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(("strategy", "measure", "usual", "lowest", "by", "highest", "by"))
        for name in runs[0]["strategies"]:
            for measure in MEASURES:
                values = [(r["strategies"][name][measure], _named(r)) for r in runs]
                low, high = min(values), max(values)
                writer.writerow((name, measure, values[0][0], *low, *high))


def _named(one: dict[str, Any]) -> str:
    return "usual" if one["assumption"] == "usual" else f"{one['assumption']}={one['value']:g}"


def draw(runs: list[dict[str, Any]], scale: float, file: Path) -> None:
    """Draw the usual value, a dot for every other web, and the range of each strategy."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    names = list(runs[0]["strategies"])
    titles = (f"Harvest rate after {runs[0]['mark']:,} pages", "Coverage at the end")
    for axes, measure, title in zip(
        figure.subplots(1, 2, sharey=True), MEASURES, titles, strict=True
    ):
        for row, name in enumerate(names):
            values = [one["strategies"][name][measure] for one in runs]
            axes.plot([min(values), max(values)], [row, row], color="#8a94a6", linewidth=1)
            axes.scatter(values[1:], [row] * (len(values) - 1), 12, color="#0b6e75", alpha=0.4)
            axes.scatter(values[:1], [row], 44, color="#e0912f", zorder=3)
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        axes.xaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(axis="x", color="#e4e8ee")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    figure.suptitle(
        f"Each assumption at its lowest and highest, one at a time: n = {len(runs)} webs, "
        f"scale {scale:g}",
        fontsize=10,
    )
    figure.savefig(file, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=list(RANGES), choices=list(RANGES))
    parser.add_argument("--strategy", nargs="+", default=list(STRATEGIES))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "runs.jsonl"
    lines = kept.read_text("utf-8").splitlines() if kept.exists() else []
    runs = [json.loads(line) for line in lines]
    done = {(one["assumption"], one["value"]) for one in runs}
    for case in cases(options.only):
        if case not in done:
            runs.append(run(options.scale, options.seed, *case, options.strategy))
            with kept.open("a", encoding="utf-8") as out:
                out.write(json.dumps(runs[-1]) + "\n")
            print(f"{_named(runs[-1])}: {len(runs)}", flush=True)
    table(runs, options.out / "ranges.csv")
    draw(runs, options.scale, options.out / "assumptions.png")
    print("\n".join(conclusions(runs)))


if __name__ == "__main__":
    main()
