"""A record in parts holds each line once, whenever its process is killed."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.archive import committed_lengths, page_record
from lswc.archive.appended_files import Aside, OpenFiles
from lswc.archive.page_record import Parts
from tests.archive.reading import as_zcat_reads

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = 12


@pytest.fixture(scope="module", autouse=True)
def no_disk() -> Iterator[None]:
    """Wait for no disk: processes are killed here, machines aren't."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


class State(NamedTuple):
    """What a frontier knows: lengths of the parts, and the lines that are in them."""

    lengths: dict[str, int]
    lines: int


def line(number: int) -> bytes:
    return json.dumps({"url": f"http://s{number}.example/", "of": number}).encode() + b"\n"


def write(folder: Path, limit: int, frontier: Path, *, to: int = LINES, packs: int = 1) -> None:
    """Go on with a record, as a crawl does: ``packs`` lines after each other parts are packed."""
    begun = state(frontier)
    page_record.cut(folder, begun.lengths, Aside(folder))
    files = OpenFiles(folder)
    writer = Parts(files, limit, begun.lengths)
    lengths = {**begun.lengths, **page_record.lengths(folder)}
    for number in range(begun.lines, to):
        lengths |= writer.turn()
        writer.growing.append(line(number))
        lengths |= files.lengths()
        new = frontier.with_suffix(".new")
        new.write_text(json.dumps([lengths, number + 1]))
        new.replace(frontier)
        if number % packs == packs - 1:
            for name in page_record.closed(folder):
                if (folder / name).exists():
                    page_record.pack(folder / name)
    writer.close()


def state(frontier: Path) -> State:
    return State(*json.loads(frontier.read_text())) if frontier.exists() else State({}, 0)


def dies(folder: Path, limit: int, frontier: Path, to: int, before: int) -> bool:
    """Write in a process that is killed before it opens, renames or removes the so-manieth file.

    Tells whether it touches so many.
    """
    child = os.fork()
    if not child:
        left = before

        def count(event: str, _: object) -> None:
            nonlocal left
            left -= event in ("open", "os.rename", "os.remove")
            if not left:
                os._exit(9)

        try:
            sys.addaudithook(count)
            write(folder, limit, frontier, to=to)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def numbers(folder: Path, committed: dict[str, int] | None = None) -> list[int | None]:
    return [record["of"] if record else None for record in page_record.pages(folder, committed)]


@pytest.mark.parametrize(("limit", "to"), [(1, 3), (2 * len(line(0)), 5)])
def test_killed_between_any_two_steps(limit: int, to: int) -> None:
    before, is_killed = 1, True
    while is_killed:
        with TemporaryDirectory() as name:
            folder, frontier = Path(name, "crawl"), Path(name, "frontier.json")
            folder.mkdir()
            is_killed = dies(folder, limit, frontier, to, before)
            check_nothing_lost_or_doubled(folder, state(frontier))
            write(folder, limit, frontier)
            assert as_zcat_reads(folder) == [*map(line, range(LINES))]
            assert numbers(folder) == numbers(folder, state(frontier).lengths) == [*range(LINES)]
        before += 1
    assert before > 25, "too few steps to test anything"


def check_nothing_lost_or_doubled(folder: Path, known: State) -> None:
    committed = [*map(line, range(known.lines))]
    assert as_zcat_reads(folder) in (committed, [*committed, line(known.lines)])
    assert numbers(folder, known.lengths) == list(range(known.lines))
    assert committed_lengths.visits_beyond(folder, known.lengths) <= 1
    assert not committed_lengths.missing(folder, known.lengths)
    assert not committed_lengths.short(folder, known.lengths)
    assert not page_record.gone(folder, known.lengths)


@settings(max_examples=25, deadline=None)
@given(
    limit=st.integers(1, 300),
    earlier=st.integers(0, LINES),
    packs=st.sampled_from([1, 5, LINES + 1]),
)
def test_what_an_earlier_frontier_does_not_know_is_moved_aside(
    limit: int, earlier: int, packs: int
) -> None:
    with TemporaryDirectory() as name:
        folder, frontier = Path(name, "crawl"), Path(name, "frontier.json")
        folder.mkdir()
        write(folder, limit, frontier, to=earlier, packs=packs)
        then = state(frontier)
        write(folder, limit, frontier, packs=packs)
        assert committed_lengths.visits_beyond(folder, then.lengths) == LINES - earlier
        committed_lengths.cut(folder, then.lengths, aside := Aside(folder))
        assert numbers(folder) == [*range(earlier)]
        kept = [number for path in sorted(aside.folder.glob("*")) for number in read(path)]
        assert set(range(earlier, LINES)) <= set(kept)


