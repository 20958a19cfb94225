"""Strategies over ranges of their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.simulator.grid import draw_grids, expand
from lswc.simulator.run import Outcome, simulate
from lswc.strategy import StrategyError, strategy
from lswc.synthetic.synthesis import synthesize

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


def test_a_grid_is_drawn_with_each_value_in_its_cell(tmp_path: Path) -> None:
    trace = synthesize(0.0005).trace
    specs = [*expand("lswc:S=1..2,T=1..3"), *expand("limited_distance:N=1..4"), "bfs"]
    known: list[list[Outcome]] = []
    outcomes = simulate(trace, [strategy(spec) for spec in specs], finished=known.append)
    files = draw_grids(outcomes, tmp_path)
    names = [
        f"grid_{kind}.{end}" for kind in ("lswc", "limited_distance") for end in ("png", "svg")
    ]
    assert [file.name for file in files] == names
    drawn = files[1].read_text()
    assert f"n = 6 runs on {trace.pages:,} pages" in drawn
    assert all(f">{float(o.coverage[-1]):.0%}<" in drawn for o in outcomes[:6])
    assert all(0 < len(some) < len(specs) for some in known)
