"""``scrapy simulate``: every strategy on a trace."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from scrapy.exceptions import UsageError

from lswc.errors import writing
from lswc.terminal.command import UserCommand
from lswc.terminal.tables import table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from lswc.simulator.run import Outcome


class Command(UserCommand):
    """Crawls a trace by several strategies, a core each, and draws the papers' figures."""

    def syntax(self) -> str:
        return "--trace FOLDER --strategy NAME[:k=v,...] ... --out FOLDER"

    def short_desc(self) -> str:
        return "Simulate strategies on a trace: series, figures, end results"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--trace", metavar="FOLDER", help="trace to crawl")
        parser.add_argument(
            "--strategy",
            nargs="+",
            action="extend",
            default=[],
            metavar="NAME[:k=v,...]",
            help="strategies, or all for every one, those of the papers with their parameters",
        )
        parser.add_argument("--out", metavar="FOLDER", help="where the results go")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or not (opts.trace and opts.strategy and opts.out):
            raise UsageError("give --trace, --strategy and --out", print_help=False)
        _simulate(Path(opts.trace), opts.strategy, Path(opts.out))


def _simulate(folder: Path, names: Sequence[str], out: Path) -> None:
    from lswc.simulator import plots
    from lswc.simulator.grid import draw_grids, expand
    from lswc.simulator.run import EVERY, save, simulate
    from lswc.simulator.simulation import lacking
    from lswc.strategy import strategy
    from lswc.trace.format import Trace

    wanted = [one for name in names for one in (EVERY if name == "all" else expand(name))]
    strategies = list({s.name: s for s in map(strategy, wanted)}.values())
    trace = Trace.read(folder)
    for chosen in strategies:
        if missing := lacking(trace, chosen):
            print(f"{chosen.name}: the trace has no {', '.join(missing)}, so those facts are none")
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    console = Console(stderr=True)
    shown = console.is_terminal
    with Progress(*columns, TimeRemainingColumn(), console=console, disable=not shown) as bar:
        tasks = [bar.add_task(s.name, total=trace.pages) for s in strategies]
        with writing(out):  # what is known, as soon as it is: a run may take hours
            outcomes = simulate(
                trace,
                strategies,
                lambda i, pages: bar.update(tasks[i], completed=pages),
                lambda known: save(known, trace, out),
            )
    with writing(out):
        save(outcomes, trace, out)
        plots.draw(outcomes, out)
        draw_grids(outcomes, out)
    _show(outcomes, out)


def _show(outcomes: Sequence[Outcome], out: Path) -> None:
    from lswc.simulator.run import marks

    at = marks(outcomes[0].trace_pages)
    rates = [f"harvest at {_short(mark)}" for mark in at]
    heads = ["strategy", "pages", *rates, "at the end", "coverage", "largest queue", "servers"]
    rows = [
        (
            o.result.strategy,
            o.result.pages,
            *(_percent(o.harvest_rate_at(mark)) for mark in at),
            _percent(o.harvest_rate[-1]),
            _percent(o.coverage[-1]),
            int(o.column("largest")[-1]),
            int(o.column("servers")[-1]),
        )
        for o in outcomes
    ]
    # A file has no width: wide enough for the longest names.
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120)
    grid = table(
        f"{outcomes[0].trace_pages:,} pages, {outcomes[0].trace_relevant:,} relevant", heads, rows
    )
    grid.columns[0].no_wrap = True
    console.print(grid)
    for outcome in outcomes:
        if outcome.brier:
            expected, mean = outcome.brier
            console.print(
                f"{outcome.result.strategy}: Brier score of the expected relevance "
                f"{expected:.4f}, of always guessing the mean {mean:.4f}",
                highlight=False,
            )
    console.print(f"Series, summary and figures: {out}", highlight=False, markup=False)


def _short(number: int) -> str:
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if number >= unit:
            return f"{number // unit} {name}"
    return str(number)


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:.1%}"
