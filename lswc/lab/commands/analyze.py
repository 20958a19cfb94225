"""``scrapy analyze``: the papers' tables and figures for a crawl or trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand
from lswc.cli.progress_lines import working
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Writes the report of a trace or crawl folder; a user's mistake is one line, exit code 2."""

    requires = ("lab",)

    def syntax(self) -> str:
        return "<crawl folder, of each worker, or trace> --out <folder>"

    def short_desc(self) -> str:
        return "Report on a crawl or trace: languages, domains, links, encodings, size"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--out", type=Path, help="folder of the report, new or empty")
        add(
            "--lang",
            default="",
            help="language, if the crawl has several or no summary.json",
        )
        add("--control", type=Path, help="another crawl or trace, to set beside this one")
        add("--strategy", default="", help="explain what this strategy misses on the trace")
        add("--countries", type=Path, help="IP database: MaxMind or DB-IP .mmdb, or DB-IP .csv")
        add("--addresses", type=Path, help="CSV of server and IP address")
        add("--counts", type=Path, help="CSV of word counts: word_a,word_b,n_a,n_b,n_ab")
        add("--extremes", type=int, default=2, help="pairs of --counts to leave out (default: 2)")
        add("--text", type=Path, help="text of the crawl (Parquet or JSON Lines), to count words")
        add("--words", type=Path, help="words to count, one a line (Thai: a dictionary is known)")
        add("--precision", type=float, default=1.0, help="of the identifier (default: 1)")
        add("--accuracy", type=float, default=1.0, help="of the identifier (default: 1)")
        add("--random-seed", type=int, default=1, help="of random choices (default: 1)")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or opts.out is None:
            raise UsageError(
                "name one trace, or the folder of a crawl or of each of its workers, and --out",
                print_help=False,
            )
        if opts.extremes < 0:
            raise ConfigError(f"--extremes must not be negative, and {opts.extremes} is")
        from lswc.lab.analysis.questions import Questions, analyze
        from lswc.lab.trace.from_log import as_trace

        questions = Questions(
            opts.control, opts.strategy, opts.countries, opts.addresses, opts.counts, opts.text,
            opts.words, (opts.precision, opts.accuracy), opts.extremes, opts.random_seed,
            opts.lang,
        )  # fmt: skip
        with working() as say:
            say("links", 0, 0)
            first, *others = map(Path, args)
            with as_trace(first, opts.lang, others) as folder:
                path = analyze(
                    folder, opts.out, questions, lambda step: say(step, 0, 0), first.name
                )
        print(path)
