"""The store of one worker at size: what a page writes and takes with millions of known URLs.

``python -m benchmarks.store [--urls 1000000] [--pages 100000] [--loaded FOLDER] [--where]`` from
the project's folder. URLs of ``benchmarks.large_web`` are loaded, then pages are visited; what is
committed is made durable as often as a crawl does. Printed are the bytes that a page writes ahead,
its CPU (without that of the made web), the longest calls, and what it takes to open the file again.
``--loaded`` keeps the loaded file there, for the next run of so many URLs; ``--at-once`` writes the
URLs into the file, past the frontier; ``--where`` prints which tables and indexes the written pages
of the file are of.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sqlite3
import struct
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import TYPE_CHECKING, Any

from benchmarks.large_web import TERMS, Crawl, Web, loaded
from lswc.crawl.commits import SAVE_BYTES, SAVE_SECONDS
from lswc.frontier.rules.visit import keys
from lswc.frontier.store.frontier import Frontier
from lswc.strategy import strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lswc.frontier.rules.visit import Lease, Offer, Visit

FIRST = 2_000
"""Pages before those that are measured: servers rest, and the order was learned a little."""

LONG = 0.05
"""Seconds of a call that is too long."""


class Timed:
    """A frontier whose calls are timed, and which is made durable as ``Commits`` does it.

    ``longest`` has the longest calls by name, ``long`` how many took more than LONG seconds,
    ``cpu`` is what they took of this thread's processor.
    """

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self.begin()

    def begin(self) -> None:
        """Begin to measure anew."""
        self.cpu, self.written, self.calls = 0.0, 0, 0
        self.longest = dict.fromkeys(("lease", "commit", "checkpoint"), 0.0)
        self.long: Counter[str] = Counter()
        self._saved, self._ahead = perf_counter(), self.frontier.unsaved

    def offer(self, offers: Sequence[Offer]) -> None:
        """Offer URLs."""
        self.frontier.offer(offers)

    def lease(self, now: float) -> Lease | None:
        """Lease a URL."""
        return self._timed("lease", lambda: self.frontier.lease(now))

    def commit(self, visit: Visit) -> bool:
        """End a visit, and make durable what is committed if that is due."""
        done = self._timed("commit", lambda: self.frontier.commit(visit))
        now = perf_counter()
        ahead = self.frontier.unsaved
        self.written += ahead - self._ahead if ahead >= self._ahead else ahead
        self._ahead = ahead
        if now - self._saved > SAVE_SECONDS or ahead > SAVE_BYTES:
            self._timed("checkpoint", self._save)
            self._ahead = self.frontier.unsaved
        return done

    def _save(self) -> None:
        if self.frontier.prepare_checkpoint():
            self.frontier.checkpoint()
            self._saved = perf_counter()

    def _timed(self, name: str, call: Callable[[], Any]) -> Any:
        start, cpu = perf_counter(), thread_time()
        try:
            return call()
        finally:
            took = perf_counter() - start
            self.cpu += thread_time() - cpu
            self.longest[name] = max(self.longest[name], took)
            self.long[name] += took > LONG


def opened(path: Path) -> Frontier:
    """Open the file, a new one if there is none."""
    return Frontier(path, strategy("adaptive"), {}, TERMS)


def load(path: Path, web: Web) -> None:
    """Let all URLs of a web wait in a new file, as links of pages."""
    start, cpu = perf_counter(), process_time()
    frontier = opened(path)
    timed = Timed(frontier)
    loaded(timed, web, web.all_links())  # type: ignore[arg-type]
    frontier.checkpoint()
    waiting = frontier.pending
    frontier.close()
    say(f"loaded: {waiting:,} waiting, {perf_counter() - start:,.0f} s,"
        f" CPU {1e6 * (process_time() - cpu) / waiting:.0f} us a URL"
        f" ({1e6 * timed.cpu / waiting:.0f} of the frontier)")  # fmt: skip


def load_at_once(path: Path, web: Web) -> None:
    """Do so in a fifth of the time: only the first URL of each server comes as a link."""
    start = perf_counter()
    frontier = opened(path)
    loaded(frontier, web, web.entries())
    frontier.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript("PRAGMA journal_mode = OFF; PRAGMA cache_size = -2000000; BEGIN")
        ((waiting,),) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'waiting_url'")
        db.execute("DROP INDEX waiting_url")
        db.executemany(_INSERT, rows_of(db, web))
        db.execute(waiting)
        db.execute("DELETE FROM line")
        db.execute(
            "INSERT INTO line SELECT server, line, min(seq), count(*) FROM url"
            " WHERE outcome IS NULL GROUP BY server, line"
        )
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode = WAL")
    say(f"loaded at once: {perf_counter() - start:,.0f} s")


_INSERT = "INSERT OR IGNORE INTO url VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"


def rows_of(db: sqlite3.Connection, web: Web) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a web's URLs, but for those that there are."""
    number_of = dict(db.execute("SELECT name, id FROM server").fetchall())
    ((seq,),) = db.execute("SELECT max(seq) FROM url").fetchall()
    kind_of = strategy("adaptive").kind_of
    for offers in web.all_links():
        for offer, key in zip(offers, keys(offers), strict=True):
            url, name, _, code, inherited, depth, redirects = offer
            server, seq = number_of[name], seq + 1
            yield (seq, key, url, server, server, kind_of[code], code, int(inherited), depth,
                   redirects, 1)  # fmt: skip


