"""What is shown of a crawl of many workers: sums, from wherever it is asked."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from socket import gethostname
from time import sleep
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from lswc.archive.check.workers import check_workers, of_one_crawl
from lswc.errors import ConfigError, StorageError
from lswc.frontier.rules.harvest import Group
from lswc.frontier.rules.report import Completion, Family, Freshness, Queue
from lswc.frontier.store import report as sqlite_report
from lswc.frontier.store.report import finished
from lswc.guest.control import change, read
from lswc.guest.control.redis_store import InMail, InRedis
from lswc.monitor.course import CourseSum, Point
from lswc.monitor.members import LEAVING, LOST, RUNNING, SILENT, Members
from lswc.monitor.questions import (
    QUESTION_BYTES,
    Alike,
    Answering,
    CountAll,
    OfServer,
    OfUrl,
    encode,
    question_of,
)
from lswc.monitor.snapshot import Cell, Outlook, Snapshot, Tallies
from lswc.monitor.snapshot import Worker as Process
from lswc.monitor.snapshot_sum import summed
from lswc.monitor.stored import StoredInFolders, StoredInRedis
from lswc.monitor.story import story
from lswc.urls import parse
from lswc.workbench.answers import Elsewhere
from lswc.workbench.live.data import PageData
from lswc.workbench.look_up import known_url, look
from lswc.workbench.watch import Watch
from tests.monitor.many_workers import URLS, Crew, Worker
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    crew = Crew(tmp_path)
    yield crew
    crew.close()


@pytest.fixture
def crawl(crew: Crew) -> StoredInRedis:
    return StoredInRedis(crew.post)  # type: ignore[arg-type]


def folders(crew: Crew) -> StoredInFolders:
    kept: Any = InRedis(crew.post)  # type: ignore[arg-type]
    return StoredInFolders([worker.folder for worker in crew.workers], kept)


def test_the_workers_have_shared_the_sites_out(crew: Crew) -> None:
    one, two = map(crew.own, crew.workers)
    assert len(one) == len(two) == 128
    assert not one & two


def test_a_full_count_is_the_sum_of_the_workers(crew: Crew, crawl: StoredInRedis) -> None:
    for found in (crawl.counted(5), folders(crew).counted(5)):
        assert (found.pages, found.relevant, found.finished) == (10, 10, 10)
        assert found.received == 100
        assert found.pending == len(URLS) - 10
        assert found.harvest_rate == 1.0
        assert found.tallies.finished == {"html": 10}
        assert found.servers == len(URLS)
        assert sum((found.by_status or {}).values()) == len(URLS)
        assert len(found.longest or ()) == 5
    assert crawl.gaps() == []


def test_of_one_that_neither_runs_nor_is_here_what_it_told_is_counted(
    crew: Crew, crawl: StoredInRedis
) -> None:
    for worker in crew.workers:
        worker.tell(1_800_000_000.0)
    crew.turn()
    crew.turn()
    crew.post.held.alive.clear()
    assert crawl.counted(5).pages == 10
    assert len(crawl.gaps()) == 2
    assert "its latest report is counted, at 2027-01-15" in crawl.gaps()[0]
    crew.post.held.now.clear()
    assert crawl.counted(5).pages == 0
    assert "nothing of it is counted" in crawl.gaps()[0]


@pytest.mark.parametrize("url", URLS[:10])
def test_whoever_owns_a_url_is_asked(crew: Crew, crawl: StoredInRedis, url: str) -> None:
    known = crawl.known(url)
    assert known == folders(crew).known(url)
    assert known.standing is not None
    server = url.split("/")[2]
    assert (found := crawl.server(server, 3)) is not None
    assert found.queue.server == server
    parsed = parse(url)
    assert parsed is not None
    assert known_url(crawl, parsed)["conclusion"]
    assert crawl.known(f"{url}nothing").standing is None


def test_an_owner_that_cannot_be_asked_is_named(crew: Crew, crawl: StoredInRedis) -> None:
    crew.post.held.alive.clear()
    with pytest.raises(StorageError, match=r"worker \d+ \(there:.*\) has www.site1.co.th: it"):
        crawl.known(URLS[1])


def test_a_folder_on_this_machine_is_read(tmp_path: Path) -> None:
    crew = Crew(tmp_path, gethostname())
    crawl = StoredInRedis(crew.post)  # type: ignore[arg-type]
    crew.close()
    assert crawl.counted(5).pages == 10
    assert crawl.folders() == [worker.folder for worker in sorted(crew.workers, key=lambda w: w.me)]
    assert crawl.elsewhere() == []
    assert crawl.known(URLS[3]).standing is not None
    (tmp_path / "two").rename(tmp_path / "three")
    (tmp_path / "one").rename(tmp_path / "two")  # another worker's folder in its place
    assert crawl.folders() == []


def test_servers_of_all_workers_are_like_a_text(crew: Crew, crawl: StoredInRedis) -> None:
    assert len(crawl.alike("site", 100)) == len(URLS)
    assert len(crawl.alike("site", 3)) == 3
    found = look(Watch(crawl), {"q": "site1"})
    assert not isinstance(found, Elsewhere)
    assert found["servers"]


def test_the_page_shows_all_workers(crew: Crew, crawl: StoredInRedis) -> None:
    for number, worker in enumerate(crew.workers):
        worker.tell(5.0 + number)
    crew.turn()
    crew.turn()
    data, left = PageData(crawl), BRAKE
    while (shown := data.get())["count"]["age"] is None and left > 0:
        sleep(0.1)
        left -= 0.1
    assert shown["pages"] == 10
    assert len(shown["workers"]) == 2
    assert shown["course"]["columns"]["time"][-1] == 6.0
    assert shown["language"] == "th"


def test_a_worker_is_given_the_questions_to_it(crew: Crew) -> None:
    asked: list[bytes] = []
    crew.workers[0].exchange.asked = asked.append
    crew.post.held.asked[crew.workers[0].me] = [b"a x", b"b y"]
    for _ in range(4):
        crew.turn()
    assert asked == [b"a x", b"b y"]


@pytest.mark.parametrize(
    "asked",
    [
        b"",
        b"x",
        b"a \xc1",
        b"a " + encode(CountAll(0)),
        b"a " + encode(Alike("x", 10**9)),
        b"a " + b"\x91" * QUESTION_BYTES,
        b"../a " + encode(CountAll(3)),
        b"a " + encode(OfUrl("x" * QUESTION_BYTES)),
        b"a " + msgspec.msgpack.encode({"type": "shell"}),
    ],
)
def test_what_is_no_question_is_counted(crew: Crew, asked: bytes) -> None:
    crew.workers[0].answering.ask(asked)
    assert crew.workers[0].counted == ["lswc/questions/ignored"]


@given(some.binary(max_size=200))
def test_any_bytes_are_a_question_or_none(packed: bytes) -> None:
    question_of(packed)


def test_questions_too_many_are_counted(tmp_path: Path) -> None:
    counted: list[str] = []
    answering = Answering(tmp_path / "none.db", object(), counted.append)  # type: ignore[arg-type]
    asked = b"a " + encode(OfServer("x", 1))
    answering._thread.submit = lambda *_: None  # type: ignore[method-assign,assignment]
    answering.ask(b"")
    for _ in range(26):
        answering.ask(asked)
    assert Counter(counted) == {"lswc/questions/answered": 20, "lswc/questions/ignored": 7}
    answering.close()
    answering.ask(asked)
    assert len(counted) == 28


def test_folders_of_workers_are_compared(crew: Crew) -> None:
    crew.close()
    folders = [worker.folder for worker in crew.workers]
    assert of_one_crawl(folders)
    assert not of_one_crawl(folders[:1])
    report = check_workers(folders)
    assert report.agrees
    assert [found.entries for found in report.findings] == [256, 10, 0]
    assert sum("128 parts of the sites; 0 links" in note for note in report.notes) == 2
    with closing(sqlite3.connect(folders[1] / "frontier.db")) as db:
        changed = db.execute(
            "UPDATE url SET outcome = 'html' WHERE outcome LIKE 'elsewhere: % html'"
        ).rowcount
        db.execute("UPDATE part SET state = 0")
        db.execute(
            "INSERT OR IGNORE INTO part (part, state) SELECT value, 0 FROM json_each('[0, 1, 2]')"
        )
        db.commit()
    assert changed
    report = check_workers(folders)
    assert not report.agrees
    assert report.findings[0].faults["double"] > 0
    assert report.findings[1].faults["double"] == changed
    assert sum("finished twice: http://" in note for note in report.notes) == changed


@pytest.mark.parametrize(
    ("visits", "fault"),
    [
        (((1, 3), (2, 4)), {}),
        (((1, 2), (2,)), {"double": 1}),
        (((1, 3), (4,)), {"missing": 1}),
    ],
)
def test_each_visit_is_recorded_by_one_of_all_workers(
    crew: Crew, visits: tuple[tuple[int, ...], ...], fault: dict[str, int]
) -> None:
    crew.close()
    folders = [worker.folder for worker in crew.workers]
    for folder, numbers in zip(folders, visits, strict=True):
        lines = (json.dumps({"url": "http://a.com/", "visit": number}) for number in numbers)
        (folder / "pages.jsonl").write_text("".join(f"{line}\n" for line in lines))
    report = check_workers(folders)
    found = {name: number for name, number in report.findings[2].faults.items() if number}
    assert found == fault
    assert sum("http://a.com/" in note for note in report.notes) == len(fault)
    if fault != {"double": 1}:  # another folder may have what lacks
        assert check_workers(folders[:1]).findings[2].faults["missing"] == 0


def test_who_finished_what_moved_is_told(crew: Crew, crawl: StoredInRedis) -> None:
    """Of a page whose site was given away since, the one that has its record."""
    one, two = crew.workers
    moved = [url for url, outcome in finished(one.folder / "frontier.db") if not owns(one, url)]
    assert moved
    for url in moved:
        standing = crawl.known(url).standing
        assert standing is not None
        assert standing.outcome == "html"
    with sqlite_report.opened(two.folder / "frontier.db") as reader:
        at_heir = reader.standing(moved[0])
    told = story([], [], at_heir, 5).conclusion
    assert told.startswith("html: ")
    assert f"Worker {one.me} finished it" in told


def owns(worker: Worker, url: str) -> bool:
    return worker.frontier.outbox.is_own(url.split("/")[2])


# Members


def test_members_are_shown(crew: Crew) -> None:
    members = Members(crew.post)  # type: ignore[arg-type]
    found = members.all()
    assert [(one.state, one.parts, one.to_come) for one in found] == [(RUNNING, 128, 0)] * 2
    assert sum(one.finished for one in found) == 10
    assert sum(one.waiting for one in found) == len(URLS) - 10
    crew.post.held.alive.discard(found[0].number)
    assert members.all()[0].state == SILENT
    assert members.remarks()


def test_a_worker_is_removed_and_gives_all(crew: Crew) -> None:
    members = Members(crew.post)  # type: ignore[arg-type]
    number = crew.workers[0].me
    members.removed(number)
    assert {one.number: one.state for one in members.all()}[number] == LEAVING
    for _ in range(100):
        crew.turn()
    assert len(crew.own(crew.workers[1])) == 256
    with pytest.raises(ConfigError, match="leaves, or left, already"):
        members.removed(number)
    with pytest.raises(ConfigError, match="is the only one"):
        members.removed(crew.workers[1].me)


def test_only_one_that_does_not_run_is_lost(crew: Crew) -> None:
    members = Members(crew.post)  # type: ignore[arg-type]
    number = crew.workers[0].me
    with pytest.raises(ConfigError, match="runs, or ran some seconds ago: it isn't lost"):
        members.lost(number, confirmed=True)
    crew.post.held.alive.discard(number)
    with pytest.raises(ConfigError, match="--confirm"):
        members.lost(number, confirmed=False)
    assert members.lost(number, confirmed=True).parts == 128
    states = {one.number: (one.state, one.parts) for one in members.all()}
    assert states[number] == (LOST, 0)
    with pytest.raises(ConfigError, match="called lost already"):
        members.lost(number, confirmed=True)
    with pytest.raises(ConfigError, match="has no worker 0"):
        members.removed(0)


def test_a_table_that_changed_meanwhile_is_changed_anew(crew: Crew) -> None:
    post = crew.post
    replace, tries = post.replace, []

    def late(table: Any, expected: int) -> bool:
        tries.append(expected)
        if len(tries) == 1:
            assert post.held.owners is not None
            replace(post.held.owners.owned(crew.workers[0].me, ()), expected)
        return replace(table, expected)

    post.replace = late  # type: ignore[method-assign,assignment]
    Members(post).removed(crew.workers[0].me)  # type: ignore[arg-type]
    assert len(tries) == 2


# Instructions


class Hears:
    control: bytes | None = None


def test_a_worker_keeps_what_it_heard(crew: Crew, tmp_path: Path) -> None:
    where = InRedis(crew.post)  # type: ignore[arg-type]
    change(where, "block", value=True, place="a.th", why="asked")
    crew.turn()
    crew.turn()
    exchange = crew.workers[0].exchange
    mail = InMail(tmp_path, exchange)
    assert [place.name for place, _ in read(mail).rules] == ["a.th"]
    assert mail.version() == mail.version()
    again = Hears()  # a restart, while Redis is away
    kept = InMail(tmp_path, again)
    assert [place.name for place, _ in read(kept).rules] == ["a.th"]
    assert kept.version() is not None
    crew.post.flush()
    for _ in range(4):
        crew.turn()
    assert [place.name for place, _ in read(where).rules] == ["a.th"]
    change(where, "block", None, "a.th")
    crew.turn()
    crew.turn()
    assert not read(mail).rules


def test_a_file_that_is_no_copy_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "control.toml").write_text("pause = true\n")
    mail = InMail(tmp_path, Hears())
    assert mail.version() is None
    assert not read(mail).pause


# Sums


def snapshot(**fields: Any) -> Snapshot:
    return Snapshot(time=1.0, workers=(Process(state="running", pages_per_second=1.0),), **fields)


def test_nothing_and_one_are_their_own_sums() -> None:
    assert summed([]) == Snapshot()
    one = snapshot(pages=3)
    assert summed([one]) == one


def test_lists_are_joined_by_name() -> None:
    cells = [Cell("a", 10, 4, 0.5, 0.25), Cell("b", 1, 0, 0.1, None)]
    outlook = Outlook(best=tuple(cells), groups=(Group("g", 3, 2, 1.0),), expected=2.5)
    more = Outlook(
        best=(Cell("a", 30, 4, 0.5, 0.75), Cell("x", 2, 0, 0.3, None), cells[1]),
        groups=(Group("g", 1, 1, 1.0),),
        expected=1.5,
    )
    found = summed(
        [
            snapshot(pages=2, relevant=1, outlook=outlook, longest=(Queue("s", 3, 1, 1),)),
            snapshot(pages=2, relevant=0, outlook=more, longest=(Queue("t", 5, 1, 1),)),
        ]
    )
    assert [cell.name for cell in found.outlook.best] == ["a", "x", "b"]
    assert found.outlook.best[0] == Cell("a", 40, 8, 0.5, 0.5)
    assert found.outlook.groups == (Group("g", 4, 3, 2.0),)
    assert found.coverage_at_most == 0.2
    assert [queue.server for queue in found.longest or ()] == ["t", "s"]
    assert found.pages_per_second == 2.0


def test_families_ends_and_freshness_are_summed() -> None:
    fresh = Freshness(2, 1.0, 1, 9.0, 4.0, 0.5, 1, 1, 0, 0)
    older = Freshness(6, 0.5, 0, 7.0, 4.0, None, 0, 1, 1, 2)
    ends = Completion(1, (("a", "r", 2),), 1, (("z", ""),), 1)
    family = Family("f", 3, 1, "x", 2)
    found = summed(
        [
            snapshot(freshness=fresh, completion=ends, families=(family,)),
            snapshot(freshness=older, families=(family._replace(branch="y", of_branch=3),)),
            snapshot(),
        ]
    )
    assert found.freshness is not None
    assert (found.freshness.pages, found.freshness.fresh, found.freshness.next_due) == (
        8,
        0.625,
        7.0,
    )
    assert found.freshness.used == 0.5
    assert found.completion == ends
    assert found.families == (Family("f", 6, 2, "y", 3),)


@given(some.lists(some.dictionaries(some.sampled_from("abc"), some.integers(1, 9)), max_size=4))
def test_tallies_are_sums_whatever_was_told(told: list[dict[str, int]]) -> None:
    found = summed([snapshot(tallies=Tallies(finished=one)) for one in told])
    total = sum((Counter(one) for one in told), Counter[str]())
    assert Counter(found.tallies.finished) == total


def point(time: float, pages: int, run: float = 1.0) -> Point:
    return Point(time, run, pages, pages, 0, pages, 9, 0.0, 2)


def test_courses_are_summed_in_steps() -> None:
    course = CourseSum()
    both = {1: [point(2, 10), point(4, 20)], 2: [point(3, 5)]}
    found, after = course.go_on(both, 0)
    assert [(one.time, one.pages) for one in found] == [(2, 10), (3, 15), (4, 25)]
    assert course.go_on(both, after) == ([], after)
    found, after = course.go_on({1: both[1], 2: [point(3, 5), point(6, 7)]}, after)
    assert [(one.time, one.pages, one.run) for one in found] == [(6, 27, 1.0)]
    found, _ = course.go_on({1: [point(9_000, 30, run=8_000)]}, after)
    assert found[0].run == 8_000
    assert len(course.go_on(both, 0)[0]) == 3
