"""A frontier that is damaged or gone: it is told, and made anew from what the crawl has written."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from lswc.archive.appended_files import ArchiveError
from lswc.archive.check.agreement import check, repair
from lswc.frontier.store.damage import damage_of
from tests.scenarios.site import ENGLISH, THAI, Site, page, run, words

if TYPE_CHECKING:
    from pathlib import Path

STRATEGIES = ("adaptive", "bfs", "limited_distance_n2", "server_conservative_t10", "site_queues")
HOSTS = ("www.one.co.th", "m.one.co.th", "two.co.th", "three.com", "four.com")
WRONG = 40
"""Bytes."""
NEVER = "<a rel=nofollow href=/never.html>x</a>"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Site]:
    """Crawls of one web by several strategies, that were stopped in the middle."""
    folder = tmp_path_factory.mktemp("stopped")
    web = Site(folder / "web", folder)
    for number, host in enumerate(HOSTS):
        for one in range(8):
            links = [f"/{one + 1}.html", f"http://{HOSTS[(number + 1) % 5]}/{one}.html"]
            text = ENGLISH if number > 2 and one % 2 else THAI + words((host, one))
            body = page(text, *links, "/missing.html").replace(
                "</ul>", f"</ul><img src=/a.png>{NEVER}"
            )
            web.add(f"{host}/{one}.html", body)
        web.add(f"{host}/a.png", b"\x89PNG")
    web.seeds(*(f"http://{host}/0.html" for host in HOSTS[::2]))
    crawls = {}
    for name in STRATEGIES:
        crawls[name] = site = Site(web.web, folder / name)
        site.crawl(LSWC_PROFILE=name, CLOSESPIDER_ITEMCOUNT=18)
    return crawls


@pytest.fixture
def copied(stopped: dict[str, Site], tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    """A copy of one of these."""
    name = getattr(request, "param", "adaptive")
    site = stopped[name]
    shutil.copytree(site.folder, tmp_path / name)
    return Site(site.web, tmp_path / name)


def known(folder: Path) -> dict[str, Any]:
    """Return what a frontier knows, by the names of things and not by their numbers."""
    queries = {
        "finished": "SELECT url, code >= 1000000, outcome FROM url WHERE outcome IS NOT NULL",
        "waiting": "SELECT url FROM url WHERE outcome IS NULL",
        "servers": "SELECT name, downloaded, relevant, missed, bytes FROM server",
        "sites": "SELECT name, downloaded, relevant, missed, bytes FROM site",
        "directories": "SELECT name, downloaded, relevant FROM directory",
        "pages": "SELECT sum(downloaded), sum(relevant) FROM experience",
    }
    with closing(sqlite3.connect(folder / "frontier.db")) as db:
        return {name: sorted(db.execute(query).fetchall()) for name, query in queries.items()}


@pytest.mark.parametrize("copied", STRATEGIES, indirect=True)
def test_all_that_was_written_comes_back(copied: Site) -> None:
    before, profile = known(copied.folder), copied.folder.name
    for file in copied.folder.glob("frontier.db*"):
        file.unlink()
    assert not check(copied.folder).agrees
    assert "made again" in " ".join(repair(copied.folder))
    assert known(copied.folder) == before
    assert check(copied.folder).agrees
    copied.crawl(LSWC_PROFILE=profile)
    urls = [record["url"] for record in copied.records]
    assert len(urls) == len(set(urls)) == copied.summary["pages"]
    assert copied.summary["relevant"] >= 24
    assert check(copied.folder).agrees


@pytest.mark.parametrize("seed", range(12))
def test_damage_is_told_and_healed(copied: Site, seed: int) -> None:
    chance = random.Random(seed)
    path = copied.folder / "frontier.db"
    before = known(copied.folder)
    data = bytearray(path.read_bytes())
    while True:  # where something is written
        start = chance.randrange(len(data) - WRONG)
        if any(data[start : start + WRONG]):
            break
    data[start : start + WRONG] = chance.randbytes(WRONG)
    path.write_bytes(data)
    report = check(copied.folder)
    assert not report.agrees
    assert "--repair" in " ".join(report.notes)
    repair(copied.folder)
    assert check(copied.folder).agrees
    assert known(copied.folder) == before
    aside = [*(copied.folder / "aside").rglob("frontier.db")]
    assert [file.read_bytes() for file in aside] == [data]


def test_a_crawl_refuses_a_damaged_frontier_in_one_line(copied: Site) -> None:
    path = copied.folder / "frontier.db"
    path.write_bytes(b"x" * 8192)
    done = run(copied.command(LSWC_PROFILE="adaptive"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"`lswc check {copied.folder} --repair`" in done.stderr


def test_what_contradicts_itself_is_damage(copied: Site) -> None:
    path = copied.folder / "frontier.db"
    assert damage_of(path) == ""
    changes = {
        "UPDATE url SET server = 999 WHERE seq = 1": "URLs of no server",
        "UPDATE server SET site = 999 WHERE id = 1": "servers of no site",
        "UPDATE line SET number = number + 1": "lines that",
        "DELETE FROM line": "lines that",
        "UPDATE server SET bytes = bytes + 1 WHERE id = 1": "counters of servers",
        "UPDATE url SET url = url || 'x' WHERE seq = 1": "a URL that is another one",
        "UPDATE tally SET counts = '{'": "counters of the crawl",
        "UPDATE tally SET counts = CAST(x'ff' AS TEXT)": "not a frontier",
        "DELETE FROM tally": "counters of the crawl",
        "UPDATE about SET value = '{' WHERE key = 'prior'": "what the crawl began with",
    }
    for change, told in changes.items():
        data = path.read_bytes()
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(change)
        assert told in damage_of(path)
        path.write_bytes(data)


def test_a_worker_of_many_is_given_up_instead(copied: Site) -> None:
    (copied.folder / "frontier.db").unlink()
    (copied.folder / "redis.json").write_text("{}")
    with pytest.raises(ArchiveError, match="lswc workers lost"):
        repair(copied.folder)


def test_settings_that_do_not_say_what_the_frontier_is_of(copied: Site) -> None:
    (copied.folder / "frontier.db").unlink()
    settings = copied.folder / "settings.json"
    told = json.loads(settings.read_text())
    del told["frontier"]
    settings.write_text(json.dumps(told))
    with pytest.raises(ArchiveError, match="what its frontier is of"):
        repair(copied.folder)
