"""``scrapy check``: Scrapy's, of the contracts of spiders. ``lswc check`` is that of a crawl."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands.check import Command as CheckCommand
from scrapy.spiderloader import get_spider_loader

from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(CheckCommand):
    """Checks contracts; whoever means a crawl is told by which command."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        super().process_options(args, opts)
        spiders = get_spider_loader(self.settings).list() if self.settings is not None else []
        for name in args:
            if name not in spiders:
                meant = f"; a crawl's files: lswc check {name}" if Path(name).is_dir() else ""
                known = ", ".join(spiders)
                line = f"scrapy check: error: unknown spider {name!r}; known: {known}{meant}"
                print(line, file=sys.stderr)
                sys.exit(ConfigError.exit_code)
