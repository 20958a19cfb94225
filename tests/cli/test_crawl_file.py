"""Crawl files: what is wrong in one, where a value comes from, and the crawl that it describes."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings
from scrapy.utils.project import ENVVAR

from lswc import settings as defaults
from lswc.cli.dry_run import origin_of, show
from lswc.crawl import crawl_file
from lswc.crawl.crawl_file import KEYS, CrawlFile, CrawlFileError, new, read
from lswc.crawl.spider import LswcSpider
from lswc.errors import ConfigError
from tests import forks
from tests.scenarios.site import ROOT, THAI, Site, page

if TYPE_CHECKING:
    import subprocess

WHOLE = "th.toml"


def written(folder: Path, text: str, name: str = WHOLE) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A web of five pages, and where we are beside it."""
    monkeypatch.chdir(tmp_path)
    site = Site(tmp_path / "web", tmp_path / "crawls" / "th")
    site.seeds("http://www.one.co.th/")
    links = ("/a.html", "/calendar/1.html", "/calendar/2.html", "/b.html?sort=up")
    site.add("www.one.co.th/", page(THAI, *links))
    for name in ("a.html", "calendar/1.html", "calendar/2.html", "b.html"):
        site.add(f"www.one.co.th/{name}", page(THAI))
    return site


