"""``lswc simulate``: every strategy on a trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand, option
from lswc.cli.progress_lines import working
from lswc.cli.tables import table, terminal
from lswc.errors import writing
from lswc.files import whole_folder
from lswc.settings import LSWC_HASTE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from lswc.lab.simulator.run import Simulated
    from lswc.lab.simulator.timed import Pace


BUDGETS = (0.02, 0.05, 0.15)
"""Requests a day for each page that is visited again: each in 50, in 20, and in 7 days."""


class Command(UserCommand):
    """Crawls a trace by several strategies, a core each, and draws the papers' figures."""

    requires = ("lab",)

    usage = "--trace FOLDER (--strategy NAME[:k=v,...] ... | --revisit DAYS) --out FOLDER"
    summary = "Simulate strategies on a trace: series, figures, end results"
    options = (
        option("--trace", "trace to crawl", Path, metavar="FOLDER"),
        option(
            "--strategy",
            "strategies, or all for every one, those of the papers with their parameters",
            [],
            nargs="+",
            action="extend",
            metavar="NAME[:k=v,...]",
        ),
        option("--out", "where the results go", Path, metavar="FOLDER"),
        option(
            "--delay",
            "also crawl in time: the least rest of a server after an answer",
            float,
            metavar="SECONDS",
        ),
        option("--concurrency", "requests at a time (32)", 32),
        option("--seconds-per-page", "how long an answer takes (0.2)", 0.2, metavar="SECONDS"),
        option("--slow", "share of the servers that have a Crawl-delay of 10 to 60 s", 0.0),
        option("--haste", "LSWC_HASTE: the share of the requests in haste", LSWC_HASTE),
        option(
            "--revisit",
            "let the trace's pages change for so many days, and visit them again",
            int,
            metavar="DAYS",
        ),
        option(
            "--budget",
            "requests a day for each page that is visited again (0.02 0.05 0.15)",
            float,
            nargs="+",
            metavar="REQUESTS",
        ),
        option("--seed", "of the changes (1)", 1),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        revisits = opts.revisit is not None
        if args or not (opts.trace and opts.out) or revisits == bool(opts.strategy):
            wanted = "give --trace, --out, and either --strategy or --revisit"
            raise UsageError(wanted, print_help=False)
        if opts.budget is not None and not revisits:
            raise UsageError("--budget goes with --revisit", print_help=False)
        if revisits:
            budgets = opts.budget or BUDGETS
            if opts.revisit < 1 or min(budgets) <= 0:
                wanted = "--revisit is at least one day, and --budget more than 0"
                raise UsageError(wanted, print_help=False)
            _simulate_revisits(opts.trace, opts.revisit, budgets, opts.seed, opts.out)
            return
        names = _names(opts.strategy)
        pace = None
        if opts.delay is not None:
            from lswc.lab.simulator.timed import Pace

            pace = Pace(opts.delay, opts.concurrency, opts.seconds_per_page, opts.slow)
        _simulate(opts.trace, names, opts.out)
        if pace is not None:
            _simulate_hours(opts, names, pace)


def _names(given: Sequence[str]) -> list[str]:
    """Return the canonical names of all strategies that are meant, each once."""
    from lswc.lab.simulator.grid import expand
    from lswc.lab.simulator.run import EVERY
    from lswc.strategy import strategy

    wanted = [one for name in given for one in (EVERY if name == "all" else expand(name))]
    return list(dict.fromkeys(strategy(name).name for name in wanted))


def _simulate(folder: Path, names: Sequence[str], out: Path) -> None:
    from lswc.lab.simulator import plots
    from lswc.lab.simulator.grid import draw_grids
    from lswc.lab.simulator.run import save, simulate
    from lswc.lab.simulator.simulation import lacking
    from lswc.lab.trace.format import Trace
    from lswc.strategy import strategy

    strategies = [strategy(name) for name in names]
    trace = Trace.read(folder)
    for chosen in strategies:
        if missing := lacking(trace, chosen):
            print(f"{chosen.name}: the trace has no {', '.join(missing)}, so those facts are none")
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    with working(len(strategies)) as say:

        def show(number: int, pages: int) -> None:
            if pages:
                say(strategies[number].name, pages, trace.pages)

        say("compiling", 0, 0)
        with writing(out):  # what is known, as soon as it is: a run may take hours
            outcomes = simulate(trace, strategies, show, lambda known: save(known, trace, out))
            say("drawing", 0, 0)
            save(outcomes, trace, out)
            with whole_folder(out) as beside:
                plots.draw(outcomes, beside)
                draw_grids(outcomes, beside)
    _show(outcomes, out)


def _simulate_hours(opts: argparse.Namespace, names: Sequence[str], pace: Pace) -> None:
    from lswc.lab.simulator import plots
    from lswc.lab.simulator.hours import SHARES, save, simulate_hours

    outcomes = list(simulate_hours(opts.trace, names, pace, opts.haste))
    with writing(opts.out):
        save(outcomes, opts.trace, opts.out)
        plots.draw_hours(outcomes, opts.out)
    shares = [f"{share:.0%}" for share in SHARES]
    heads = ["strategy", *(f"hours to {share}" for share in shares), "to the end",
             *(f"pages to {share}" for share in shares), "requests",
             f"times no rest, to {shares[1]}"]  # fmt: skip
    rows = [
        (
            o.result.strategy,
            *(_hours(o.hours_to(share)) for share in SHARES),
            _hours(float(o.result.hours[-1])),
            *(_number(o.pages_to(share)) for share in SHARES),
            len(o.result.requests),
            _hours(o.cost(SHARES[1])),
        )
        for o in outcomes
    ]
    title = f"A rest of {pace.rest:g} s, {pace.workers} requests at a time, {pace.answer:g} s each"
    terminal(120).print(table(title, heads, rows))


def _simulate_revisits(
    folder: Path, days: int, budgets: Sequence[float], seed: int, out: Path
) -> None:
    from lswc.lab.simulator import plots
    from lswc.lab.simulator.changing_web import rates_of
    from lswc.lab.simulator.revisits import POLICIES, save, simulate_all
    from lswc.lab.trace.format import Trace, TraceError

    rates = rates_of(Trace.read(folder), seed)
    if not rates.pages * min(budgets) * days >= 1:
        raise TraceError(f"{folder}: its {rates.pages} relevant pages are too few for this budget")
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    outcomes = []
    with working(len(budgets) * len(POLICIES)) as say:
        for one in simulate_all(rates, days, budgets, seed):
            outcomes.append(one)
            say(one.policy, len(outcomes), len(budgets) * len(POLICIES))
    with writing(out), whole_folder(out) as beside:
        save(outcomes, beside)
        plots.draw_revisits(outcomes, beside)
    heads = ["requests a page and day", "policy", "as at their latest visit", "new pages", "found",
             "within a day", "median wait, days", "requests"]  # fmt: skip
    rows = [
        (
            f"{one.budget:g}", one.policy, _percent(float(one.freshness.mean())), one.born,
            one.found, int(one.within_a_day[-1]), _hours(one.median_wait), one.requests,
        )
        for one in outcomes
    ]  # fmt: skip
    title = f"{rates.pages:,} relevant pages, {days} days"
    terminal(120).print(table(title, heads, rows))


def _hours(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _show(outcomes: Sequence[Simulated], out: Path) -> None:
    from lswc.lab.simulator.run import marks

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
    console = terminal(120)
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
