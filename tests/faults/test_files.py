"""Whatever happens to a crawl's files, it says so in a line, and loses no page for good."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from lswc.archive import crawl_log
from lswc.archive.check.agreement import check, repair
from tests.archive.reading import check as check_warc
from tests.archive.reading import index, records
from tests.faults.component import BETWEEN_SAVES
from tests.faults.mounts import fail, mounted, on_a_disk
from tests.scenarios.site import (
    ROOT,
    THAI,
    Site,
    environment,
    page,
    run,
    wait_until_stopped,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = pytest.mark.slow

PAGES, SERVERS = 100, 10
SIGNALLED = '{"tests.faults.component.Signalled": 1}'
LETTERS = "กขคงจฉชซดตถทนบปผพฟมยรลวสหอ"


@dataclass
class Crawls:
    """A web, how an undisturbed crawl of it ended, and a crawl folder that a kill left."""

    site: Site
    finished: dict[str, int]
    killed: Path


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Crawls:
    folder, choose = tmp_path_factory.mktemp("faults"), random.Random(1)
    site = Site(folder / "web", folder / "whole")
    names = [f"www.s{n % SERVERS}.example/{n}.html" for n in range(PAGES)]
    for number, name in enumerate(names):
        links = [f"http://{names[n]}" for n in (2 * number + 1, 2 * number + 2) if n < PAGES]
        text = "".join(choose.choices(LETTERS, k=1500))
        site.add(name, page(THAI + text, *links, f"/missing{number % 5}.html"))
    site.seeds(f"http://{names[0]}")
    site.crawl()
    assert check(site.folder).agrees
    killed = Site(site.web, folder / "killed")
    kill_after(killed, PAGES // 2)
    return Crawls(site, site.summary["finished"], killed.folder)


def kill_after(site: Site, number: int) -> None:
    killed = run(site.command(TEST_PAGES=number, TEST_SIGNALS="SIGKILL", EXTENSIONS=SIGNALLED))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert number <= len(site.urls) < PAGES


@pytest.fixture
def site(crawls: Crawls, tmp_path: Path) -> Site:
    """The web, and a copy of the folder that a kill left."""
    shutil.copytree(crawls.killed, tmp_path / "crawl")
    return Site(crawls.site.web, tmp_path / "crawl")


def check_whole(site: Site, crawls: Crawls, *said: str) -> None:
    """Crawl to the end: all is as in a crawl that was left alone, and nothing is twice."""
    done = site.crawl()
    for words in said:
        assert sum(words in line for line in done.stderr.splitlines()) == 1, done.stderr
    assert site.summary["finished"] == crawls.finished
    assert len(site.urls) == len(set(site.urls)) == PAGES
    report = check(site.folder)
    assert report.agrees, report
    check_warc(site.folder)
    stored = Counter(r.url for r in records(site.folder) if r.type in ("response", "revisit"))
    assert index(site.folder).keys() == stored.keys()
    # Each run asks for robots.txt.
    assert {n for url, n in stored.items() if not url.endswith("/robots.txt")} == {1}
    ended = Counter(row.url for row in crawl_log.rows(site.folder) if row and row.outcome == "html")
    assert set(ended.values()) == {1}
    assert len(ended) == PAGES


def files(folder: Path) -> dict[str, bytes]:
    """Return what the files hold, those left out that SQLite makes to read."""
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".db-shm", ".lock")
    }
    return {name: data for name, data in found.items() if data or name != "frontier.db-wal"}


def lose_log_of_sqlite(folder: Path) -> None:
    (folder / "frontier.db-wal").unlink()


def lose_frontier(folder: Path) -> None:
    (folder / "frontier.db").unlink()


def empty_frontier(folder: Path) -> None:
    (folder / "frontier.db").write_bytes(b"")
    (folder / "frontier.db-wal").unlink()


def flip_byte(folder: Path) -> None:
    path = folder / "frontier.db-wal"
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)


def lose_record(folder: Path) -> None:
    (folder / "pages.jsonl").unlink()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lose_log_of_sqlite, "is older than the record beside it"),
        (flip_byte, "is older than the record beside it"),
        (lose_frontier, "whose frontier isn't there, or is empty"),
        (empty_frontier, "whose frontier isn't there, or is empty"),
        (lose_record, "pages.jsonl is gone: put it back"),
    ],
)
def test_refused_until_it_is_repaired(
    site: Site, crawls: Crawls, damage: Callable[[Path], None], said: str
) -> None:
    damage(site.folder)
    before = files(site.folder)
    refused = run(site.command())
    assert refused.returncode == 2
    (line,) = refused.stderr.splitlines()
    assert said in line
    assert f"`lswc check {site.folder} --repair`" in line
    assert files(site.folder) == before, "something was changed"
    assert not check(site.folder).agrees
    assert files(site.folder) == before, "something was changed"
    repair(site.folder)
    kept = b"".join(files(site.folder).values())
    rows = before.get("pages.jsonl", b"").splitlines()
    assert all(row in kept for row in rows), "a row was deleted"
    check_whole(site, crawls)


def short_of_lines(folder: Path) -> None:
    path = folder / "pages.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-11]))


def tear_line(folder: Path) -> None:
    path = folder / "pages.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[20] = lines[20][:50] + b"#" * (len(lines[20]) - 50)
    path.write_bytes(b"".join(lines))


def end_in_zeros(folder: Path) -> None:
    path = folder / "pages.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[:-3000] + bytes(3000))


def shorten_warc(folder: Path) -> None:
    (path,) = (folder / "warc").glob("*.warc.gz")
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 50_000)


def shorten_index(folder: Path) -> None:
    (path,) = (folder / "warc").glob("*.cdxj")
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 2_000)


def shorten_journal(folder: Path) -> None:
    path = folder / "log" / "00001.jsonl"
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 5_000)


def zeros_everywhere(folder: Path) -> None:
    for path in (*(folder / "warc").iterdir(), folder / "log" / "00001.jsonl"):
        spoilt = path.stat().st_size // 5
        path.write_bytes(path.read_bytes()[:-spoilt] + bytes(spoilt))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (zeros_everywhere, "torn lines or records; "),
        (short_of_lines, "pages.jsonl is shorter than it was"),
        (tear_line, "pages.jsonl has 1 torn lines or records"),
        (end_in_zeros, "pages.jsonl has 1 torn lines or records"),
        (shorten_warc, ".warc.gz is shorter than it was"),
        (shorten_index, ".cdxj is shorter than it was"),
        (shorten_journal, "00001.jsonl is shorter than it was"),
    ],
)
def test_what_a_file_lost_is_fetched_anew(
    site: Site, crawls: Crawls, damage: Callable[[Path], None], said: str
) -> None:
    damage(site.folder)
    assert not check(site.folder).agrees
    check_whole(site, crawls, said, "are fetched again, as a file lost them")


def test_a_kill_is_no_damage(site: Site, crawls: Crawls) -> None:
    report = check(site.folder)
    assert report.agrees, report
    check_whole(site, crawls)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("pages.jsonl", "removed"),
        ("pages.jsonl", "cut short"),
        ("frontier.db", "removed"),
        ("frontier.db-wal", "removed"),
    ],
)
def test_a_file_is_damaged_while_the_crawl_writes_it(
    crawls: Crawls, tmp_path: Path, name: str, how: str
) -> None:
    site = Site(crawls.site.web, tmp_path / "crawl")
    process = stopped(site, 20)  # it looks ten times a second, and rests for longer than that
    file = site.folder / name
    if how == "removed":
        file.unlink()
    else:  # as logrotate's copytruncate does
        os.truncate(file, 0)
    process.send_signal(signal.SIGCONT)
    said = process.communicate()[1]
    assert process.returncode == 1, said
    assert f"{name} was {how} while the crawl wrote it" in said
    assert "Traceback" not in said
    repair(site.folder)
    check_whole(site, crawls)


def test_a_folder_that_can_only_be_read(crawls: Crawls, tmp_path: Path) -> None:
    site = Site(crawls.site.web, tmp_path / "crawl")
    extension = '{"tests.faults.component.ReadOnly": 1}'
    done = run(site.command(EXTENSIONS=extension, TEST_PAGES=40))
    assert done.returncode == 1, done.stderr
    assert "can't write" in done.stderr
    assert "Traceback" not in done.stderr
    check_whole(site, crawls)


def stopped(site: Site, pages: int) -> subprocess.Popen[str]:
    """Start a crawl which stops itself after so many pages, and rests between two."""
    stops = {"TEST_PAGES": pages, "TEST_SIGNALS": "SIGSTOP", "EXTENSIONS": SIGNALLED}
    process = subprocess.Popen(
        site.command(DOWNLOAD_DELAY=0.2, LSWC_MIN_DISK=0, **stops),
        cwd=ROOT, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until_stopped(process)
    return process


def test_a_disk_that_fails_is_only_read_and_the_crawl_ends(crawls: Crawls, tmp_path: Path) -> None:
    with on_a_disk(tmp_path / "disk") as disk:
        site = Site(crawls.site.web, disk / "crawl")
        process = stopped(site, 20)
        fail(disk)
        process.send_signal(signal.SIGCONT)
        errors = process.communicate()[1]
        assert process.returncode == 1, errors
        assert "Read-only file system" in errors or "readonly" in errors
        assert "Traceback" not in errors
        shutil.copytree(site.folder, tmp_path / "crawl")
    left = Site(site.web, tmp_path / "crawl")
    if not check(left.folder).agrees:
        repair(left.folder)
    check_whole(left, crawls)


def test_a_disk_without_room_for_another_file(crawls: Crawls, tmp_path: Path) -> None:
    """Each WARC file is closed after some pages: the next one can't be made."""
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "nr_inodes=24", "tmpfs") as disk:
        site = Site(crawls.site.web, disk / "crawl")
        done = run(site.command(**OFTEN))
        assert done.returncode == 1, done.stderr
        assert "No space left on device" in done.stderr
        assert "Traceback" not in done.stderr
        shutil.copytree(site.folder, tmp_path / "crawl")
    left = Site(site.web, tmp_path / "crawl")
    if not check(left.folder).agrees:
        repair(left.folder)
    check_whole(left, crawls)


