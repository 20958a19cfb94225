"""Spiders of lswc's are refused by Scrapy's commands for single URLs: those have no crawl."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.spiderloader import get_spider_loader

from lswc.cli.command import program
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings


class NeedsOtherSpider(ScrapyCommand):
    """Refuses a spider of lswc's in one line, with exit code 2: its pages come from a frontier."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        if self.settings is None or not opts.spider:
            return
        loader = get_spider_loader(self.settings)
        name = type(self).__module__.rpartition(".")[2]
        if opts.spider not in loader.list():
            known = ", ".join(loader.list())
            error = f"unknown spider {opts.spider!r}; known: {known}"
        elif _is_ours(opts.spider, self.settings):
            error = (
                f"{opts.spider} reads pages of a crawl only; `{program()} shell URL`, and then "
                "read(response, 'th'), shows how it reads one"
            )
        else:
            return
        print(f"{program()} {name}: error: {error}", file=sys.stderr)
        sys.exit(ConfigError.exit_code)


def _is_ours(name: str, settings: Settings) -> bool:
    from lswc.crawl.spider import LswcSpider  # not above: most commands need none of it

    return issubclass(get_spider_loader(settings).load(name), LswcSpider)