def read(path: Path) -> list[int]:
    return [json.loads(kept)["of"] for kept in page_record.of_file(path)]


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A folder with packed parts of four lines each, and one that grows."""
    write(tmp_path, 4 * len(line(0)) - 3, tmp_path / "frontier.json")
    assert [path.name for path in sorted(tmp_path.glob("pages*"))] == [
        "pages-00001.jsonl.gz", "pages-00002.jsonl.gz", "pages.jsonl",
    ]  # fmt: skip
    return tmp_path


def test_lines_are_taken_out_of_every_part(packed: Path) -> None:
    out = {f"http://s{number}.example/" for number in (1, 6, 9)}
    page_record.take_out(packed, out, aside := Aside(packed))
    assert numbers(packed) == [number for number in range(LINES) if number not in (1, 6, 9)]
    assert sorted(number for path in aside.folder.iterdir() for number in read(path)) == [1, 6, 9]


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_part_is_torn_and_kept(packed: Path, damage: str) -> None:
    path = packed / "pages-00001.jsonl.gz"
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        data[:-20] if damage == "cut" else data[:middle] + b"\xff\xff" + data[middle + 2 :]
    )
    assert None in numbers(packed)
    left = [number for number in numbers(packed) if number is not None]
    assert left[-8:] == [*range(4, LINES)]
    page_record.take_out(packed, (), aside := Aside(packed))
    assert numbers(packed) == left
    assert (aside.folder / path.name).stat().st_size == len(data) - 20 * (damage == "cut")


def test_a_part_that_is_gone_is_named(packed: Path) -> None:
    known = state(packed / "frontier.json").lengths
    (packed / "pages-00001.jsonl.gz").unlink()
    assert page_record.gone(packed, known) == ["pages-00001.jsonl"]
    assert numbers(packed, known) == [*range(4, LINES)]


def test_a_reader_meets_each_line_once_while_parts_are_closed_and_packed(tmp_path: Path) -> None:
    frontier = tmp_path / "frontier.json"
    write(tmp_path, 100, frontier, to=6, packs=LINES)
    reading = page_record.lines(tmp_path)
    found = [next(reading)]
    write(tmp_path, 100, frontier)
    found += reading
    assert found == [*map(line, range(LINES))]


def test_a_part_is_closed_before_the_next_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = tmp_path / "frontier.json"
    write(tmp_path, 10_000, frontier, to=6)
    closed = page_record.closed

    def closed_meanwhile(crawl: Path) -> list[str]:
        found = closed(crawl)
        if not found:
            monkeypatch.setattr(page_record, "closed", closed)
            write(crawl, 1, frontier, to=7)
        return found

    monkeypatch.setattr(page_record, "closed", closed_meanwhile)
    assert numbers(tmp_path) == [*range(7)]


def test_a_part_stays_as_it_is_if_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    frontier = tmp_path / "frontier.json"
    write(tmp_path, 100, frontier, packs=LINES + 1)
    with monkeypatch.context() as patch:
        patch.setattr(page_record, "copyfileobj", full)
        writer = Parts(OpenFiles(tmp_path), 100, state(frontier).lengths)
        writer.pack()
        writer.close()
    assert "No space left on device; it stays as it is" in caplog.text
    assert numbers(tmp_path) == [*range(LINES)]
    assert not list(tmp_path.glob("*.new"))
    writer = Parts(OpenFiles(tmp_path), 100, state(frontier).lengths)
    writer.pack()
    writer.close()
    assert not [path for path in tmp_path.glob("pages-*") if path.suffix != ".gz"]
    assert numbers(tmp_path) == [*range(LINES)]


def test_one_file(tmp_path: Path) -> None:
    write(tmp_path, 0, tmp_path / "frontier.json")
    assert [path.name for path in tmp_path.glob("pages*")] == ["pages.jsonl"]
