"""``scrapy check``: the contracts of spiders, as Scrapy has it; or a crawl, of named folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands.check import Command as ContractsCommand
from scrapy.spiderloader import get_spider_loader

from lswc.cli.check import Command as CrawlCheck
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(ContractsCommand):
    """Checks contracts; or, as ``lswc check``, whether the frontier and files of a crawl agree."""

    _of_crawl: CrawlCheck | None = None

    def syntax(self) -> str:
        return "[options] <spider, or crawl folder>"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        for name, given in CrawlCheck.options:
            parser.add_argument(name, **given)

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is None or not args:
            return
        from lswc.frontier import names_redis

        spiders = get_spider_loader(self.settings).list()
        unknown = [name for name in args if name not in spiders]
        if len(unknown) == len(args) and any(Path(n).is_dir() or names_redis(n) for n in args):
            self._of_crawl = CrawlCheck()
            self._of_crawl.settings = self.settings
            self.requires_crawler_process = False
        elif unknown:
            known = ", ".join(spiders)
            error = f"{unknown[0]!r} is neither a crawl folder nor a spider; spiders: {known}"
            print(f"scrapy check: error: {error}", file=sys.stderr)
            sys.exit(ConfigError.exit_code)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if self._of_crawl is None:
            super().run(args, opts)
        else:
            self._of_crawl.run(args, opts)
            self.exitcode = self._of_crawl.exitcode