def lswc(*arguments: str) -> subprocess.CompletedProcess[str]:
    return forks.run(arguments, Path.cwd(), {**os.environ, "PYTHONPATH": str(ROOT)}, "lswc")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ['language: say which, such as language = "th"']),
        ("language = 3", ["language: must be a text or a list of texts, not 3"]),
        ("languge = 'th'", ["languge: unknown key; do you mean language?", "language: say which"]),
        ("language = 'th'\nxyz = 1", ["xyz: unknown key; known: language, contact, seeds,"]),
        ("language = 'th'\nDEPTH_LIMIT = 1", ["DEPTH_LIMIT: settings stand below a line [settin"]),
        ("language = 'th'\ndomains = 3", ["domains: must be a list, not 3"]),
        ("language = 'th'\narchive = true", ["archive: must be a text, not True"]),
        ("language = 'th'\npages = {a = 1}", ["pages: must be a text, a number, true or false"]),
        ("language = 'th'\ninclude = [[1]]", ["include: must be a text, a number, true or false"]),
        (
            "language = 'th'\ndepth = 1\n[settings]\nDEPTH_LIMIT = 2\ndownload_dely = 2",
            ["settings.DEPTH_LIMIT: depth says it", "settings.download_dely: do you mean DOWNLOAD"],
        ),
        (
            "language = 'th'\nsettings.DEPTH_LIMIT = 2\ndepth = 1",
            ["depth: settings say it already: leave one of them out"],
        ),
        (
            "language = 'th'\n[settings]\nLSWC_STRATEGY = true\nDEPTH_LIMIT = {}",
            ["settings.LSWC_STRATEGY: must be a text, not True", "settings.DEPTH_LIMIT: must be a"],
        ),
    ],
)
def test_each_mistake_is_a_line(tmp_path: Path, text: str, lines: list[str]) -> None:
    path = written(tmp_path, text)
    with pytest.raises(CrawlFileError) as wrong:
        read(path)
    said = str(wrong.value).splitlines()
    assert len(said) == len(lines)
    for found, line in zip(said, lines, strict=True):
        assert found.startswith(f"{path}, {line}")


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("th.toml", "language =", "Invalid value (at end of document)"),
        ("th.toml", "a = " + "[" * 5_000, "recursion"),
        ("settings.json", "[]", "isn't the settings.json of a crawl"),
        ("settings.json", "{", "Expecting property name"),
    ],
)
def test_what_is_no_file_of_that_kind(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        read(written(tmp_path, text, name))


def test_a_file_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "language = 'th'\n"
    path = written(tmp_path, text)
    monkeypatch.setattr(crawl_file, "FILE_BYTES", len(text))
    assert read(path).arguments == {"lang": "th"}
    monkeypatch.setattr(crawl_file, "FILE_BYTES", len(text) - 1)
    with pytest.raises(ConfigError, match=f"is larger than {len(text) - 1} bytes: name a file"):
        read(path)


def test_a_mistake_is_of_the_setting_that_it_names_not_of_one_that_its_name_begins_with(
    tmp_path: Path,
) -> None:
    given = {"LSWC_ARCHIVE": "all", "LSWC_ARCHIVE_REQUISITES": "x"}
    file = CrawlFile(tmp_path / WHOLE, settings=given)
    for wrong, key in (("LSWC_ARCHIVE_REQUISITES", "LSWC_ARCHIVE_REQUISITES"),
                       ("LSWC_ARCHIVE", "archive")):  # fmt: skip
        error = ConfigError(f"{wrong} must be another")
        assert str(file.located(error)) == f"{file.path}, {key}: {wrong} must be another"
    other = ConfigError("LSWC_CONTACT must be another")
    assert file.located(other) is other


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file or directory; `lswc new` writes one"):
        read(tmp_path / "th.toml")


def test_a_new_file_is_right_with_and_without_its_comments(tmp_path: Path) -> None:
    text = new(WHOLE, {"language": "th", "contact": "a@b.example"})
    found = read(written(tmp_path, text))
    assert found.arguments == {"lang": "th"}
    assert found.settings == {"LSWC_CONTACT": "a@b.example"}
    said = read(written(tmp_path, re.sub(r"^# (?=[\w]+ = )", "", text, flags=re.MULTILINE)))
    given = {*said.arguments, *said.settings}
    assert given == {key.stands_for for key in KEYS.values()} | {"DOWNLOAD_DELAY"}


def test_values_are_those_of_their_settings(tmp_path: Path) -> None:
    text = """language = ["th", "lo"]
    seeds = ["http://a.example/", "http://b.example/"]
    [settings]
    LSWC_READERS = 2
    LSWC_SITEMAPS = true"""
    found = read(written(tmp_path, text))
    assert found.arguments == {"lang": "th,lo", "seeds": "http://a.example/ http://b.example/"}
    assert found.settings == {"LSWC_READERS": "2", "LSWC_SITEMAPS": True}


def test_where_a_value_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVVAR, raising=False)
    file = CrawlFile(tmp_path / WHOLE, settings={"DEPTH_LIMIT": 3})
    settings = Settings()
    settings.setmodule(defaults, "project")
    settings.set("LSWC_STRATEGY", "bfs", 25)
    settings.set("USER_AGENT", "x", "spider")
    settings.setdict(file.settings, crawl_file.PRIORITY)
    settings.set("LSWC_CONTACT", "a@b.example", "cmdline")
    assert origin_of(settings, "LSWC_STRATEGY", file) == "profile adaptive"
    assert origin_of(settings, "USER_AGENT", file) == "LSWC_CONTACT"
    assert origin_of(settings, "DEPTH_LIMIT", file) == f"{file.path}, depth"
    assert origin_of(settings, "LSWC_CONTACT", file) == "command line"
    assert origin_of(settings, "LSWC_WEB", file) == "default"
    (tmp_path / "ours_of_test.py").write_text("from lswc.settings import *\nLSWC_WEB = 'demo'")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(ENVVAR, "ours_of_test")
    settings.set("LSWC_WEB", "demo", "project")
    said = "environment, SCRAPY_SETTINGS_MODULE=ours_of_test"
    assert origin_of(settings, "LSWC_WEB", file) == said
    assert origin_of(settings, "LSWC_ARCHIVE", file) == "default"


