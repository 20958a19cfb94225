"""Commands that run a spider: a user's mistakes are found before anything is fetched."""

from __future__ import annotations

import gc
import json
import logging
import signal
import sys
from abc import abstractmethod
from argparse import SUPPRESS
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from scrapy.commands import BaseRunSpiderCommand
from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from lswc.cli.command import program
from lswc.cli.tables import plain, terminal
from lswc.errors import ConfigError, LswcError, of_file, writing
from lswc.standard_files import open_missing

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

    from lswc.crawl.crawl_file import CrawlFile
    from lswc.crawl.spider import LswcSpider


class RunsSpider(BaseRunSpiderCommand):
    """Runs a spider; of a crawl of lswc's, a mistake of the user's is one line, and exit code 2.

    For one that stopped early it is one of EXIT_CODES. Other spiders run as Scrapy runs them.
    """

    _ran: Crawler | None = None
    _is_crawl = False

    @abstractmethod
    def spider_class(self, settings: Settings, args: list[str]) -> type[Spider] | None:
        """Return the spider that the arguments name; None if they name none. Raises ConfigError."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--details", action="store_true", help=DETAILS)
        parser.add_argument("--json", action="store_true", help=JSON)
        parser.add_argument("--file", metavar="FILE", help="a crawl file, of `lswc new`")
        parser.add_argument("--dry-run", action="store_true", help=DRY_RUN)
        parser.add_argument("--trust", action="store_true", help=TRUST)
        parser.add_argument("--fresh", action="store_true", help=SUPPRESS)  # of `lswc demo`
        parser.add_argument("--demo", action="store_true", help=SUPPRESS)  # that was called

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        open_missing()  # of `scrapy crawl`, before Scrapy writes to them
        # What is loaded by now stays: looking for garbage in it again and again takes a tenth of
        # a crawl's time, and a tenth of its start.
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        try:
            _check_json(opts.set)
            super().process_options(args, opts)
            self._prepare(args, opts)
        except LswcError as error:
            self._refuse(opts, error)
        except OSError as error:  # such as of a folder of another user's
            self._refuse(opts, of_file(error))

    def _refuse(self, opts: argparse.Namespace, error: LswcError) -> NoReturn:
        for text in str(error).splitlines():
            line = f"{self._called(opts)}: error: {text}"
            print(line, file=sys.stderr)
            _log(None if self.settings is None else self.settings.get("LOG_FILE"), line)
        sys.exit(error.exit_code)

    def _prepare(self, args: list[str], opts: argparse.Namespace) -> None:
        """Find what is wrong with a crawl of lswc's. Raises LswcError."""
        settings = self.settings
        spider = None if settings is None else self.spider_class(settings, args)
        if settings is None or spider is None:
            return  # Scrapy prints its usage
        from lswc.crawl.placement import under_scrapyd
        from lswc.crawl.spider import LswcSpider

        self._is_crawl = issubclass(spider, LswcSpider)
        if not issubclass(spider, LswcSpider):
            _refuse_options(opts)
            return
        if settings.get("LOG_LEVEL") != "DEBUG" and not under_scrapyd():
            for name in _CHATTER:
                logging.getLogger(name).addFilter(_is_said)
        self._check_crawl(settings, spider, opts)

    def _check_crawl(
        self, settings: Settings, spider: type[LswcSpider], opts: argparse.Namespace
    ) -> None:
        """Take in the crawl file, if there is one, and find mistakes. Raises LswcError."""
        from lswc.crawl import crawl_file, trust
        from lswc.crawl.crawl_folder import begun_anew
        from lswc.crawl.placement import under_scrapyd

        file = crawl_file.read(Path(opts.file)) if opts.file else None
        if file is not None:
            _check_trust(file, opts)
            opts.spargs = {**file.arguments, **opts.spargs}
            settings.setdict(file.settings, crawl_file.PRIORITY)
        else:
            given = (n for n in settings if settings.getpriority(n) == _OF_COMMAND)
            if under_scrapyd():
                trust.check_job(settings, given, Path.cwd())
        try:
            folder = Path(settings.get("LSWC_CRAWL") or "")
            with begun_anew(folder) if opts.fresh else nullcontext():
                self._check(settings, spider, opts)
            if opts.dry_run:
                from lswc.cli.dry_run import show

                show(spider.applied(settings), opts.spargs, file, details=opts.details)
                sys.exit(0)
        except ConfigError as error:
            raise (error if file is None else file.located(error)) from error

    def _check(
        self, settings: Settings, spider: type[LswcSpider], opts: argparse.Namespace
    ) -> None:
        """Find what is wrong with a spider, its arguments or the settings. Raises LswcError."""
        from lswc.crawl import checked_settings
        from lswc.monitor import end_notice, metrics

        if (file := settings.get("LOG_FILE")) and not opts.dry_run:
            with writing(file), Path(file).open("a", encoding="utf-8"):
                pass
        if not opts.dry_run:  # which does the same, and leaves nothing behind
            spider.check(settings, **opts.spargs)
        metrics.check(settings)
        end_notice.command_of(settings)
        for name in checked_settings.unknown(settings):
            line = f"{self._called(opts)}: warning: neither lswc nor Scrapy has a setting {name}"
            print(line, file=sys.stderr)
            _log(file, line)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        gc.freeze()  # with what the crawl itself has loaded
        if self.settings is not None:
            # Scrapy lets every line be made, and then shows those of LOG_LEVEL.
            for name in _TALKERS:
                logging.getLogger(name).setLevel(self.settings.get("LOG_LEVEL"))
        _end_with_terminal()
        super().run(args, opts)  # type: ignore[safe-super]  # it stands before Scrapy's command
        if not self._is_crawl:
            return
        from lswc.crawl.close_reasons import EXIT_CODES, NOT_CLOSED

        stats = self._ran.stats.get_stats() if self._ran is not None else {}
        reason = stats.get("finish_reason", "")
        self._show_summary(opts, reason)
        self.exitcode = EXIT_CODES.get(reason, self.exitcode) or int(NOT_CLOSED in stats)

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

    def _called(self, options: argparse.Namespace) -> str:
        return f"{program()} {'demo' if options.demo else type(self).__module__.rpartition('.')[2]}"


