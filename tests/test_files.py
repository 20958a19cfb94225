"""Files appear when they are whole."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from lswc.files import is_partial, partial_folder, whole, whole_folder

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path


def fail(context: AbstractContextManager[Path], error: type[BaseException], name: str = "") -> None:
    with context as beside:
        (beside / name).write_text("new")
        raise error


def test_a_file_takes_its_name_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole(path) as beside:
        beside.write_text("new")
        assert path.read_text() == "old"
        assert is_partial(beside)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_what_was_there_stays_if_it_fails(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(error):
        fail(whole(path), error)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_files_of_a_folder_come_together(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with whole_folder(folder) as beside:
        (beside / "in").mkdir()
        (beside / "in" / "a").write_text("a")
        (beside / "b").write_text("b")
        assert all(map(is_partial, folder.iterdir()))
    assert {str(path.relative_to(folder)) for path in folder.rglob("*")} == {"in", "in/a", "b"}


KILLED = """
import os, sys
from pathlib import Path
from lswc.files import partial_folder
with partial_folder(Path(sys.argv[1])) as beside:
    (beside / "a").write_text("a")
    print(beside.name, flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_process_left_goes_and_what_a_living_one_has_stays(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        theirs = tmp_path / process.stdout.readline().strip()
        (tmp_path / ".partial-file").write_text("another command's")
        with partial_folder(tmp_path) as own, whole_folder(tmp_path) as beside:
            (beside / "b").write_text("b")
            assert (theirs / "a").exists()
            assert own.exists()
        process.stdin.close()
        assert process.wait() == -signal.SIGKILL
    assert (theirs / "a").exists()
    with whole_folder(tmp_path):
        assert not theirs.exists()
    assert {path.name for path in tmp_path.iterdir()} == {".partial-file", "b"}


@pytest.mark.parametrize("is_new", [True, False])
def test_a_folder_is_as_it_was_if_it_fails(tmp_path: Path, is_new: bool) -> None:
    folder = tmp_path / "folder"
    if not is_new:
        folder.mkdir()
        (folder / "b").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        fail(whole_folder(folder), KeyboardInterrupt, "b")
    assert folder.exists() is not is_new
    if not is_new:
        assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("b", "old")]
