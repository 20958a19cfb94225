"""A crawl that visits its pages again: real processes, on webs whose days are short."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pyarrow.parquet as pq
import pytest

from lswc.archive import wacz
from lswc.archive.check.agreement import check
from lswc.archive.page_record import records
from lswc.frontier.store.report import opened
from lswc.lab.trace.from_log import to_trace
from lswc.workbench.replay import archived
from tests.archive.reading import check as check_warc
from tests.scenarios.site import (
    BRAKE,
    ENGLISH,
    ROOT,
    SCRAPY,
    Site,
    environment,
    page,
    run,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.frontier.redis_server import RedisServer

pytestmark = pytest.mark.slow

HOST = "http://www.one.co.th"
OTHER = "http://www.two.co.th"
CONTINUOUS = {"LSWC_REVISIT": 4, "LSWC_ARCHIVE": "all", "TEST_FINISHED": 5}
UNTIL = '{"tests.scenarios.until.Until": 1, "lswc.monitor.recorder.Recorder": 2}'
ANYWHERE = '{"tests.faults.component.EndsAnywhere": 2}'
PAGES = (f"{HOST}/", f"{HOST}/a.html", f"{OTHER}/", f"{OTHER}/b.html")
ONCE_MORE = [f"unchanged {url}" for url in PAGES]
MANY = 70
"""Records of more than a second."""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A web of four Thai pages and an English one, of which a day takes a second."""
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.seeds(f"{HOST}/")
    site.add("www.one.co.th/", page(words(0), "/a.html", f"{OTHER}/", "/english.html"))
    site.add("www.one.co.th/a.html", page(words("a")))
    site.add("www.two.co.th/", page(words("two"), "/b.html"))
    site.add("www.two.co.th/b.html", page(words("b")))
    site.add("www.one.co.th/english.html", page(ENGLISH))
    (site.web / "changes.json").write_text(json.dumps({"seconds_a_day": 1.0}))
    return site


def crawl(site: Site, *until: str, **settings: object) -> list[dict[str, Any]]:
    """Crawl until that was recorded; return the further records, once all files agree."""
    before = len(site.records) if site.folder.exists() else 0
    given = {"TEST_UNTIL": ",".join(until), "EXTENSIONS": UNTIL}
    site.crawl(**CONTINUOUS | given | settings)
    agree(site)
    return site.records[before:]


def agree(site: Site) -> None:
    report = check(site.folder)
    assert report.agrees, report
    check_warc(site.folder)
    visits: dict[str, list[int]] = {}
    for record in site.records:
        visits.setdefault(record["url"], []).append(record["visit"])
    assert all(list(range(1, len(made) + 1)) == made for made in visits.values()), visits


def test_pages_are_visited_again_and_only_what_changed_is_sent(site: Site) -> None:
    first = crawl(site, *ONCE_MORE)
    assert {r["url"] for r in first if r["visit"] == 1} == {*PAGES, f"{HOST}/english.html"}
    again = [record for record in first if record["visit"] > 1]
    assert {(record["status"], record["change"]) for record in again} == {(304, "unchanged")}
    assert {record["url"] for record in again} == {*PAGES}
    assert not any(record["near_duplicate"] for record in first)
    assert (site.summary["finished"]["html"], site.summary["relevant"]) == (5, 4)

    site.add("www.two.co.th/b.html", page(words("new"), "/c.html"))
    site.add("www.two.co.th/c.html", page(words("c")))
    changed, new, same = f"{OTHER}/b.html", f"{OTHER}/c.html", "unchanged"
    second = crawl(site, f"changed {changed}", f"new {new}", f"{same} {changed}", f"{same} {new}")
    of_changed = [(r["change"], r["status"]) for r in second if r["url"] == changed]
    # What was sent is what the next visit asks about.
    assert of_changed[:2] == [("changed", 200), ("unchanged", 304)]
    assert {r["url"] for r in second if r["change"] == "changed"} == {changed}
    assert [r["change"] for r in second if r["url"] == new][:2] == ["new", "unchanged"]


def test_the_only_page_is_sent_once(tmp_path: Path) -> None:
    """No other visit ends between its own."""
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.seeds(PAGES[0])
    site.add("www.one.co.th/", page(words(0)))
    (site.web / "changes.json").write_text(json.dumps({"seconds_a_day": 1.0}))
    visits = crawl(site, ONCE_MORE[0], TEST_FINISHED=1)
    assert [record["status"] for record in visits][:2] == [200, 304]