DETAILS = "also print all counts; summary.json always has them"
"""Help of the option."""

JSON = "print the summary as JSON"
"""Help of the option."""

DRY_RUN = "print the settings, where each comes from, and the first URLs; fetch nothing"
"""Help of the option."""

TRUST = "allow what a crawl file runs: commands, classes, modules"
"""Help of the option."""

_TALKERS = ("lswc", "scrapy", "twisted")
"""Loggers that have something to say of every page."""

_OF_COMMAND = SETTINGS_PRIORITIES["cmdline"]
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


def _end_with_terminal() -> None:
    """Let a crawl whose terminal goes (SIGHUP) end in order, as by SIGTERM; not under nohup."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, lambda *_: signal.raise_signal(signal.SIGTERM))


def _check_json(given: Iterable[str]) -> None:
    """Raise ConfigError for a setting that must be a dictionary as JSON, and isn't."""
    for name, _, value in (setting.partition("=") for setting in given):
        if not isinstance(getattr(default_settings, name, None), dict):
            continue
        try:
            is_one = isinstance(json.loads(value), dict)
        except ValueError:
            is_one = False
        if not is_one:
            like = '{"my_module.MyClass": 300}'
            raise ConfigError(f"{name} must be a dictionary as JSON, such as {like}, not {value!r}")


def _check_trust(file: CrawlFile, opts: argparse.Namespace) -> None:
    """Let a file run something only if its user wants that: it may be another's.

    Raises ConfigError.
    """
    from lswc.crawl import trust

    running = trust.running(file.settings)
    for name, value in running.items():
        if opts.dry_run:
            print(f"runs: {name} = {value!r}")
    if not running or opts.trust or opts.dry_run:
        return
    named = ", ".join(f"{name} = {value!r}" for name, value in running.items())
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        print(f"{file.path} runs: {named}", file=sys.stderr)
        if input("Do you trust who wrote it? [y/N] ").strip().lower() in ("y", "yes"):
            return
    raise ConfigError(f"{file.path} runs {named}: say --trust if you trust who wrote it")


def _refuse_options(opts: argparse.Namespace) -> None:
    """Raise ConfigError for an option that means nothing to a spider that isn't lswc's."""
    for name in ("details", "json", "file", "dry_run", "trust"):
        if getattr(opts, name):
            raise ConfigError(f"--{name.replace('_', '-')} is for crawls of lswc's only")
