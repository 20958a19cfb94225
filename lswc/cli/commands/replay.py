"""``lswc replay CRAWL ...``: what was archived, in the browser, as it was."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from lswc.cli.command import UserCommand, folders, option
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Serves what crawls archived on this machine, until Ctrl-C."""

    usage = "<crawl folder> [folders of other crawls, or workers] [--port 6810]"
    summary = "Show what was archived in the browser, by URL, by title and by day"
    options = (
        option("--port", "0 takes a free one (default: 6810)", "6810"),
        option("--pywb", "show it with pywb, a separate server", False),
        option("--pid", "end when the process with this number does", "0"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.archive.collection import collected
        from lswc.workbench.player import no_player, player, served
        from lswc.workbench.replay import Player, Pywb, announced, pywb_of, server, wayback

        if not (opts.port.isascii() and opts.port.isdecimal() and int(opts.port) < 2**16):
            raise ConfigError(f"--port={opts.port!r} isn't a port: 0 to 65535")
        if not (opts.pid.isascii() and opts.pid.isdecimal()):
            raise ConfigError(f"--pid={opts.pid!r} isn't the number of a process")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # pywb ends, too
        collection = collected(folders(args))
        for said in collection.gone:
            print(said, file=sys.stderr)
        with ExitStack() as stack:
            folder = None if opts.pywb else player()
            command = wayback() if folder is None else None
            if folder is not None:
                shown: Pywb | Player = Player(folder, stack.enter_context(served(collection)))
            elif command is not None:
                shown = stack.enter_context(pywb_of(collection, command))
            else:
                raise no_player()
            for said in shown.lacking:
                print(said, file=sys.stderr)
            serving = stack.enter_context(
                server(collection.crawls, shown, int(opts.port), int(opts.pid))
            )
            address = f"http://127.0.0.1:{serving.server_port}/"
            stack.enter_context(announced(collection.crawls[0], address))
            print(f"{address}\nOnly this machine can reach it. Ctrl-C ends it.", flush=True)
            serving.serve_forever()
