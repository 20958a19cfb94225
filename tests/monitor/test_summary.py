"""What ``summary.json``, the terminal's line and the course say of a crawl, to the letter."""

from __future__ import annotations

import json
from dataclasses import replace as rebuilt
from datetime import time as at
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

from lswc.frontier.rules.harvest import Group
from lswc.frontier.rules.report import Freshness
from lswc.guest.control.rules_in_force import Control, Hours
from lswc.monitor.course import COURSE, POINTS_OF_AN_ESTIMATE, Point, columns, read_all, times
from lswc.monitor.snapshot import (
    ControlInForce,
    Coverage,
    Latency,
    OfLanguage,
    Outlook,
    Snapshot,
    Tallies,
    Worker,
    by_language,
    in_force,
    made,
    of_workers,
    slowest,
)  # fmt: skip
from lswc.monitor.summary import summary, write
from lswc.monitor.terminal_line import line

if TYPE_CHECKING:
    from pathlib import Path

SNAPSHOT = Snapshot(
    language="th",
    strategy="adaptive",
    runs=3,
    seconds=7_200.5,
    pages=1_234,
    relevant=617,
    guessed=3,
    received=99,
    harvest_rate=0.5,
    pending=4_321,
    coverage=Coverage(relevant=8, collected=6, share=0.75),
    by_status={"relevant": 2},
    tallies=Tallies(
        kinds={"html": 1},
        sources={"title": 2},
        languages={"th": 3},
        relevant={"th": 4},
        encodings={"utf-8": 5},
        content={"copy": 6},
        links_kept={"1": 7},
        discarded={"depth": 8},
        fetched={"tier 1": 9},
        postponed={"timeout": 10},
        finished={"html": 11},
        left_out={"depth": 12},
        errors={"status 404": 13},
        linked_documents={"pdf": 14},
        requisites={"image": 15},
        shells={"rendered": 16},
    ),
    outlook=Outlook(
        at_least=1_500.4,
        expected=2_000.4,
        at_most=2_345.6,
        next_downloads=1_000,
        next_relevant=700.5,
        groups=(Group("tier 1", 4_000, 5, 4), Group("tier 2", 0, 6, 0), Group("seeds", 321, 0, 0)),
    ),
    workers=(
        Worker(began=1_767_225_600.0, time=1_767_229_261.9, seconds=3_661.9, pages=17, received=18),
        Worker(pages=400),
    ),
)
WRITTEN = {
    "language": "th",
    "strategy": "adaptive",
    "reason": "finished",
    "run": {
        "began": "2026-01-01T00:00:00+00:00",
        "ended": "2026-01-01T01:01:01+00:00",
        "seconds": 3_661.9,
        "pages": 17,
        "received": 18,
    },
    "all_runs": {"runs": 3, "seconds": 7_200.5},
    "pages": 1_234,
    "relevant": 617,
    "guessed": 3,
    "received": 99,
    "harvest_rate": 0.5,
    "coverage": {"relevant": 8, "collected": 6, "share": 0.75},
    "kinds": {"html": 1},
    "sources": {"title": 2},
    "languages": {"th": 3},
    "encodings": {"utf-8": 5},
    "content": {"copy": 6},
    "servers": {"relevant": 2},
    "families": [],
    "without_page": {"servers": 0, "reasons": {}, "first": []},
    "links_kept": {"1": 7},
    "discarded": {"depth": 8},
    "fetched": {"tier 1": 9},
    "pending": {"tier 1": 4_000, "seeds": 321},
    "postponed": {"timeout": 10},
    "linked documents": {"pdf": 14},
    "requisites": {"image": 15},
    "shells": {"rendered": 16},
    "forecast": {
        "pending": 2_000.4,
        "pending_at_least": 1_500.4,
        "pending_at_most": 2_345.6,
        "next_downloads": 1_000,
        "next_relevant": 700.5,
    },
    "finished": {"html": 11},
}


def test_the_summary_of_a_crawl(tmp_path: Path) -> None:
    write(tmp_path, SNAPSHOT, "finished")
    text = (tmp_path / "summary.json").read_text("utf-8")
    assert json.loads(text) == WRITTEN
    assert list(json.loads(text)) == list(WRITTEN)
    assert text.startswith('{\n "language": "th",\n')
    assert text.endswith("}\n")


FRESH = Freshness(1_500, 0.75, 12, 1_767_225_600.0, 75.0, 0.5, 30, 20, 3, 8, 4, 2)


