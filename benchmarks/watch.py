"""What it costs to watch a large crawl: until the page is there, and what the crawl loses.

``python -m benchmarks.watch FOLDER [--urls 1000000] [--servers 20000] [--visits 5000]``

Makes a crawl of so many URLs in FOLDER (once: with the frontier's own verbs), and watches it with
``lswc watch``, asked every two seconds as the page does. Meanwhile a process leases and commits
visits in the frontier, with nothing fetched: with and without the watch beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from shutil import which
from threading import Event, Thread
from typing import TYPE_CHECKING
from urllib.request import urlopen

from lswc.archive.course import Course, Point, write_now
from lswc.frontier.sqlite import FORMAT, SqliteFrontier
from lswc.strategy import Facts, Locality, PageLanguage, Status, encode, strategy
from lswc.strategy.facts import Anchor
from lswc.visit.lease import Offer
from lswc.visit.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Iterator

LINKS = 20
EVERY = 2.0
CODES = tuple(
    encode(
        Facts(
            language, 1 + number % 5, Status.RELEVANT, Status.UNDECIDED, Locality(number % 3),
            number % 2 == 0, Anchor(number % 3), False,
        )
    )
    for language in PageLanguage
    for number in range(6)
)  # fmt: skip


def opened(folder: Path) -> SqliteFrontier:
    """Open the frontier of the benchmark's crawl."""
    identity = {"language": "th", "strategy": "adaptive"}
    return SqliteFrontier(folder / "frontier.db", strategy("adaptive"), identity)


def offers(random_: random.Random, servers: int, first: int, number: int) -> list[Offer]:
    """Return offers of new URLs: a few servers have many, as in the web."""
    made = []
    for at in range(first, first + number):
        server = f"www.server{int(servers * random_.random() ** 2.5)}.example"
        url = f"http://{server}/articles/2026/a-path-as-long-as-most/{at}.html"
        code = CODES[random_.randrange(len(CODES))]
        made.append(Offer(url, server, server, code, PageLanguage.TARGET, 3))
    return made


def make(folder: Path, urls: int, servers: int) -> None:
    """Make a crawl of so many URLs, one in a hundred of them visited."""
    folder.mkdir(parents=True)
    random_, frontier = random.Random(1), opened(folder)
    for first in range(0, urls, 10_000):
        frontier.offer(offers(random_, servers, first, 10_000))
        for _ in range(100):
            if lease := frontier.lease(0.0):
                relevant = random_.random() < 0.6
                visit = Visit(lease, outcome="html", relevant=relevant)
                visit.tally["page", "relevant" if relevant else "irrelevant"] += 1
                frontier.commit(visit)
        if first % 50_000 == 0:
            frontier.checkpoint()
            print(f"{first:,} URLs", end="\r", file=sys.stderr)
    frontier.checkpoint()
    began = time.perf_counter()
    cells = frontier.cells()
    print(f"a look at {len(cells)} cells: {1000 * (time.perf_counter() - began):.0f} ms")
    frontier.close()
    course = Course(folder)
    now = time.time() - 30_000 * 300
    for number in range(30_000):  # points of three months
        pages = number * urls // 300_000
        course.add(Point(now + 300 * number, now, pages, pages // 2, pages, pages, 9, 9, 9))
    write_now(folder, {"time": time.time(), "state": "closed", "language": "th"})


def visit(folder: Path, number: int, servers: int) -> tuple[float, float]:
    """Lease and commit so many visits of LINKS links; return seconds, and seconds of the CPU."""
    frontier, random_ = opened(folder), random.Random(os.getpid())
    began, cpu = time.perf_counter(), time.process_time()
    for at in range(number):
        lease = frontier.lease(0.0)
        assert lease is not None
        links = offers(random_, servers, random_.randrange(10**12), LINKS)
        frontier.commit(Visit(lease, outcome="html", relevant=at % 2 == 0, offers=links))
        if at % 1000 == 999:
            frontier.checkpoint()
    took = time.perf_counter() - began, time.process_time() - cpu
    frontier.close()
    return took


def cpu_of(process: int) -> float:
    """Return the seconds of the CPU that a process took so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(address: str, path: str) -> tuple[float, bytes]:
    """Return the seconds that an answer took, and the answer."""
    began = time.perf_counter()
    with urlopen(address + path) as answer:  # noqa: S310
        text: bytes = answer.read()
    return time.perf_counter() - began, text


class Watching:
    """``lswc watch`` in a process of its own, asked every EVERY seconds until ``end``."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "lswc", "watch", str(folder), "--port", "0"]
        self._began = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.match(r"(http://.*/)#", self.process.stdout.readline())
        assert found is not None
        self.address = found[1]
        print(f"started in {time.perf_counter() - self._began:.2f} s")
        self._ended = Event()

    def poll(self) -> None:
        """Ask as a page does, in a thread."""

        def ask_on() -> None:
            while not self._ended.wait(EVERY):
                ask(self.address, "api/state?course=30000")

        self._thread = Thread(target=ask_on)
        self._thread.start()

    def end(self) -> None:
        """End the watch."""
        self._ended.set()
        self._thread.join()
        self.process.terminate()
        self.process.wait()


def painted(address: str) -> Iterator[str]:
    """Yield when Chromium has painted the page, and its numbers, if there is one."""
    path = which("chromium")
    if path is None:
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        began = time.perf_counter()
        page.goto(address)
        page.wait_for_selector("#languages :is(table, p)")
        took = time.perf_counter() - began
        script = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        yield f"first paint: {page.evaluate(script):.0f} ms"
        yield f"with its numbers: {1000 * took:.0f} ms"
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--servers", type=int, default=20_000)
    parser.add_argument("--visits", type=int, default=5_000)
    given = parser.parse_args()
    if not given.folder.exists():
        make(given.folder, given.urls, given.servers)
    print(f"format {FORMAT}, {(given.folder / 'frontier.db').stat().st_size / 1e6:,.0f} MB")
    alone = visit(given.folder, given.visits, given.servers)
    print(f"visits alone: {given.visits / alone[0]:,.0f} a second, {alone[1]:.2f} s of the CPU")

    watching = Watching(given.folder)
    before = cpu_of(watching.process.pid)
    seconds, text = ask(watching.address, "api/state")
    cpu = cpu_of(watching.process.pid) - before
    print(f"first state: {seconds:.2f} s, {cpu:.2f} s of CPU, {len(text) / 1000:.0f} kB")
    print("; ".join(painted(watching.address)))
    watching.poll()
    for _ in range(60):
        _, text = ask(watching.address, "api/state?course=30000")
        if (stock := json.loads(text)["stock"])["age"] is not None:
            break
        time.sleep(1)
    print(f"the whole queue counted in {stock['seconds']} s")
    seconds, text = ask(watching.address, "api/state?course=30000")
    print(f"state: {1000 * seconds:.0f} ms, {len(text) / 1000:.0f} kB")
    seconds, _ = ask(watching.address, "api/find?q=www.server0.example")
    print(f"the largest server looked up: {1000 * seconds:.0f} ms")
    before, began = cpu_of(watching.process.pid), time.perf_counter()
    beside = visit(given.folder, given.visits, given.servers)
    took = time.perf_counter() - began
    cost = cpu_of(watching.process.pid) - before
    print(f"visits beside it: {given.visits / beside[0]:,.0f} a second, {beside[1]:.2f} s of CPU")
    print(f"the watch took {cost:.2f} s of the CPU in {took:.1f} s: {cost / took:.1%} of a core")
    watching.end()


if __name__ == "__main__":
    main()
