"""A folder of crawls: what is told of each, and that one is started, and stopped."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from time import monotonic, sleep, time
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from lswc.errors import ConfigError
from lswc.frontier.store.frontier import Frontier
from lswc.guest.control import change, in_folder, read
from lswc.monitor.course import COURSE, Point, write_now
from lswc.monitor.snapshot import Snapshot, Worker, of_workers
from lswc.strategy import strategy
from lswc.workbench.crawls import Crawls
from tests.scenarios.site import BRAKE, THAI, Site, page
from tests.workbench.test_page import watch

if TYPE_CHECKING:
    from pathlib import Path


def crawl_in(folder: Path, **settings: object) -> None:
    folder.mkdir()
    Frontier(folder / "frontier.db", strategy("bfs"), {"language": "th"}).close()
    (folder / "settings.json").write_text(json.dumps({"language": "th", **settings}))


def reported(folder: Path, state: str, at: float) -> None:
    worker = Worker(time=at, began=at - 9, state=state)
    write_now(folder, replace(Snapshot(time=at, pages=7, pending=5), **of_workers([worker])))


def has_run_twice(site: Site) -> bool:
    """Wait until a crawl's second run has ended, and written its summary."""
    end = monotonic() + BRAKE
    while monotonic() < end:
        with suppress(ValueError):  # it is being written
            if site.summary["all_runs"]["runs"] == 2:
                return True
        sleep(0.1)
    return False


@pytest.fixture
def crawls(tmp_path: Path) -> Crawls:
    crawl_in(tmp_path / "th")
    crawl_in(tmp_path / "lo")
    (tmp_path / "no crawl").mkdir()
    return Crawls(tmp_path)


def test_each_crawl_is_listed_with_its_times(crawls: Crawls) -> None:
    reported(crawls.folder / "th", "running", time())
    reported(crawls.folder / "lo", "running", time() - 60)
    point = Point(30.0, 10.0, 0, 0, 0, 0, 0, 0.0, 0)
    (crawls.folder / "th" / COURSE).write_text(point.line())
    for _ in range(2):  # what was read is not read again
        lao, thai = crawls.listed()
        assert (lao["name"], lao["state"], lao["is_live"]) == ("lo", "silent", False)
        assert (thai["name"], thai["state"], thai["is_live"]) == ("th", "running", True)
        assert (thai["pages"], thai["began"], thai["seconds"]) == (7, 10.0, 20.0)


def test_a_folder_that_cannot_be_read_is_listed_as_such(
    crawls: Crawls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda entry, _mode: entry.name != "no crawl")  # root may all
    assert crawls.listed()[2:] == [{"name": "no crawl", "state": "unreadable"}]


def test_a_crawl_that_runs_is_told_to_stop_and_not_started_twice(crawls: Crawls) -> None:
    reported(crawls.folder / "th", "running", time())
    crawls.stop("th")
    assert read(in_folder(crawls.folder / "th")).stop
    with pytest.raises(ConfigError, match="th runs already"):
        crawls.start("th")


@pytest.mark.parametrize("name", ["", ".", "..", "no crawl", "../th", "th/../lo"])
def test_no_other_folder_is_reached(crawls: Crawls, name: str) -> None:
    for tell in (crawls.start, crawls.stop):
        with pytest.raises(ConfigError, match="there is no crawl"):
            tell(name)


