"""Cost of watching a large crawl: until the page is there, and what the crawl loses.

``python -m benchmarks.watch FOLDER [--urls 5000000] [--servers 100000] [--pairs 10]``

Makes a crawl of so many URLs in FOLDER (once, with the frontier's own verbs: 5 minutes of the CPU)
and watches it with ``lswc watch``. The page is opened in headless Chromium. Then the crawl goes on,
on the web of ``benchmarks.made_web``, which answers for any server: in turn with the page asked for
every two seconds as a browser does, and without, so that neighbours make a pair. What counts is the
CPU time of the crawl's process a page, since others may use the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from statistics import median
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.request import urlopen

from benchmarks.crawl import PORT
from lswc.frontier import FRONTIER_FILE
from lswc.frontier.rules.visit import Offer, Visit
from lswc.frontier.store.frontier import open_existing
from lswc.monitor.course import Course, Point, write_now
from lswc.monitor.snapshot import Snapshot, Worker, of_workers
from lswc.strategy import Facts, Locality, PageLanguage, Status, encode
from lswc.strategy.facts import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterator

EVERY = 2.0
WINDOW = 4.0
"""Seconds of a crawl with the page open, or without."""

WARM = 30.0
"""Seconds until the crawl has asked most servers for robots.txt."""

PAINTS = 5
ASKED = 9
"""Times that a list of sites, or a site, is asked for."""

OF_SITES = (
    "sites", "sites?order=pending", "sites?q=erver99", "sites?page=200",
    "site?name=server0.example", "todo",
)  # fmt: skip
BLOCKS, BLOCK = 60, 50
"""Pairs of blocks of commits, and commits in a block."""

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


def offers(random_: random.Random, servers: int, first: int, number: int) -> list[Offer]:
    """Return offers of new URLs: a few servers have many, as in the web."""
    made = []
    for at in range(first, first + number):
        server = f"www.server{int(servers * random_.random() ** 2.5)}.example"
        url = f"http://{server}/articles/2026/a-path-as-long-as-most/{at}.html"
        code = CODES[random_.randrange(len(CODES))]
        made.append(Offer(url, server, server, code, PageLanguage.TARGET, 3))
    return made


@contextmanager
def web() -> Iterator[int]:
    """Serve the made web; gives its port."""
    command = [sys.executable, "-m", "benchmarks.made_web"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield int(server.stdout.readline())
        server.terminate()


def crawl(folder: Path, port: int, **settings: object) -> subprocess.Popen[bytes]:
    """Begin the crawl in a folder, or go on with it."""
    seeds = folder.with_suffix(".seeds")
    seeds.write_text("http://www.host1.co.th/\n")
    given = {
        "LSWC_CRAWL": folder,
        "LSWC_CONTACT": "crawl@library.example",
        "LSWC_ARCHIVE": "none",
        "LSWC_MAX_DUPLICATES": 0,
        "LSWC_STOP_HARVEST": 0,
        "LSWC_READERS": 0,
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": 32,
        "TWISTED_DNS_RESOLVER": "benchmarks.crawl.EveryName",
        "LOG_LEVEL": "ERROR",
        **settings,
    }
    lines = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th"]
    command += ["-a", f"seeds={seeds}", *lines]
    return subprocess.Popen(command, env={**os.environ, PORT: str(port)}, stdout=subprocess.DEVNULL)


def make(folder: Path, port: int, urls: int, servers: int) -> None:
    """Make a crawl of so many URLs, one in a hundred of them visited."""
    crawl(folder, port, CLOSESPIDER_ITEMCOUNT=50).wait()
    random_, frontier = random.Random(1), open_existing(folder / FRONTIER_FILE)
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
    frontier.close()
    course = Course(folder)
    now = time.time() - 30_000 * 300
    for number in range(30_000):  # points of three months
        pages = number * urls // 3_000_000
        course.add(Point(now + 300 * number, now, pages, pages // 2, pages, pages, 9, 9, 9))
    worker = Worker(time=time.time(), state="closed")
    write_now(folder, Snapshot(time=worker.time, language="th", **of_workers([worker])))


def cpu_of(process: int) -> float:
    """Return the seconds of the CPU that a process took so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(process: int) -> float:
    """Return the MB that a process held at most."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def ask(address: str, path: str) -> tuple[float, bytes]:
    """Return the seconds that an answer took, and the answer."""
    began = time.perf_counter()
    with urlopen(address + path) as answer:  # noqa: S310
        text: bytes = answer.read()
    return time.perf_counter() - began, text


class Watching:
    """``lswc watch`` in a process of its own; ``open`` says whether a page asks it."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "lswc", "watch", str(folder), "--port", "0"]
        began = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        found = re.match(r"(http://.*/)#", self.process.stdout.readline())
        assert found is not None
        self.address = found[1]
        print(f"started in {time.perf_counter() - began:.2f} s, {self.cpu:.2f} s of the CPU")
        self.open, self._ended = Event(), Event()
        self._thread = Thread(target=self._poll)
        self._thread.start()

    @property
    def cpu(self) -> float:
        """Seconds of the CPU so far."""
        return cpu_of(self.process.pid)

    def _poll(self) -> None:
        version = -1
        while not self._ended.wait(EVERY):
            if self.open.is_set():
                _, text = ask(self.address, f"api/state?course={version}")
                version = json.loads(text)["course"]["version"]

    def counted(self) -> dict[str, Any]:
        """Wait until the whole queue was counted; return what was told of that."""
        while True:
            _, text = ask(self.address, "api/state?course=30000")
            count: dict[str, Any] = json.loads(text)["count"]
            if count["age"] is not None:
                return count
            time.sleep(0.5)

    def end(self) -> None:
        """End the watch."""
        self._ended.set()
        self._thread.join()
        self.process.terminate()
        self.process.wait()


