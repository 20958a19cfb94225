"""``lswc analyze``: the papers' tables and figures for a crawl or trace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand, option
from lswc.cli.progress_lines import working
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Writes the report of a trace or crawl folder; a user's mistake is one line, exit code 2."""

    requires = ("lab",)

    usage = "<crawl folder, of each worker, or trace> --out <folder>"
    summary = "Report on a crawl or trace: languages, domains, links, encodings, size"
    options = (
        option("--out", "folder of the report, new or empty", Path),
        option("--lang", "language, if the crawl has several or no summary.json"),
        option("--control", "another crawl or trace to compare with", Path),
        option("--strategy", "explain what this strategy misses on the trace"),
        option("--countries", "IP database: MaxMind or DB-IP .mmdb, or DB-IP .csv", Path),
        option("--addresses", "CSV of server and IP address", Path),
        option("--counts", "CSV of word counts: word_a,word_b,n_a,n_b,n_ab", Path),
        option("--extremes", "pairs of --counts to leave out (default: 2)", 2),
        option("--text", "text of the crawl (Parquet or JSON Lines), to count words", Path),
        option("--words", "words to count, one a line (Thai: a dictionary is known)", Path),
        option("--precision", "of the identifier (default: 1)", 1.0),
        option("--accuracy", "of the identifier (default: 1)", 1.0),
        option("--random-seed", "of random choices (default: 1)", 1),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or opts.out is None:
            raise UsageError(
                "name one trace, or the folder of a crawl or of each of its workers, and --out",
                print_help=False,
            )
        if opts.extremes < 0 or opts.extremes % 2:
            raise ConfigError(
                f"--extremes must be 0 or an even number, half the lowest and half the highest "
                f"pairs: {opts.extremes} isn't"
            )
        for name in ("precision", "accuracy"):
            if not 0 < getattr(opts, name) <= 1:
                given = getattr(opts, name)
                raise ConfigError(f"--{name} must be above 0 and at most 1, and {given:g} isn't")
        from lswc.lab.analysis.questions import Questions, analyze
        from lswc.lab.trace.from_log import as_trace

        has_log = len(args) > 1 or (Path(args[0]) / "log").is_dir()
        questions = Questions(
            opts.control, opts.strategy, opts.countries, opts.addresses, opts.counts, opts.text,
            opts.words, (opts.precision, opts.accuracy), opts.extremes, opts.random_seed,
            opts.lang, tuple(map(Path, args)) if has_log else (),
        )  # fmt: skip
        with working() as say:
            say("links", 0, 0)
            first, *others = map(Path, args)
            with as_trace(first, opts.lang, others) as folder:
                path = analyze(
                    folder, opts.out, questions, lambda step: say(step, 0, 0), first.name
                )
        print(path)
