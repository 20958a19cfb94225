"""The way of a page through the code: ``python -m benchmarks.page_way``.

Crawls a small web of its own on loopback, one URL at a time, and traces each of the pages in the
middle of the crawl, from the scheduler's ``next_request`` that leases it until its record has
passed the pipelines. Prints the page with the median number of moves: the lswc files in order of
first entry, and counts.

A *call* is the entry of an lswc function, or of a generator or coroutine that goes on. A *move* is
a call into another lswc file than the call before it was into. Calls of Scrapy, Twisted and the
standard library don't count, nor do comprehensions. Pages are read in the crawl's own process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from asyncio import ensure_future
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Self

from scrapy import signals

from benchmarks.crawl import PORT, serving
from lswc import __file__ as package
from lswc.settings import EXTENSIONS

if TYPE_CHECKING:
    from types import FrameType

    from scrapy.crawler import Crawler

HOSTS = 5
LINKS = 4
"""Of a page; each is another round through the same functions."""

TRACED = range(50, 71)
"""Numbers of the pages that are traced; robots.txt of all hosts is known by then."""

ROOT = Path(__file__).parents[1]
RESULT = "BENCHMARK_RESULT"


class Tracer:
    """Writes down the ways of pages TRACED, each a list of [file, function]."""

    def __init__(self, crawler: Crawler) -> None:
        self._folder = str(Path(package).parent) + os.sep
        self._scraped = 0
        self._way: list[tuple[str, str]] = []
        self._ways: list[list[tuple[str, str]]] = []
        self._crawler = crawler
        crawler.signals.connect(self._page, signals.item_scraped)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _page(self) -> None:
        if self._scraped in TRACED:
            self._ways.append(self._way)
        self._scraped += 1
        self._way = []
        sys.setprofile(self._call if self._scraped in TRACED else None)
        if self._scraped == TRACED.stop:
            self._closing = ensure_future(self._crawler.engine.close_spider_async(reason="traced"))

    def _call(self, frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(self._folder):
            return
        if code.co_name.startswith("<"):
            return
        if code.co_name == "next_request" and not self._has_leased():
            self._way = []
        self._way.append((code.co_filename.removeprefix(self._folder), code.co_qualname))

    def _has_leased(self) -> bool:
        return any(name == "request_for" for _, name in self._way)

    def _closed(self) -> None:
        Path(os.environ[RESULT]).write_text(json.dumps(self._ways))


def ways() -> list[list[tuple[str, str]]]:
    """Return the ways of the traced pages of a crawl by another process."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        seeds = folder / "seeds.txt"
        seeds.write_text("\n".join(f"http://www.host{n}.co.th/" for n in range(HOSTS)))
        settings = {
            "LSWC_CRAWL": folder / "crawl",
            "LSWC_CONTACT": "crawl@library.example",
            "LSWC_READERS": 0,
            "LSWC_MAX_DUPLICATES": 0,
            "LSWC_STOP_HARVEST": 0,
            "CONCURRENT_REQUESTS": 1,
            "DOWNLOAD_DELAY": 0,
            "TWISTED_DNS_RESOLVER": "benchmarks.crawl.EveryName",
            "EXTENSIONS": json.dumps(EXTENSIONS | {"benchmarks.page_way.Tracer": 1_000}),
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th"]
        command += ["-a", f"seeds={seeds}"]
        command += [part for k, v in settings.items() for part in ("-s", f"{k}={v}")]
        result = folder / "ways.json"
        web = ["benchmarks.made_web", "--hosts", str(HOSTS), "--links", str(LINKS)]
        with serving(web) as port:
            environment = {**os.environ, PORT: str(port), RESULT: str(result), "PYTHONPATH": "."}
            subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        found: list[list[tuple[str, str]]] = json.loads(result.read_text())
        return found


def moves(way: list[tuple[str, str]]) -> int:
    """Return how often a way enters another file than before."""
    return sum(here[0] != there[0] for here, there in pairwise(way))


def median(found: list[list[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Return the way with the median number of moves."""
    return sorted(found, key=moves)[len(found) // 2]


def main() -> None:
    """Print one page's way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", action="store_true", help="print every call, indented by file")
    options = parser.parse_args()
    found = sorted(ways(), key=moves)
    way = median(found)
    files: dict[str, int] = {}
    for file, _ in way:
        files[file] = files.get(file, 0) + 1
    if options.calls:
        before = ""
        for file, name in way:
            if file != before:
                print(file)
                before = file
            print(f"    {name}")
    for number, (file, calls) in enumerate(files.items(), 1):
        print(f"{number:4} {file:50} {calls:5} calls")
    print(
        f"{len(way)} calls, {len(files)} files, {moves(way)} moves; "
        f"of {len(found)} pages {moves(found[0])} to {moves(found[-1])} moves"
    )


if __name__ == "__main__":
    main()