def measured(given: argparse.Namespace, path: Path) -> None:
    """Load so many URLs, visit pages; print what it took."""
    urls, pages = given.urls, given.pages
    web = Web(urls)
    kept = given.loaded and given.loaded / f"{urls}.db"
    if kept and kept.exists():
        shutil.copyfile(kept, path)
    else:
        (load_at_once if given.at_once else load)(path, web)
        if kept:
            shutil.copyfile(path, kept)
    web.draw_anew(2)  # the same whether it was loaded now or before
    say(f"file: {path.stat().st_size / urls:.0f} bytes a URL")
    start, cpu = perf_counter(), process_time()
    frontier = opened(path)
    say(f"start: {perf_counter() - start:.2f} s, CPU {process_time() - cpu:.2f} s")
    timed = Timed(frontier)
    crawl = Crawl(timed, web)  # type: ignore[arg-type]
    crawl.visit(min(FIRST, pages // 2))
    frontier.checkpoint()
    if given.where:
        print_where(path, frontier, crawl)
    pages -= min(FIRST, pages // 2)
    timed.begin()
    crawl.relevant = 0
    start, cpu, own = perf_counter(), process_time(), thread_time()
    crawl.visit(pages)
    seconds, made = perf_counter() - start, thread_time() - own - timed.cpu
    say(f"a page: {timed.written / pages / 1000:.1f} kB written ahead,"
        f" CPU {1000 * timed.cpu / pages:.2f} ms of the loop,"
        f" {1000 * (process_time() - cpu - made) / pages:.2f} of all threads,"
        f" {1000 * seconds / pages:.2f} ms on the clock with the web's")  # fmt: skip
    for name, took in timed.longest.items():
        say(f"longest {name}: {1000 * took:.0f} ms, {timed.long[name]} over {1000 * LONG:.0f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    say(f"peak {peak:,.0f} MB with the made web; {crawl.relevant / pages:.1%} relevant")
    frontier.close()
    start, cpu = perf_counter(), process_time()
    opened(path).close()
    say(f"start again: {perf_counter() - start:.2f} s, CPU {process_time() - cpu:.2f} s")


def print_where(path: Path, frontier: Frontier, crawl: Crawl, pages: int = 500) -> None:
    """Print of what tables and indexes the file's pages are that some visits write."""
    log = Path(f"{path}-wal")
    timed, crawl.frontier = crawl.frontier, frontier  # nothing is made durable meanwhile
    crawl.visit(1)  # the log begins anew
    crawl.visit(pages)
    crawl.frontier = timed
    numbers = Counter(_written(log))
    frontier.checkpoint()
    with closing(sqlite3.connect(path)) as db:
        name_of = dict(db.execute("SELECT pageno, name FROM dbstat"))
        size = Counter(name_of.values())
    found: Counter[str] = Counter()
    for number, times in numbers.items():
        found[name_of.get(number, "?")] += times
    for name, times in found.most_common():
        say(f"  {times / pages:6.2f} pages written a page of {name}, which has {size[name]:,}")


def _written(log: Path) -> list[int]:
    """Return the numbers of the file's pages in its log, but for what is left of an older one."""
    text = log.read_bytes()
    size, salt = struct.unpack(">I", text[8:12])[0], text[16:24]
    found = range(32, len(text) - size, size + 24)
    return [
        struct.unpack(">I", text[at : at + 4])[0] for at in found if text[at + 8 : at + 16] == salt
    ]


def say(what: object) -> None:
    """Print at once: a run takes long."""
    print(what, flush=True)


def main() -> None:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--loaded", type=Path)
    parser.add_argument("--where", action="store_true")
    parser.add_argument("--at-once", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.loaded) as folder:
        measured(given, Path(folder) / "frontier.db")


if __name__ == "__main__":
    main()
