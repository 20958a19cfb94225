"""Several visits of one URL in a crawl's files: what `lswc check` takes for whole, and what not."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
import pytest

from lswc.archive.archive import Archive, FileSizes
from lswc.archive.check.comparison import Comparison
from lswc.frontier.rules.visit import Attempt, Exchange, Visit
from tests.archive.test_visits import _record, visits

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

A, SECURE = "http://a/", "https://a/"


def faults(
    folder: Path,
    *made: tuple[int, str, str],
    finished: str = A,
    elsewhere: list[str] | None = None,
    unrecorded: Collection[int] = (),
) -> dict[tuple[str, str], int]:
    """Return the faults of files with these visits of a page: number, outcome, URL.

    Those at the places ``unrecorded`` stand in the log and have no record.
    """
    archive = Archive(folder, "th", "all", FileSizes(warc=1e9, part=0), {}, {})
    lease = next(visits(b"")).lease
    for place, (number, outcome, url) in enumerate(made):
        head = bytearray(b"HTTP/1.1 200\r\n\r\n")
        exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", head, [b"%d" % number])
        attempt = Attempt(url, datetime.now(UTC), 200, exchange=exchange)
        visit = Visit(msgspec.structs.replace(lease, visits=number - 1), url=url, outcome=outcome)
        visit.attempts = [attempt]
        if outcome == "html" and place not in unrecorded:
            visit.record = replace(_record(url), visit=number, change="changed")
        archive.store(visit)
    archive.close(whole=True)
    known = [] if finished in (elsewhere or ()) else [(finished, "html")]
    with closing(Comparison(folder, known, elsewhere)) as comparison:
        return {
            (found.file, fault): number
            for found in comparison.findings()
            for fault, number in found.faults.items()
            if number
        }


def test_consecutive_visits_agree_and_those_without_a_page(tmp_path: Path) -> None:
    made = [
        (1, "html"),
        (2, "html"),
        (3, "timeout"),
        (3, "timeout"),
        (3, "html"),
        (4, "status 404"),
    ]
    assert not faults(tmp_path, *((number, outcome, A) for number, outcome in made))


@pytest.mark.parametrize(
    ("numbers", "fault"), [((1, 3), "missing"), ((2,), "missing"), ((1, 2, 2), "double")]
)
def test_a_visit_that_is_missing_or_twice_is_told(
    tmp_path: Path, numbers: tuple[int, ...], fault: str
) -> None:
    found = faults(tmp_path, *((number, "html", A) for number in numbers))
    assert found["pages.jsonl", fault] == 1


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_visit_that_is_in_the_log_alone_twice_is_told(tmp_path: Path, number: int) -> None:
    made = [(visit, "html", A) for visit in (1, 2, 3, number)]
    assert faults(tmp_path, *made, unrecorded=[3]) == {("log", "double"): 1}


@pytest.mark.parametrize("moved", [A, SECURE])
def test_a_page_whose_first_visits_another_worker_made(tmp_path: Path, moved: str) -> None:
    made = [(3, "html", A), (4, "status 404", moved), (6, "html", moved)]
    assert not faults(tmp_path, *made, finished=moved, elsewhere=[moved])


def test_a_page_that_was_given_away_and_came_back(tmp_path: Path) -> None:
    assert not faults(tmp_path, (1, "html", A), (4, "html", A), elsewhere=["http://b/"])


def test_a_page_that_moved_to_https_is_one_page(tmp_path: Path) -> None:
    made = [(1, "html", A), (2, "html", SECURE), (3, "html", SECURE)]
    assert not faults(tmp_path, *made, finished=SECURE)
