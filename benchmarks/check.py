"""Memory and time of ``lswc check`` by the size of a crawl.

``python -m benchmarks.check [--pages 1000000] [--out FOLDER]``

Makes the folder of a crawl that is done, with so many archived pages of 5,000 servers, each with
its record, log and WARC records; then a process of its own checks it. Prints the most memory that
this process had, and its CPU time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

from benchmarks.frontier import CODE
from lswc.archive.archive import Archive, FileSizes
from lswc.frontier.rules.visit import Attempt, Exchange, Lease, Offer, Record, Visit
from lswc.frontier.store.frontier import Frontier
from lswc.strategy import PageLanguage, strategy

BEGAN = datetime(2026, 9, 1, tzinfo=UTC)
SERVERS = 5_000
BATCH = 2_000
REQUEST = b"GET / HTTP/1.1\r\nHost: www.example\r\nUser-Agent: lswc\r\n\r\n"


def url(page: int) -> tuple[str, str]:
    """Return the server and the URL of a page."""
    server = f"www.host{page % SERVERS}.example"
    return server, f"http://{server}/some/folder/of/pages/page{page}.html"


def record(lease: Lease, time: datetime) -> Record:
    """Return what a crawl records of a page."""
    return Record(
        id=lease.id, url=lease.url, status=200, kind="html", title=f"Page {lease.id}",
        language="th", variant="", encoding="utf-8", confidence=1.0, decided_by="text",
        shares="th=1.0", relevant=True, reason="", guessed=False, distance=1, tier=1,
        expected=None, depth=1, server_status="relevant", simhash=f"{lease.id:016x}",
        near_duplicate=False, content_language="", vary="", opt_outs=(), rendered=False,
        truncated="", cookies="", source="link", referrer="http://www.example/",
        time=time.isoformat(timespec="milliseconds"), visit=1, change="",
    )  # fmt: skip


def visited(lease: Lease, number: int) -> Visit:
    """Return the visit of a page."""
    time = BEGAN + timedelta(milliseconds=100 * number)
    html = f"<!doctype html><title>Page {number}</title><p>{number:09}" * 5
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(html)}\r\n\r\n"
    exchange = Exchange(REQUEST, bytearray(head.encode()), [html.encode()])
    attempt = Attempt(lease.url, time, 200, "text/html", len(html), exchange=exchange)
    found = record(lease, time)
    return Visit(lease, outcome="html", relevant=True, record=found, attempts=[attempt])


def make(folder: Path, pages: int) -> None:
    """Write the folder of a crawl with so many pages, all of them done."""
    sizes = FileSizes(warc=1e9, part=2.5e8)
    spec = "bfs"
    about = {"language": "th", "LSWC_RECRAWL": [], "identity": {"strategy": spec}}
    archive = Archive(folder, "th", "relevant", sizes, about, {})
    with closing(Frontier(folder / "frontier.db", strategy(spec), {"strategy": spec})) as frontier:
        for first in range(0, pages, BATCH):
            found = [url(page) for page in range(first, min(first + BATCH, pages))]
            frontier.offer([Offer(u, s, s, CODE, PageLanguage.TARGET, 1) for s, u in found])
            for number in range(first, first + len(found)):
                lease = frontier.lease(float(10 * number))
                assert lease is not None
                visit = visited(lease, number)
                visit.count_end()
                assert frontier.commit(visit, archive.store(visit))
            archive.sync()
            frontier.checkpoint()
            archive.rotate()
        archive.close(whole=True)


def main() -> None:
    """Make the crawl if it isn't there; check it, and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    folder = (asked.out or Path(tempfile.mkdtemp())) / f"crawl{asked.pages}"
    if not folder.exists():
        folder.mkdir(parents=True)
        # What a process has had counts as its children's, too.
        making = get_context("spawn").Process(target=make, args=(folder, asked.pages))
        making.start()
        making.join()
    process = subprocess.Popen([sys.executable, "-m", "lswc", "check", str(folder)])
    _, status, used = os.wait4(process.pid, 0)
    print(
        f"{asked.pages:,} pages: exit code {os.waitstatus_to_exitcode(status)}, "
        f"{used.ru_maxrss / 1024:,.0f} MB at most, CPU {used.ru_utime + used.ru_stime:,.0f} s"
    )


if __name__ == "__main__":
    main()
