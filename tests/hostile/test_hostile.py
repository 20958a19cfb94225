"""One crawl of all that a hostile web can do, in a process of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.crawl.site import ROOT, SCRAPY, environment
from tests.hostile import cases
from tests.hostile.server import PORT, serve

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = 500_000_000
"""Bytes that a crawl of the hostile web may take at most."""


class Ended(NamedTuple):
    """What is left of the crawl: its outcomes by URL, its tallies, and its peak memory."""

    outcomes: dict[str, str]
    dropped: dict[str, int]
    recorded: set[str]
    memory: int
    log: str


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "seeds.txt").write_text("http://hub.example/")
    settings = {
        "LSWC_CRAWL": folder / "crawl",
        "LSWC_PROFILE": "bfs",
        "LSWC_CONTACT": "crawl@library.example",
        "LSWC_MAX_DUPLICATES": cases.DUPLICATES,
        "LSWC_MAX_LINKS": cases.LINKS,
        "TWISTED_DNS_RESOLVER": "tests.hostile.server.HostileResolver",
        "DOWNLOAD_MAXSIZE": cases.MAXSIZE,
        "DOWNLOAD_TIMEOUT": 3,
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


@pytest.mark.parametrize("place", cases.FETCHED)
def test_every_case_ends_as_it_should(crawl: Ended, place: str) -> None:
    assert crawl.outcomes.get(f"http://{place}") == cases.FETCHED[place]


@pytest.mark.parametrize("place", cases.HTTPS)
def test_nothing_that_speaks_no_tls_is_recorded(crawl: Ended, place: str) -> None:
    outcome = crawl.outcomes[f"https://{place}"]
    assert outcome not in ("html", None)
    assert cases.HTTPS[place] in (None, outcome)


def test_every_refused_link_is_counted_by_its_reason(crawl: Ended) -> None:
    for reason, links in Counter(cases.DROPPED.values()).items():
        assert crawl.dropped[reason] >= links, reason


def test_no_refused_link_is_fetched(crawl: Ended) -> None:
    assert not crawl.outcomes.keys() & cases.DROPPED.keys()
    assert not {url for url in crawl.outcomes if "secret" in url or "127." in url}


def test_links_just_below_the_limits_are_recorded(crawl: Ended) -> None:
    assert set(cases.BELOW) <= crawl.recorded


def test_no_good_page_is_lost(crawl: Ended) -> None:
    assert len(cases.good()) > 60
    assert cases.good() <= crawl.recorded


def test_nothing_is_left_over(crawl: Ended) -> None:
    assert None not in crawl.outcomes.values()
    assert "lost" not in crawl.outcomes.values()


def test_no_error_of_ours_is_logged(crawl: Ended) -> None:
    for word in ("Traceback", "DeprecationWarning", " ERROR: "):
        assert word not in crawl.log


def test_memory_stays_under_its_bound(crawl: Ended) -> None:
    assert crawl.memory < MEMORY


@pytest.mark.parametrize(
    ("trap", "reason", "most"),
    [
        (".farm.co.th/", "near-duplicates on site", 6 * cases.DUPLICATES),
        ("calendar.example/", "near-duplicates in directory", 4 * cases.DUPLICATES),
        ("soft-404.example/", "near-duplicates in directory", 2 * cases.DUPLICATES),
        ("sessions.example/", "", 1),
        ("deeper.example/", "repeated path segment", 4),
        ("links-many.example/", "too many links", cases.LINKS + 1),
    ],
)
def test_traps_are_left(crawl: Ended, trap: str, reason: str, most: int) -> None:
    pages = [url for url in crawl.recorded if trap in url]
    assert 1 <= len(pages) <= most
    assert not reason or crawl.dropped.get(reason) or reason in crawl.outcomes.values()
