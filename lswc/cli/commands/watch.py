"""``scrapy watch CRAWL``: a page in the browser that shows a crawl, and changes its control."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import KEY, UserCommand, named, option
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


USUAL = "crawls"
"""Folder in which crawls are that aren't given another."""


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
        from lswc.monitor.stored import stored
        from lswc.workbench.crawls import Crawls
        from lswc.workbench.server import serve

        if len(places) == 1 and _is_for_crawls(places[0]):
            # It starts crawls, with a priority that is not lower.
            serve(Crawls(Path(places[0])), opts.host, int(opts.port), opts.name, _ready)
            return
        crawl = stored(places, opts.key, self.project_settings)
        os.nice(5)  # the crawl goes first
        serve(crawl, opts.host, int(opts.port), opts.name, _ready)


def _is_for_crawls(place: str) -> bool:
    """Tell whether a place is a folder of crawls, or may become one: it is empty.

    The usual one needn't be there: what else isn't there was rather misspelled. Raises ConfigError.
    """
    from lswc.frontier import FRONTIER_FILE, names_redis
    from lswc.workbench import plans
    from lswc.workbench.crawls import Crawls

    folder = Path(place)
    if names_redis(place) or (folder / FRONTIER_FILE).exists():
        return False
    if not folder.exists():
        return folder.name == USUAL
    try:
        is_empty = folder.is_dir() and not any(folder.iterdir())
    except OSError as error:
        raise ConfigError(f"can't read {folder}: {error.strerror}") from error
    crawls = Crawls(folder)
    return is_empty or bool(crawls.names() or plans.names(folder) or crawls.unreadable())


def _ready(address: str) -> None:
    print(
        f"{address}\nWhoever has this address may give the crawl instructions. Ctrl-C ends it.",
        flush=True,
    )
