"""``lswc learn-order``: what kinds of links lead to, put together from crawls of several webs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand, option
from lswc.cli.progress_lines import working
from lswc.errors import ConfigError, writing
from lswc.files import whole
from lswc.plurals import numbered

if TYPE_CHECKING:
    import argparse

    from lswc.strategy import Experience


class Command(UserCommand):
    """Puts what crawls of other webs learned into a table that a new crawl can begin with."""

    requires = ("lab",)

    usage = "<trace folder or crawl folder> [more of them] --out FILE.toml"
    summary = "Learn from traces and crawls what new crawls begin with, for LSWC_EXPERIENCE"
    options = (
        option("--out", "where the table goes", Path, metavar="FILE.toml"),
        option("--alone", "leave out the webs that lswc comes with", False),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or not opts.out:
            raise UsageError("name the folders of traces or crawls, and --out", print_help=False)
        if opts.out.suffix != ".toml":
            raise ConfigError(f"--out {opts.out}: name a file that ends with .toml")
        from lswc.strategy.prior import learned, shipped

        with working() as say:
            webs = []
            for number, name in enumerate(args):
                say("web", number, len(args))
                webs.append(_taught_by(Path(name)))
        own = learned(webs)
        table = own if opts.alone else own.beside(shipped())
        with writing(opts.out), whole(opts.out) as beside:
            beside.write_text(table.dump(), encoding="utf-8")
        agreed = numbered(len(own.cells), "kind")
        print(f"{numbered(own.webs, 'web')} agree on {agreed} of links to pages.")
        print(f"table in {opts.out}; crawl with -s LSWC_EXPERIENCE={opts.out}")


def _taught_by(folder: Path) -> Experience:
    """Return what a crawl of a trace learns that begins with nothing, or what a crawl has learned.

    Raises LswcError.
    """
    from lswc.frontier import FRONTIER_FILE
    from lswc.frontier.store.report import own_of
    from lswc.lab.simulator.simulation import Simulation
    from lswc.lab.trace.format import Trace
    from lswc.strategy import Experience, strategy

    if (folder / FRONTIER_FILE).exists():
        return own_of(folder / FRONTIER_FILE)
    trace = Trace.read(folder)
    return Simulation(trace, strategy("adaptive"), prior=Experience()).run().experience
