"""Resident memory with millions of pending URLs: our frontier, and Scrapy's memory queue.

``python -m benchmarks.frontier_memory [--millions 1 5]``

Prints what a process holds on top of what it held before the first URL. Scrapy's queue is
measured with a tenth of the URLs, as it needs gigabytes for all.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from scrapy import Request

from benchmarks.frontier import CODE, scheduler
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.strategy import PageLanguage, strategy

HOSTS = 50_000
BATCH = 1_000


def resident() -> int:
    """Return this process's resident memory in bytes (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def url(page: int) -> tuple[str, str]:
    server = f"www.host{page % HOSTS}.example.co.th"
    return server, f"http://{server}/some/folder/page{page}.html"


def ours(number: int) -> tuple[int, int]:
    """Return resident bytes and file bytes with this many URLs pending."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frontier.db"
        frontier = Frontier(path, strategy("lswc"), {})
        before = resident()
        for first in range(0, number, BATCH):
            pages = [url(page) for page in range(first, first + BATCH)]
            frontier.offer([Offer(u, s, s, CODE, PageLanguage.TARGET, 1) for s, u in pages])
        used = resident() - before
        frontier.close()
        return used, path.stat().st_size


def scrapys(number: int) -> tuple[int, int]:
    """Return resident bytes with a tenth of the URLs pending, times ten."""
    with tempfile.TemporaryDirectory() as folder:
        queue = scheduler("", Path(folder))
        before = resident()
        for page in range(number // 10):
            queue.enqueue_request(Request(url(page)[1]))
        return (resident() - before) * 10, 0


MEASURES = {"lswc, SQLite": ours, "Scrapy, memory queue (x 10)": scrapys}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--one", choices=MEASURES)
    options = parser.parse_args()
    if options.one is not None:
        print(*MEASURES[options.one](options.millions[0] * 1_000_000))
        return
    for millions in options.millions:
        for name in MEASURES:
            command = [
                sys.executable,
                "-m",
                __spec__.name,
                "--one",
                name,
                "--millions",
                str(millions),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            used, file = (int(value) / 2**20 for value in done.stdout.split())
            print(f"{millions} M URLs  {name:28} {used:8,.0f} MB resident, {file:8,.0f} MB file")


if __name__ == "__main__":
    main()
