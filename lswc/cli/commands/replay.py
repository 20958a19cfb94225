"""``lswc replay CRAWL ...``: what was archived, in the browser, as it was."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from lswc.cli.command import UserCommand, folders, option
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Serves what crawls archived on this machine, until Ctrl-C."""

    usage = "<crawl folder> [folders of other crawls, or workers] [--port 6810]"
    summary = "Show what was archived in the browser, by URL, by title and by day"
    options = (option("--port", "0 for any that is free (default: 6810)", "6810"),)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.archive.collection import collected
        from lswc.monitor.replay import announced, pywb_of, server, wayback

        if not (opts.port.isascii() and opts.port.isdecimal() and int(opts.port) < 2**16):
            raise ConfigError(f"--port={opts.port!r} isn't a port: 0 to 65535")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # pywb ends, too
        collection = collected(folders(args))
        for said in collection.gone:
            print(said, file=sys.stderr)
        with (
            pywb_of(collection, wayback()) as pywb,
            server(collection.crawls, pywb, int(opts.port)) as serving,
        ):
            address = f"http://127.0.0.1:{serving.server_port}/"
            with announced(collection.crawls[0], address):
                print(f"{address}\nOnly this machine can reach it. Ctrl-C ends it.", flush=True)
                serving.serve_forever()
