"""``scrapy watch CRAWL``: a page in the browser that shows a crawl, and changes its control."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.cli.command import UserCommand
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Serves the page of a crawl that runs, or that ended, until Ctrl-C."""

    def syntax(self) -> str:
        return "<crawl folder> | redis://... [--key NAME] [--port 6800]"

    def short_desc(self) -> str:
        return "Show a crawl in the browser while it runs or after, and give it instructions"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--key", default="", help="LSWC_REDIS_KEY, if Redis has many crawls")
        parser.add_argument("--port", default="6800", help="0 for any that is free (default: 6800)")
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen to (default: this machine only)"
        )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one crawl folder, or one Redis", print_help=False)
        if not (opts.port.isascii() and opts.port.isdecimal() and int(opts.port) < 2**16):
            raise ConfigError(f"--port={opts.port!r} isn't a port: 0 to 65535")
        from lswc.monitor.page.server import serve
        from lswc.monitor.stored import stored

        crawl = stored(args[0], opts.key, self.settings or Settings())
        os.nice(5)  # the crawl goes first
        serve(crawl, opts.host, int(opts.port), _ready)


def _ready(address: str) -> None:
    print(
        f"{address}\nWhoever has this address may give the crawl instructions. Ctrl-C ends it.",
        flush=True,
    )