@pytest.mark.parametrize("later", [0, 5])
@pytest.mark.parametrize("part", [0, 5_000])
def test_power_cut(crawls: Crawls, tmp_path: Path, part: int, later: int) -> None:
    site, disk = Site(crawls.site.web, tmp_path / "crawl"), tmp_path / "disk"
    extension = '{"tests.faults.component.PowerCut": 1}'
    given = {"TEST_PAGES": later, "TEST_DISK": disk, "TEST_PART": part}
    done = run(site.command(EXTENSIONS=extension, **given))
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = Site(site.web, disk)
    assert 2 * BETWEEN_SAVES <= len(left.urls) <= len(site.urls) - bool(later) < PAGES
    assert bool(list(disk.glob("pages-*"))) == bool(part)
    report = check(disk)
    assert report.agrees, report
    check_whole(left, crawls)


OFTEN = {"LSWC_WARC_SIZE": "32_000", "EXTENSIONS": '{"tests.faults.component.SavesOften": 1}'}


@pytest.fixture
def packed(crawls: Crawls, tmp_path: Path) -> Site:
    """A crawl with a record in several parts, the first of them compressed.

    The others may not be: what is closed while a part is compressed waits for the next start.
    """
    site = Site(crawls.site.web, tmp_path / "crawl")
    site.crawl(**OFTEN)
    assert len(list(site.folder.glob("pages-*"))) > 1
    assert (site.folder / "pages-00001.jsonl.gz").exists()
    return site


def short_of_lines_in_a_part(folder: Path) -> None:
    path = folder / "pages-00001.jsonl.gz"
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:-11])))


def test_a_part_of_the_record_is_gone(packed: Site, crawls: Crawls) -> None:
    (packed.folder / "pages-00001.jsonl.gz").unlink()
    refused = run(packed.command())
    assert refused.returncode == 2
    assert "pages-00001.jsonl is gone: put it back, or `lswc check" in refused.stderr
    assert not check(packed.folder).agrees
    repair(packed.folder)
    check_whole(packed, crawls)


def test_a_part_of_the_record_is_damaged(packed: Site, crawls: Crawls) -> None:
    part = packed.folder / "pages-00001.jsonl.gz"
    data = part.read_bytes()
    part.write_bytes(data[:500] + bytes(20) + data[520:])
    assert not check(packed.folder).agrees
    repair(packed.folder)
    check_whole(packed, crawls)
