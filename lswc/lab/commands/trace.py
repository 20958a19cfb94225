"""``scrapy trace``: a crawl, a frozen web or WARC files, as a trace to simulate crawls on."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.cli.command import UserCommand
from lswc.cli.progress_lines import working
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from lswc.lab.trace.format import Trace


class Command(UserCommand):
    """Reads a crawl's log, or everything in a frozen web that is reachable from its seeds."""

    requires = ("lab",)

    def syntax(self) -> str:
        return "<crawl folder> --out FOLDER | --web FOLDER --lang CODE [--seeds FILE] --out FOLDER"

    def short_desc(self) -> str:
        return "Make a trace of a crawl, of a frozen web or of WARC files"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--web", metavar="FOLDER", help="frozen web, WARC file or folder of WARC"
        )
        parser.add_argument(
            "--lang", metavar="CODE", help="target language; of a crawl, if it has several"
        )
        parser.add_argument(
            "--seeds", metavar="FILE", help="one URL a line; default: seeds-CODE.txt in the web"
        )
        parser.add_argument("--out", metavar="FOLDER", help="where the trace goes")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        of_crawl = len(args) == 1 and not (opts.web or opts.seeds)
        if not opts.out or not (of_crawl or (not args and opts.web and opts.lang)):
            raise UsageError(
                "give a crawl folder, or --web and --lang, and --out", print_help=False
            )
        if of_crawl:
            _trace_crawl(Path(args[0]), Path(opts.out), opts.lang or "")
        else:
            settings = self.settings or Settings()
            _trace(Path(opts.web), opts.lang, opts.seeds, Path(opts.out), settings)


def _trace(folder: Path, code: str, seeds_file: str | None, out: Path, settings: Settings) -> None:
    from lswc.crawl.configuration import LimitSettings, quotas_of, reader_settings
    from lswc.crawl.seed_files import read_seeds, seeds_of_web
    from lswc.crawl.web import open_web
    from lswc.lab.trace.format import About, Trace
    from lswc.lab.trace.from_web import from_web
    from lswc.language.registry import language, wanted
    from lswc.reading.documents.separate_process import Aside

    target, web = language(code), open_web(folder)
    reader, limits = (
        reader_settings(target.tag, settings).reader(),
        LimitSettings.of(settings, quotas_of(settings, wanted(target.tag)).server).new(),
    )
    seeds = read_seeds(Path(seeds_file) if seeds_file else seeds_of_web(folder, target))
    if (out / "trace.json").exists():
        raise ConfigError(f"{out} holds a trace already: choose another folder")
    about = About(target.tag, target.tlds, f"frozen web {folder}")
    with working() as say, Aside() as aside:
        reader = replace(reader, read_document=aside.read)
        from_web(web, seeds, reader, limits, about, say).write(out, seeds)
        trace = Trace.read(out)
    _show(trace, out)


def _trace_crawl(crawl: Path, out: Path, lang: str) -> None:
    from lswc.lab.trace.format import Trace
    from lswc.lab.trace.from_log import to_trace

    with working() as say:
        say("links", 0, 0)
        to_trace(crawl, out, lang)
        trace = Trace.read(out)
    _show(trace, out)


def _show(trace: Trace, out: Path) -> None:
    console = Console(file=sys.stdout)
    console.print(
        f"{trace.urls:,} URLs, {trace.pages:,} pages, {trace.relevant.sum():,} of them relevant, "
        f"{len(trace.targets):,} links: {out}",
        highlight=False,
        markup=False,
    )