@pytest.mark.slow
def test_a_crawl_that_can_not_begin_says_why(
    crawls: Crawls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lswc.workbench.crawls.AT_ONCE", 300.0)
    with pytest.raises(ConfigError, match=r"th doesn't begin: .*who crawls the real web"):
        crawls.start("th")


@pytest.mark.slow
def test_a_crawl_goes_on_and_only_who_has_the_token_says_so(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawls" / "th")
    site.seeds("http://a.example/")
    site.add("a.example/", page(THAI, "/1"))
    site.add("a.example/1", page(THAI))
    site.crawl(CLOSESPIDER_ITEMCOUNT=1, CONCURRENT_REQUESTS=1)
    (before,) = Crawls(site.folder.parent).listed()
    told = json.loads((site.folder / "settings.json").read_text())
    del told["CLOSESPIDER_ITEMCOUNT"]
    (site.folder / "settings.json").write_text(json.dumps(told))
    with watch(Site(site.web, site.folder.parent)) as shown:
        assert json.loads(shown.ask("/th/api/state")[1])["pages"] == before["pages"]
        assert shown.ask("/")[0] == shown.ask("/th/")[0] == 200
        assert shown.ask("/lo/api/state")[0] == 404
        body = json.dumps({"name": "th"})
        assert shown.ask("/api/start", "POST", body)[0] == 403
        status, said = shown.ask("/api/start", "POST", body, X_Lswc_Token=shown.token)
        assert (status, json.loads(said)) == (200, {"goto": "./"})
        assert has_run_twice(site)
    assert len(site.urls) == 2
    assert not json.loads((site.folder / "now.json").read_text())["under_way"]


def test_the_page_of_a_folder_lists_its_crawls_and_tells_them_to_stop(crawls: Crawls) -> None:
    thai = crawls.folder / "th"
    reported(thai, "running", time())
    with watch(Site(crawls.folder / "web", crawls.folder)) as shown:

        def post(path: str, name: object) -> tuple[int, str]:
            status, said = shown.ask(path, "POST", json.dumps(name), X_Lswc_Token=shown.token)
            return status, json.loads(said).get("error", "")

        assert "<html" in shown.ask("/")[1]
        told = json.loads(shown.ask("/api/crawls")[1])
        assert told["name"] == str(crawls.folder)
        assert [one["name"] for one in told["crawls"]] == ["lo", "th"]
        assert shown.ask("/th/")[0] == 200
        status, page = shown.ask("/no%20crawl/")
        assert (status, "has no crawl" in page) == (404, True)
        assert '<a href="../new">' in page
        assert 'href="../watch.css"' in page
        nowhere = f"there is no crawl {{!r}} in {crawls.folder}"
        for given, name in (({}, ""), ({"name": "no crawl"}, "no crawl"), ({"name": 1}, "1")):
            assert post("/api/stop", given) == (400, nowhere.format(name))
            assert post("/api/start", given) == (400, nowhere.format(name))
        assert shown.ask("/api/stop", "POST", '{"name": "th"}')[0] == 403
        assert not read(in_folder(thai)).stop
        assert post("/api/stop", {"name": "th"}) == (200, "")
        assert read(in_folder(thai)).stop
        assert post("/api/start", {"name": "th"}) == (400, "th runs already")
        for value in (None, True):
            change(in_folder(thai), "stop", value)
        changes = json.loads(shown.ask("/th/api/changes")[1])["changes"]
        values = [(one["key"], one["value"], one["by"]) for one in changes]
        assert values == [("stop", True, ""), ("stop", None, ""), ("stop", True, "watch")]


@pytest.mark.parametrize(
    ("says", "code", "error"),
    [
        ("", 0, None),
        ("", 2, "it says nothing"),
        ("first\nlast line", 2, "last line"),
        ("y" * 900 + "\n" + "x" * 3_000, 2, "x" * 1_000),
    ],
)
def test_a_crawl_is_started_as_it_was_run_last(
    crawls: Crawls, monkeypatch: pytest.MonkeyPatch, says: str, code: int, error: str | None
) -> None:
    program, folder = crawls.folder / "python", crawls.folder / "th"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/arguments\nprintf "{says}" >&2\nexit {code}\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr("lswc.workbench.crawls.AT_ONCE", BRAKE)
    crawls.stop("th")
    if error is None:
        crawls.start("th")
    else:
        with pytest.raises(ConfigError, match=rf"^th doesn't begin: {error}$"):
            crawls.start("th")
    assert (folder / "arguments").read_text().splitlines() == [
        "-m", "lswc", "crawl", str(folder / "settings.json"), "--into", str(folder),
        "--logfile", str(folder / "crawl.log"),
    ]  # fmt: skip
    assert not read(in_folder(folder)).stop, "what told it to stop is taken back"
