"""``scrapy wacz CRAWL``: a crawl's archive in one file, to replay it anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand
from lswc.cli.progress_lines import working

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Writes the archive of a crawl as one WACZ file."""

    def syntax(self) -> str:
        return "<crawl folder>"

    def short_desc(self) -> str:
        return "Pack a crawl's archive into one WACZ file, to replay it anywhere"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--out", type=Path, help="the file (default: <crawl folder>.wacz)")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one crawl folder", print_help=False)
        from lswc.archive.wacz import write

        crawl = Path(args[0])
        out: Path = opts.out or crawl.with_name(f"{crawl.resolve().name}.wacz")
        with working() as say:
            written = write(crawl, out, say)
        print(
            f"{out}: {written.pages:,} pages; {written.captures:,} captures in "
            f"{written.files:,} WARC file{'s' if written.files != 1 else ''}"
        )
