"""Server of a frozen web that writes down what it was asked for, for ``benchmarks/peers.py``.

``python -m benchmarks.peer_crawls.server WEB LOG SEEDS [--delay 0.02]``. Each answer takes the
delay, as if there were a network. A line of the log: time, server, path and query, status. The host
HUB has one page, which links to the seeds: for crawlers that begin at one.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from twisted.internet import reactor as default_reactor

from benchmarks.addresses import listen
from lswc.crawl.web import open_web
from lswc.crawl.web.answers import Answer

HUB = "hub.seeds.example"
_TEXT = "<p>The links above lead to the seeds of a crawl, one after the other.</p>" * 50


class Recorded:
    """A web whose answers are written down."""

    def __init__(self, web: Any, log: Path, seeds: list[str], delay: float) -> None:
        self._web, self._delay = web, delay
        self._log = log.open("a", buffering=1)
        links = "".join(f'<a href="{seed}">{seed}</a> ' for seed in seeds)
        html = (("Content-Type", "text/html; charset=utf-8"),)
        self._hub = Answer(200, html, f"<html><body>{links}{_TEXT}</body></html>".encode())

    def knows(self, server: str) -> bool:
        """Tell whether a server is of this web."""
        return server == HUB or bool(self._web.knows(server))

    def answer(self, server: str, target: str, accepted: str) -> Answer:
        """Answer, and write it down."""
        if server == HUB:
            return self._hub if target == "/" else Answer(404)
        answer: Answer = self._web.answer(server, target, accepted)
        self._log.write(json.dumps([monotonic(), server, target, answer.status]) + "\n")
        return replace(answer, delay=answer.delay or self._delay)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("web", type=Path)
    parser.add_argument("log", type=Path)
    parser.add_argument("seeds", type=Path)
    parser.add_argument("--delay", type=float, default=0.02)
    options = parser.parse_args()
    reactor: Any = default_reactor
    seeds = options.seeds.read_text().split()
    web: Any = Recorded(open_web(options.web), options.log, seeds, options.delay)
    print(listen(reactor, web), flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