def test_trace_wacz_and_replay_have_each_page_once(site: Site, tmp_path: Path) -> None:
    crawl(site, *ONCE_MORE)
    site.add("www.two.co.th/b.html", page(words("new"), "/a.html"))
    crawl(site, f"changed {PAGES[-1]}", ONCE_MORE[0])
    to_trace(site.folder, tmp_path / "trace")
    urls = pq.read_table(tmp_path / "trace" / "urls.parquet")["url"].to_pylist()
    links = pq.read_table(tmp_path / "trace" / "links.parquet")["targets"].to_pylist()
    assert len(urls) == len(set(urls))
    led = {url: [urls[n] for n in to or ()] for url, to in zip(urls, links, strict=True)}
    assert led[PAGES[-1]] == [f"{OTHER}/a.html"]  # as it is now
    assert len(led[PAGES[0]]) == 3
    shown = [one.url for one in archived([site.folder], "")]
    assert sorted(shown) == sorted([*PAGES, f"{HOST}/english.html", PAGES[-1]])
    out = tmp_path / "one.wacz"
    wacz.write([site.folder], out)
    with ZipFile(out) as archive:
        lines = archive.read("pages/pages.jsonl").splitlines()[1:]
    ids = [json.loads(line)["id"] for line in lines]
    assert len(ids) == len(set(ids)) == 5


def test_a_visit_again_counts_in_no_quota_of_pages(site: Site) -> None:
    most = {"LSWC_MAX_SERVER_PAGES": 2, "LSWC_MAX_DUPLICATES": 1}
    crawl(site, *ONCE_MORE, **most)
    assert site.summary["finished"] == {"html": 4, "server's page limit": 1}
    again = crawl(site, *ONCE_MORE, **most)
    assert {record["url"] for record in again} == {*PAGES}


def test_bytes_that_are_others_are_no_change(site: Site) -> None:
    crawl(site, *ONCE_MORE)
    body = page(words("b")).replace("<head>", '<head><meta name="token" content="4711">')
    site.add("www.two.co.th/b.html", body)
    found = [r for r in crawl(site, ONCE_MORE[-1]) if r["url"] == PAGES[-1]]
    assert [(record["status"], record["change"]) for record in found] == [(200, "unchanged")]


def test_a_folder_goes_on_with_visits_and_without(site: Site) -> None:
    site.crawl(LSWC_ARCHIVE="all")
    assert [record["visit"] for record in site.records] == [1] * 5
    site.add("www.two.co.th/b.html", page(words("new")))
    changed = f"{OTHER}/b.html"
    again = crawl(site, f"changed {changed}", *ONCE_MORE[:3])
    assert next(r for r in again if r["url"] == changed)["visit"] == 2
    number = len(site.records)
    done = site.crawl(LSWC_ARCHIVE="all")  # it ends by itself
    assert "pages that were visited again aren't any more: LSWC_REVISIT is 0" in done.stderr
    assert len(site.records) == number
    visits = max(r["visit"] for r in site.records if r["url"] == changed)
    later = [r for r in crawl(site, *ONCE_MORE) if r["url"] == changed]
    assert later[0]["visit"] == visits + 1
    # Nothing of it counts twice.
    assert (site.summary["finished"]["html"], site.summary["relevant"]) == (5, 4)


@pytest.mark.parametrize("pages", [3, 9, 16])
def test_a_kill_loses_nothing_and_no_visit_is_recorded_twice(site: Site, pages: int) -> None:
    """At any moment after so many records."""
    killed = run(site.command(EXTENSIONS=ANYWHERE, TEST_PAGES=pages, TEST_WORK=0.02, **CONTINUOUS))
    assert killed.returncode == -signal.SIGPROF, killed.stderr
    agree(site)
    crawl(site, *ONCE_MORE)
    assert {record["url"] for record in site.records} == {*PAGES, f"{HOST}/english.html"}


def test_it_waits_without_work_and_ends_when_it_is_told_to(site: Site) -> None:
    """With a budget of a visit in some years nothing is due: it sleeps until Ctrl-C."""
    (site.web / "changes.json").unlink()
    command = site.command(**CONTINUOUS | {"LSWC_REVISIT": 0.001, "LSWC_METRICS": ""})
    process = subprocess.Popen(command, env=environment(), cwd=ROOT, stderr=subprocess.PIPE)
    record = site.folder / "pages.jsonl"
    while not record.exists() or record.read_bytes().count(b"\n") < 5:
        assert process.poll() is None
        sleep(0.05)
    until, used = monotonic() + BRAKE, 1.0
    while used >= 0.6:  # a busy machine takes a while until nothing is left to do
        assert monotonic() < until
        before = cpu(process.pid)
        sleep(3)
        used = cpu(process.pid) - before
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=BRAKE)
    assert process.returncode == 0, said
    agree(site)
    assert len(site.records) == 5


