"""A crawl that another version began: every command says so, and changes nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.rules.contract import FORMAT
from tests import forks
from tests.scenarios.site import ROOT, THAI, Site, environment, page

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = (
    ("crawl", "lswc", "-a", "lang=th", "-s", "LSWC_CRAWL={0}", "-s", "LSWC_WEB={1}"),
    ("check", "{0}"),
    ("check", "{0}", "--repair"),
    ("frontier", "{0}"),
    ("control", "{0}"),
    ("control", "{0}", "block", "a.example"),
    ("watch", "{0}", "--port", "0"),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("older")
    site = Site(folder / "web", folder / "crawl")
    site.seeds("http://one.example/")
    site.add("one.example/", page(THAI))
    site.crawl()
    return site


@pytest.mark.parametrize(
    ("number", "name"), [("8", "lswc 0.1"), (str(FORMAT + 1), "a later version of lswc")]
)
@pytest.mark.parametrize("gone", ["", "DROP TABLE file", "ALTER TABLE server DROP COLUMN relevant"])
def test_it_is_named_as_what_it_is(site: Site, number: str, name: str, gone: str) -> None:
    frontier = site.folder / "frontier.db"
    before = frontier.read_bytes()
    with closing(sqlite3.connect(frontier)) as db:
        db.execute("UPDATE about SET value = ? WHERE key = 'format'", (number,))
        db.execute(gone)
        db.commit()
    files = _files(site.folder)
    try:
        for command in COMMANDS:
            given = [part.format(site.folder, site.web) for part in command]
            done = forks.run(given, ROOT, environment())
            assert done.returncode == 2, (given, done.stdout, done.stderr)
            assert f"this crawl was begun with {name}: finish it with that one" in done.stderr
            assert _files(site.folder) == files, given
    finally:
        frontier.write_bytes(before)


def _files(folder: Path) -> dict[str, bytes]:
    """Return what the crawl's files hold, but for what SQLite makes when it reads."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")
    return {str(p): p.read_bytes() for p in files if not p.name.startswith("frontier.db-")}
