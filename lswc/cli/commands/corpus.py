"""``scrapy corpus CRAWL``: clean text in the language of a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import UserCommand, one, option
from lswc.cli.progress_lines import working

if TYPE_CHECKING:
    import argparse


_LEFT_OUT = {
    "opted out": "they say that their text must not be mined",
    "copy": "copies of pages that are left out",
    "empty": "they have no text of their own",
    "other language": "they have no paragraph in the language",
}


class Command(UserCommand):
    """Writes the corpus of a crawl, as JSON Lines and as Parquet."""

    requires = ("corpus",)

    usage = "<crawl folder>"
    summary = "Write a crawl's clean text as JSON Lines and Parquet"
    options = (
        option(
            "--out", "folder to write into (default: corpus/ in the crawl's, or corpus/LANG)", Path
        ),
        option("--lang", "the language, of a crawl of several"),
        option("--only-language", "leave out paragraphs in other languages, and code", False),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.corpus.documents import write

        crawl = Path(one(args, "crawl folder"))
        out = opts.out or crawl / "corpus" / opts.lang
        with working() as say:
            written = write(crawl, out, opts.only_language, say, opts.lang)
        print(f"{written.rows:,} pages with text in {out}, of {written.read:,} that were read")
        for kind, number in sorted(written.duplicates.items()):
            print(f"{number:,} of them {kind} duplicates")
        for reason, number in sorted(written.left_out.items()):
            print(f"{number:,} pages left out: {_LEFT_OUT[reason]}")
        if written.unreadable:
            print(f"{written.unreadable:,} records can't be read: scrapy check {crawl}")
