"""What is taken out of a crawl's files is kept aside, and the rest is whole."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from fastwarc import ArchiveIterator

from lswc.archive import committed_lengths, crawl_log, log_tables
from lswc.archive.appended_files import Aside, OpenFiles
from lswc.archive.cdxj import DOM
from lswc.archive.crawl_log import Log, journals
from lswc.archive.warc_repair import is_whole
from lswc.archive.warc_writer import WarcWriter
from lswc.frontier.rules.visit import Rendered
from tests.archive.reading import check, index, records
from tests.archive.test_earlier_crawls import response

if TYPE_CHECKING:
    from pathlib import Path

URLS = [f"http://{name}.example/" for name in "abcdef"]
ROW = {"outcome": "html", "targets": [], "anchors": [], "named": [], "tiers": [], "dropped": []}


def write(folder: Path) -> Path:
    """Archive a page of each URL in one file; return its path."""
    writer = WarcWriter(OpenFiles(folder), "th", {}, 10**9, ())
    writer.write([(response(url.encode() * 9, url), {"outcome": "html"}) for url in URLS])
    writer.close()
    (path,) = (folder / "warc").glob("*.warc.gz")
    return path


@pytest.mark.parametrize("tenth", range(1, 20))
def test_a_warc_file_cut_anywhere(tmp_path: Path, tenth: int) -> None:
    path = write(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * tenth // 20])
    entries = index(tmp_path)
    whole = {url for url, entry in entries.items() if is_whole(path, entry)}
    committed_lengths.take_out(tmp_path, set(URLS) - whole, aside := Aside(tmp_path))
    stored = {r.url for r in records(tmp_path) if r.type == "response"}
    assert stored == index(tmp_path).keys() == whole
    assert all(is_whole(path, entry) for entry in index(tmp_path).values())
    kept = sum(p.stat().st_size for p in aside.folder.glob("*.warc.gz"))
    assert kept + path.stat().st_size == len(data) * tenth // 20, "bytes were deleted"


def test_one_of_many_pages(tmp_path: Path) -> None:
    path = write(tmp_path)
    aside = Aside(tmp_path)
    committed_lengths.take_out(tmp_path, {URLS[2]}, aside)
    left = [url for url in URLS if url != URLS[2]]
    assert [r.url for r in records(tmp_path) if r.type == "response"] == left
    assert sorted(index(tmp_path)) == left
    assert all(is_whole(path, entry) for entry in index(tmp_path).values())
    check(tmp_path)
    (kept,) = aside.folder.glob("*.warc.gz")
    with kept.open("rb") as file:
        found = {record.headers["WARC-Target-URI"] for record in ArchiveIterator(file)}
    assert found == {URLS[2]}


def test_what_a_browser_showed_goes_with_its_page(tmp_path: Path) -> None:
    writer = WarcWriter(OpenFiles(tmp_path), "th", {}, 10**9, ())
    attempts = [response(url.encode() * 9, url) for url in URLS]
    for attempt in attempts:
        attempt.rendered = Rendered(f"<p>{attempt.url}".encode(), attempt.url, ())
    writer.write([(attempt, {"outcome": "html"}) for attempt in attempts])
    writer.close()
    assert set(index(tmp_path)) == {*URLS, *(DOM + url for url in URLS)}
    check(tmp_path)
    committed_lengths.take_out(tmp_path, {URLS[2], URLS[5]}, Aside(tmp_path))
    left = [url for url in URLS if url not in (URLS[2], URLS[5])]
    found = records(tmp_path)
    assert [r.url for r in found if r.type == "response"] == left
    assert [r.url for r in found if r.type == "resource"] == [DOM + url for url in left]
    (path,) = (tmp_path / "warc").glob("*.warc.gz")
    assert all(is_whole(path, entry) for entry in index(tmp_path).values())
    check(tmp_path)


def test_rows_of_the_log(tmp_path: Path) -> None:
    written = Log(OpenFiles(tmp_path), ())
    written.write({"url": url, **ROW} for url in URLS)
    written.close()
    committed_lengths.take_out(tmp_path, {URLS[0]}, aside := Aside(tmp_path))
    assert [row.url for row in crawl_log.rows(tmp_path) if row] == URLS[1:]
    assert len(list(aside.folder.glob("attempts-*.parquet"))) == 1


@pytest.mark.parametrize("damage", [b'{"url": "http://a.ex', bytes(40), b'{"other": 1}', b"[]"])
def test_a_damaged_row_is_passed_over_and_kept(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "log").mkdir()
    row = json.dumps({"url": URLS[0], **ROW}).encode()
    (tmp_path / "log" / "00001.jsonl").write_bytes(b"\n".join([row, damage, row, b""]))
    log_tables.convert(tmp_path)
    assert [row.url for row in crawl_log.rows(tmp_path) if row] == [URLS[0], URLS[0]]
    (kept,) = tmp_path.glob("aside/*/00001.jsonl")
    assert kept.read_bytes() == damage + b"\n"


def test_a_journal_outlasts_a_process_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_log, "LIMIT", 1)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    written = Log(OpenFiles(tmp_path), ())
    for url in URLS:
        written.write([{"url": url, **ROW}])
    assert len(journals(tmp_path / "log")) == len(URLS)
    written.close()
    assert [row.url for row in crawl_log.rows(tmp_path) if row] == URLS


def test_a_long_journal_becomes_tables_while_the_next_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl_log, "LIMIT", 1)
    written = Log(OpenFiles(tmp_path), ())
    for url in URLS:
        written.write([{"url": url, **ROW}])
    written.close(whole=False)  # waits for the others, and leaves its own
    assert [path.name for path in journals(tmp_path / "log")] == ["00006.jsonl"]
    assert [row.url for row in crawl_log.rows(tmp_path) if row] == URLS


CLOSES = """
import json, sys
from pathlib import Path
from lswc.archive.appended_files import OpenFiles
from lswc.archive.crawl_log import Log

log = Log(OpenFiles(Path(sys.argv[1])), ())
log.write(json.loads(sys.argv[2]))
log.close()
print("pyarrow" in sys.modules)
"""


def test_a_crawl_that_closes_holds_no_arrow_for_its_tables(tmp_path: Path) -> None:
    rows = json.dumps([{"url": url, **ROW} for url in URLS])
    done = subprocess.run(
        [sys.executable, "-c", CLOSES, str(tmp_path), rows],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "False\n"
    assert [path.name for path in crawl_log.converted(tmp_path)] == ["attempts-00001.parquet"]
    assert [row.url for row in crawl_log.rows(tmp_path) if row] == URLS
