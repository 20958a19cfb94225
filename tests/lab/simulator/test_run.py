"""What comes out of a simulation, and the two commands."""

from __future__ import annotations

import csv
import gc
import json
import subprocess
import sys
from argparse import ArgumentParser
from functools import cache
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pyarrow.parquet as pq
import pytest
from scrapy.settings import Settings

from lswc.lab.commands.simulate import Command as SimulateCommand
from lswc.lab.commands.synthesize import Command as SynthesizeCommand
from lswc.lab.simulator import plots
from lswc.lab.simulator.run import EVERY, Simulated, marks, save, simulate
from lswc.lab.simulator.simulation import Result, Simulation
from lswc.lab.synthetic.synthesis import Synthetic, synthesize
from lswc.lab.trace.format import About, Fate, Trace, TraceError
from lswc.strategy import NAMES, Value, strategy
from tests.lab.analysis.webs import Web

SOME = ("queue_size_by_limit", "reliability")  # figures of some strategies only
NAMED = ("bfs", "soft_focused", "limited_distance:N=2", "perfect", "adaptive")
OWN = "tests.strategy.own_rules:named_first"


@cache
def web() -> Synthetic:
    """A synthetic web; making it compiles for half a minute."""
    return synthesize(0.002)


KNOWN: list[list[Simulated]] = []  # what was known whenever another strategy had ended


@pytest.fixture(scope="module")
def outcomes() -> list[Simulated]:
    return simulate(web().trace, [strategy(name) for name in NAMED], finished=KNOWN.append)


def test_outcomes_are_told_as_soon_as_they_are_known(outcomes: list[Simulated]) -> None:
    assert all(0 < len(known) < len(outcomes) for known in KNOWN)
    names = [o.result.strategy for known in KNOWN for o in known]
    assert set(names) <= {o.result.strategy for o in outcomes}
    assert sorted(map(len, KNOWN)) == list(map(len, KNOWN))


class _Arrays:
    """What a run holds, and what compiling for it leaves behind: it knows itself."""

    def __init__(self) -> None:
        self.held = self


def test_a_run_lets_go_of_its_arrays_before_the_next_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before: list[ref[_Arrays]] = []
    alive: list[bool] = []
    run = Simulation.run

    def watched(simulation: Simulation) -> Result:
        alive.extend(arrays() is not None for arrays in before)
        before[:] = [ref(_Arrays())]
        return run(simulation)

    monkeypatch.setattr(Simulation, "run", watched)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    gc.disable()
    try:
        simulate(web().trace, [strategy("bfs"), strategy("hard_focused")])
    finally:
        gc.enable()
    assert alive == [False]


def test_every_strategy_is_in_all() -> None:
    by_pages = {name for name in NAMES if strategy(name).value == Value.PAGES}
    assert {name.partition(":")[0] for name in EVERY} == by_pages
    assert len({strategy(name).name for name in EVERY}) == len(EVERY)


def test_results_come_in_the_order_of_the_strategies(outcomes: list[Simulated]) -> None:
    assert [o.result.strategy for o in outcomes] == list(NAMED)


def test_breadth_first_gets_everything_there_is(outcomes: list[Simulated]) -> None:
    bfs = outcomes[0]
    assert bfs.result.pages == web().trace.pages
    assert bfs.coverage[-1] == 1.0
    assert bfs.harvest_rate[-1] == pytest.approx(web().trace.relevant.sum() / web().trace.pages)
    assert bfs.miss_ratio[-1] == 0.0
    assert bfs.result.by_distance.sum() == web().trace.pages
    assert bfs.column("servers")[-1] == len(np.unique(web().trace.server[web().trace.fate == 3]))


def test_urls_never_downloaded_stay_in_the_queue(outcomes: list[Simulated]) -> None:
    assert outcomes[0].column("queue")[-1] == np.count_nonzero(web().trace.fate == 0)


def test_the_miss_ratio_ends_at_what_coverage_lacks(outcomes: list[Simulated]) -> None:
    for outcome in outcomes:
        assert outcome.miss_ratio[-1] == pytest.approx(1 - outcome.coverage[-1])


