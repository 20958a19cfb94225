"""A crawl of another user: every command says in one line what it may not read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import ROOT, environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RIGHTS = "-dac_override,-dac_read_search"
"""What lets root read anything (capabilities(7))."""

CONTACT = ("-s", "LSWC_CONTACT=crawl@library.example")

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder that the user of a command may not read."""
    if IS_ROOT and shutil.which("setpriv") is None:
        pytest.skip("root may read all: install setpriv (util-linux)")
    folder = tmp_path / "crawls" / "th"
    folder.mkdir(parents=True)
    for name in ("frontier.db", "settings.json", "pages.jsonl"):
        (folder / name).write_text("{}")
    folder.chmod(0)
    yield folder
    folder.chmod(0o700)


def run(*given: object) -> subprocess.CompletedProcess[str]:
    as_user = ["setpriv", f"--bounding-set={RIGHTS}", f"--inh-caps={RIGHTS}"] if IS_ROOT else []
    return subprocess.run(
        [*as_user, sys.executable, "-m", *map(str, given)],
        cwd=ROOT, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "command",
    ["watch --port 0", "frontier", "corpus", "analyze --out {out}"],
)
def test_a_folder_of_another_user_is_named_in_one_line(
    closed: Path, tmp_path: Path, command: str
) -> None:
    name, *options = command.format(out=tmp_path / "out").split()
    done = run("lswc", name, closed, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert str(closed) in done.stderr
    assert "Permission denied" in done.stderr


def test_a_crawl_into_it_is_refused(closed: Path) -> None:
    done = run("scrapy", "crawl", "lswc", "-a", "lang=th", "-s", f"LSWC_CRAWL={closed}", *CONTACT)
    assert done.returncode == 2, done.stderr
    assert f"can't write to the crawl folder {closed}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