def test_how_fresh_pages_are_is_told_where_pages_are_visited_again() -> None:
    fresh = replace(SNAPSHOT, freshness=FRESH)
    assert summary(fresh, "finished") == WRITTEN | {
        "freshness": {
            "pages": 1_500, "fresh": 0.75, "due": 12, "next_due": 1_767_225_600.0, "budget": 75.0,
            "used": 0.5, "changed": 30, "unchanged": 20, "gone": 3, "finds": 8,
            "believed": 4, "disbelieved": 2,
        }
    }  # fmt: skip
    assert line(fresh) == f"{line(SNAPSHOT)}, 75.0% of 1,500 pages fresh, 12 due"
    assert line(replace(SNAPSHOT, freshness=rebuilt(FRESH, fresh=None))) == line(SNAPSHOT)
    assert msgspec.json.decode(msgspec.json.encode(fresh), type=Snapshot) == fresh


def test_a_summary_is_read_by_people(tmp_path: Path) -> None:
    write(tmp_path, replace(SNAPSHOT, by_status={"ไทย": 1}), "finished")
    assert '"ไทย": 1' in (tmp_path / "summary.json").read_text("utf-8")


def test_of_several_languages_each_is_told() -> None:
    several = replace(SNAPSHOT, by_language={"th": OfLanguage(4, 0.25, None)})
    wanted = {"th": {"relevant": 4, "harvest_rate": 0.25, "coverage": None}}
    assert summary(several, "finished") == WRITTEN | {"by_language": wanted}


def test_of_no_page_the_harvest_rate_is_none_of_it() -> None:
    nothing = summary(Snapshot(workers=(Worker(),)), "shutdown")
    assert (nothing["harvest_rate"], nothing["coverage"], nothing["pending"]) == (0.0, None, {})


@pytest.mark.parametrize(
    ("snapshot", "said"),
    [
        (SNAPSHOT,
         "1,234 pages, 50.0% relevant, 4,321 URLs pending, 1,500 to 2,346 of them relevant"),
        (Snapshot(), "0 pages, 0.0% relevant, 0 URLs pending, hardly one of them relevant"),
        (Snapshot(workers=(Worker(offline=59.6),)),
         "0 pages, 0.0% relevant, 0 URLs pending, hardly one of them relevant, OFFLINE for 60 s"),
        (Snapshot(state="paused", reason="outside its hours"),
         "0 pages, 0.0% relevant, 0 URLs pending, hardly one of them relevant, "
         "PAUSED: outside its hours"),
    ],
)  # fmt: skip
def test_a_crawl_in_one_line(snapshot: Snapshot, said: str) -> None:
    assert line(snapshot) == said


def test_a_point_of_the_course_is_of_the_run_that_it_was_taken_in() -> None:
    assert Point.of(replace(SNAPSHOT, time=1_767_229_261.94)) == Point(
        time=1_767_229_261.9,
        run=1_767_225_600.0,
        pages=1_234,
        relevant=617,
        received=99,
        finished=0,
        pending=4_321,
        expected=2_000.4,
        servers=0,
    )


def test_the_control_in_force_is_told_in_words() -> None:
    control = Control(requests=4, hours=Hours(at(22), at(6, 30), "Asia/Bangkok"), why="a request")
    assert in_force(control) == ControlInForce(
        pause=False,
        stop=False,
        hours="22:00-06:30 Asia/Bangkok",
        requests=4,
        why="a request",
        rules=0,
    )
    assert in_force(Control(pause=True)).hours == ""


def test_relevant_pages_are_counted_by_language() -> None:
    tallies = {"page": {"relevant": 3, "irrelevant": 9}, "relevant": {"th": 2, "lo": 1}}
    taken = made(tallies)
    assert taken.tallies.relevant == {"th": 2, "lo": 1}
    found = by_language(taken, dict.fromkeys(("th", "lo", "ja")))
    assert found == {
        "th": OfLanguage(2, 0.1667, None), "lo": OfLanguage(1, 0.0833, None),
        "ja": OfLanguage(0, 0.0, None),
    }  # fmt: skip


def test_the_reason_is_that_of_the_state_that_counts() -> None:
    runs = Worker(state="running", time=1.0, pages_per_second=0.25, under_way=3)
    closed = Worker(state="closed", reason="finished", time=2.0, pages_per_second=9.0)
    paused = Worker(state="paused", reason="at night", time=3.0, under_way=2)
    assert of_workers([runs, closed]) == {
        "state": "running", "reason": "", "workers": (runs, closed),
        "pages_per_second": 0.25, "under_way": 3,
    }  # fmt: skip
    found = of_workers([closed, paused])
    assert (found["state"], found["reason"], found["under_way"]) == ("paused", "at night", 2)
    assert of_workers([])["state"] == "unknown"


def test_a_server_is_slow_by_its_answers_to_all_workers() -> None:
    one = Worker(slowest=(Latency("a.example", 4.0, 3), Latency("b.example", 2.5, 1)))
    other = Worker(slowest=(Latency("c.example", 9.0, 2), Latency("a.example", 1.0, 1)))
    assert slowest([one, other, Worker()]) == [
        Latency("c.example", 9.0, 2), Latency("a.example", 3.25, 4), Latency("b.example", 2.5, 1)
    ]  # fmt: skip
    assert slowest([one, other], 1) == [Latency("c.example", 9.0, 2)]


