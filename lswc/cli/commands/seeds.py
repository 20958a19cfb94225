"""``scrapy seeds``: a seed list for a language, from what people have."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.cli.command import UserCommand, program
from lswc.cli.progress_lines import working
from lswc.cli.tables import counted

if TYPE_CHECKING:
    import argparse

MOST = 1000
"""Default number of seeds per language."""

PER_DOMAIN = 3
"""Default number of seeds of a registered domain."""


class Command(UserCommand):
    """Writes <lang>.txt for one or more languages; a user's mistake is exit code 2."""

    requires = ("seeds",)

    def syntax(self) -> str:
        return "<file or crawl> ... --lang <lang>[,<lang>...] --out <folder>"

    def short_desc(self) -> str:
        return "Make a seed list from URLs, ranks, dumps, sitemaps, WARC files or a crawl"

    def long_desc(self) -> str:
        return (
            "Reads lists of URLs or hosts, CSV, rank lists, JSON, Parquet (Common Crawl's index"
            " too), Wikipedia's externallinks dump, sitemaps, a directory's RDF, WARC files, or a"
            " crawl; each plain or packed, several of one kind at a time. docs/analysis.md#seeds"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--lang", default="", help="languages, such as th or ja,ko,zh")
        add("--out", type=Path, help="folder for <lang>.txt, made if need be")
        add("--format", default="", help="format of the files, if it isn't recognised")
        add("--tlds", default="", help="only these top-level domains, such as th,com,net")
        add("--most", type=int, default=MOST, help=f"seeds per language (default: {MOST})")
        add(
            "--per-domain",
            type=int,
            default=PER_DOMAIN,
            help=f"seeds of a registered domain (default: {PER_DOMAIN})",
        )
        add("--random-seed", type=int, default=1, help="decides between equals (default: 1)")
        add("--fetch", action="store_true", help="fetch the pages to tell their language")
        add("--trust", action="store_true", help="take URLs of which no language is known, too")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args or not opts.lang or opts.out is None:
            raise UsageError("give files or a crawl, --lang and --out", print_help=False)
        from lswc.seeds.maker import make

        with working() as say:
            made = make(opts, list(map(Path, args)), self.settings or Settings(), say)
        Console(file=sys.stdout).print(counted("candidates", made.counts, longest=None))
        for line in made.remarks:
            print(f"{program()} seeds: {line}", file=sys.stderr)
        for line in made.written:
            print(line)