def test_a_dry_run_shows_the_first_urls_and_leaves_nothing(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings()
    settings.setmodule(defaults, "project")
    given = {"LSWC_WEB": str(site.web), "LSWC_EXCLUDE": ["path:/calendar/*"], "LSWC_READERS": 0}
    settings.setdict(given, "cmdline")
    seeds = "http://www.one.co.th/calendar/ http://www.one.co.th/ http://www.one.co.th/b.html"
    applied = LswcSpider.applied(settings)
    show(applied, {"lang": "th", "seeds": seeds}, None, details=False)
    said = capsys.readouterr().out
    assert "path:/calendar/*  (command line)" in said
    assert re.search("seeds left out, excluded by pattern +1\\b", said)
    assert "LSWC_ARCHIVE" not in said
    listed = said.partition("The first 2 URLs, each after the robots.txt of its server:\n")[2]
    assert listed.split() == ["http://www.one.co.th/", "http://www.one.co.th/b.html"]
    assert not (site.folder.parent).exists()


def test_a_dry_run_of_a_file_says_what_it_says(site: Site) -> None:
    path = written(site.web.parent, "language = 'th'\nweb = 'web'\ndepth = 3")
    done = lswc("crawl", WHOLE, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"DEPTH_LIMIT +3 +\({path.name}, depth\)", done.stdout), done.stdout
    assert " object at " not in done.stdout
    assert sorted(one.name for one in site.web.parent.iterdir()) == [WHOLE, "web"]


@pytest.mark.slow
def test_a_crawl_by_its_file_and_again_by_its_settings(site: Site) -> None:
    text = """language = "th"
    web = "web"
    exclude = ["path:/calendar/*", "query~(^|&)sort="]
    [settings]
    DOWNLOAD_DELAY = 0
    LSWC_READERS = 0"""
    written(site.web.parent, text)
    done = lswc("crawl", WHOLE)
    assert done.returncode == 0, done.stderr
    assert site.urls == ["http://www.one.co.th/", "http://www.one.co.th/a.html"]
    assert site.summary["discarded"]["excluded by pattern"] == 3
    told = lswc("why", "crawls/th", "http://www.one.co.th/calendar/2.html")
    assert "discarded, excluded by pattern: A pattern of LSWC_EXCLUDE" in told.stdout
    assert told.stdout.endswith("The pattern is path:/calendar/*, of LSWC_EXCLUDE.\n")
    again = lswc("crawl", "crawls/th/settings.json", "--into", "crawls/again")
    assert again.returncode == 0, again.stderr
    settings = [json.loads((f / "settings.json").read_text()) for f in site.folder.parent.iterdir()]
    assert settings[0] == settings[1]
    assert Site(site.web, site.folder.parent / "again").urls == site.urls


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("pages = -1", "pages: CLOSESPIDER_ITEMCOUNT must be a number of at least 0, not -1"),
        ("[settings]\nDOWNLOAD_DELY = 2", "DOWNLOAD_DELY: unknown setting DOWNLOAD_DELY; did you"),
        ("exclude = ['path:']", "exclude: LSWC_EXCLUDE: 'path:' is no pattern: write 1 to 500"),
        ("profile = 'bsf'", "profile: unknown profile LSWC_PROFILE='bsf'; known: adaptive, anch"),
        ("seeds = 'none.txt'", "seeds: can't read the seeds file none.txt"),
    ],
)
def test_a_wrong_value_is_told_with_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file = read(written(tmp_path, f"language = 'th'\ncontact = 'a@b.example'\n{line}"))
    settings = Settings()
    settings.setmodule(defaults, "project")
    settings.setdict(file.settings, crawl_file.PRIORITY)
    with pytest.raises(ConfigError) as wrong:
        show(LswcSpider.applied(settings), file.arguments, file, details=False)
    assert isinstance(wrong.value, ConfigError)
    assert str(file.located(wrong.value)).startswith(f"{file.path}, {says}")
    assert [path.name for path in tmp_path.iterdir()] == [WHOLE]


def test_a_wrong_language_is_told_with_its_key(tmp_path: Path) -> None:
    path = written(tmp_path, "language = 'xx'\ncontact = 'a@b.example'")
    done = lswc("crawl", str(path))
    assert done.returncode == 2
    assert done.stderr.startswith(f"lswc crawl: error: {path}, language: unknown language 'xx'")
    assert done.stderr.count("\n") == 1
