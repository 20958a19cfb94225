"""Whatever ends a crawl, no URL is lost, no record is torn or doubled, and resume goes on."""

from __future__ import annotations

import os
import random
import shlex
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from lswc.archive import page_record
from lswc.archive.check.agreement import check
from lswc.urls import parse
from tests.scenarios.site import ENGLISH, ROOT, THAI, Site, environment, page, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SERVERS, PAGES, KILLS = 40, 25, 20
OFTEN = '{"tests.faults.component.SavesOften": 1}'


def name(server: int) -> str:
    return f"www.s{server}.example"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A random graph of 1,000 pages, every one of them reachable from the seed."""
    folder = tmp_path_factory.mktemp("kill")
    site, choose = Site(folder / "web", folder / "whole"), random.Random(1)
    for number in range(SERVERS * PAGES):
        server, at = number % SERVERS, number // SERVERS
        links = [f"http://{name(n % SERVERS)}/{n // SERVERS}.html" for n in
                 choose.sample(range(SERVERS * PAGES), 4)]  # fmt: skip
        children = [n for n in (2 * number + 1, 2 * number + 2) if n < SERVERS * PAGES]
        links += [f"http://{name(n % SERVERS)}/{n // SERVERS}.html" for n in children]
        links.append(f"http://{name(server)}/missing{number % 50}.html")
        text = THAI if server % 3 == 0 else ENGLISH
        site.add(f"{name(server)}/{at}.html", page(text, *links))
    site.seeds(f"http://{name(0)}/0.html")
    return site


@pytest.fixture(scope="module")
def whole(shared: Site) -> dict[str, int]:
    """How an uninterrupted crawl's requests ended."""
    shared.crawl()
    finished: dict[str, int] = shared.summary["finished"]
    assert finished["html"] == SERVERS * PAGES
    return finished


@pytest.fixture
def web(shared: Site, tmp_path: Path) -> Site:
    """The graph, to be crawled into a folder of the test's own."""
    return Site(shared.web, tmp_path / "crawl")


def start(web: Site, **settings: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        web.command(LSWC_READERS=1, **settings),
        cwd=ROOT,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def size(web: Site) -> int:
    return sum(page_record.lengths(web.folder).values())


def wait_for(web: Site, process: subprocess.Popen[str], more: int) -> None:
    """Wait until the process has written ``more`` bytes of records, or ended."""
    goal = size(web) + more
    while size(web) < goal and process.poll() is None:
        time.sleep(0.001)


def check_nothing_lost(web: Site, whole: dict[str, int]) -> None:
    """Crawl to the end: the record and the counters are those of an uninterrupted crawl."""
    web.crawl()
    assert web.summary["finished"] == whole
    records = web.records
    urls = [record["url"] for record in records]
    assert len(urls) == len(set(urls)) == whole["html"]
    assert dict(server_counters(web)) == dict(counted(records))
    assert web.summary["pending"] == {}
    report = check(web.folder)
    assert report.agrees, report


def counted(records: list[dict[str, object]]) -> Iterator[tuple[str, tuple[int, int]]]:
    hosts = {record["id"]: parse(str(record["url"])) for record in records}
    downloaded = Counter(url.server for url in hosts.values() if url)
    relevant: Counter[str] = Counter()
    for record in records:
        url = hosts[record["id"]]
        assert url is not None
        relevant[url.server] += bool(record["relevant"])
    yield from ((server, (na, relevant[server])) for server, na in downloaded.items())


def server_counters(web: Site) -> Iterator[tuple[str, tuple[int, int]]]:
    db = sqlite3.connect(web.folder / "frontier.db")
    rows = db.execute("SELECT name, downloaded, relevant FROM server").fetchall()
    db.close()
    yield from ((server, (na, nr)) for server, na, nr in rows)


def test_killed_at_twenty_random_moments(web: Site, whole: dict[str, int]) -> None:
    moments = random.Random(2)
    for _ in range(KILLS):
        process = start(web, LSWC_ROTATE=moments.choice([0, 10_000]), EXTENSIONS=OFTEN)
        wait_for(web, process, moments.randrange(0, 20_000))
        process.kill()
        process.communicate()
        assert not (web.folder / "frontier.db").exists() or check(web.folder).agrees
    assert len(web.urls) < SERVERS * PAGES, "the kills came too late to test anything"
    check_nothing_lost(web, whole)
    assert len(list(web.folder.glob("pages-*.jsonl.gz"))) > 1


@pytest.mark.parametrize("signals", [1, 2])
def test_terminated(web: Site, whole: dict[str, int], signals: int) -> None:
    process = start(web)
    wait_for(web, process, 20_000)
    for _ in range(signals):
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    if signals == 1:
        assert web.summary["reason"] == "shutdown"
    assert 0 < len(web.urls) < SERVERS * PAGES
    check_nothing_lost(web, whole)


@pytest.mark.parametrize("kilobytes", [200, 300, 600])
def test_full_disk(web: Site, whole: dict[str, int], kilobytes: int) -> None:
    limited = f"ulimit -f {kilobytes}; exec {shlex.join(web.command())}"
    done = run(["bash", "-c", limited])
    assert done.returncode == 1, done.stderr
    assert "can't write" in done.stderr
    assert "the crawl stops, and goes on from here when started again" in done.stderr
    assert "Traceback" not in done.stderr
    check_nothing_lost(web, whole)


def test_disk_too_full_to_begin(web: Site, whole: dict[str, int]) -> None:
    done = run(["bash", "-c", f"ulimit -f 16; exec {shlex.join(web.command())}"])
    assert done.returncode == 1, done.stderr
    assert "can't open the frontier" in done.stderr
    check_nothing_lost(web, whole)


def test_second_process_on_the_same_folder_is_refused(web: Site) -> None:
    first = start(web)
    wait_for(web, first, 1)
    second = run(web.command())
    os.kill(first.pid, signal.SIGTERM)
    first.communicate(timeout=30)
    assert second.returncode == 2
    assert "another process crawls into" in second.stderr
