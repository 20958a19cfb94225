"""``lswc synthesize``: a synthetic web like a measured one."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand, option
from lswc.cli.progress_lines import working
from lswc.cli.tables import table, terminal
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from lswc.lab.synthetic.calibration import Cell

LIKE = ("thai2004",)


class Command(UserCommand):
    """Makes a synthetic web, and prints its tables beside the published ones."""

    requires = ("lab",)

    usage = "[--like thai2004] [--scale 1.0] [--seed 1] [--assume NAME=VALUE ...] --out FOLDER"
    summary = "Make a synthetic web, as a trace to simulate crawls on"
    options = (
        option("--like", f"measured web: {', '.join(LIKE)}", LIKE[0]),
        option("--scale", "size; 1.0: 18.3 M pages", 1.0),
        option("--seed", "seed of the random numbers", 1),
        option(
            "--assume",
            "another value of an assumption (lswc/lab/synthetic/assumptions.toml)",
            [],
            metavar="NAME=VALUE",
        ),
        option("--out", "where the trace goes", Path, metavar="FOLDER"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or not opts.out:
            raise UsageError("give --out", print_help=False)
        _synthesize(opts.like, opts.scale, opts.seed, opts.assume, opts.out)


def _synthesize(like: str, scale: float, seed: int, given: list[str], out: Path) -> None:
    from lswc.lab.synthetic.assumptions import assume
    from lswc.lab.synthetic.calibration import compare
    from lswc.lab.synthetic.synthesis import synthesize
    from lswc.lab.trace.links import nearest_relevant

    if like not in LIKE:
        raise ConfigError(f"unknown web {like!r}; known: {', '.join(LIKE)}")
    if seed < 0:
        raise ConfigError(f"the seed must not be negative, and {seed} is")
    assumed = assume(given)
    if (out / "trace.json").exists():
        raise ConfigError(f"{out} holds a trace already: choose another folder")
    with working() as say:
        say("synthesize", 0, 0)
        web = synthesize(scale, seed, assumed)
        say("write", 0, 0)
        web.write(out)
        say("compare", 0, 0)
        cells = compare(web, scale)
        nearest = list(enumerate(nearest_relevant(web.trace).tolist()))[1:]
    # A file has no width: wide enough for the longest names.
    console = terminal(120)
    for title, rows in groupby(cells, lambda cell: cell.table):
        console.print(table(title, ["", "", "published", "here", "error", ""], map(_row, rows)))
    heads = ["links", "Thai pages"]
    console.print(table("Distance from the nearest other Thai page", heads, nearest))


def _row(cell: Cell) -> tuple[object, ...]:
    share = cell.published < 1
    numbers = (f"{n:.1%}" if share else round(n) for n in (cell.published, cell.own))
    limit = "" if cell.limit is None else f"of ±{cell.limit:.0%}"
    return (cell.row, cell.column, *numbers, f"{cell.error:+.2%}", limit)
