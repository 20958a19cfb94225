"""``scrapy watch CRAWL``: a page in the browser that shows a crawl, and changes its control."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import KEY, UserCommand, named, option
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Serves the page of a crawl that runs, or that ended, until Ctrl-C."""

    usage = "<crawl folders, or a folder of crawls> | redis://... [--key NAME] [--port 6800] ..."
    summary = "Show a crawl in the browser while it runs or after, and give it instructions"
    options = (
        KEY,
        option("--port", "0 takes a free one (default: 6800)", "6800"),
        option("--host", "address to listen to (default: this machine only)", "127.0.0.1"),
        option("--name", "host name of a web server with TLS before this page"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.urls import parse

        places = named(args)
        if not (opts.port.isascii() and opts.port.isdecimal() and int(opts.port) < 2**16):
            raise ConfigError(f"--port={opts.port!r} isn't a port: 0 to 65535")
        known = parse(f"https://{opts.name}")
        if opts.name and (known is None or known.href != f"https://{opts.name.lower()}/"):
            raise ConfigError(f"--name={opts.name!r} isn't a host, or a host and its port")
        from lswc.frontier import FRONTIER_FILE
        from lswc.monitor.stored import stored
        from lswc.workbench.crawls import Crawls
        from lswc.workbench.server import serve

        several = Crawls(Path(places[0]))
        if (
            len(places) == 1 and several.names() and not (several.folder / FRONTIER_FILE).exists()
        ):  # which start crawls, with a priority that is not lower
            serve(several, opts.host, int(opts.port), opts.name, _ready)
            return
        crawl = stored(places, opts.key, self.project_settings)
        os.nice(5)  # the crawl goes first
        serve(crawl, opts.host, int(opts.port), opts.name, _ready)


def _ready(address: str) -> None:
    print(
        f"{address}\nWhoever has this address may give the crawl instructions. Ctrl-C ends it.",
        flush=True,
    )
