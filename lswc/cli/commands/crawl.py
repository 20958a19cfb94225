"""``scrapy crawl``, which finds a user's mistakes before anything is fetched."""

from __future__ import annotations

import gc
import logging
import sys
from argparse import SUPPRESS
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.spiderloader import get_spider_loader

from lswc.cli.command import program
from lswc.cli.tables import plain, terminal
from lswc.errors import ConfigError, LswcError, writing

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings


class Command(CrawlCommand):
    """Runs a spider; a mistake of the user's is one line, and exit code 2.

    For a crawl that stopped early it is one of EXIT_CODES.
    """

    _ran: Crawler | None = None

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--details", action="store_true", help=DETAILS)
        parser.add_argument("--json", action="store_true", help=JSON)
        parser.add_argument("--file", metavar="FILE", help="a crawl file, of `lswc new`")
        parser.add_argument("--dry-run", action="store_true", help=DRY_RUN)
        parser.add_argument("--fresh", action="store_true", help=SUPPRESS)  # of `lswc demo`
        parser.add_argument("--demo", action="store_true", help=SUPPRESS)  # that was called

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        # What is loaded by now stays: looking for garbage in it again and again takes a tenth of
        # a crawl's time, and a tenth of its start.
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        if self.settings is not None and self.settings.get("LOG_LEVEL") != "DEBUG":
            for name in _CHATTER:
                logging.getLogger(name).addFilter(_is_said)
        if len(args) != 1 or self.settings is None:
            return  # Scrapy prints its usage
        try:
            self._prepare(self.settings, args[0], opts)
        except LswcError as error:
            for said in str(error).splitlines():
                line = f"{_called(opts)}: error: {said}"
                print(line, file=sys.stderr)
                _log(self.settings.get("LOG_FILE"), line)
            sys.exit(error.exit_code)

    def _prepare(self, settings: Settings, spider: str, opts: argparse.Namespace) -> None:
        """Take in the crawl file, if there is one, and find mistakes. Raises LswcError."""
        from lswc.crawl import crawl_file
        from lswc.crawl.crawl_folder import begun_anew

        file = crawl_file.read(Path(opts.file)) if opts.file else None
        if file is not None:
            opts.spargs = {**file.arguments, **opts.spargs}
            settings.setdict(file.settings, crawl_file.PRIORITY)
        try:
            folder = Path(settings.get("LSWC_CRAWL"))
            with begun_anew(folder) if opts.fresh else nullcontext():
                _check(settings, spider, opts)
            if opts.dry_run:
                from lswc.cli.dry_run import show

                show(settings, opts.spargs, file, details=opts.details)
                sys.exit(0)
        except ConfigError as error:
            raise (error if file is None else file.located(error)) from error

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        gc.freeze()  # with what the crawl itself has loaded
        if self.settings is not None:
            # Scrapy lets every line be made, and then shows those of LOG_LEVEL.
            for name in _TALKERS:
                logging.getLogger(name).setLevel(self.settings.get("LOG_LEVEL"))
        super().run(args, opts)
        from lswc.crawl.close_reasons import EXIT_CODES

        reason = self._ran.stats.get_value("finish_reason") if self._ran is not None else ""
        self._show_summary(opts, reason or "")
        self.exitcode = EXIT_CODES.get(reason, self.exitcode)

    def _show_summary(self, opts: argparse.Namespace, reason: str) -> None:
        from lswc.cli.summary_table import advice, details_table, summary_table
        from lswc.monitor.recorder import Recorder
        from lswc.monitor.summary import text

        try:
            recorder = self._ran.get_extension(Recorder) if self._ran is not None else None
        except RuntimeError:  # it couldn't begin
            return
        if recorder is None or recorder.last is None:
            return
        if self.settings is not None:
            _log(self.settings.get("LOG_FILE"), plain(summary_table(recorder.last)))
        if opts.json:
            print(text(recorder.last, reason), end="")
            return
        console = terminal()
        console.print(summary_table(recorder.last))
        if opts.details:
            console.print(details_table(recorder.last))
        then = advice(recorder.last, recorder.folder)
        console.print(then, markup=False, highlight=False, soft_wrap=True)

    def _create_crawler(self, spidercls: type[Spider] | str) -> Crawler:
        self._ran = super()._create_crawler(spidercls)
        return self._ran


DETAILS = "print all that was counted, too; summary.json has it in any case"
"""Help of the option."""

JSON = "print the summary as JSON, as summary.json has it"
"""Help of the option."""

DRY_RUN = "print the settings, where each comes from, and the first URLs; fetch nothing"
"""Help of the option."""

_TALKERS = ("lswc", "scrapy", "twisted")
"""Loggers that have something to say of every page."""

_GARBAGE = 5_000
"""Objects that are made before Python looks for circles among them: what 50 pages make."""

_CHATTER = (
    "scrapy.addons",
    "scrapy.core.engine",
    "scrapy.crawler",
    "scrapy.middleware",
    "scrapy.statscollectors",
    "scrapy.utils.log",
    "twisted",
)
"""Loggers of Scrapy and Twisted that speak at the start and the end of every crawl."""


def _is_said(record: logging.LogRecord) -> bool:
    """Tell whether the record is more than what Scrapy says of every crawl."""
    return record.levelno >= logging.WARNING


def _log(file: str | None, line: str) -> None:
    """Write a line, or more, into the crawl's log: of a job scrapyd shows nothing else."""
    if file:
        with suppress(OSError), Path(file).open("a", encoding="utf-8") as log:
            log.write(f"{line}\n")


def _called(options: argparse.Namespace) -> str:
    return f"{program()} {'demo' if options.demo else 'crawl'}"


def _check(settings: Settings, spider_name: str, options: argparse.Namespace) -> None:
    """Find what is wrong with the spider, its arguments or the settings. Raises LswcError."""
    from lswc.crawl import checked_settings
    from lswc.crawl.spider import LswcSpider
    from lswc.monitor import end_notice, metrics

    loader = get_spider_loader(settings)
    if spider_name not in loader.list():
        known = ", ".join(loader.list())
        raise ConfigError(f"unknown spider {spider_name!r}; known: {known}")
    if (file := settings.get("LOG_FILE")) and not options.dry_run:
        with writing(file), Path(file).open("a", encoding="utf-8"):
            pass
    spider_class = loader.load(spider_name)
    if issubclass(spider_class, LswcSpider):
        if not options.dry_run:  # which does the same, and leaves nothing behind
            spider_class.check(settings, **options.spargs)
        metrics.check(settings)
        end_notice.command_of(settings)
        for name in checked_settings.unknown(settings):
            line = f"{_called(options)}: warning: neither lswc nor Scrapy has a setting {name}"
            print(line, file=sys.stderr)
            _log(file, line)
