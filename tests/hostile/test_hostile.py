"""One crawl of all that a hostile web can do, in a process of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from tests.crawl.site import ROOT, SCRAPY, environment
from tests.hostile import cases
from tests.hostile.server import PORT, serve

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

IN_FLIGHT = 32
"""CONCURRENT_REQUESTS: pages that are on their way when a limit is reached still come."""

MEMORY = 700_000_000
"""Bytes that a crawl of the hostile web may take at most: 160 MB before the first page, and what
the transfers in flight hold; 340 to 560 MB were seen."""


TRAPS = {
    ".farm.co.th/": ("near-duplicates on site", 4 * cases.DUPLICATES + IN_FLIGHT),
    "calendar.example/": ("near-duplicates in directory", 4 * cases.DUPLICATES),
    "soft-404.example/": ("near-duplicates in directory", 2 * cases.DUPLICATES),
    "sessions.example/": ("", 1),
    "deeper.example/": ("repeated path segment", 4),
    "links-many.example/": ("too many links", cases.LINKS + 1),
}
"""Traps, why they are left, and the most pages that are recorded of each."""


class Ended(NamedTuple):
    """What is left of the crawl: its outcomes by URL, its tallies, and its peak memory."""

    outcomes: dict[str, str]
    dropped: dict[str, int]
    recorded: set[str]
    memory: int
    log: str


def crawl(folder: Path) -> Ended:
    """Crawl the hostile web to its end."""
    (folder / "seeds.txt").write_text("http://hub.example/")
    settings = {
        "LSWC_CRAWL": folder / "crawl",
        "LSWC_PROFILE": "bfs",
        "LSWC_CONTACT": "crawl@library.example",
        "LSWC_MAX_DUPLICATES": cases.DUPLICATES,
        "LSWC_MAX_LINKS": cases.LINKS,
        "TWISTED_DNS_RESOLVER": "tests.hostile.server.HostileResolver",
        "DOWNLOAD_MAXSIZE": cases.MAXSIZE,
        "DOWNLOAD_TIMEOUT": 6,  # time enough for good pages on a busy machine
        "DOWNLOAD_DELAY": 0,
        "REDIRECT_MAX_TIMES": cases.REDIRECTS,
        "RETRY_TIMES": 1,
    }
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = [*SCRAPY, "crawl", "lswc", "-a", "lang=th", "-a", f"seeds={folder / 'seeds.txt'}"]
    log = (folder / "log").open("w+")
    with log, serve() as port:
        process = subprocess.Popen(
            [*command, *given],
            cwd=ROOT,
            env={**environment(), PORT: str(port)},
            stdout=subprocess.DEVNULL,
            stderr=log,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        text = log.read()
    assert process.returncode == 0, text
    return _read(folder / "crawl", usage.ru_maxrss * 1024, text)


def _read(folder: Path, memory: int, log: str) -> Ended:
    with closing(sqlite3.connect(folder / "frontier.db")) as db:
        outcomes = dict(db.execute("SELECT url, outcome FROM url"))
        dropped = dict(db.execute("SELECT name, count FROM tally WHERE kind = 'dropped'"))
    lines = (folder / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    return Ended(outcomes, dropped, {json.loads(line)["url"] for line in lines}, memory, log)


def test_the_crawl_ends_and_every_case_as_it_should(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    ended = crawl(tmp_path)
    seen = ended.outcomes
    for scheme, places in (("http", cases.FETCHED), ("https", cases.HTTPS)):
        for place, outcome in places.items():
            with subtests.test(place):
                assert seen.get(f"{scheme}://{place}") == outcome
    for reason, links in Counter(cases.DROPPED.values()).items():
        with subtests.test(f"links dropped: {reason}"):
            assert ended.dropped[reason] >= links
    for trap, (reason, most) in TRAPS.items():
        with subtests.test(f"trap: {trap}"):
            assert 1 <= len([url for url in ended.recorded if trap in url]) <= most
            assert not reason or reason in ended.dropped or reason in seen.values()
    with subtests.test("no refused link is fetched"):
        assert not {url for url in seen if "secret" in url} | (seen.keys() & cases.DROPPED.keys())
    with subtests.test("links just below the limits are recorded"):
        assert set(cases.BELOW) <= ended.recorded
    with subtests.test("no good page is lost"):
        assert len(cases.good()) > 100
        assert cases.good() <= ended.recorded
    with subtests.test("nothing is left over"):
        assert not {None, "lost"} & set(seen.values())
    with subtests.test("no error of ours is logged"):
        assert not [word for word in ("Traceback", "Deprecat", " ERROR: ") if word in ended.log]
    with subtests.test("memory"):
        assert ended.memory < MEMORY
