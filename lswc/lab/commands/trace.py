"""``lswc trace``: a crawl, a frozen web or WARC files, as a trace to simulate crawls on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand, option
from lswc.cli.progress_lines import working
from lswc.cli.tables import terminal
from lswc.errors import ConfigError
from lswc.plurals import numbered

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings

    from lswc.lab.trace.format import Trace


class Command(UserCommand):
    """Reads a crawl's log, or everything in a frozen web that is reachable from its seeds."""

    requires = ("lab",)

    usage = "<crawl folder> --out FOLDER | --web FOLDER --lang CODE [--seeds FILE] --out FOLDER"
    summary = "Make a trace of a crawl, of a frozen web or of WARC files"
    options = (
        option("--web", "frozen web, WARC file or folder of WARC", Path, metavar="FOLDER"),
        option("--lang", "target language; of a crawl, if it has several", metavar="CODE"),
        option(
            "--seeds", "one URL a line; default: seeds-CODE.txt in the web", Path, metavar="FILE"
        ),
        option("--out", "where the trace goes", Path, metavar="FOLDER"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        of_crawl = len(args) == 1 and not (opts.web or opts.seeds)
        if not opts.out or not (of_crawl or (not args and opts.web and opts.lang)):
            raise UsageError(
                "give a crawl folder, or --web and --lang, and --out", print_help=False
            )
        read = Path(args[0]) if of_crawl else opts.web
        if opts.out.resolve() in (read.resolve(), *read.resolve().parents):
            raise ConfigError(f"--out {opts.out} is what is read, or holds it: name another folder")
        if of_crawl:
            _trace_crawl(Path(args[0]), opts.out, opts.lang)
        else:
            _trace(opts.web, opts.lang, opts.seeds, opts.out, self.project_settings)


def _trace(folder: Path, code: str, seeds_file: Path | None, out: Path, settings: Settings) -> None:
    from lswc.crawl.configuration import quotas_of, reader_settings
    from lswc.crawl.seed_files import read_seeds, seeds_of_web
    from lswc.crawl.web import open_web
    from lswc.lab.trace.format import About, Trace
    from lswc.lab.trace.from_web import from_web
    from lswc.language.registry import language, wanted
    from lswc.reading.documents.separate_process import DocumentProcess
    from lswc.safety.server_limits import limits_of

    target, web = language(code), open_web(folder)
    reader = reader_settings(target.tag, settings).reader()
    quotas = quotas_of(settings, wanted(target.tag))
    limits = limits_of(quotas, settings.getint("LSWC_MAX_DUPLICATES"))
    seeds = read_seeds(seeds_file or seeds_of_web(folder, target))
    if (out / "trace.json").exists():
        raise ConfigError(f"{out} holds a trace already: choose another folder")
    about = About(target.tag, target.tlds, f"frozen web {folder}")
    with working() as say, DocumentProcess() as documents:
        reader = replace(reader, read_document=documents.read)
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
    terminal().print(
        f"{numbered(trace.urls, 'URL')}, {numbered(trace.pages, 'page')}, "
        f"{trace.relevant.sum():,} of them relevant, {numbered(len(trace.targets), 'link')}: {out}",
        highlight=False,
        markup=False,
    )
