"""Marks of people on pages and sites: kept, read, and given away."""

from __future__ import annotations

import csv
import json
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest

from lswc.errors import ConfigError, LswcError
from lswc.workbench import marks
from lswc.workbench.marks import BROKEN, GOOD, NOT_WANTED, made

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://www.a.co.th/x?b=1"


def test_the_latest_mark_of_a_place_counts(tmp_path: Path) -> None:
    marks.add(tmp_path, made(URL, GOOD, " fine ", "lek"))
    marks.add(tmp_path, made("www.A.co.th", NOT_WANTED))
    marks.add(tmp_path, made(URL, BROKEN, "no pictures", "nok"))
    found = marks.read([tmp_path])
    assert {one.place: (one.kind, one.note, one.by) for one in found.values()} == {
        "a.co.th": ("not wanted", "", ""), URL: ("broken", "no pictures", "nok"),
    }  # fmt: skip
    assert (found[URL].is_page, found[URL].site) == (True, "a.co.th")
    assert (found["a.co.th"].is_page, found["a.co.th"].site) == (False, "a.co.th")
    marks.add(tmp_path, made(URL, ""))
    assert list(marks.read([tmp_path])) == ["a.co.th"], "it was taken back"
    assert marks.read([tmp_path / "none"]) == {}


@pytest.mark.parametrize(
    "place", ["", "ftp://a.th/", "http://", "a b", "x" * 10_000, "javascript:a"]
)
def test_what_is_no_page_or_site_is_not_marked(place: str) -> None:
    with pytest.raises(ConfigError, match="neither a page's URL nor a site"):
        made(place, GOOD)


def test_a_mark_has_its_bounds() -> None:
    with pytest.raises(ConfigError, match="is no mark"):
        made(URL, "bad")
    with pytest.raises(ConfigError, match="at most 2000"):
        made(URL, GOOD, "x" * 2_001)


@pytest.mark.parametrize("torn", [b'{"time": "2026', b'{"time": "2026\xff\n', b"[1]\n", b"\n{}\n"])
def test_a_damaged_line_costs_nothing_else(tmp_path: Path, torn: bytes) -> None:
    marks.add(tmp_path, made(URL, GOOD))
    with (tmp_path / marks.FILE).open("ab") as file:
        file.write(torn)
    marks.add(tmp_path, made("b.th", BROKEN, "\ud800<b>\n"))
    assert set(marks.read([tmp_path])) == {URL, "b.th"}


def mark_many(folder: Path, name: str) -> None:
    for number in range(50):
        marks.add(folder, made(f"http://{name}.th/{number}", GOOD, "x" * 1_000))


def test_two_processes_may_mark_at_a_time(tmp_path: Path) -> None:
    spawn = get_context("spawn")
    both = [spawn.Process(target=mark_many, args=(tmp_path, name)) for name in ("a", "b")]
    for one in both:
        one.start()
    for one in both:
        one.join()
    lines = (tmp_path / marks.FILE).read_bytes().splitlines()
    assert len([json.loads(line) for line in lines]) == 100
    assert len(marks.read([tmp_path])) == 100


def test_a_folder_that_cannot_be_written_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / marks.FILE).mkdir()
    with pytest.raises(LswcError, match=r"can't write .*marks\.jsonl"):
        marks.add(tmp_path, made(URL, GOOD))
    with pytest.raises(LswcError, match=r"can't read .*marks\.jsonl"):
        marks.read([tmp_path])


def test_a_spreadsheet_gets_no_formula(tmp_path: Path) -> None:
    marks.add(tmp_path, made(URL, GOOD, '=HYPERLINK("http://evil.example")', "-lek, ก"))
    text = marks.as_csv(marks.read([tmp_path])).decode("utf-8-sig")
    head, row = csv.reader(text.splitlines())
    assert head == ["place", "kind", "note", "by", "time"]
    assert row[:4] == [URL, "good", '\'=HYPERLINK("http://evil.example")', "'-lek, ก"]
