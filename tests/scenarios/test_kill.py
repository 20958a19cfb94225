"""Whatever ends a crawl, no URL is lost, no record is torn or doubled, and resume goes on."""

from __future__ import annotations

import json
import random
import shlex
import signal
import sqlite3
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from lswc import settings
from lswc.archive.check.agreement import check
from lswc.urls import parse
from tests.scenarios.site import (
    ENGLISH,
    ROOT,
    THAI,
    Site,
    environment,
    page,
    run,
    wait_until_stopped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SERVERS, PAGES, KILLS = 40, 25, 20
SIGNALLED = '{"tests.faults.component.Signalled": 1}'
ANYWHERE = '{"tests.faults.component.SavesOften": 1, "tests.faults.component.EndsAnywhere": 2}'


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


def killed(web: Site, **when: object) -> None:
    """Crawl until the system ends the process."""
    done = run(web.command(LSWC_READERS=1, EXTENSIONS=ANYWHERE, **when))
    assert done.returncode == -signal.SIGPROF, done.stderr


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
        when = {"TEST_PAGES": moments.randrange(45), "TEST_WORK": moments.uniform(0.001, 0.02)}
        size = moments.choice([10**9, 40_000])
        killed(web, LSWC_WARC_SIZE=size, **when)
        assert not (web.folder / "frontier.db").exists() or check(web.folder).agrees
    assert len(web.urls) < SERVERS * PAGES, "the kills came too late to test anything"
    check_nothing_lost(web, whole)
    assert len(list(web.folder.glob("pages-*"))) > 1


def test_killed_where_text_counts(web: Site) -> None:
    """What was seen is kept before its page is: a page may count less, and none is lost."""
    text = {"LSWC_STRATEGY": "adaptive", "LSWC_VALUE": "text"}
    moments = random.Random(3)
    for _ in range(4):
        when = {"TEST_PAGES": moments.randrange(60), "TEST_WORK": moments.uniform(0.001, 0.02)}
        killed(web, **text, **when)
    assert len(web.urls) < SERVERS * PAGES
    web.crawl(**text)
    assert len(web.urls) == len(set(web.urls)) == SERVERS * PAGES
    assert check(web.folder).agrees


@pytest.mark.parametrize(("name", "signals"), [("SIGTERM", 1), ("SIGTERM", 2), ("SIGHUP", 1)])
def test_terminated(web: Site, whole: dict[str, int], name: str, signals: int) -> None:
    sent = ",".join([name] * signals)
    extensions = json.dumps({**settings.EXTENSIONS, "tests.faults.component.Signalled": 1})
    given = {"EXTENSIONS": extensions, "TEST_PAGES": 40, "TEST_SIGNALS": sent}
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup a crawl doesn't heed it
    try:
        process = start(web, LOG_LEVEL="DEBUG", **given)
    finally:
        signal.signal(signal.SIGHUP, before)
    said = process.communicate()[1]
    assert ("forcing unclean shutdown" in said) == (signals == 2)
    if signals == 1:
        assert web.summary["reason"] == "shutdown"
    assert 0 < len(web.urls) < SERVERS * PAGES
    check_nothing_lost(web, whole)


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_no_standard_files(web: Site, whole: dict[str, int], closed: str) -> None:
    """What is opened then has their numbers, unless something else has."""
    done = run(["bash", "-c", f"{shlex.join(web.command())} {closed}"])
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr
    assert web.summary["reason"] == "finished"
    check_nothing_lost(web, whole)


@pytest.mark.parametrize("kilobytes", [250, 300, 600])
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
    first = start(web, EXTENSIONS=SIGNALLED, TEST_PAGES=1, TEST_SIGNALS="SIGSTOP")
    wait_until_stopped(first)
    second = run(web.command())
    first.kill()
    first.communicate()
    assert second.returncode == 2
    assert "another process crawls into" in second.stderr
