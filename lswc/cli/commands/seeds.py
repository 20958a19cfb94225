"""``scrapy seeds``: a seed list for a language, from what people have."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import CONTACT, UserCommand, option, program
from lswc.cli.progress_lines import working
from lswc.cli.tables import counted, terminal

if TYPE_CHECKING:
    import argparse

    from lswc.seeds.catalogue import Source

SEEDS_OF_A_LANGUAGE = 1000
"""Default number of seeds per language."""

PER_DOMAIN = 2
"""Default number of seeds of a registered domain."""

OUT = Path("seeds")
"""Default folder of the lists: ``lswc crawl`` looks for them there."""


class Command(UserCommand):
    """Writes <lang>.txt for one or more languages; a user's mistake is exit code 2."""

    requires = ("seeds",)

    usage = "<file or folder> ... --lang <lang>[,<lang>...] [--from <source>] [--fetch]"
    summary = "Make a seed list from lists of a language's sites, links, ranks, indexes or a crawl"
    details = (
        "Reads a checkout of the Web Languages Project, pages of links in Markdown or HTML, OPML,"
        " results of SPARQL, lists of URLs or hosts, CSV, rank lists, JSON, certificates, CDX,"
        " WACZ, Parquet (Common Crawl's index too), Wikipedia's externallinks dump, sitemaps, a"
        " directory's RDF, WARC files, or a crawl; each plain or packed, several of one kind at a"
        " time. docs/seeds.md"
    )
    options = (
        option("--lang", "languages, such as cy or ja,ko,zh"),
        option("--from", "the source by its name, such as web-languages", dest="source"),
        option("--sources", "list the sources, with addresses and licences", False),
        option("--out", f"folder for <lang>.txt, made if need be (default: {OUT})", OUT),
        option("--format", "format of the files, if it isn't recognised"),
        option("--called", "name of the source in the list, such as a page and its version"),
        option("--dialects", "take all languages of a macrolanguage (ISO 639-3)", False),
        option("--tlds", "only these top-level domains, such as th,com,net"),
        option(
            "--most", f"seeds per language (default: {SEEDS_OF_A_LANGUAGE})", SEEDS_OF_A_LANGUAGE
        ),
        option("--per-domain", f"seeds of a registered domain (default: {PER_DOMAIN})", PER_DOMAIN),
        option("--random-seed", "decides between equal candidates (default: 1)", 1),
        option("--fetch", "visit the sites, and note their language and kind", False),
        CONTACT,
        option("--trust", "also take URLs whose language isn't known", False),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.seeds.catalogue import source_called

        if opts.sources:
            _print_sources()
            return
        if opts.source and not args:
            raise UsageError(_missing(source_called(opts.source)), print_help=False)
        if not args or not opts.lang:
            raise UsageError("give --lang, and files, a folder or a crawl", print_help=False)
        from lswc.seeds.maker import make

        with working() as say:
            made = make(opts, list(map(Path, args)), self.project_settings, say)
        terminal().print(counted("candidates", made.counts, longest=None))
        for line in made.remarks:
            print(f"{program()} seeds: {line}", file=sys.stderr)
        for line in made.written:
            print(line)


def _missing(source: Source) -> str:
    return f"give the files of {source.title}; they are to be had by: {source.where}"


def _print_sources() -> None:
    from lswc.seeds.catalogue import SOURCES

    for name, source in SOURCES.items():
        print(f"--from {name}: {source.title}\n    {source.where}\n    licence: {source.licence}")
