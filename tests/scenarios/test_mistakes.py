"""A user's mistake is one clear line and exit code 2, and nothing is fetched."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import THAI, page, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.site import Site


def mistake(site: Site, *arguments: str, **settings: object) -> str:
    """Return the one line that a crawl with a mistake prints."""
    if not site.web.exists():
        site.seeds("http://www.one.co.th/")
        site.add("www.one.co.th/", page(THAI))
    done = run(site.command(*arguments, **settings))
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert not (site.folder / "pages.jsonl").exists()
    return lines[0]


@pytest.mark.parametrize(
    ("setting", "value", "named"),
    [
        ("LSWC_PROFILE", "bsf", "known: adaptive, anchor, archive, as_in_the_paper,"),
        ("LSWC_STRATEGY", "bsf", "known: bfs, hard_focused"),
        ("LSWC_STRATEGY", "lswc:S=0", "S must be a whole number from 1"),
        ("LSWC_STRATEGY", "lswc:Q=1", "it takes: S, T"),
        ("LSWC_STRATEGY", "perfect", "simulations only"),
        ("LSWC_UNKNOWN", "maybe", "isn't one of: strategy, irrelevant, guess"),
        ("LSWC_FRONTIER", "mysql", "isn't one of: sqlite"),
        ("LSWC_STRATGEY", "bfs", "did you mean LSWC_STRATEGY?"),
        ("LSWC_IDENTIFIER", "oracle", "auto"),
        ("LSWC_RELEVANT", "all", "known: contains, leads"),
        ("LSWC_LANGUAGES", "no/such/folder", "LSWC_LANGUAGES: no such folder: no/such/folder"),
        ("LSWC_WEB", "no/such/folder", "no/such/folder"),
        ("DOWNLOAD_DELAY", "fast", "DOWNLOAD_DELAY must be a number"),
        ("DEPTH_LIMIT", "-1", "DEPTH_LIMIT must be a number"),
        ("LSWC_READERS", "some", "LSWC_READERS must be 'cores' or a number"),
        ("LSWC_REVISIT", "-0.1", "LSWC_REVISIT must be a number of at least 0, not '-0.1'"),
        ("LSWC_REVISIT", "nan", "LSWC_REVISIT must be a number of at least 0, not 'nan'"),
        ("LSWC_REVISIT", "daily", "LSWC_REVISIT must be a number of at least 0, not 'daily'"),
        ("LSWC_REVISIT", "25", "LSWC_REVISIT must be from 0 to 24 visits a day to each page"),
        ("LSWC_MAX_DUPLICATES", "-1", "LSWC_MAX_DUPLICATES must be a number"),
        ("LSWC_MAX_DOCUMENT", "0.5", "LSWC_MAX_DOCUMENT must be a whole number, not '0.5'"),
        ("LSWC_MAX_LINKS", "9", "unknown setting LSWC_MAX_LINKS"),
        ("LSWC_VALUE", "words", "LSWC_VALUE='words' isn't one of: pages, text"),
        ("LSWC_MAX_DOCUMENT", "64 KB", "LSWC_MAX_DOCUMENT must be a number"),
        ("LSWC_MAX_TAGS", "9", "unknown setting LSWC_MAX_TAGS"),
        ("ROBOTSTXT_USER_AGENT", "my bot", "='my bot': no robots.txt can name this robot"),
        ("ROBOTSTXT_USER_AGENT", "*", "='*': no robots.txt can name this robot"),
        ("LSWC_SITEMAPS", "maybe", "LSWC_SITEMAPS must be 0 or 1, True or False, not 'maybe'"),
        ("LSWC_ROBOTS_META", "noindex,noimage", "LSWC_ROBOTS_META: 'noimage' isn't one of: nofoll"),
        ("LSWC_WEB", "", "who crawls the real web? Give a URL or an e-mail address"),
        ("LSWC_ALLOWED_NETWORKS", "home", "'home' does not appear to be"),
        ("LSWC_ALLOWED_PORTS", "80,http", "not a port: 'http'"),
    ],
)
def test_wrong_setting(site: Site, setting: str, value: str, named: str) -> None:
    line = mistake(site, **{setting: value})
    assert named in line


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"LSWC_IN_ORDER": 1}, "the papers' order visits no page again; LSWC_IN_ORDER=0"),
    ],
)
def test_what_visits_again_do_not_go_with(site: Site, given: dict[str, object], named: str) -> None:
    assert f"LSWC_REVISIT: {named}" in mistake(site, LSWC_REVISIT=1, **given)


def test_a_crawl_with_a_log_file_says_it_there_too(site: Site, tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    line = mistake(site, LSWC_STRATEGY="bsf", LOG_FILE=log)
    assert log.read_text("utf-8").splitlines() == [line]


def test_unknown_language(site: Site) -> None:
    line = mistake(site, "-a", "lang=xx")
    assert "'xx'" in line
    assert "such as th" in line
    assert "do you mean th (Thai)" in mistake(site, "-a", "lang=tahi")


def test_no_language(site: Site) -> None:
    assert "-a lang=th" in mistake(site, "-a", "lang=")


def test_unknown_argument(site: Site) -> None:
    assert "known: lang, seeds" in mistake(site, "-a", "language=th")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("", "names no URL"),
        ("# nothing but a comment\n\n", "names no URL"),
        ("http://a.example/\nwww.b.example\n", "line 2"),
        ("http://a.example/\n\nftp://b.example/\n", "line 3"),
    ],
)
def test_broken_seeds(site: Site, tmp_path: Path, content: str, named: str) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(content)
    line = mistake(site, "-a", f"seeds={seeds}")
    assert named in line
    assert str(seeds) in line


def test_missing_seeds(site: Site, tmp_path: Path) -> None:
    assert "can't read the seeds file" in mistake(site, "-a", f"seeds={tmp_path / 'none.txt'}")


def test_seeds_that_are_not_text(site: Site, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_bytes(b"http://a.example/\n\xff\xfe\n")
    assert "can't read the seeds file" in mistake(site, "-a", f"seeds={seeds}")


def test_a_redis_that_is_not_there_is_told_in_a_line(site: Site) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done = run(site.command(LSWC_FRONTIER=f"redis://127.0.0.1:{port}/0"))
    [line] = done.stderr.splitlines()
    assert done.returncode == 1
    assert "error: Redis: " in line
    assert str(port) in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_crawl_folder(site: Site, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    assert "can't make the crawl folder" in mistake(site)


def test_crawl_folder_that_is_a_file(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    site.folder = tmp_path / "file" / "crawl"
    assert "can't make the crawl folder" in mistake(site)


def test_resume_with_another_strategy(site: Site) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI))
    site.crawl()
    done = run(site.command(LSWC_PROFILE="soft_focused"))
    assert done.returncode == 2
    assert "strategy 'bfs', not 'soft_focused'" in done.stderr


def test_record_of_another_crawl_is_never_overwritten(site: Site) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI))
    site.crawl()
    (site.folder / "frontier.db").unlink()
    done = run(site.command())
    assert done.returncode == 2
    assert "the record of another crawl" in done.stderr
    assert site.urls == ["http://www.one.co.th/"]


def test_a_users_own_language_has_seeds_beside_it(site: Site, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "seeds").mkdir(parents=True)
    (own / "ff.toml").write_text('name = "Fula"\nscripts = ["Adlam"]\n')
    (own / "seeds" / "ff.txt").write_text("http://\n")
    line = mistake(site, "-a", "lang=ff", LSWC_LANGUAGES=own, LSWC_WEB="", LSWC_CONTACT="a@b.cd")
    assert f"{own / 'seeds' / 'ff.txt'}, line 1: not an http or https URL" in line
