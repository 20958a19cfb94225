"""Web server by itself: ``python -m lswc.crawl.web <folder> --port N``, for any client."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from twisted.internet import reactor as default_reactor

from lswc.crawl.web import open_web, prepare
from lswc.crawl.web.loopback_server import listen
from lswc.errors import LswcError


def main() -> int:
    """Serve until interrupted; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m lswc.crawl.web", description=__doc__)
    parser.add_argument("web", help="folder, WARC file, or 'demo'")
    parser.add_argument("--port", type=int, default=8000, help="0 for a free one")
    options = parser.parse_args()
    reactor: Any = default_reactor
    try:
        web = open_web(prepare(options.web, Path("crawls")) or Path())
        port = listen(reactor, web, options.port)
    except LswcError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(
        f"http://127.0.0.1:{port}/, for the hosts of {options.web} by their Host header", flush=True
    )
    reactor.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
