"""Time for which a worker waits for Redis, where it crawls the demo web as fast as it can.

``python -m benchmarks.redis_waits [--pages 1500] [--servers 1 3] [--rounds 3] [--latency 0]
[--before FOLDER]``

What counts is the time in redis-py's reads, from the end of the first quarter of the pages to the
last page, and which call they were for: the worker does nothing else meanwhile. ``--servers 0``
crawls with SQLite; ``--latency`` is the seconds that each web server takes to answer. ``--before``
is the folder of another version of lswc, whose crawls take turns with this one's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from redis.connection import AbstractConnection
from scrapy import signals

from lswc.crawl.transport.handler import AttemptHandler
from lswc.settings import EXTENSIONS
from tests.frontier.redis_server import RedisServer
from tests.scenarios.site import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

RESULT = "BENCHMARK_RESULT"
SETTINGS: dict[str, Any] = {
    "LSWC_WEB": "demo",
    "LSWC_CONTACT": "crawl@library.example",
    "LSWC_STOP_HARVEST": 0,
    "LSWC_MAX_PER_ADDRESS": 16,
    "CONCURRENT_REQUESTS": 32,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
}
NAMES = "pages/s", "ms CPU a page", "% waited", "calls a page"


class Waits:
    """Times redis-py's reads, and writes down what they took."""

    def __init__(self, crawler: Crawler) -> None:
        self._pages = crawler.settings.getint("CLOSESPIDER_ITEMCOUNT")
        self._scraped = 0
        self._seconds = defaultdict[str, float](float)
        self._reads: Counter[str] = Counter()
        self._asked: dict[int, str] = {}
        crawler.signals.connect(self._page, signals.item_scraped)
        _answer_late(crawler.settings.getfloat("LATENCY"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _watch(self) -> None:
        """Time the reads from now on, each by the verb or the commands that it is for."""
        connections: Any = AbstractConnection
        send, read, waits = connections.send_packed_command, connections.read_response, self

        def sent(self: Any, command: Any, *given: Any, **options: Any) -> Any:
            waits._asked[id(self)] = _verb(b"".join(map(bytes, command)))
            return send(self, command, *given, **options)

        def response(self: Any, *given: Any, **options: Any) -> Any:
            begun = perf_counter()
            try:
                return read(self, *given, **options)
            finally:
                verb = waits._asked.pop(id(self), "")
                waits._seconds[verb] += perf_counter() - begun
                waits._reads[verb] += bool(verb)

        connections.send_packed_command = sent
        connections.read_response = response

    def _page(self) -> None:
        self._scraped += 1
        if self._scraped == self._pages // 4:
            self._watch()
            self._since = perf_counter(), process_time()
        elif self._scraped == self._pages:
            wall, cpu = perf_counter() - self._since[0], process_time() - self._since[1]
            pages = self._pages - self._pages // 4
            of_verb = {
                verb: (100 * seconds / wall, self._reads[verb] / pages)
                for verb, seconds in sorted(self._seconds.items(), key=lambda item: -item[1])
            }
            found = (
                pages / wall, 1000 * cpu / pages, 100 * sum(self._seconds.values()) / wall,
                self._reads.total() / pages,
            )  # fmt: skip
            Path(os.environ[RESULT]).write_text(json.dumps([found, of_verb]))


def _answer_late(seconds: float) -> None:
    """Let each answer of the web come so many seconds later."""
    download = AttemptHandler.download_request

    async def late(self: AttemptHandler, request: Request) -> Response:
        await asyncio.sleep(seconds)
        return await download(self, request)

    handler: Any = AttemptHandler
    if seconds:
        handler.download_request = late


def _verb(sent: bytes) -> str:
    """Return what is asked by bytes that are sent: a verb of the script, or the commands' names."""
    words = sent.split(b"\r\n")
    if words[2] == b"FCALL":
        return words[10].decode()
    names = (words[i + 2] for i, word in enumerate(words) if word.startswith(b"*"))
    return " ".join(dict.fromkeys(name.decode() for name in names))


def once(
    code: Path, servers: int, pages: int, latency: float
) -> tuple[list[float], dict[str, list[float]]]:
    """Crawl with the lswc of a folder; return what it took, and the waits for each call."""
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as stack:
        folder, places = Path(temporary), []
        for number in range(servers):
            (folder / str(number)).mkdir()
            server = RedisServer(folder / str(number))
            stack.callback(server.stop)
            places.append(f"127.0.0.1:{server.port}")
        settings = SETTINGS | {
            "CLOSESPIDER_ITEMCOUNT": pages,
            "EXTENSIONS": json.dumps(EXTENSIONS | {"benchmarks.redis_waits.Waits": 0}),
            "LSWC_FRONTIER": f"redis://{','.join(places)}/0" if places else "sqlite",
            "LATENCY": latency,
            "LSWC_CRAWL": folder / "crawl",
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th"]
        command += [part for k, v in settings.items() for part in ("-s", f"{k}={v}")]
        result = folder / "result.json"
        for name in ("lswc", "scrapy.cfg"):  # that is found before benchmarks of this one
            (folder / name).symlink_to(code.resolve() / name)
        path = os.pathsep.join([str(folder), str(ROOT)])
        environment = {**os.environ, RESULT: str(result), "PYTHONPATH": path}
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
        taken, of_verb = json.loads(result.read_text())
        return taken, of_verb


def main() -> None:
    """Print what crawls took, in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_500)
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--before", type=Path)
    options = parser.parse_args()
    codes = {"before": options.before, "now": ROOT} if options.before else {"now": ROOT}
    for servers in options.servers:
        found: dict[str, list[Sequence[float]]] = {name: [] for name in codes}
        for _ in range(options.rounds):
            for name, code in codes.items():
                taken, of_verb = once(code, servers, options.pages, options.latency)
                found[name].append(taken)
                print(_line(f"{servers} servers, {name}", taken), flush=True)
        for name, runs in found.items():
            print(
                _line(
                    f"{servers} servers, {name}, median",
                    map(statistics.median, zip(*runs, strict=True)),
                )
            )
        print("of the last:")
        for verb, (share, reads) in of_verb.items():
            print(f"    {verb:40}{share:6.2f} %{reads:8.2f}")


def _line(name: str, taken: Any) -> str:
    figures = "".join(f"{figure:10.2f} {unit}" for figure, unit in zip(taken, NAMES, strict=True))
    return f"{name:28}{figures}"


if __name__ == "__main__":
    main()
