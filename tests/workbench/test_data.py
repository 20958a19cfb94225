"""What is shown of a crawl, from its folder and from Redis."""

from __future__ import annotations

from time import monotonic, sleep, time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from redis import Redis

from lswc.errors import ConfigError, StorageError
from lswc.frontier.exchange.post import Post
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.guest.control import change, in_folder
from lswc.monitor.course import DRAWN, Course, Point, columns, read, write_now
from lswc.monitor.snapshot import Latency, Snapshot, Worker, of_workers
from lswc.monitor.stored import StoredInFolders, StoredInRedis
from lswc.strategy import SEED, PageLanguage, strategy
from lswc.urls import parse
from lswc.workbench.answers import Elsewhere
from lswc.workbench.live.data import PageData
from lswc.workbench.look_up import known_server, known_url, look
from lswc.workbench.watch import Watch
from tests.frontier.one_worker import shared
from tests.scenarios.site import BRAKE
from tests.visits import ended

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.monitor.stored import StoredCrawl
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
    visit.tally.update({("page", "relevant"): 1, ("discarded", "nofollow"): 3})
    visit.tally.update({("finished", name): number for name, number in ENDED.items()})
    frontier.commit(visit)
    frontier.commit(ended(second, "status 404"))
    frontier.offer([offer("http://full.co.th/")])
    third = frontier.lease_among(["full.co.th"], 0.0)
    assert third is not None
    frontier.commit(ended(third, "server's page limit"))


@pytest.fixture(params=["folder", "redis"])
def crawl(request: pytest.FixtureRequest, tmp_path: Path, redis_server: RedisServer) -> StoredCrawl:
    frontier = Frontier(tmp_path / "frontier.db", strategy("adaptive"), IDENTITY)
    fill(frontier)
    running = now(Worker(state="running", time=2))
    if request.param == "redis":
        redis_server.empty()
        shared(frontier, Redis(port=redis_server.port), "lswc:th", tmp_path, running)
    frontier.close()
    if request.param == "folder":
        write_now(tmp_path, msgspec.json.decode(running, type=Snapshot))
        return in_one(tmp_path)
    return StoredInRedis(Post(Redis(port=redis_server.port), "lswc:th"))


def in_one(folder: Path) -> StoredInFolders:
    return StoredInFolders([folder], in_folder(folder))


def point(seconds: float, pages: int, run: float = 0.0, expected: float = 0.0) -> Point:
    return Point(seconds, run, pages, pages, 0, pages, 9, expected, 2)


def snapshot(worker: Worker) -> Snapshot:
    return Snapshot(time=worker.time, **of_workers([worker]))


def now(worker: Worker) -> str:
    """Return what a worker reports of itself."""
    return msgspec.json.encode(snapshot(worker)).decode()


def counted(data: PageData) -> dict[str, Any]:
    """Return what is shown once the whole queue was counted."""
    until = monotonic() + BRAKE
    while (shown := data.get())["count"]["age"] is None and monotonic() < until:
        sleep(0.05)
    return shown


def test_both_stores_show_the_same(crawl: StoredCrawl) -> None:
    shown = counted(PageData(crawl))
    assert (shown["language"], shown["strategy"]) == ("th", "adaptive")
    assert shown | {"pages": 1, "relevant": 1, "harvest_rate": 1.0, "servers": 3} == shown
    largest, longest, ended = shown["largest"], shown["longest"], shown["completion"]
    assert [msgspec.to_builtins(one) for one in largest] == [
        {"server": "www.one.co.th", "downloaded": 1, "relevant": 1, "pending": 0}
    ]
    assert [(one["server"], one["pending"]) for one in longest] == [("far.example", 1)]
    assert [ended[f"{name}"] for name in ("complete", "cut_number", "failed_number")] == [1, 1, 0]
    assert ended["cut"] == (("full.co.th", "server's page limit", 1),)
    tallies, sentences = shown["tallies"], shown["sentences"]
    assert sentences["server's page limit"] == "The server has LSWC_MAX_SERVER_PAGES pages."
    assert sentences["status 404"] == "The server answered with this error."
    assert tallies["errors"] == {"requisite: timeout": 2, "status 404": 1}
    assert list(tallies["left_out"].items()) == [
        ("blocked", 4), ("nofollow", 3), ("requisite: depth", 1), ("server's page limit", 1)
    ]  # fmt: skip
    assert shown["by_status"] == {"relevant": 1, "unvisited": 2}
    assert [one["cause"] for one in shown["alerts"]] == ["The crawl reports nothing any more."]