def test_a_clock_that_jumps_lets_no_storm_go_and_the_crawl_goes_on(
    site: Site, tmp_path: Path
) -> None:
    """A month forward, and back by two: the budget is of a clock that doesn't jump."""
    ahead, month, a_second = tmp_path / "ahead", 30 * 86_400, 8 * len(PAGES)
    ahead.write_text("0")
    scrapy = site.command(**CONTINUOUS | {"LSWC_REVISIT": 8})
    command = [*scrapy[: scrapy.index("scrapy")], "tests.scenarios.jumping_clock"]
    command += scrapy[scrapy.index("scrapy") + 1 :]
    given = environment() | {"TEST_CLOCK": str(ahead)}
    with subprocess.Popen(command, env=given, cwd=ROOT, stderr=subprocess.PIPE) as process:
        try:
            after(site, process, 15)
            for jump in (month, -month):
                since = monotonic()
                number = len(after(site, process, 0))
                new = ahead.with_suffix(".new")
                new.write_text(f"{jump}")
                new.replace(ahead)
                records = after(site, process, number + MANY)
                took = monotonic() - since
                # Some more were under way, or an hour's in stock.
                assert took > (len(records) - number - 10) / a_second
                assert {record["url"] for record in records[-MANY + 10 :]} == {*PAGES}
        finally:
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=BRAKE)
    assert process.returncode == 0, said
    agree(site)
    with opened(site.folder / "frontier.db") as reader:
        assert reader.tallies()["visited again"]["clock went back"] > 0


def after(site: Site, process: subprocess.Popen[bytes], number: int) -> list[dict[str, Any]]:
    """Return the records of a crawl once there are so many."""
    path = site.folder / "pages.jsonl"
    while not path.exists() or path.read_bytes().count(b"\n") < number:
        assert process.poll() is None
        sleep(0.02)
    return [json.loads(line) for line in path.read_bytes().splitlines(True) if line[-1:] == b"\n"]


def started(site: Site, folder: Path, **settings: object) -> subprocess.Popen[str]:
    command = site.command(**CONTINUOUS | {"LSWC_CRAWL": folder, **settings})
    return subprocess.Popen(command, env=environment(), cwd=ROOT, stderr=subprocess.PIPE, text=True)


def in_redis(redis: RedisServer, crawl: Path) -> dict[str, object]:
    return {"LSWC_FRONTIER": redis.url, "LSWC_REDIS_KEY": crawl.name}


def agree_together(*folders: Path) -> None:
    done = run([*SCRAPY, "check", *map(str, folders)])
    assert done.returncode == 0, done.stdout + done.stderr


def test_two_workers_of_which_one_is_killed_record_each_visit_once(
    site: Site, tmp_path: Path, redis_server: RedisServer
) -> None:
    """The second worker is given one of the sites, which the first had visited."""
    shared = in_redis(redis_server, tmp_path) | {"LOG_LEVEL": "WARNING"}
    folders = [tmp_path / "killed", tmp_path / "other"]
    workers = [started(site, folders[0], **shared)]
    try:
        wait_for(workers, folders, {f"new {url}" for url in PAGES})
        workers.append(started(site, folders[1], **shared))
        wait_for(workers, folders[1:], {f"unchanged {HOST}/"})
        workers[0].kill()
        workers[0].communicate(timeout=BRAKE)
        site.add("www.two.co.th/b.html", page(words("new")))
        workers[0] = started(site, folders[0], **shared)
        wait_for(workers, folders, {f"changed {PAGES[-1]}"})
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGINT)
            _, said = worker.communicate(timeout=BRAKE)
            assert worker.returncode == 0, said
    visits: dict[str, list[int]] = {}
    agree_together(*folders)
    for folder in folders:
        for record in records(folder):
            visits.setdefault(record["url"], []).append(record["visit"])
    assert visits.keys() == {*PAGES, f"{HOST}/english.html"}
    for url, made in visits.items():
        assert sorted(made) == list(range(1, len(made) + 1)), url


def wait_for(
    workers: Iterable[subprocess.Popen[str]], folders: Iterable[Path], recorded: set[str]
) -> None:
    """Wait until workers have recorded all of these together: what became of a URL, and the URL."""
    while left := recorded - {
        f"{record['change']} {record['url']}"
        for folder in folders
        if (folder / "pages.jsonl").exists()
        for record in records(folder)
    }:
        assert all(worker.poll() is None for worker in workers), left
        sleep(0.1)


def test_a_crawl_in_redis_goes_on_with_visits_and_without(
    site: Site, tmp_path: Path, redis_server: RedisServer
) -> None:
    shared = in_redis(redis_server, tmp_path) | {"LSWC_ARCHIVE": "all"}
    site.crawl(**shared)
    assert [record["visit"] for record in site.records] == [1] * 5
    changed = f"{OTHER}/b.html"
    for number, visits in ((1, CONTINUOUS), (2, {}), (3, CONTINUOUS)):
        site.add("www.two.co.th/b.html", page(words(f"new {number}")))
        until = {"TEST_UNTIL": f"changed {changed},{ONCE_MORE[0]}", "EXTENSIONS": UNTIL}
        site.crawl(**shared | visits | (until if visits else {}))
    agree_together(site.folder)
    made = [(r["visit"], r["change"]) for r in site.records if r["url"] == changed]
    assert [number for number, _ in made] == list(range(1, len(made) + 1))
    assert sum(became == "changed" for _, became in made) == 2
    assert (site.summary["finished"]["html"], site.summary["relevant"]) == (5, 4)


def cpu(pid: int) -> float:
    """Return the seconds of processor time that a process took."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
