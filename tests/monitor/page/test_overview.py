"""What is shown of a crawl, from its folder and from Redis."""

from __future__ import annotations

import json
from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from lswc.frontier.lease import Offer
from lswc.frontier.redis import RedisFrontier, Worker
from lswc.frontier.sqlite import SqliteFrontier
from lswc.guest.control import change
from lswc.monitor.course import Course, Point, write_now
from lswc.monitor.page.graph import DRAWN, Graph
from lswc.monitor.page.overview import Overview
from lswc.monitor.page.search import find
from lswc.monitor.page.sources import FolderSource, RedisSource
from lswc.strategy import SEED, PageLanguage, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.frontier import Frontier
    from lswc.monitor.page.sources import Source
    from tests.frontier.redis_server import RedisServer

IDENTITY = {"language": "th", "strategy": "adaptive"}
A_MINUTE = 60.0
ENDED = {"blocked": 4, "requisite: depth": 1, "requisite": 7, "requisite: timeout": 2}


def offer(url: str) -> Offer:
    server = url.split("/")[2]
    return Offer(url, server, server, SEED, PageLanguage.TARGET, 0)


def fill(frontier: Frontier) -> None:
    """Fetch a page of www.one.co.th and none of far.example, where another URL waits.

    A quota ends the one of full.co.th.
    """
    frontier.offer([offer("http://www.one.co.th/"), offer("http://far.example/")])
    first, second = frontier.lease(0.0), frontier.lease(0.0)
    assert first is not None
    assert second is not None
    visit = ended(first, relevant=True, offers=[offer("http://far.example/2.html")])
    visit.tally.update({("page", "relevant"): 1, ("dropped", "nofollow"): 3})
    visit.tally.update({("finished", name): number for name, number in ENDED.items()})
    frontier.commit(visit)
    frontier.commit(ended(second, "status 404"))
    frontier.offer([offer("http://full.co.th/")])
    third = frontier.lease_among(["full.co.th"], 0.0)
    assert third is not None
    frontier.commit(ended(third, "server's page limit"))


@pytest.fixture(params=["folder", "redis"])
def source(request: pytest.FixtureRequest, tmp_path: Path, redis_server: RedisServer) -> Source:
    if request.param == "folder":
        frontier: Any = SqliteFrontier(tmp_path / "frontier.db", strategy("adaptive"), IDENTITY)
    else:
        client = Redis(port=redis_server.port)
        client.flushdb()
        frontier = RedisFrontier(
            client, "lswc:th", strategy("adaptive"), IDENTITY, worker=Worker(folder=tmp_path)
        )
    fill(frontier)
    frontier.tell('{"state": "running", "time": 1, "speed": 2.5}', point(5, 2).line(), 1.0)
    frontier.tell('{"state": "running", "time": 2, "speed": 2.5}', point(6, 3).line(), 60.0)
    frontier.close()
    if request.param == "folder":
        return FolderSource(tmp_path)
    return RedisSource(Redis(port=redis_server.port))


def point(seconds: float, pages: int, run: float = 0.0, expected: float = 0.0) -> Point:
    return Point(seconds, run, pages, pages, 0, pages, 9, expected, 2)


def counted(overview: Overview) -> dict[str, Any]:
    """Return what is shown once the whole queue was counted."""
    until = monotonic() + A_MINUTE
    while (shown := overview.get())["stock"]["age"] is None and monotonic() < until:
        sleep(0.05)
    return shown


def test_both_stores_show_the_same(source: Source) -> None:
    shown = counted(Overview(source))
    assert (shown["language"], shown["strategy"]) == ("th", "adaptive")
    assert shown["totals"] | {"pages": 1, "relevant": 1, "harvest": 1.0} == shown["totals"]
    assert shown["largest"] == [["www.one.co.th", 1, 1, 0]]
    assert shown["longest"] == [["far.example", 0, 0, 1]]
    assert shown["ended"]["numbers"] == [1, 1, 0]
    assert shown["ended"]["cut"] == [
        ["full.co.th", "server's page limit", 1, "The server has LSWC_MAX_SERVER_PAGES pages."]
    ]
    assert shown["errors"] == [
        ["requisite: timeout", 2, "The server didn't answer in DOWNLOAD_TIMEOUT seconds."],
        ["status 404", 1, "The server answered with this error."],
    ]
    dropped = [(name, number) for name, number, _ in shown["dropped"]]
    assert dropped == [
        ("blocked", 4), ("nofollow", 3), ("requisite: depth", 1), ("server's page limit", 1)
    ]  # fmt: skip
    assert dict(shown["servers"]) == {"relevant": 1, "unvisited": 2}


def test_a_server_or_url_is_looked_up(source: Source) -> None:
    far = find(source, "far.example")
    assert (far["kind"], far["pending"], far["downloaded"]) == ("server", 1, 0)
    assert [url for url, _ in far["next"]] == ["http://far.example/2.html"]
    assert sum(number for _, number in far["cells"]) == 1
    one = find(source, " WWW.one.co.th ")
    assert (one["status"], one["downloaded"], one["relevant"], one["pending"]) == (
        "relevant", 1, 1, 0,
    )  # fmt: skip
    assert find(source, "one.co")["servers"] == ["www.one.co.th"]
    assert find(source, "*[?")["servers"] == []