def test_a_server_or_url_is_looked_up(crawl: StoredCrawl) -> None:
    far = known_server(crawl, "far.example")
    assert (far["queue"].pending, far["queue"].downloaded) == (1, 0)
    assert [url for url, _ in far["next"]] == ["http://far.example/2.html"]
    assert sum(number for _, number in far["cells"]) == 1
    one = known_server(crawl, "www.one.co.th")
    queue = one["queue"]
    assert (one["status"], queue.downloaded, queue.relevant, queue.pending) == ("relevant", 1, 1, 0)
    with pytest.raises(ConfigError, match=r"knows no server 'one\.co'"):
        known_server(crawl, "one.co")


@pytest.mark.parametrize(
    ("asked", "address"),
    [
        (" WWW.one.co.th ", "server?name=www.one.co.th"),
        ("http://www.one.co.th", "page?url=http%3A%2F%2Fwww.one.co.th%2F"),
        ("far.example/2.html", "page?url=http%3A%2F%2Ffar.example%2F2.html"),
        ("far.example?a=1&b=2", "page?url=http%3A%2F%2Ffar.example%2F%3Fa%3D1%26b%3D2"),
        ("http://nowhere.example/", "page?url=http%3A%2F%2Fnowhere.example%2F"),
    ],
)
def test_a_look_up_leads_to_what_is_known(crawl: StoredCrawl, asked: str, address: str) -> None:
    assert look(Watch(crawl), {"q": asked}) == Elsewhere(address)


@pytest.mark.parametrize(
    ("asked", "named"),
    [("one.co", ["www.one.co.th"]), ("*[?", []), ("' OR 1=1 --", []), ("http://[bad", []),
     ("ก" * 20_000, [])],
)  # fmt: skip
def test_a_name_that_no_server_has_brings_those_like_it(
    crawl: StoredCrawl, asked: str, named: list[str]
) -> None:
    found = look(Watch(crawl), {"q": asked})
    assert not isinstance(found, Elsewhere)
    assert found["servers"] == named


def test_a_look_up_of_nothing_is_a_mistake(crawl: StoredCrawl) -> None:
    with pytest.raises(ConfigError, match="name a server or a URL"):
        look(Watch(crawl), {"q": " "})