def painted(address: str) -> None:
    """Print when Chromium has painted the page, and its numbers, if there is a Chromium."""
    path = which("chromium")
    if path is None:
        return
    from playwright.sync_api import sync_playwright

    script = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    paints, numbers = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for _ in range(PAINTS):
            page = browser.new_page()
            began = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("#languages :is(table, p)")
            numbers.append(1000 * (time.perf_counter() - began))
            paints.append(page.evaluate(script))
            page.close()
        browser.close()
    for name, found in (("first paint", paints), ("with its numbers", numbers)):
        told = ", ".join(f"{value:.0f}" for value in found)
        print(f"{name}: {median(found):.0f} ms (each: {told})")


def asked(watching: Watching) -> None:
    """Print how long the pages about sites take."""
    for path in OF_SITES:
        before = watching.cpu
        found = sorted(ask(watching.address, path)[0] for _ in range(ASKED))
        cpu = (watching.cpu - before) / ASKED
        print(
            f"{path}: {1000 * median(found):.0f} ms ({1000 * found[0]:.0f} to "
            f"{1000 * found[-1]:.0f}), {1000 * cpu:.0f} ms of the CPU"
        )


class Mark(NamedTuple):
    """A crawl at a time: pages of this run, its CPU seconds, and when."""

    pages: int
    cpu: float
    time: float


def mark(folder: Path, process: int) -> Mark:
    """Return a running crawl's numbers, the moment that it tells them."""
    before = (folder / "now.json").stat().st_mtime_ns
    while (folder / "now.json").stat().st_mtime_ns == before:
        time.sleep(0.005)
    cpu, now = cpu_of(process), time.perf_counter()
    return Mark(json.loads((folder / "now.json").read_text())["pages"], cpu, now)