def test_a_course_in_columns() -> None:
    points = [Point(time, 0.0, pages, relevant, 0, pages, 40, 10, 7) for time, pages, relevant in
              ((10.0, 0, 0), (20.0, 40, 30), (21.0, 41, 30), (40.0, 80, 40))]  # fmt: skip
    assert columns(points) == {
        "time": [10.0, 20.0, 21.0, 40.0],
        "harvest": [None, 0.75, 0.7317, 0.5],
        "recent": [None, 0.75, None, 0.2564],
        "coverage": [0.0, 0.75, 0.75, 0.8],
        "speed": [None, 4.0, None, 39 / 19],
        "pending": [40, 40, 40, 40],
        "expected": [10, 10, 10, 10],
    }


def test_pages_of_a_server_that_was_away_are_no_speed() -> None:
    points = [Point(10.0 * n, 0.0, pages, pages // 2, 0, pages, 40, 10, 7)
              for n, pages in enumerate((0, 100, 60, 80, 160, 180))]  # fmt: skip
    drawn = columns(points)
    assert drawn["speed"] == [None, 10.0, None, None, 2.0, 2.0]
    assert drawn["recent"] == [None, 0.5, None, None, 0.5, 0.5]
    ended = [*points[:3], Point(40.0, 30.0, 160, 80, 0, 160, 40, 10, 7)]
    assert columns(ended)["time"] == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert columns(ended)["speed"][-1] is None, "another run"


def test_the_runs_of_a_crawl_count_without_what_lies_between(tmp_path: Path) -> None:
    assert times(read_all(tmp_path)) == (None, 0, 0.0, None)
    seen = [(0.0, 5.0), (0.0, 65.0), (1_000.0, 1_001.0), (1_000.0, 1_030.5)]
    points = [Point(time, run, 0, 0, 0, 0, 0, 0.0, 0) for run, time in seen]
    (tmp_path / COURSE).write_text("".join(point.line() for point in points))
    assert times(read_all(tmp_path)) == (0.0, 2, 95.5, None)


def test_the_end_is_estimated_where_what_is_pending_falls() -> None:
    def falls(by: int) -> float | None:
        return times(
            [
                Point(10.0 * n, 0.0, 0, 0, 0, 0, 900 - by * n, 0.0, 0)
                for n in range(POINTS_OF_AN_ESTIMATE)
            ]
        ).left

    assert falls(5) == 10 * (900 - 5 * 11) / 5
    # What counts is its latest third: 100 in a minute before it, and 3 each ten seconds in it.
    fallen = [1_000, 900, 800, 700, 600, 500, 400, 300, 297, 294, 291, 288]
    points = [
        *(Point(10.0 * n, 0.0, 0, 0, 0, 0, 9_999 - n, 0.0, 0) for n in range(30)),
        *(Point(500 + 10.0 * n, 500.0, 0, 0, 0, 0, p, 0.0, 0) for n, p in enumerate(fallen)),
    ]
    assert times(points).left == 288 * 40 / 12
    assert times(points[:-1]).left is None, "too few points of this run"
    assert falls(0) is None
    assert falls(-5) is None


def test_each_tally_of_the_frontier_has_its_place() -> None:
    told = {
        "kind": {"html": 1}, "source": {"title": 2}, "language": {"th": 3}, "relevant": {"th": 4},
        "encoding": {"utf-8": 5}, "content": {"copy": 6}, "kept": {"1": 7},
        "discarded": {"depth": 8}, "fetched": {"tier 1": 9}, "postponed": {"timeout": 10},
        "finished": {"html": 11, "status 404": 13, "excluded by pattern": 2, "depth": 1},
        "linked documents": {"pdf": 14}, "requisites": {"image": 15},
        "requisites discarded": {"depth": 16}, "shells": {"rendered": 17},
        "not given to browser": {"rendered enough": 18}, "page": {"relevant": 3, "other": 5},
    }  # fmt: skip
    found = made(told, requisites=19)
    assert (found.pages, found.relevant, found.harvest_rate) == (8, 3, 0.375)
    assert found.tallies == Tallies(
        kinds={"html": 1},
        sources={"title": 2},
        languages={"th": 3},
        relevant={"th": 4},
        encodings={"utf-8": 5},
        content={"copy": 6},
        links_kept={"1": 7},
        discarded={"depth": 8},
        fetched={"tier 1": 9},
        postponed={"timeout": 10},
        finished={"html": 11, "status 404": 13, "excluded by pattern": 2, "depth": 1},
        left_out={"depth": 9, "excluded by pattern": 2},
        errors={"status 404": 13},
        linked_documents={"pdf": 14},
        requisites={"image": 15, "pending": 19, "not asked for: depth": 16},
        shells={"rendered": 17, "not given to browser: rendered enough": 18},
    )
