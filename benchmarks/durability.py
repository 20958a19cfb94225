"""Cost of making a crawl outlast a power cut: ``python -m benchmarks.durability [pages]``.

Crawls the web of benchmarks.archive in pairs, with and without saving, taking turns. Prints the
processor time a page of each, and the share of the saving crawls' time that was spent in saving:
in fsync of the files, and in the checkpoint of the frontier.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from math import inf
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

from scrapy import signals

from benchmarks.archive import ROOT, generate
from lswc.crawl import commits
from lswc.crawl.composition import parts_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

PAIRS = 2


class Stopwatch:
    """Counts the time of saving, and keeps it in the stats of the crawl; OFF saves nothing."""

    def __init__(self, crawler: Crawler) -> None:
        if os.environ["SAVES"] == "off":
            commits.SAVE_SECONDS = commits.SAVE_BYTES = inf  # type: ignore[assignment]
        self._spent, self._times = 0.0, 0
        crawl = parts_of(crawler)
        crawl.archive.sync = self._timed(crawl.archive.sync)  # type: ignore[method-assign]
        crawl.frontier.checkpoint = self._timed(crawl.frontier.checkpoint)  # type: ignore[method-assign]
        self._begun = perf_counter()
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _timed(self, save: Callable[[], None]) -> Callable[[], None]:
        def timed() -> None:
            begun = perf_counter()
            save()
            self._spent += perf_counter() - begun
            self._times += 1

        return timed

    def _closed(self) -> None:
        elapsed = perf_counter() - self._begun
        found = {"share": self._spent / elapsed, "times": self._times // 2, "seconds": elapsed}
        Path(os.environ["SAVES_TO"]).write_text(json.dumps(found), "utf-8")


def crawl(web: Path, folder: Path, saves: str, pages: int) -> dict[str, Any]:
    """Crawl the web; return what the stopwatch saw, and the processor time a page in ms."""
    settings = {
        "LSWC_WEB": web, "LSWC_CRAWL": folder, "LSWC_ARCHIVE": "all", "DOWNLOAD_DELAY": 0,
        "LSWC_STOP_HARVEST": 0, "EXTENSIONS": '{"benchmarks.durability.Stopwatch": 1}',
    }  # fmt: skip
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th", *given]
    out = folder.with_suffix(".json")
    before = cpu()
    environment = {**os.environ, "SAVES": saves, "SAVES_TO": str(out)}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return found | {"cpu": (cpu() - before) / pages * 1000}


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    with tempfile.TemporaryDirectory() as folder:
        web = Path(folder) / "web"
        generate(web, pages)
        found: dict[str, list[dict[str, Any]]] = {"off": [], "on": []}
        for pair in range(PAIRS):
            for saves, runs in found.items():
                runs.append(crawl(web, Path(folder) / f"{saves}{pair}", saves, pages))
    for saves, runs in found.items():
        print(f"saving {saves:3} {median(run['cpu'] for run in runs):6.2f} ms CPU a page")
    shares = [f"{run['share']:.2%} ({run['times']} times in {run['seconds']:.0f} s)"
              for run in found["on"]]  # fmt: skip
    print("time spent in saving:", ", ".join(shares))


if __name__ == "__main__":
    main()
