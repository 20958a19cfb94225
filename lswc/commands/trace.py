"""``scrapy trace CRAWL --out FOLDER``: a crawl's log as a trace for the simulator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from lswc.archive.trace import to_trace

if TYPE_CHECKING:
    import argparse


class Command(ScrapyCommand):
    """Turns the log of a crawl, also of a killed one, into a trace."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return "<crawl folder>"

    def short_desc(self) -> str:
        return "Turn a crawl's log into a trace for scrapy simulate"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--out", help="folder to write into (default: trace/ in the crawl's)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one crawl folder", print_help=False)
        crawl = Path(args[0])
        out = Path(opts.out) if opts.out else crawl / "trace"
        try:
            number = to_trace(crawl, out)
        except ValueError as error:
            print(f"scrapy trace: error: {error}", file=sys.stderr)
            self.exitcode = 2
            return
        print(f"{number:,} URLs in {out}")
