"""Strategies over ranges of their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from lswc.lab.simulator import plots
from lswc.lab.simulator.grid import draw_grids, expand
from lswc.lab.simulator.run import Simulated
from lswc.lab.simulator.simulation import Result
from lswc.strategy import Experience, StrategyError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("specification", "expected"),
    [
        ("bfs", ["bfs"]),
        ("lswc:S=3,T=5", ["lswc:S=3,T=5"]),
        ("limited_distance:N=2..4", [f"limited_distance:N={n}" for n in (2, 3, 4)]),
        ("lswc:S=1..2,T=7..8", [f"lswc:S={s},T={t}" for s in (1, 2) for t in (7, 8)]),
        ("lswc:S=3,T=5..5", ["lswc:S=3,T=5"]),
    ],
)
def test_ranges_stand_for_every_combination(specification: str, expected: list[str]) -> None:
    assert expand(specification) == expected


@pytest.mark.parametrize(
    ("specification", "complaint"),
    [("lswc:S=5..1", "range of S is empty"), ("lswc:S=1..21,T=1..20", "more than 400")],
)
def test_ranges_that_make_no_grid(specification: str, complaint: str) -> None:
    with pytest.raises(StrategyError, match=complaint):
        expand(specification)


def outcome(name: str, pages: int, relevant: int) -> Simulated:
    series = np.array([[1, 0, 9, 1, 9], [pages // 2, relevant // 4, 9, 1, 9],
                       [pages, relevant, 0, 1, 9]])  # fmt: skip
    counts = np.zeros((2, 13), np.int64)
    none = np.zeros(0, np.int32)
    result = Result(
        name, series, counts, counts[0], counts[0], 0, 0, np.zeros((1, 4)), none, Experience()
    )
    return Simulated(result, trace_pages=1000, trace_relevant=100)


def test_a_grid_is_drawn_with_each_value_in_its_cell(tmp_path: Path) -> None:
    specs = [*expand("lswc:S=1..2,T=1..3"), *expand("limited_distance:N=1..4"), "bfs"]
    outcomes = [outcome(spec, 100 + n, 20 + 3 * n) for n, spec in enumerate(specs)]
    files = draw_grids(outcomes, tmp_path)
    kinds = ("lswc", "limited_distance")
    assert [f.name for f in files] == [f"grid_{k}.{end}" for k in kinds for end in ("png", "svg")]
    drawn = files[1].read_text()
    assert "n = 6 runs on 1,000 pages, 100 of them relevant" in drawn
    assert all(f">{one.coverage[-1]:.0%}<" in drawn for one in outcomes[:6])
    assert all(f">{one.result.pages}<" in drawn for one in outcomes[:6])
    assert "n = 4 runs" in files[3].read_text()


def test_single_strategies_make_no_grid(tmp_path: Path) -> None:
    assert draw_grids([outcome("bfs", 100, 10), outcome("lswc:S=1,T=1", 90, 9)], tmp_path) == []


def test_many_strategies_are_drawn_by_family_beside_breadth_first(tmp_path: Path) -> None:
    specs = ["bfs", "perfect", *expand("lswc:S=1..2,T=1..3"), "soft_focused", "anchor"]
    outcomes = [outcome(spec, 100 + n, 20 + 3 * n) for n, spec in enumerate(specs)]
    plots.draw(outcomes, tmp_path)
    drawn = (tmp_path / "coverage.svg").read_text()
    assert drawn.count(">bfs<") == drawn.count(">perfect<") == 3  # in each of the three panels
    assert all(f">{name}<" in drawn for name in ("S=1,T=3", "S=2,T=3", "soft focused", "anchor"))
    assert "n = 1,000 pages on the trace, 100 of them relevant" in drawn
