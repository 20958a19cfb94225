"""``lswc replay CRAWL``: what was archived, in the browser, as it was."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import UserCommand, one, option
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Serves a crawl's archive on this machine, until Ctrl-C."""

    usage = "<crawl folder> [--port 6810]"
    summary = "Show what was archived in the browser, by URL, by title and by day"
    options = (option("--port", "0 for any that is free (default: 6810)", "6810"),)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.monitor.replay import announced, pywb_of, server, wayback

        crawl = Path(one(args, "crawl folder"))
        if not (opts.port.isascii() and opts.port.isdecimal() and int(opts.port) < 2**16):
            raise ConfigError(f"--port={opts.port!r} isn't a port: 0 to 65535")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # pywb ends, too
        with pywb_of(crawl, wayback()) as pywb, server(crawl, pywb, int(opts.port)) as serving:
            address = f"http://127.0.0.1:{serving.server_port}/"
            with announced(crawl, address):
                print(f"{address}\nOnly this machine can reach it. Ctrl-C ends it.", flush=True)
                serving.serve_forever()