def test_what_is_said_to_a_crawl_is_shown(crawl: StoredCrawl) -> None:
    change(crawl.kept, "block", True, "far.example", why="their mail")
    change(crawl.kept, "tolerate", 3, "far.example")
    change(crawl.kept, "pause", True)
    said = {"block": True, "tolerate": 3}
    shown = PageData(crawl).get()
    assert shown["rules"] == [["far.example", said, "their mail"]]
    assert shown["control"]["pause"] is True
    far = known_server(crawl, "far.example")
    assert (far["rule"], far["why"]) == (
        ["blocked", "3 irrelevant pages tolerated"], "their mail"
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frontier = Frontier(tmp_path / "frontier.db", strategy("adaptive"), IDENTITY)
    fill(frontier)
    frontier.close()
    return tmp_path


@pytest.mark.parametrize(
    ("worker", "state"),
    [
        (Worker(state="running", time=-3600), "silent"),  # it was killed
        (Worker(state="closed", time=-1e9, reason="shutdown"), "closed"),
        (Worker(state="offline", time=9), "offline"),
        (None, "unknown"),  # of a crawl that reports nothing
    ],
)
def test_the_state_of_a_crawl(folder: Path, worker: Worker | None, state: str) -> None:
    if worker is not None:
        write_now(folder, snapshot(msgspec.structs.replace(worker, time=time() + worker.time)))
    assert PageData(in_one(folder)).get()["state"] == state


@pytest.mark.parametrize(
    ("ages", "state", "lost"),
    [((1, 3600), "running", 1), ((3600, 7200), "silent", 2), ((1, 2), "running", 0)],
)
def test_a_worker_that_was_killed_is_shown_as_such(
    redis_server: RedisServer, tmp_path: Path, ages: tuple[int, int], state: str, lost: int
) -> None:
    redis_server.empty()
    client = Redis(port=redis_server.port)
    for number, age in enumerate(ages):
        folder = tmp_path / f"worker{number}"
        folder.mkdir()
        frontier = Frontier(folder / "frontier.db", strategy("bfs"), IDENTITY)
        worker = Worker(
            state="running", host="a", folder=str(folder), time=time() - age,
            pages_per_second=2.0, under_way=3, slowest=(Latency("slow.example", 3.0, 2),),
        )  # fmt: skip
        shared(frontier, client, "w", folder, now(worker))
        frontier.close()
    shown = PageData(StoredInRedis(Post(client, "w"))).get()
    assert shown["state"] == state
    assert [worker["state"] for worker in shown["workers"]].count("silent") == lost
    states = {worker["folder"]: worker["state"] for worker in shown["workers"]}
    assert states == {
        str(tmp_path / f"worker{number}"): "silent" if age > A_MINUTE else "running"
        for number, age in enumerate(ages)
    }
    assert shown["pages_per_second"] == 2.0 * (2 - lost)
    slow = {"server": "slow.example", "seconds": 3.0, "answers": 4}
    assert shown["slowest"] == [slow], "once for both workers"


def test_a_worker_whose_clock_is_behind_is_heard(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("lswc.workbench.live.data.ANSWER_SECONDS", 0.0)
    data = PageData(in_one(folder))
    behind = time() - 3600
    write_now(folder, snapshot(Worker(state="running", time=behind)))
    assert data.get()["state"] == "silent"
    write_now(folder, snapshot(Worker(state="running", time=behind + 2)))
    assert data.get()["state"] == "running"


def test_a_crawl_that_was_killed_is_shown_as_it_was_left(folder: Path) -> None:
    (folder / "now.json").write_text('{"state": "run', "utf-8")
    (folder / "course.jsonl").write_text(point(1, 1).line() + '{"ti', "utf-8")
    shown = counted(PageData(in_one(folder)))
    assert shown["pending"] == 1
    assert shown["course"]["columns"]["time"] == [1]


def test_the_course_is_sent_only_when_there_is_more_of_it(folder: Path) -> None:
    course = Course(folder)
    course.add(point(10, 10))
    data = PageData(in_one(folder))
    version = data.get()["course"]["version"]
    assert "columns" not in data.get(version)["course"]
    assert "columns" in data.get(version - 1)["course"]


def test_points_come_more_seldom_as_a_crawl_grows_old(folder: Path, monkeypatch: Any) -> None:
    now = 1_000.0
    monkeypatch.setattr("lswc.monitor.course.time", lambda: now)
    Course(folder).add(point(now, 0))
    course = Course(folder)
    ages = ((0, 5), (499, 5), (700, 7), (1_000, 10), (30_000, 300), (99_999, 300))
    for age, every in ages:
        now = 1_000.0 + age
        assert course.every == pytest.approx(every, abs=0.01)
        course.add(point(now, 0))
        for later, is_due in ((0.0, False), (every - 1, False), (every + 1, True), (-1.0, True)):
            now = 1_000.0 + age + later
            assert course.is_due is is_due, (age, later)


def test_no_more_servers_are_named_than_a_page_has_room_for(tmp_path: Path) -> None:
    frontier = Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY)
    frontier.offer([offer(f"http://www.s{number}.example/") for number in range(25)])
    frontier.close()
    found = look(Watch(in_one(tmp_path)), {"q": "example"})
    assert not isinstance(found, Elsewhere)
    assert (found["title"], len(found["servers"])) == ("example", 20)


def test_speed_and_coverage_over_time(folder: Path) -> None:
    course = Course(folder)
    for one in (
        point(0, 0),
        point(10, 50, expected=50),
        point(100, 60, run=90),
        point(110, 90, 90),
    ):
        course.add(one)
    drawn = columns(read(folder)[0])
    assert drawn["time"] == [0, 10, 55, 100, 110]  # a gap where nothing ran
    assert drawn["speed"] == [None, 5.0, None, None, 3.0]
    assert drawn["coverage"] == [None, 0.5, None, 1.0, 1.0]


def test_a_long_course_is_drawn_with_few_points_its_ends_and_all_runs(folder: Path) -> None:
    course = Course(folder)
    number = 20 * DRAWN
    for at in range(number):
        course.add(point(10 * at, at, run=0 if at < number // 3 else 9))
    times = columns(read(folder)[0])["time"]
    assert len(times) < 1.1 * DRAWN
    assert (times[0], times[-1]) == (0, 10 * (number - 1))
    begun = 10 * (number // 3)
    between = begun - 5
    assert times[times.index(between) - 1 :][:3] == [begun - 10, between, begun]


def test_a_crawl_is_shown_by_its_name_with_why_it_closed(folder: Path) -> None:
    closed = Worker(state="closed", time=time(), reason="stopped by its user")
    write_now(folder, snapshot(closed))
    shown = counted(PageData(in_one(folder)))
    assert (shown["name"], shown["store"]) == (str(folder), "SQLite")
    assert (shown["state"], shown["reason"]) == ("closed", "stopped by its user")


def test_one_of_several_crawls_of_a_redis_is_read(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    redis_server.empty()
    client = Redis(port=redis_server.port)
    for tag in ("lo", "th"):
        (tmp_path / tag).mkdir()
        identity = IDENTITY | {"language": tag, "strategy": "bfs"}
        frontier = Frontier(tmp_path / tag / "frontier.db", strategy("bfs"), identity)
        shared(frontier, client, f"lswc:{tag}", tmp_path / tag)
        frontier.close()
    for name in ("lswc:lo", "lswc:th"):
        shown = PageData(StoredInRedis(Post(client, name))).get()
        assert (shown["name"], shown["language"]) == (name, name[5:])


def test_logs_are_those_of_workers_on_this_machine(
    tmp_path: Path, redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lswc.monitor.stored.ANSWER_SECONDS", 0.1)  # none of them runs
    redis_server.empty()
    client = Redis(port=redis_server.port)
    for host, name in (("", "a"), ("elsewhere", "b")):
        (tmp_path / name / "log").mkdir(parents=True)
        frontier = Frontier(tmp_path / name / "frontier.db", strategy("bfs"), IDENTITY)
        shared(frontier, client, "w", tmp_path / name, host=host)
        frontier.close()
    crawl = StoredInRedis(Post(client, "w"))
    assert crawl.folders() == [tmp_path / "a"]
    assert crawl.elsewhere() == [f"elsewhere:{tmp_path / 'b'}"]
    url = parse("http://a.example/")
    assert url is not None
    assert known_url(crawl, url)["no_log"] == ""
    (tmp_path / "a" / "log").rmdir()
    assert known_url(crawl, url)["no_log"] == "The crawl's log isn't on this machine."


def test_a_folder_that_is_gone_is_told_in_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    frontier = Frontier(folder / "frontier.db", strategy("adaptive"), IDENTITY)
    frontier.close()
    data = PageData(in_one(folder))
    folder.rename(tmp_path / "moved")
    with pytest.raises(StorageError, match=f"can't read {folder}: No such file"):
        data.get()