def test_series_grow_and_end_at_the_end(outcomes: list[Simulated]) -> None:
    for outcome in outcomes:
        pages = outcome.column("pages")
        assert np.all(np.diff(pages) > 0)
        assert pages[-1] == outcome.result.by_distance.sum()
        assert outcome.column("largest")[-1] >= outcome.column("queue").max()


def test_a_harvest_rate_after_the_end_is_none(outcomes: list[Simulated]) -> None:
    assert outcomes[0].harvest_rate_at(web().trace.pages + 1) is None
    assert outcomes[0].harvest_rate_at(1) == 1.0  # the first seed


def test_only_a_strategy_that_learns_expects_something(outcomes: list[Simulated]) -> None:
    assert [o.result.strategy for o in outcomes if o.brier] == ["adaptive"]
    assert len(outcomes[0].reliability) == 0


def test_what_the_learned_order_expects_is_about_what_it_gets(outcomes: list[Simulated]) -> None:
    learned = outcomes[-1]
    assert learned.coverage[-1] == 1.0
    pages, expected, seen = learned.reliability.T
    failed = int(np.count_nonzero(web().trace.fate == Fate.FAILED))
    seeds = len(set(web().trace.seeds.tolist()))
    assert pages.sum() == learned.result.pages + failed - seeds, "a visit each, but of seeds"
    assert np.all((expected > 0) & (expected < 1) & (seen >= 0) & (seen <= 1))
    assert (pages * seen).sum() == pytest.approx((pages * expected).sum(), rel=0.2)
    assert learned.brier is not None
    assert learned.brier[0] < 0.5 * learned.brier[1]


def test_the_learned_order_is_better_than_soft_focused(outcomes: list[Simulated]) -> None:
    half = [np.searchsorted(o.coverage, 0.9) for o in (outcomes[1], outcomes[-1])]
    assert outcomes[-1].column("pages")[half[1]] < 0.8 * outcomes[1].column("pages")[half[0]]


def test_marks_are_round() -> None:
    assert marks(18_344_127) == (1_000_000, 2_000_000)
    assert marks(20) == (1, 2)


def test_what_is_saved_is_what_was_found(outcomes: list[Simulated], tmp_path: Path) -> None:
    save(outcomes, web().trace, tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text())["strategies"]
    table = pq.read_table(tmp_path / "series.parquet").to_pydict()
    for outcome in outcomes:
        name = outcome.result.strategy
        assert summary[name]["coverage"] == outcome.coverage[-1]
        rows = [i for i, s in enumerate(table["strategy"]) if s == name]
        assert [table["queue"][i] for i in rows] == outcome.column("queue").tolist()


def test_every_figure_is_drawn_twice_and_names_every_strategy(
    outcomes: list[Simulated], tmp_path: Path
) -> None:
    files = plots.draw(outcomes, tmp_path)
    assert len(files) == 2 * 8
    assert all(f.read_bytes().startswith(b"\x89PNG") for f in files if f.suffix == ".png")
    for svg in (f for f in files if f.suffix == ".svg" and not f.name.startswith(SOME)):
        text = svg.read_text()
        parts = [part for name in NAMED for part in name.replace("_", " ").split(":")]
        assert all(part in text or part.replace(" ", "_") in text for part in parts), svg
        assert f"n = {web().trace.pages:,} pages" in text


def without(**columns: Any) -> Trace:
    fields = {name: getattr(web().trace, name) for name in web().trace.__dataclass_fields__}
    return Trace(**{**fields, **columns})


@pytest.mark.parametrize(
    ("spec", "lacking", "message"),
    [
        ("anchor", {"anchors": None}, "needs the column anchors"),
        ("tld", {"tld": None}, "needs the column tld"),
        ("tld_anchor", {"about": About("xx", (), "")}, "names none"),
        ("directory_conservative", {"directory": None}, "needs the column directory"),
        (OWN, {"named": None}, "needs the column named"),
    ],
)
def test_a_fact_that_the_trace_lacks(spec: str, lacking: dict[str, Any], message: str) -> None:
    with pytest.raises(TraceError, match=message):
        simulate(without(**lacking), [strategy(spec)])


