"""``scrapy synthesize``: a synthetic web like a measured one."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand
from lswc.cli.progress_lines import working
from lswc.cli.tables import table
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from lswc.lab.synthetic.calibration import Cell

LIKE = ("thai2004",)


class Command(UserCommand):
    """Makes a synthetic web, and prints its tables beside the published ones."""

    requires = ("lab",)

    def syntax(self) -> str:
        return "[--like thai2004] [--scale 1.0] [--seed 1] [--assume NAME=VALUE ...] --out FOLDER"

    def short_desc(self) -> str:
        return "Make a synthetic web, as a trace to simulate crawls on"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--like", default=LIKE[0], help=f"measured web: {', '.join(LIKE)}")
        parser.add_argument("--scale", type=float, default=1.0, help="size; 1.0: 18.3 M pages")
        parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers")
        parser.add_argument(
            "--assume",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="another value of an assumption (lswc/lab/synthetic/assumptions.toml)",
        )
        parser.add_argument("--out", metavar="FOLDER", help="where the trace goes")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or not opts.out:
            raise UsageError("give --out", print_help=False)
        _synthesize(opts.like, opts.scale, opts.seed, opts.assume, Path(opts.out))


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
    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 120)
    for title, rows in groupby(cells, lambda cell: cell.table):
        console.print(table(title, ["", "", "published", "here", "error", ""], map(_row, rows)))
    heads = ["links", "Thai pages"]
    console.print(table("Distance from the nearest other Thai page", heads, nearest))


def _row(cell: Cell) -> tuple[object, ...]:
    share = cell.published < 1
    numbers = (f"{n:.1%}" if share else round(n) for n in (cell.published, cell.own))
    limit = "" if cell.limit is None else f"of ±{cell.limit:.0%}"
    return (cell.row, cell.column, *numbers, f"{cell.error:+.2%}", limit)
