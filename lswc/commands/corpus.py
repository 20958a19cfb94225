"""``scrapy corpus CRAWL``: clean text in the language of a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.terminal.command import UserCommand

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Writes the corpus of a crawl, as JSON Lines and as Parquet."""

    def syntax(self) -> str:
        return "<crawl folder>"

    def short_desc(self) -> str:
        return "Write a crawl's clean text, in its language only, as JSON Lines and Parquet"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--out", help="folder to write into (default: corpus/ in the crawl's)")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one crawl folder", print_help=False)
        from lswc.corpus.documents import write

        crawl = Path(args[0])
        out = Path(opts.out) if opts.out else crawl / "corpus"
        written = write(crawl, out)
        print(f"{written.rows:,} pages with text in {out}")
        if written.opted_out:
            print(f"{written.opted_out:,} pages left out that say their text must not be mined")