def test_a_directory_on_several_servers() -> None:
    trace = without(directory=web().trace.server * 0)
    with pytest.raises(TraceError, match="on several servers"):
        simulate(trace, [strategy("directory_conservative")])


def test_other_strategies_do_without_it() -> None:
    trace = without(anchors=None, tld=None, directory=None)
    assert simulate(trace, [strategy("soft_focused")])[0].coverage[-1] == 1.0
    assert simulate(trace, [strategy("adaptive")])[0].coverage[-1] == 1.0


def call(*arguments: str) -> int:
    """Run a command in this process, where the kernels are compiled; return its exit code."""
    command = {"simulate": SimulateCommand, "synthesize": SynthesizeCommand}[arguments[0]]()
    command.settings = Settings()
    parser = ArgumentParser()
    command.add_options(parser)
    command.run([], parser.parse_args(arguments[1:]))
    return command.exitcode


def test_synthesize_then_simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    web, out = str(tmp_path / "web"), tmp_path / "out"
    assert call("synthesize", "--scale", "0.001", "--seed", "7", "--out", web) == 0
    assert "Tamura Table 4" in capsys.readouterr().out
    asked = ("--strategy", "bfs", "lswc", "adaptive", "--out", str(out))
    assert call("simulate", "--trace", web, *asked) == 0
    printed = capsys.readouterr().out
    assert "lswc:S=3,T=5" in printed
    assert "adaptive: the trace has no named, so those facts are none" in printed
    assert "Brier score" in printed
    assert json.loads((out / "summary.json").read_text())["strategies"]["bfs"]["brier"] is None
    assert (out / "coverage.svg").exists()


def test_a_crawl_in_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home, other = "http://www.a.co.th/", "http://www.b.com/"
    web = Web().page(home, "th", home + "1", other).page(home + "1", "th").page(other, "en")
    trace, out = str(web.write(tmp_path / "web", home)), tmp_path / "out"
    asked = ("--strategy", "bfs", "lswc", "--out", str(out), "--delay", "10")
    assert call("simulate", "--trace", trace, *asked, "--seconds-per-page", "2") == 0
    assert "A rest of 10 s, 32 requests at a time, 2 s each" in capsys.readouterr().out
    # robots.txt, a rest, the home page; then a/1 after a rest, while b.com begins.
    found = pq.read_table(out / "hours.parquet").to_pydict()
    bfs = [row == "bfs" for row in found["strategy"]]
    seconds = [3600 * hours for hours, is_bfs in zip(found["hours"], bfs, strict=True) if is_bfs]
    assert seconds == pytest.approx([14, 26, 28])
    with (out / "tail.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["strategy"] == "bfs"]
    assert [(row["server"], row["pages"]) for row in rows] == [
        ("www.b.com", "1"),
        ("www.a.co.th", "2"),
    ]
    known = json.loads((out / "hours.json").read_text())["strategies"]["bfs"]
    assert known["hours_to_coverage"]["0.9"] == pytest.approx(26 / 3600)
    assert known["pages_to_coverage"]["0.9"] == 2
    assert (out / "coverage_by_pages_in_time.svg").exists()
    assert {path.stem for path in out.glob("*_by_hours.png")} == {
        "coverage_by_hours", "harvest_rate_by_hours",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--strategy", "bfs", "--delay", "-1"], "a delay and the time of a page are"),
        (["simulate", "--strategy", "bsf"], "unknown strategy 'bsf'; known: bfs"),
        (["simulate", "--strategy", "lswc:S=x"], "S must be a whole number"),
        (["simulate", "--strategy", "bfs"], "is not a trace"),
        (["synthesize", "--like", "lao1999"], "known: thai2004"),
        (["synthesize", "--scale", "1000"], "scale must lie between"),
        (["synthesize", "--seed", "-1"], "must not be negative"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if arguments[0] == "simulate":
        arguments = [*arguments, "--trace", str(tmp_path)]
    assert call(*arguments, "--out", str(tmp_path / "out")) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert len(printed.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_scrapy_knows_the_commands() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "scrapy",
            "simulate",
            "--trace",
            "x",
            "--strategy",
            "x",
            "--out",
            "x",
        ],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("scrapy simulate: error: unknown strategy 'x'")
