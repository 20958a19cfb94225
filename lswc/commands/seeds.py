"""``scrapy seeds``: a seed list for a language, from a directory, a CSV or a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.terminal.command import UserCommand

if TYPE_CHECKING:
    import argparse

MOST = 1000
"""Default number of seeds per language."""


class Command(UserCommand):
    """Writes seeds/<lang>.txt for one or more languages; a user's mistake is exit code 2."""

    def syntax(self) -> str:
        return (
            "--lang <lang>[,<lang>...] --rdf <dump> | --csv <file> | --crawl <trace> --out <folder>"
        )

    def short_desc(self) -> str:
        return "Make a seed list from a web directory, a CSV of URLs or a crawl's hubs"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--lang", default="", help="languages, such as th or ja,ko,zh")
        add("--rdf", type=Path, help="dump of a web directory in DMOZ's RDF, plain or .gz")
        add("--csv", type=Path, help="CSV of URLs; columns title and description help to judge")
        add("--crawl", type=Path, help="trace of a crawl: take its best hubs")
        add("--out", type=Path, help="folder for <lang>.txt, made if need be")
        add("--tlds", default="", help="only these top-level domains, such as th,com,net")
        add("--most", type=int, default=MOST, help="seeds per language (default: 1000)")
        add("--random-seed", type=int, default=1, help="of the random choice (default: 1)")
        add("--fetch", action="store_true", help="fetch the pages to tell their language")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        given = [path for path in (opts.rdf, opts.csv, opts.crawl) if path is not None]
        if args or len(given) != 1 or not opts.lang or opts.out is None:
            raise UsageError(
                "give --lang, --out and one of --rdf, --csv, --crawl", print_help=False
            )
        from lswc.seeds.making import make

        make(opts, given[0], self.settings or Settings())
