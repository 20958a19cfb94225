"""Lengths of a crawl's files: what the files hold beyond them, and which file grew last."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lswc.archive import cdxj, crawl_log, log_tables, page_record
from lswc.archive.appended_files import OpenFiles
from lswc.archive.url_history import of_server
from lswc.archive.warc_writer import WarcWriter, about_page
from tests.archive.test_earlier_crawls import response
from tests.archive.test_take_out import ROW

JOURNAL = "log/00001.jsonl"


def log(crawl: Path, *urls: str) -> int:
    """Write a journal with a row of each URL; return its length."""
    rows = [{"url": url, "time": number, **ROW} for number, url in enumerate(urls)]
    (crawl / "log").mkdir(exist_ok=True)
    return (crawl / JOURNAL).write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_a_journal_that_became_tables_is_as_long_as_it_was(tmp_path: Path) -> None:
    length = log(tmp_path, "http://a.example/", "http://b.example/")
    log_tables.convert(tmp_path)
    assert not (tmp_path / JOURNAL).exists()
    assert crawl_log.lengths(tmp_path) == {JOURNAL: length}


def test_the_latest_index_has_the_highest_number_whatever_the_clock_said(tmp_path: Path) -> None:
    (tmp_path / "warc").mkdir()
    for name in ("th-20270101000000-00001.cdxj", "th-20260101000000-00002.cdxj"):
        (tmp_path / "warc" / name).touch()
    assert [path.name for path in cdxj.latest(tmp_path)] == ["th-20260101000000-00002.cdxj"]


def test_a_number_of_a_committed_file_is_not_given_again(tmp_path: Path) -> None:
    """The file may have been moved elsewhere."""
    committed = ["warc/th-20260101000000-00007.warc.gz", "log/00012.jsonl"]
    writer = WarcWriter(OpenFiles(tmp_path), "th", {}, 10**9, committed)
    writer.write([(response(b"page"), {})])
    writer.close()
    (path,) = (tmp_path / "warc").glob("*.warc.gz")
    assert path.name.endswith("-00008.warc.gz")


def test_the_latest_of_a_server_come_first(tmp_path: Path) -> None:
    pages = [f"http{'s' * (n % 2)}://a.example/{n}" for n in range(9)]
    log(tmp_path, *pages, "http://a.example.com/", "http://b.example/")
    found = of_server(tmp_path, "a.example", 3)
    assert [row["url"] for row in found.latest] == pages[:5:-1]
    assert found.outcomes == {"html": 9}
    log_tables.convert(tmp_path)
    assert of_server(tmp_path, "a.example", 3).latest == found.latest


def test_an_index_line_says_what_a_page_is_as_common_crawl_does() -> None:
    told = {"kind": "html", "shares": "th=0.5 en=0.3 de=0.1 th=0.05 fr=0.05", "charset": "utf-8"}
    assert about_page(told) == {
        "mime-detected": "text/html", "languages": "tha,eng,deu", "charset": "utf-8",
    }  # fmt: skip
    assert about_page({"kind": "listing", "language": "lo"}) == {"languages": "lao"}
    assert about_page({"language": None}) == {}


def test_only_what_is_not_committed_lies_beyond(tmp_path: Path) -> None:
    lines = [b'{"url": "http://a.example/"}\n', b'{"url": "http://b.example/"}\n']
    (tmp_path / "pages.jsonl").write_bytes(b"".join(lines))
    for known in range(3):
        committed = {"pages.jsonl": sum(map(len, lines[:known]))}
        assert [*page_record.beyond(tmp_path, committed)] == lines[known:]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="this system doesn't tell")
def test_where_payloads_are_is_remembered_on_the_disk_of_the_crawl(tmp_path: Path) -> None:
    def opened() -> set[str]:
        links = (path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink())
        return {str(link) for link in links if tmp_path in link.parents}

    assert not opened()
    writer = WarcWriter(OpenFiles(tmp_path), "th", {}, 10**9, ())
    assert len(opened()) == 1
    writer.close()
    assert not opened()