def test_what_is_said_to_a_crawl_is_shown(source: Source) -> None:
    change(source.kept, "block", True, "far.example", why="their mail")
    change(source.kept, "tolerate", 3, "far.example")
    change(source.kept, "pause", True)
    said = {"block": True, "tolerate": 3}
    shown = Overview(source).get()
    assert shown["control"]["rules"] == [["far.example", said, "their mail"]]
    assert shown["control"]["pause"] is True
    assert find(source, "far.example")["said"] == {**said, "why": "their mail"}


def test_points_that_many_workers_tell_are_one_course(redis_server: RedisServer) -> None:
    client = Redis(port=redis_server.port)
    client.flushdb()
    frontier = RedisFrontier(client, "lswc:th", strategy("adaptive"), IDENTITY)
    for seconds in (1, 2):
        frontier.tell("{}", point(seconds, 1).line(), A_MINUTE)  # the second comes too soon
    frontier.tell("{}", point(3, 1).line(), 0)  # the last word of a worker
    frontier.close()
    points, _ = RedisSource(client, "lswc:th").course(0)
    assert [one.time for one in points] == [1, 3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frontier = SqliteFrontier(tmp_path / "frontier.db", strategy("adaptive"), IDENTITY)
    fill(frontier)
    frontier.close()
    return tmp_path


@pytest.mark.parametrize(
    ("now", "state"),
    [
        ({"state": "running", "time": -3600}, "silent"),  # it was killed
        ({"state": "closed", "time": -1e9, "reason": "shutdown"}, "closed"),
        ({"state": "offline", "time": 9}, "offline"),
        ({}, "unknown"),  # of a crawl that says nothing
    ],
)
def test_the_state_of_a_crawl(folder: Path, now: dict[str, Any], state: str) -> None:
    if now:
        write_now(folder, now | {"time": time() + now["time"]})
    assert Overview(FolderSource(folder)).get()["state"] == state


@pytest.mark.parametrize(
    ("ages", "state", "lost"),
    [((1, 3600), "running", 1), ((3600, 7200), "silent", 2), ((1, 2), "running", 0)],
)
def test_a_worker_that_was_killed_is_shown_as_such(
    redis_server: RedisServer, tmp_path: Path, ages: tuple[int, int], state: str, lost: int
) -> None:
    client = Redis(port=redis_server.port)
    client.flushdb()
    for number, age in enumerate(ages):
        folder = tmp_path / f"worker{number}"
        folder.mkdir()
        frontier = RedisFrontier(
            client, "w", strategy("bfs"), IDENTITY, worker=Worker(folder=folder)
        )
        now = {"state": "running", "host": "a", "folder": str(folder), "time": time() - age}
        frontier.tell(json.dumps(now | {"speed": 2.0, "under_way": 3}), "", 0.0)
        frontier.close()
    shown = Overview(RedisSource(client)).get()
    assert (shown["state"], shown["lost"]) == (state, lost)
    states = {worker["folder"]: worker["state"] for worker in shown["workers"]}
    assert states == {
        str(tmp_path / f"worker{number}"): "silent" if age > A_MINUTE else "running"
        for number, age in enumerate(ages)
    }
    assert shown["totals"]["speed"] == 2.0 * (2 - lost)


def test_a_worker_whose_clock_is_behind_is_heard(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("lswc.monitor.page.overview.FRESH", 0.0)
    overview = Overview(FolderSource(folder))
    behind = time() - 3600
    write_now(folder, {"state": "running", "time": behind})
    assert overview.get()["state"] == "silent"
    write_now(folder, {"state": "running", "time": behind + 2})
    assert overview.get()["state"] == "running"


def test_a_crawl_that_was_killed_is_shown_as_it_was_left(folder: Path) -> None:
    (folder / "now.json").write_text('{"state": "run', "utf-8")
    (folder / "course.jsonl").write_text(point(1, 1).line() + '{"ti', "utf-8")
    shown = counted(Overview(FolderSource(folder)))
    assert shown["totals"]["waiting"] == 1
    assert shown["course"]["columns"]["time"] == [1]


def test_the_course_is_sent_only_when_there_is_more_of_it(folder: Path) -> None:
    course = Course(folder)
    course.add(point(10, 10))
    overview = Overview(FolderSource(folder))
    version = overview.get()["course"]["version"]
    assert "columns" not in overview.get(version)["course"]
    assert "columns" in overview.get(version - 1)["course"]


def test_speed_and_coverage_over_time(folder: Path) -> None:
    course = Course(folder)
    for one in (
        point(0, 0),
        point(10, 50, expected=50),
        point(100, 60, run=90),
        point(110, 90, 90),
    ):
        course.add(one)
    graph = Graph(FolderSource(folder))
    graph.read()
    columns = graph.columns()
    assert columns["time"] == [0, 10, 55, 100, 110]  # a gap where nothing ran
    assert columns["speed"] == [None, 5.0, None, None, 3.0]
    assert columns["coverage"] == [None, 0.5, None, 1.0, 1.0]


def test_a_long_course_is_drawn_with_few_points_its_ends_and_all_runs(folder: Path) -> None:
    course = Course(folder)
    number = 20 * DRAWN
    for at in range(number):
        course.add(point(10 * at, at, run=0 if at < number // 3 else 9))
    graph = Graph(FolderSource(folder))
    graph.read()
    times = graph.columns()["time"]
    assert len(times) < 1.1 * DRAWN
    assert (times[0], times[-1]) == (0, 10 * (number - 1))
    assert 10 * (number // 3) in times
