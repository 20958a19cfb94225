"""``scrapy corpus CRAWL``: clean text in the language of a crawl."""

from __future__ import annotations

import sys
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from lswc.cli.command import KEY, UserCommand, option
from lswc.cli.progress_lines import working
from lswc.cli.tables import ROWS_OF_A_GROUP, table
from lswc.errors import ConfigError
from lswc.plurals import numbered

if TYPE_CHECKING:
    import argparse
    from collections import Counter
    from collections.abc import Mapping

    from lswc.corpus.writing import Counts, Written


_LEFT_OUT = {
    "opted out": "they say that their text must not be mined",
    "copy": "copies of pages that are left out",
    "empty": "they have no text of their own",
    "scanned": "they are pictures of pages, which --program tesseract reads",
    "older format": "they are older Office files, which --program catdoc reads",
    "locked": "they need a password",
    "damaged": "they are damaged",
    "illegible": "their fonts don't say which letters they show",
    "other language": "they have no paragraph in the language",
    "removed": "they were to be removed",
    "duplicate": "others have their text",
    "older version": "a later version is there",
    "unchanged": "visited again, with the same text",
    "beyond": "their sites have as many as were asked for",
    "generated": "machines wrote their sites",
    "nothing new": "they have no paragraph that the version before hadn't",
}
_GENERATED = "keep", "drop"
_FORMATS = {
    "jsonl": "jsonl.zst", "parquet": "parquet", "text": "txt.zst", "prevertical": "prevert.zst",
    "markdown": "md.jsonl.zst",
}  # fmt: skip


class Command(UserCommand):
    """Writes the corpus of a crawl."""

    requires = ("corpus",)

    usage = "<crawl folder> [folders of its other workers] | redis://... [--key NAME]"
    summary = "Write a crawl's clean text: Parquet, JSON Lines, plain text, Markdown, prevertical"
    options = (
        option(
            "--out", "folder to write into (default: corpus/ in the crawl's, or corpus/LANG)", Path
        ),
        option("--lang", "the language, if the crawl has several"),
        option(
            "--without",
            "file of URLs and hosts, one in a line, to leave out now and in later runs",
            Path,
        ),
        option("--only-language", "leave out paragraphs in other languages, and code", False),
        option(
            "--generated",
            "pages of sites that machines wrote: keep, marked, or drop (default: keep)",
            "keep",
        ),
        option("--most-of-site", "pages to take of each registered domain (default: 0, all)", 0),
        option(
            "--mask",
            "write [email], [phone] and [identity] in place of mail addresses, telephone numbers "
            "and numbers of identity cards",
            False,
        ),
        option(
            "--against",
            "folder of another corpus in Parquet: texts that it has are marked as duplicates",
            [],
        ),
        option(
            "--versions",
            "texts of pages visited again: latest, all, or diff, what is new in later ones "
            "(default: latest)",
            "latest",
        ),
        option("--filter", "fineweb2: leave out duplicates, and texts that fail its measures"),
        option(
            "--format",
            "jsonl, parquet, text, prevertical or markdown; may be given again "
            "(default: jsonl and parquet)",
            [],
        ),
        option(
            "--program",
            "program of this machine that reads what lswc doesn't: catdoc (.doc, .ppt) or "
            "tesseract (scanned pages); may be given again",
            [],
        ),
        KEY,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.corpus.removal import entries_of
        from lswc.corpus.versions import VERSIONS
        from lswc.corpus.writing import FILTERS, Choices, write

        crawls = self.folders(args, opts.key)
        crawl = crawls[0]
        out = opts.out or crawl / "corpus" / opts.lang
        without = entries_of(opts.without) if opts.without else ()
        formats = [_known(name, tuple(_FORMATS)) for name in opts.format or ("jsonl", "parquet")]
        choices = Choices(
            opts.lang,
            opts.only_language,
            without,
            [Path(folder) for folder in opts.against],
            _known(opts.filter, FILTERS) if opts.filter else "",
            [_FORMATS[name] for name in dict.fromkeys(formats)],
            _known(opts.versions, VERSIONS),
            opts.program,
            opts.mask,
            _known(opts.generated, _GENERATED) == "drop",
            _number(opts.most_of_site, "--most-of-site"),
        )
        with working() as say:
            written = write(crawls, out, choices, say)
        total = written.total
        print(
            f"{numbered(total.rows, 'page')} with text in {out}, of {total.read:,} that were read"
        )
        for kind, number in sorted(total.duplicates.items()):
            print(f"{numbered(number, f'{kind} duplicate')} among them")
        _print_left_out(total)
        for entry, many in written.without.items():
            print(f"without {entry}: {numbered(many, 'page')}")
        _print_marks(written)
        if total.letters:
            print(f"letters by kind: {_shares(total.letters)}")
        if total.unreadable:
            print(f"{numbered(total.unreadable, 'record')} can't be read: lswc check {crawl}")
        if written.hosts:
            _print_hosts(written.hosts, out)


def _print_marks(written: Written) -> None:
    total = written.total
    if total.machine_translated:
        print(f"{total.machine_translated:,} say that they were machine-translated")
    if total.scanned_pages:
        print(f"{numbered(total.scanned_pages, 'page')} of PDFs are scanned")
    for home, (score, signs) in islice(written.generated_sites.items(), ROWS_OF_A_GROUP):
        print(f"machines wrote {home}, by its texts ({score:.2f}): {', '.join(signs)}")
    for kind, number in total.personal_data.most_common():
        print(f"{number:,} have personal data: {kind}")


def _number(value: int, name: str) -> int:
    if value < 0:
        raise ConfigError(f"{name} must be 0 or more, not {value}")
    return value


def _known(name: str, names: tuple[str, ...]) -> str:
    if name not in names:
        raise ConfigError(f"there is no {name!r}: {', '.join(names)}")
    return name


def _print_left_out(total: Counts) -> None:
    for reason, number in sorted(total.left_out.items()):
        said = _LEFT_OUT.get(reason, f"they fail by {reason}")
        print(f"{numbered(number, 'page')} left out: {said}")
        if reason == "opted out":
            for said, many in total.opt_outs.most_common():
                print(f"  {many:,} by {said}")


def _shares(letters: Counter[str]) -> str:
    whole = letters.total()
    return ", ".join(f"{kind} {number / whole:.1%}" for kind, number in letters.most_common())


def _print_hosts(hosts: Mapping[str, Counts], out: Path) -> None:
    largest = nlargest(ROWS_OF_A_GROUP, hosts.items(), key=lambda item: item[1].read)
    rows = [
        (host or "unknown", c.read, c.rows, c.duplicates.total(), c.left_out.total(), c.unreadable)
        for host, c in largest
    ]
    heads = ("host", "read", "rows", "duplicates", "left out", "unreadable")
    Console(file=sys.stdout).print(table("", heads, rows))
    print(f"{numbered(len(hosts), 'host')}, each with its reasons: {out / 'manifest.json'}")
