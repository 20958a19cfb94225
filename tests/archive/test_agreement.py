"""Whether a crawl's frontier and files agree: what `check` says of each fault, and mends."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lswc.archive.check.agreement import check, repair
from lswc.archive.check.recovery import refuse_older
from lswc.archive.warc_repair import is_described
from lswc.frontier.rules.contract import FrontierError
from tests.archive.wire import record
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from pathlib import Path

URLS = [f"http://{name}.example/" for name in "abc"]


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl in which no page was found."""
    with SetUp(tmp_path, *URLS, LSWC_FRONTIER="sqlite") as crawl:
        for _ in URLS:
            crawl.parts.commits.commit(crawl.visit(), "status 404")
    return tmp_path / "crawl"


def faults(crawl: Path) -> dict[tuple[str, str], int]:
    return {
        (found.file, fault): number
        for found in check(crawl).findings
        for fault, number in found.faults.items()
        if number
    }


def test_a_crawl_that_was_left_alone_agrees(crawl: Path) -> None:
    report = check(crawl)
    assert report.agrees
    assert {found.file: found.entries for found in report.findings}["log"] == 3


def test_what_the_log_has_lost_is_asked_for_again(crawl: Path) -> None:
    for table in (crawl / "log").iterdir():
        table.unlink()
    assert faults(crawl) == {("log", "missing"): 3, ("files", "missing"): 1}
    repair(crawl)
    with closing(sqlite3.connect(crawl / "frontier.db")) as db:
        assert db.execute("SELECT count(*) FROM url WHERE outcome IS NULL").fetchone() == (3,)


def test_counters_that_count_otherwise_are_named(crawl: Path) -> None:
    with closing(sqlite3.connect(crawl / "frontier.db")) as db, db:
        (text,) = db.execute("SELECT counts FROM tally").fetchone()
        text = text.replace('"status 404":3', '"status 404":7')
        db.execute("UPDATE tally SET counts = ?", (text,))
    assert faults(crawl) == {("counters", "missing"): 4}


def test_a_summary_that_counts_what_was_taken_back_is_told_and_moved_aside(crawl: Path) -> None:
    summary = crawl / "summary.json"
    counts = {"status 404": 3, "timeout": 99}  # what may be tried again counts for nothing
    summary.write_text(json.dumps({"finished": counts}))
    assert not faults(crawl)
    repair(crawl)
    assert summary.exists()
    summary.write_text(json.dumps({"finished": counts | {"status 410": 2}}))
    assert faults(crawl) == {("summary.json", "unknown"): 2}
    repair(crawl)
    assert not summary.exists()
    assert check(crawl).agrees


def test_an_older_frontier_is_refused_with_the_command_that_helps(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text('{"url": "http://a.example/"}\n' * 2)
    with pytest.raises(FrontierError, match="lacks 2 or more visits") as refused:
        refuse_older(tmp_path, {})
    assert f"`lswc check {tmp_path} --repair` moves these visits aside" in str(refused.value)


def test_only_a_whole_metadata_record_describes_a_page(tmp_path: Path) -> None:
    request = gzip.compress(record(URLS[0], b"GET / HTTP/1.1\r\n\r\n"))
    plain = record(URLS[0], b"outcome: html\r\n")
    metadata = gzip.compress(plain.replace(b"WARC-Type: response", b"WARC-Type: metadata"))
    file = tmp_path / "a.warc.gz"
    file.write_bytes(request + metadata)
    assert is_described(file, 0, None)
    assert is_described(file, len(request), len(request + metadata))
    assert not is_described(file, 0, len(request)), "what follows is of the next page"
    file.write_bytes(request + metadata[:-9])
    assert not is_described(file, 0, None)