def commits(folder: Path, servers: int, watching: Watching) -> None:
    """Lease and commit visits of 20 links in this process, by turns with the page open and not."""
    frontier, random_ = open_existing(folder / FRONTIER_FILE), random.Random(os.getpid())
    cost: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(2 * BLOCKS):
        is_open = (turn + turn // 2) % 2 == 0  # one first, then the other
        (watching.open.set if is_open else watching.open.clear)()
        began = time.process_time()
        for _ in range(BLOCK):
            lease = frontier.lease(0.0)
            assert lease is not None
            links = offers(random_, servers, random_.randrange(10**12), 20)
            frontier.commit(Visit(lease, outcome="html", relevant=True, offers=links))
        cost[is_open].append((time.process_time() - began) / BLOCK)
        frontier.checkpoint()
    frontier.close()
    shares = [one / other - 1 for one, other in zip(cost[True], cost[False], strict=True)]
    middle = sorted(shares)[BLOCKS // 4], sorted(shares)[-BLOCKS // 4]
    print(
        f"CPU time of a commit: {1000 * median(cost[False]):.2f} ms, with the page open "
        f"{median(shares):+.2%} (median of {BLOCKS} pairs, half of them within "
        f"{middle[0]:+.1%} and {middle[1]:+.1%})"
    )


def pairs(folder: Path, port: int, watching: Watching, number: int) -> None:
    """Let the crawl go on, by turns with the page open and without; print what that costs."""
    running = crawl(folder, port)
    log, largest = folder / f"{FRONTIER_FILE}-wal", {False: 0, True: 0}
    costs: list[float] = []
    speeds: list[float] = []
    taken = window = 0.0
    time.sleep(WARM)
    try:
        for turn in range(number):
            cost: dict[bool, float] = {}
            speed: dict[bool, float] = {}
            for is_open in (turn % 2 == 0, turn % 2 == 1):
                (watching.open.set if is_open else watching.open.clear)()
                began, before = mark(folder, running.pid), watching.cpu
                while time.perf_counter() - began.time < WINDOW:
                    time.sleep(0.1)
                    largest[is_open] = max(largest[is_open], log.stat().st_size)
                ended = mark(folder, running.pid)
                pages = ended.pages - began.pages
                cost[is_open] = (ended.cpu - began.cpu) / pages
                speed[is_open] = pages / (ended.time - began.time)
                if is_open:
                    taken += watching.cpu - before
                    window += ended.time - began.time
            costs.append(cost[True] / cost[False] - 1)
            speeds.append(speed[True] / speed[False] - 1)
            print(
                f"CPU time a page: {1000 * cost[False]:.2f} ms, with the page open "
                f"{1000 * cost[True]:.2f} ms; {speed[False]:.0f} and {speed[True]:.0f} pages/s"
            )
    finally:
        running.send_signal(signal.SIGINT)
        running.wait()
    print(f"CPU time a page with the page open: {median(costs):+.2%} (median of {number} pairs)")
    print(f"pages a second: {median(speeds):+.2%}, of a machine that others may use")
    print(f"the watch: {taken / window:.2%} of a core, {memory_of(watching.process.pid):.0f} MB")
    print(f"WAL: {largest[False] / 1e6:.0f} MB, with the page open {largest[True] / 1e6:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--urls", type=int, default=5_000_000)
    parser.add_argument("--servers", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=10)
    given = parser.parse_args()
    with web() as port:
        if not given.folder.exists():
            make(given.folder, port, given.urls, given.servers)
        size = (given.folder / FRONTIER_FILE).stat().st_size
        print(f"{size / 1e6:,.0f} MB; load {os.getloadavg()[0]:.1f}")
        watching = Watching(given.folder)
        before = watching.cpu
        seconds, text = ask(watching.address, "api/state")
        told = f"first state: {seconds:.2f} s, {watching.cpu - before:.2f} s of the CPU"
        print(f"{told}, {len(text) / 1000:.0f} kB")
        painted(watching.address)
        before = watching.cpu
        count = watching.counted()
        counting = watching.cpu - before
        print(f"the whole queue counted in {count['seconds']} s, {counting:.1f} s of the CPU")
        for what in ("www.server0.example", "erver9999", "http://www.server0.example/x"):
            seconds, _ = ask(watching.address, f"api/find?q={what}")
            print(f"looked up {what}: {1000 * seconds:.0f} ms")
        asked(watching)
        commits(given.folder, given.servers, watching)
        pairs(given.folder, port, watching, given.pairs)
        watching.end()


if __name__ == "__main__":
    main()
